package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/pattern"
)

const (
	perPage  = 100
	maxPages = 100
)

// What goes into the path of a request is checked: "..", for one, would make
// it another request.
var (
	namePattern  = pattern.New(`^[A-Za-z0-9._-]{1,100}$`)
	loginPattern = pattern.New(`^[A-Za-z0-9_-]{1,100}(\[bot\])?$`)
	oidPattern   = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	codePattern  = pattern.New(`^[A-Za-z0-9_-]{1,200}$`)
)

func (r Repo) check() error {
	for _, s := range []string{r.Owner, r.Name} {
		if !namePattern.MatchString(s) || s == "." || s == ".." {
			return fmt.Errorf("%q is not a repository", r.String())
		}
	}
	return nil
}

func checkOID(sha string) error {
	if !oidPattern.MatchString(sha) {
		return fmt.Errorf("%q is not an object id", cut(sha, 80))
	}
	return nil
}

// all reads a list to its last page.
func all[T any](fetch func(gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	var out []T
	opts := gh.ListOptions{PerPage: perPage}
	for range maxPages {
		items, resp, err := fetch(opts)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
		if resp.NextPage <= opts.Page {
			return out, nil
		}
		opts.Page = resp.NextPage
	}
	return out, fmt.Errorf("after %d: %w", len(out), ErrCut)
}

// listed converts what a list call returned; of a list that was cut too.
func listed[T, U any](c *Client, items []T, err error, convert func(T) U, format string, args ...any) ([]U, error) {
	if err != nil && !errors.Is(err, ErrCut) {
		return nil, c.fail(err, format, args...)
	}
	out := make([]U, 0, len(items))
	for _, item := range items {
		out = append(out, convert(item))
	}
	return out, c.fail(err, format, args...)
}

// Pull returns a pull request as it is now.
func (c *Client) Pull(ctx context.Context, repo Repo, n int) (*Pull, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	p, _, err := c.api.PullRequests.Get(ctx, repo.Owner, repo.Name, n)
	if err != nil {
		return nil, c.fail(err, "pull request %s#%d", repo, n)
	}
	return pull(p), nil
}

func pull(p *gh.PullRequest) *Pull {
	out := &Pull{
		Number: p.GetNumber(), Title: p.GetTitle(), Body: p.GetBody(), State: p.GetState(), Draft: p.GetDraft(),
		Author: user(p.GetUser()), Base: ref(p.GetBase()), Head: ref(p.GetHead()), HTMLURL: p.GetHTMLURL(),
		Created: p.GetCreatedAt().Time, Updated: p.GetUpdatedAt().Time, CommitCount: p.GetCommits(), FileCount: p.GetChangedFiles(),
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

func ref(b *gh.PullRequestBranch) Ref {
	r := b.GetRepo()
	return Ref{
		Name: b.GetRef(), SHA: b.GetSHA(), RepoID: r.GetID(), CloneURL: r.GetCloneURL(), Size: int64(r.GetSize()),
		Repo: Repo{Owner: r.GetOwner().GetLogin(), Name: r.GetName()},
	}
}

// Permission returns what someone may do: "admin", "maintain", "write",
// "triage", "read" or "none". Who is unknown may do nothing; a role that the
// owner made up counts as what it is built on.
func (c *Client) Permission(ctx context.Context, repo Repo, login string) (string, error) {
	if err := repo.check(); err != nil {
		return "", err
	}
	if !loginPattern.MatchString(login) {
		return "none", nil
	}
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, login)
	if IsNotFound(convert(err)) {
		return "none", nil
	}
	if err != nil {
		return "", c.fail(err, "permission of %s in %s", login, repo)
	}
	for _, role := range []string{level.GetRoleName(), level.GetPermission()} {
		if slices.Contains([]string{"admin", "maintain", "write", "triage", "read"}, role) {
			return role, nil
		}
	}
	return "none", nil
}

// Comments lists the comments of an issue or pull request, oldest first.
func (c *Client) Comments(ctx context.Context, repo Repo, n int) ([]Comment, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	items, err := all(func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, n, &gh.IssueListCommentsOptions{ListOptions: o})
	})
	return listed(c, items, err, comment, "comments of %s#%d", repo, n)
}

// CreateComment comments on an issue or pull request.
func (c *Client) CreateComment(ctx context.Context, repo Repo, n int, body string) (Comment, error) {
	if err := repo.check(); err != nil {
		return Comment{}, err
	}
	out, _, err := c.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, n, &gh.IssueComment{Body: &body})
	return comment(out), c.fail(err, "comment on %s#%d", repo, n)
}

// EditComment replaces the text of a comment.
func (c *Client) EditComment(ctx context.Context, repo Repo, id int64, body string) (Comment, error) {
	if err := repo.check(); err != nil {
		return Comment{}, err
	}
	out, _, err := c.api.Issues.EditComment(ctx, repo.Owner, repo.Name, id, &gh.IssueComment{Body: &body})
	return comment(out), c.fail(err, "edit comment %d in %s", id, repo)
}

func comment(in *gh.IssueComment) Comment {
	return Comment{
		ID: in.GetID(), Body: in.GetBody(), Author: user(in.GetUser()), HTMLURL: in.GetHTMLURL(),
		Created: in.GetCreatedAt().Time, Updated: in.GetUpdatedAt().Time,
	}
}

// React puts a reaction, such as "eyes", on a comment. Twice is once.
func (c *Client) React(ctx context.Context, repo Repo, commentID int64, content string) error {
	if err := repo.check(); err != nil {
		return err
	}
	_, _, err := c.api.Reactions.CreateIssueCommentReaction(ctx, repo.Owner, repo.Name, commentID, content)
	return c.fail(err, "react to comment %d in %s", commentID, repo)
}

// Statuses lists the statuses of a commit, newest first: all that there ever
// were, not the newest of each context alone.
func (c *Client) Statuses(ctx context.Context, repo Repo, sha string) ([]Status, error) {
	if err := errors.Join(repo.check(), checkOID(sha)); err != nil {
		return nil, err
	}
	items, err := all(func(o gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		return c.api.Repositories.ListStatuses(ctx, repo.Owner, repo.Name, sha, &o)
	})
	return listed(c, items, err, status, "statuses of %s@%.12s", repo, sha)
}

// CreateStatus puts a status on a commit.
func (c *Client) CreateStatus(ctx context.Context, repo Repo, sha string, s Status) (Status, error) {
	if err := errors.Join(repo.check(), checkOID(sha)); err != nil {
		return Status{}, err
	}
	in := &gh.RepoStatus{State: &s.State, Context: opt(s.Context), Description: opt(s.Description), TargetURL: opt(s.TargetURL)}
	out, _, err := c.api.Repositories.CreateStatus(ctx, repo.Owner, repo.Name, sha, in)
	return status(out), c.fail(err, "status %q of %s@%.12s", s.Context, repo, sha)
}

func status(in *gh.RepoStatus) Status {
	return Status{
		Context: in.GetContext(), State: in.GetState(), Description: in.GetDescription(),
		TargetURL: in.GetTargetURL(), Creator: user(in.GetCreator()),
	}
}

// opt is nil for an empty string, which is then not sent.
func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// get asks what go-github has no proper call for.
func (c *Client) get(ctx context.Context, path string, out any) error {
	name, _, _ := strings.Cut(path, "?")
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%q would lead elsewhere", path)
		}
	}
	req, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	_, err = c.api.Do(ctx, req, out)
	return err
}
