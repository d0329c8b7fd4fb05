package githubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ycbot/ycbot/internal/github"
)

// The methods that end in Event return the body of a webhook, which is also
// what GITHUB_EVENT_PATH holds: what is there now, as if sender had just done it.

// PullEvent is pull_request: "opened", "synchronize", "labeled" (with the
// label), "edited" (of the base, where it was changed) and so on.
func (s *Server) PullEvent(repo github.Repo, n int, action, sender, label string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.issue(s, n).pull
	out := s.envelope(r, action, sender)
	out["number"], out["pull_request"] = n, s.pullJSON(p)
	if action == "synchronize" {
		out["before"], out["after"] = p.before, p.headSHA
	}
	if action == "edited" && p.was != "" {
		out["changes"] = map[string]any{"base": map[string]any{"ref": map[string]any{"from": p.was}}}
	}
	if label != "" {
		out["label"] = map[string]any{"id": 1, "name": label, "color": "ededed", "default": false, "description": nil}
	}
	return s.encode(out)
}

// CommentEvent is issue_comment: "created", "edited" or "deleted".
func (s *Server) CommentEvent(repo github.Repo, commentID int64, action, sender string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := r.comment(commentID)
	if c == nil {
		s.t.Fatalf("githubtest: no comment %d", commentID)
	}
	out := s.envelope(r, action, sender)
	out["issue"], out["comment"] = s.issueJSON(r, c.issue), s.commentJSON(r, c)
	if action == "edited" {
		out["changes"] = map[string]any{"body": map[string]any{"from": "what it said before"}}
	}
	return s.encode(out)
}

// CheckRunEvent is check_run: "rerequested", or "requested_action" with the
// identifier of the button.
func (s *Server) CheckRunEvent(repo github.Repo, checkRunID int64, action, sender, identifier string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := r.check(checkRunID)
	if c == nil {
		s.t.Fatalf("githubtest: no check run %d", checkRunID)
	}
	out := s.envelope(r, action, sender)
	out["check_run"] = s.checkJSON(r, c)
	if identifier != "" {
		out["requested_action"] = map[string]any{"identifier": identifier}
	}
	return s.encode(out)
}

// CheckSuiteEvent is check_suite of an App and a commit: "rerequested".
func (s *Server) CheckSuiteEvent(repo github.Repo, app *App, headSHA, action, sender string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &check{app: app, run: github.CheckRun{HeadSHA: headSHA}}
	out := s.envelope(r, action, sender)
	out["check_suite"] = map[string]any{
		"id": app.ID*1000 + r.ID, "head_sha": headSHA, "status": "completed", "conclusion": "success", "app": s.appJSON(app),
		"pull_requests": s.checkJSON(r, c)["pull_requests"],
	}
	return s.encode(out)
}

// PushEvent is push to a branch, which was at before.
func (s *Server) PushEvent(repo github.Repo, branch, before, sender string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	after := s.Head(repo, branch)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.envelope(r, "", sender)
	out["ref"], out["before"], out["after"] = "refs/heads/"+branch, before, after
	return s.encode(out)
}

// DispatchEvent is workflow_dispatch on a branch.
func (s *Server) DispatchEvent(repo github.Repo, branch, sender string, inputs map[string]string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.envelope(r, "", sender)
	out["ref"], out["inputs"], out["workflow"] = "refs/heads/"+branch, inputs, ".github/workflows/ycbot.yml"
	return s.encode(out)
}

// MergeGroupEvent is merge_group "checks_requested": head shall be merged into
// the branch.
func (s *Server) MergeGroupEvent(repo github.Repo, branch, headSHA, sender string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	base := s.Head(repo, branch)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.envelope(r, "checks_requested", sender)
	out["merge_group"] = map[string]any{
		"head_sha": headSHA, "head_ref": "refs/heads/gh-readonly-queue/" + branch + "/pr-1-" + base,
		"base_sha": base, "base_ref": "refs/heads/" + branch, "head_commit": map[string]any{"id": headSHA},
	}
	return s.encode(out)
}

// WorkflowRunEvent is workflow_run "completed" of a workflow that ran for a
// pull request. As on GitHub no pull request is named when the head is a fork's.
func (s *Server) WorkflowRunEvent(repo github.Repo, n int, runID int64, conclusion, sender string) []byte {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.issue(s, n).pull
	pulls := []any{}
	if p.from == r {
		pulls = append(pulls, s.briefPull(p))
	}
	out := s.envelope(r, "completed", sender)
	out["workflow_run"] = map[string]any{
		"id": runID, "name": "ycbot", "event": "pull_request", "status": "completed", "conclusion": conclusion, "head_branch": p.head,
		"head_sha": p.headSHA, "head_repository": s.repoJSON(p.from), "repository": s.repoJSON(r), "pull_requests": pulls, "run_attempt": 1,
	}
	return s.encode(out)
}

// InstallationEvent is installation: "suspend", "deleted" and so on; with repositories
// it is installation_repositories "removed" or "added".
func (s *Server) InstallationEvent(id int64, action, sender string, repos ...github.Repo) []byte {
	s.t.Helper()
	list := []any{}
	for _, name := range repos {
		r := s.repo(name)
		list = append(list, map[string]any{"id": r.ID, "name": r.Name, "full_name": r.String(), "private": !r.public})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.installs[id]
	out := map[string]any{
		"action": action, "sender": s.account(sender).json(),
		"installation": map[string]any{"id": id, "app_id": in.app.ID, "account": in.owner.json(), "permissions": in.perms},
	}
	if len(list) > 0 {
		out["repositories_removed"], out["repositories_added"] = list, []any{}
	}
	if action == "added" {
		out["repositories_removed"], out["repositories_added"] = []any{}, list
	}
	return s.encode(out)
}

// envelope is what all events carry.
func (s *Server) envelope(r *Repo, action, sender string) map[string]any {
	s.t.Helper()
	out := map[string]any{"repository": s.repoJSON(r), "sender": s.account(sender).json()}
	if action != "" {
		out["action"] = action
	}
	if r.owner.Type == "Organization" {
		out["organization"] = map[string]any{"id": r.owner.ID, "login": r.owner.Login}
	}
	if id, ok := s.installationOf(r); ok {
		out["installation"] = map[string]any{"id": id}
	}
	return out
}

func (s *Server) encode(v any) []byte {
	s.t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// Deliver posts an event to a webhook, signed as GitHub signs, and returns the
// answer's status. Each delivery has an id of its own.
func (s *Server) Deliver(ctx context.Context, url, secret, event string, body []byte) int {
	s.t.Helper()
	s.mu.Lock()
	id := s.newID()
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "GitHub-Hookshot/githubtest")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", fmt.Sprintf("00000000-0000-4000-8000-%012d", id))
	req.Header.Set("X-Hub-Signature-256", Signature(secret, body))
	resp, err := s.http.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode
}

// Signature is the value of X-Hub-Signature-256 for a body.
func Signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
