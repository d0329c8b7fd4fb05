package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// maxLinked is how many linked issues are read.
const maxLinked = 5

// maxFiles is where GitHub ends the list of changed files.
const maxFiles = 3000

// A Snapshot is a pull request with what belongs to it, read once. All text in
// it was written by strangers.
type Snapshot struct {
	Pull
	AsOf             time.Time // text from then on is left out; zero: none is
	AuthorPermission string    // as [Client.Permission] has it; empty: could not be read
	Commits          []Commit
	Files            []change.File // Binary is never set: the API does not say
	AllFiles         bool          // Files has all of them
	Linked           []Issue
	Comments         []Comment
	Protection       Protection // of the base branch
	// Incomplete says in words what is cut, left out or could not be read.
	Incomplete []string
}

// A Commit is one commit of a pull request, oldest first.
type Commit struct {
	SHA     string
	Message string
}

// An Issue is what a pull request says it closes.
type Issue struct {
	Number      int
	Title, Body string
}

// Protection reports whether a branch is protected.
type Protection int

// What can be known of a branch.
const (
	ProtectionUnknown Protection = iota
	Unprotected
	Protected
)

// A Moment is what a snapshot is taken as of.
type Moment struct {
	At time.Time
	// Text says that Title and Body are those of the event, and are taken
	// instead of what the pull request says now.
	Text        bool
	Title, Body string
}

// Snapshot reads a pull request. Comments that were made or edited at asOf or
// later are left out, and so is the text of linked issues that changed since.
//
// Title and body are those of now, because GitHub does not say when they were
// edited: callers with an event that carries them use [Client.SnapshotAt].
func (c *Client) Snapshot(ctx context.Context, repo Repo, n int, asOf time.Time) (*Snapshot, error) {
	return c.SnapshotAt(ctx, repo, n, Moment{At: asOf})
}

// SnapshotAt is [Client.Snapshot] with the title and the body of an event.
func (c *Client) SnapshotAt(ctx context.Context, repo Repo, n int, m Moment) (*Snapshot, error) {
	p, err := c.Pull(ctx, repo, n)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Pull: *p, AsOf: m.At}
	if m.Text {
		s.Title, s.Body = m.Title, m.Body
	}
	for _, read := range []func(context.Context, *Snapshot, Repo) error{
		c.readCommits, c.readFiles, checkHead, c.readComments, c.readLinked, c.readAuthor, c.readProtection,
	} {
		if err := read(ctx, s, repo); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Snapshot) lacks(format string, args ...any) {
	s.Incomplete = append(s.Incomplete, fmt.Sprintf(format, args...))
}

// mayLack notes a list that was cut; other errors remain.
func (s *Snapshot) mayLack(what string, n int, err error) error {
	if errors.Is(err, ErrCut) {
		s.lacks("%s: the first %d only", what, n)
		return nil
	}
	return err
}

func (c *Client) readCommits(ctx context.Context, s *Snapshot, repo Repo) error {
	items, err := all(func(o gh.ListOptions) ([]*gh.RepositoryCommit, *gh.Response, error) {
		return c.api.PullRequests.ListCommits(ctx, repo.Owner, repo.Name, s.Number, &o)
	})
	s.Commits, err = listed(c, items, err, func(in *gh.RepositoryCommit) Commit {
		return Commit{SHA: in.GetSHA(), Message: in.GetCommit().GetMessage()}
	}, "commits of %s#%d", repo, s.Number)
	if err == nil && len(s.Commits) < s.CommitCount { // GitHub ends the list at 250
		s.lacks("commits: %d of %d", len(s.Commits), s.CommitCount)
	}
	return s.mayLack("commits", len(s.Commits), err)
}

func (c *Client) readFiles(ctx context.Context, s *Snapshot, repo Repo) error {
	items, err := all(func(o gh.ListOptions) ([]*gh.CommitFile, *gh.Response, error) {
		return c.api.PullRequests.ListFiles(ctx, repo.Owner, repo.Name, s.Number, &o)
	})
	s.Files, err = listed(c, items, err, file, "files of %s#%d", repo, s.Number)
	s.AllFiles = err == nil && len(s.Files) >= s.FileCount && len(s.Files) < maxFiles
	if err == nil && len(s.Files) < s.FileCount {
		s.lacks("files: %d of %d", len(s.Files), s.FileCount)
	}
	return s.mayLack("files", len(s.Files), err)
}

// checkHead looks whether the head moved between the calls: commits and files
// are then those of another one, and left out.
func checkHead(_ context.Context, s *Snapshot, _ Repo) error {
	isHead := func(c Commit) bool { return c.SHA == s.Head.SHA }
	if len(s.Commits) == 0 || len(s.Commits) < s.CommitCount || slices.ContainsFunc(s.Commits, isHead) {
		return nil
	}
	s.Commits, s.Files, s.AllFiles = nil, nil, false
	s.lacks("commits and files: the head moved while they were read")
	return nil
}

func file(in *gh.CommitFile) change.File {
	f := change.File{Path: in.GetFilename(), OldPath: in.GetPreviousFilename(), Added: in.GetAdditions(), Deleted: in.GetDeletions()}
	switch in.GetStatus() {
	case "added":
		f.Status = change.Added
	case "removed":
		f.Status = change.Deleted
	case "renamed":
		f.Status = change.Renamed
	case "copied":
		f.Status = change.Copied
	case "changed": // its type, as git's T
		f.Status = change.Retyped
	default:
		f.Status = change.Modified
	}
	return f
}

func (c *Client) readComments(ctx context.Context, s *Snapshot, repo Repo) error {
	found, err := c.Comments(ctx, repo, s.Number)
	if err := s.mayLack("comments", len(found), err); err != nil {
		return err
	}
	for _, comment := range found {
		if s.before(comment.Created) && s.before(comment.Updated) {
			s.Comments = append(s.Comments, comment)
		}
	}
	return nil
}

// before reports whether something is older than the event.
func (s *Snapshot) before(t time.Time) bool { return s.AsOf.IsZero() || t.Before(s.AsOf) }

// closes is how a body says which issues of its repository it closes.
var closes = pattern.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+#([1-9][0-9]{0,8})\b`)

// LinkedIssues returns the numbers of the issues that a text says it closes, in
// the order of the text.
func LinkedIssues(body string) []int {
	var out []int
	for _, m := range closes.FindAllStringSubmatch(body, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (c *Client) readLinked(ctx context.Context, s *Snapshot, repo Repo) error {
	numbers := LinkedIssues(s.Body)
	if len(numbers) > maxLinked {
		s.lacks("linked issues: %d of %d", maxLinked, len(numbers))
		numbers = numbers[:maxLinked]
	}
	for _, n := range numbers {
		in, _, err := c.api.Issues.Get(ctx, repo.Owner, repo.Name, n)
		switch converted := convert(err); {
		case IsNotFound(converted) || IsForbidden(converted):
			s.lacks("linked issue #%d: cannot be read", n)
			continue
		case err != nil:
			return c.fail(err, "issue %s#%d", repo, n)
		case in.IsPullRequest():
			continue // says nothing of what is wanted
		case !s.before(in.GetCreatedAt().Time) || !s.before(in.GetUpdatedAt().Time):
			s.lacks("linked issue #%d: changed since, left out", n)
			continue
		}
		s.Linked = append(s.Linked, Issue{Number: in.GetNumber(), Title: in.GetTitle(), Body: in.GetBody()})
	}
	return nil
}

func (c *Client) readAuthor(ctx context.Context, s *Snapshot, repo Repo) error {
	p, err := c.Permission(ctx, repo, s.Author.Login)
	if IsForbidden(err) {
		s.lacks("permission of the author: the token may not ask")
		return nil
	}
	s.AuthorPermission = p
	return err
}

func (c *Client) readProtection(ctx context.Context, s *Snapshot, repo Repo) error {
	var branch struct {
		Protected *bool `json:"protected"`
	}
	err := c.get(ctx, "repos/"+repo.String()+"/branches/"+url.PathEscape(s.Base.Name), &branch)
	switch converted := convert(err); {
	case IsForbidden(converted) || IsNotFound(converted) || err == nil && branch.Protected == nil:
		return nil // stays unknown
	case err != nil:
		return c.fail(err, "branch %s of %s", s.Base.Name, repo)
	case *branch.Protected:
		s.Protection = Protected
	default:
		s.Protection = Unprotected
	}
	return nil
}
