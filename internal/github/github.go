// Package github makes the GitHub calls that ycbot needs: go-github behind few
// methods, each of which its consumer declares.
//
// A Client belongs to one identity: a token, or one installation of an App. It
// is safe for concurrent use. Every list is read to its last page. Reads, changes that
// do the same when they happen twice, and writes that GitHub is known to have refused, are
// tried again; another write whose answer was lost is not: the caller looks whether it happened.
package github

import "time"

// A Repo names a repository.
type Repo struct{ Owner, Name string }

// String is "owner/name".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// A User is an account. Only the ID is reliable.
type User struct {
	ID    int64
	Login string
	Type  string // User, Bot, Organization …
}

// A Pull is a pull request as it is now.
type Pull struct {
	Number      int
	Title, Body string
	State       string // open, closed
	Draft       bool
	Author      User
	Base, Head  Ref
	Labels      []string
	HTMLURL     string
	Created     time.Time
	Updated     time.Time // anything of it, comments included
	CommitCount int
	FileCount   int
}

// A Ref is one side of a pull request.
type Ref struct {
	Name     string // branch
	SHA      string
	RepoID   int64 // 0: the repository is gone
	Repo     Repo
	CloneURL string
	Size     int64 // of the repository, in KB; 0: not known
}

// Fork reports whether the head lies in another repository than the base, or in
// one that is gone.
func (p *Pull) Fork() bool { return p.Head.RepoID == 0 || p.Head.RepoID != p.Base.RepoID }

// A Comment is a comment on an issue or pull request.
type Comment struct {
	ID               int64
	Body             string
	Author           User
	Created, Updated time.Time
	HTMLURL          string
}

// A CheckRun is a check run as it is, or as it shall be.
type CheckRun struct {
	ID          int64
	AppID       int64
	Name        string
	HeadSHA     string
	ExternalID  string
	Status      string // queued, in_progress, completed
	Conclusion  string // success, failure, neutral, cancelled …; empty until completed
	Started     time.Time
	Completed   time.Time
	DetailsURL  string
	HTMLURL     string
	Output      *Output // nil: as it is
	Actions     []Button
	Annotations int      // how many it has; only read
	Pulls       []Linked // open ones of the same repository with its commit; only read
}

// A Linked is a pull request that GitHub names within something else.
type Linked struct {
	Number  int
	HeadSHA string
}

// An Output is what a check run shows. GitHub appends the annotations of an
// update to those that are there.
type Output struct {
	Title, Summary, Text string
	Annotations          []Annotation // 50 at most in one request
}

// An Annotation is a remark on lines of a file.
type Annotation struct {
	Path               string
	StartLine, EndLine int
	Level              string // notice, warning, failure
	Title, Message     string
	RawDetails         string
}

// A Button of a check run asks the App for something.
type Button struct{ Label, Description, Identifier string }

// A Status is a commit status.
type Status struct {
	Context     string
	State       string // pending, success, failure, error
	Description string // 140 characters at most
	TargetURL   string
	Creator     User
}
