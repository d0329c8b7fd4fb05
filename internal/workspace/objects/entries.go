package objects

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Modes of a tree's entries, as git writes them.
const (
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeLink    = "120000"
	ModeGitlink = "160000"
	ModeTree    = "40000"
)

// An Entry is one file, symbolic link or submodule of a commit.
type Entry struct {
	Path string
	Mode string // "100644", "100755" (executable), "120000" (symbolic link) or "160000" (submodule)
	OID  string
	Size int64 // bytes of content; 0 for submodules
}

// What a path of a commit may be that is no file.
var (
	ErrSubmodule = fmt.Errorf("it is a submodule: %w", fs.ErrInvalid)
	ErrFolder    = fmt.Errorf("it is a folder: %w", fs.ErrInvalid)
)

// ValidPath reports whether path is one that a tree can hold.
func ValidPath(path string) bool {
	for elem := range strings.SplitSeq(path, "/") {
		if elem == "" || elem == "." || elem == ".." {
			return false
		}
	}
	return !strings.Contains(path, "\x00")
}

var fullID = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// IsID reports whether a text is a full object id.
func IsID(text string) bool { return fullID.MatchString(text) }

// IsRef reports whether git takes a text for the full name of a ref.
func IsRef(text string) bool {
	return strings.HasPrefix(text, "refs/") && plumbing.ReferenceName(text).Validate() == nil
}

// CheckIDs refuses what is no full object id, so that none can be taken for a name or
// an option.
func CheckIDs(oids ...string) error {
	for _, oid := range oids {
		if !IsID(oid) {
			return fmt.Errorf("%q is not a full object id", oid)
		}
	}
	return nil
}
