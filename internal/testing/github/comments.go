package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

type comment struct {
	id               int64
	issue            *issue
	body             string
	author           *account
	created, updated time.Time
	reactions        []Reaction
}

// A Reaction is an emoji that someone put on a comment.
type Reaction struct {
	ID      int64
	Content string
	User    github.User
}

// AddComment comments as someone would, and returns the comment.
func (s *Server) AddComment(repo github.Repo, n int, login, body string) github.Comment {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.comment(r, s.addComment(r, r.issue(s, n), s.account(login), body))
}

// SetComment edits a comment as its author would.
func (s *Server) SetComment(repo github.Repo, id int64, body string) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := r.comment(id)
	if c == nil {
		s.t.Fatalf("githubtest: no comment %d", id)
	}
	c.body, c.updated = body, s.tick()
}

// Comments returns the comments of an issue or pull request, oldest first.
func (s *Server) Comments(repo github.Repo, n int) []github.Comment {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []github.Comment
	for _, c := range r.comments {
		if c.issue.number == n {
			out = append(out, s.comment(r, c))
		}
	}
	return out
}

// Reactions returns what was put on a comment.
func (s *Server) Reactions(repo github.Repo, commentID int64) []Reaction {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := r.comment(commentID); c != nil {
		return slices.Clone(c.reactions)
	}
	return nil
}

func (r *Repo) comment(id int64) *comment {
	for _, c := range r.comments {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (s *Server) addComment(r *Repo, in *issue, author *account, body string) *comment {
	now := s.tick()
	c := &comment{id: s.newID(), issue: in, body: body, author: author, created: now, updated: now}
	r.comments = append(r.comments, c)
	in.updated = now
	return c
}

func (s *Server) comment(r *Repo, c *comment) github.Comment {
	return github.Comment{ID: c.id, Body: c.body, Author: c.author.user(), Created: c.created, Updated: c.updated, HTMLURL: s.commentURL(r, c)}
}

func (s *Server) commentURL(r *Repo, c *comment) string {
	kind := "issues"
	if c.issue.pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%s/%d#issuecomment-%d", s.URL, r.String(), kind, c.issue.number, c.id)
}

func (s *Server) commentJSON(r *Repo, c *comment) map[string]any {
	return map[string]any{
		"id": c.id, "body": c.body, "user": c.author.json(), "created_at": stamp(c.created), "updated_at": stamp(c.updated),
		"html_url": s.commentURL(r, c), "url": s.URL + "/repos/" + r.String() + "/issues/comments/" + strconv.FormatInt(c.id, 10),
		"issue_url": s.URL + "/repos/" + r.String() + "/issues/" + strconv.Itoa(c.issue.number), "author_association": "NONE",
	}
}

func (s *Server) listComments(r *request) reply {
	in := r.repo.issues[int(r.int("number"))]
	if in == nil {
		return notFound()
	}
	var out []any
	for _, c := range r.repo.comments {
		if c.issue == in {
			out = append(out, s.commentJSON(r.repo, c))
		}
	}
	return list(out)
}

// bodyOf is the text of a comment to make, and what is wrong with it.
func bodyOf(r *request) (string, []string) {
	body := decode[struct{ Body string }](r).Body
	switch {
	case strings.TrimSpace(body) == "":
		return "", []string{"body can't be blank"}
	case len([]rune(body)) > 65536:
		return "", []string{"body is too long (maximum is 65536 characters)"}
	}
	return body, nil
}

func (s *Server) createComment(r *request) reply {
	in := r.repo.issues[int(r.int("number"))]
	if in == nil {
		return notFound()
	}
	perms := []string{"issues"}
	if in.pull != nil {
		perms = append(perms, "pull_requests")
	}
	if !r.token.may(r.repo, "write", "read", perms...) {
		return r.token.notAccessible()
	}
	body, wrong := bodyOf(r)
	if wrong != nil {
		return invalid(wrong...)
	}
	return created(s.commentJSON(r.repo, s.addComment(r.repo, in, r.token.who, body)))
}

// editComment lets the author edit, and everyone who may write.
func (s *Server) editComment(r *request) reply {
	c := r.repo.comment(r.int("id"))
	if c == nil {
		return notFound()
	}
	role := "write"
	if c.author == r.token.who {
		role = "read"
	}
	if !r.token.may(r.repo, "write", role, "issues", "pull_requests") {
		return r.token.notAccessible()
	}
	body, wrong := bodyOf(r)
	if wrong != nil {
		return invalid(wrong...)
	}
	c.body, c.updated = body, s.tick()
	return ok(s.commentJSON(r.repo, c))
}

func (s *Server) getComment(r *request) reply {
	c := r.repo.comment(r.int("id"))
	if c == nil {
		return notFound()
	}
	return ok(s.commentJSON(r.repo, c))
}

func (s *Server) createReaction(r *request) reply {
	c := r.repo.comment(r.int("id"))
	if c == nil {
		return notFound()
	}
	content := decode[struct{ Content string }](r).Content
	answer, id := http.StatusOK, int64(0)
	for _, have := range c.reactions {
		if have.Content == content && have.User.ID == r.token.who.ID {
			id = have.ID
		}
	}
	if id == 0 {
		answer, id = http.StatusCreated, s.newID()
		c.reactions = append(c.reactions, Reaction{ID: id, Content: content, User: r.token.who.user()})
	}
	return reply{status: answer, body: map[string]any{"id": id, "content": content, "user": r.token.who.json(), "created_at": stamp(s.now)}}
}

type status struct {
	id      int64
	sha     string
	status  github.Status
	creator *account
	created time.Time
}

// Statuses returns the statuses of a commit, newest first.
func (s *Server) Statuses(repo github.Repo, sha string) []github.Status {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []github.Status
	for _, st := range r.statusesOf(sha) {
		out = append(out, st.status)
	}
	return out
}

func (r *Repo) statusesOf(sha string) []*status {
	var out []*status
	for _, st := range r.statuses {
		if st.sha == sha {
			out = append(out, st)
		}
	}
	slices.SortFunc(out, func(a, b *status) int { return cmp.Compare(b.id, a.id) })
	return out
}

func (st *status) json() map[string]any {
	return map[string]any{
		"id": st.id, "state": st.status.State, "context": st.status.Context, "description": nilIfEmpty(st.status.Description),
		"target_url": nilIfEmpty(st.status.TargetURL), "creator": st.creator.json(), "created_at": stamp(st.created), "updated_at": stamp(st.created),
		"avatar_url": nil,
	}
}

func (s *Server) createStatus(r *request) reply {
	sha := r.PathValue("sha")
	in := decode[struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}](r)
	if !s.hasCommit(r.repo, sha) {
		return invalid("No commit found for SHA: " + sha)
	}
	if len([]rune(in.Description)) > 140 {
		return invalid("description is too long (maximum is 140 characters)")
	}
	st := &status{id: s.newID(), sha: sha, creator: r.token.who, created: s.tick()}
	st.status = github.Status{Context: cmp.Or(in.Context, "default"), State: in.State, Description: in.Description, TargetURL: in.TargetURL, Creator: r.token.who.user()}
	r.repo.statuses = append(r.repo.statuses, st)
	return created(st.json())
}

func (s *Server) listStatuses(r *request) reply {
	var out []any
	for _, st := range r.repo.statusesOf(r.PathValue("ref")) {
		out = append(out, st.json())
	}
	return list(out)
}

// hasCommit reports whether the repository has a commit of that full id.
func (s *Server) hasCommit(r *Repo, sha string) bool {
	if len(sha) != 40 {
		return false
	}
	for _, id := range s.refs(r.Repo, "refs/") {
		if id == sha {
			return true
		}
	}
	kind, err := s.gitFixed(s.dir(r.Repo), "cat-file", "-t", sha)
	return err == nil && kind == "commit"
}
