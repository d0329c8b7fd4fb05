// Package change is the shared noun: which commits are compared, what differs
// between them, and what the change is said to be for.
//
// A Change is a value: it is resolved once at the start of a run and never
// altered afterwards.
package change

import (
	"strconv"
	"strings"
)

// A Change is a pull request or a local range of commits.
type Change struct {
	Repo      string `json:"repo"`            // "owner/name", or the folder's name for a local run
	PR        int    `json:"pr,omitempty"`    // pull request number; 0 for a local range
	BaseSHA   string `json:"base_sha"`        // tip of the base, as the user named it
	HeadSHA   string `json:"head_sha"`        // commit under verification
	MergeBase string `json:"merge_base"`      // commit that the head is compared with
	Dirty     bool   `json:"dirty,omitempty"` // the head is a snapshot of an uncommitted working tree
	Title     string `json:"title,omitempty"` // subject of the pull request or of the head commit
	Task      string `json:"task,omitempty"`  // what the change is said to do, untrusted text
	Files     []File `json:"files"`           // what differs from MergeBase to HeadSHA, by path
}

// A File is one path that differs between merge base and head.
type File struct {
	Path    string `json:"path"`               // slash-separated, at the head (at the base for Deleted)
	OldPath string `json:"old_path,omitempty"` // before a rename or copy
	Status  Status `json:"status"`
	Binary  bool   `json:"binary,omitempty"`
	Added   int    `json:"added"`   // lines; 0 for binary files
	Deleted int    `json:"deleted"` // lines; 0 for binary files
}

// A Status says what happened to a file. The strings are stored: do not change them.
type Status string

// The statuses that git's raw diff knows and ycbot distinguishes.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
	Retyped  Status = "retyped" // file, symbolic link or submodule became another of these
)

// Short abbreviates an object id for people; ids of under twelve digits stay as they are.
func Short(oid string) string {
	if len(oid) > 12 {
		return oid[:12]
	}
	return oid
}

// Paths returns the paths of all changed files, old names of renames included.
func (c Change) Paths() []string {
	var out []string
	for _, f := range c.Files {
		out = append(out, f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			out = append(out, f.OldPath)
		}
	}
	return out
}

// String names the change for logs and headings: "owner/name#7@0123456789ab".
func (c Change) String() string {
	var b strings.Builder
	b.WriteString(c.Repo)
	if c.PR != 0 {
		b.WriteString("#" + strconv.Itoa(c.PR))
	}
	b.WriteString("@" + Short(c.HeadSHA))
	return b.String()
}
