package githubtest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

var widgets = github.Repo{Owner: "acme", Name: "widgets"}

// A recorder is a test that notes errors instead of failing.
type recorder struct {
	testing.TB
	errs []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}

func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// withToken is a URL that carries a token as Actions and Apps send it.
func withToken(url, token string) string {
	return strings.Replace(url, "://", "://x-access-token:"+token+"@", 1)
}

// call makes an API call and returns the status, the headers and the body.
func call(t *testing.T, s *githubtest.Server, token, method, path, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(out)
}

// Git clones with a token, fetches a commit by its id and the refs of a pull
// request, and gets nothing without a token or with a wrong one.
func TestGit(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	s.AddUser("mallory", 66, "User")
	fork := s.AddFork(widgets, "mallory")
	head := s.Push(fork.Repo, githubtest.Commit{
		Branch: "topic", Files: map[string]string{"run.sh": "#!/bin/sh\n"}, Executable: []string{"run.sh"},
	})
	n := s.OpenPull(widgets, githubtest.Pull{Title: "X", From: fork.Repo, Head: "topic"})
	token := s.Token("", nil, "actions")
	dir := t.TempDir()
	mustGit(t, dir, "clone", "-q", withToken(s.GitURL(widgets), token), "c")
	c := filepath.Join(dir, "c")
	mustGit(t, c, "fetch", "-q", "--depth=1", "origin", head)
	if got := mustGit(t, c, "ls-tree", "FETCH_HEAD", "run.sh"); !strings.HasPrefix(got, "100755 blob") {
		t.Errorf("tree: %s", got)
	}
	pr := fmt.Sprintf("refs/pull/%d/", n)
	mustGit(t, c, "fetch", "-q", "origin", pr+"head:h", pr+"merge:m")
	want := s.Head(widgets, "main") + " " + head
	if got := mustGit(t, c, "log", "-1", "--format=%P", "m"); got != want || mustGit(t, c, "rev-parse", "h") != head {
		t.Errorf("parents of the merge %s, want %s", got, want)
	}
	for _, url := range []string{s.GitURL(widgets), withToken(s.GitURL(widgets), "wrong"), withToken(s.GitURL(widgets), s.Token("mallory", nil, "personal"))} {
		if out, err := git(t, dir, "ls-remote", url); err == nil {
			t.Errorf("%s: %s", url, out)
		}
	}
	s.SetPublic(widgets)
	mustGit(t, dir, "ls-remote", s.GitURL(widgets))
}

// A push by git moves the pull request, and only who may write pushes.
func TestGitPush(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	s.AddUser("alice", 11, "User")
	s.AddUser("rae", 12, "User")
	s.SetPermission(widgets, "alice", "write")
	s.SetPermission(widgets, "rae", "read")
	old := s.Push(widgets, githubtest.Commit{Branch: "topic", Files: map[string]string{"a": "a"}})
	n := s.OpenPull(widgets, githubtest.Pull{Title: "X", Author: "alice", Head: "topic"})
	dir := t.TempDir()
	mustGit(t, dir, "clone", "-q", "-b", "topic", withToken(s.GitURL(widgets), s.Token("alice", nil, "personal")), "c")
	c := filepath.Join(dir, "c")
	mustGit(t, c, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "more")
	if out, err := git(t, c, "push", "-q", withToken(s.GitURL(widgets), s.Token("rae", nil, "personal")), "topic"); err == nil {
		t.Errorf("a reader pushed: %s", out)
	}
	mustGit(t, c, "push", "-q", "origin", "topic")
	head := mustGit(t, c, "rev-parse", "HEAD")
	if got := s.PullHead(widgets, n); got != head || got == old {
		t.Errorf("head %s, want %s", got, head)
	}
	payload := string(s.PullEvent(widgets, n, "synchronize", "alice", ""))
	if !strings.Contains(payload, `"before": "`+old+`"`) || !strings.Contains(payload, `"after": "`+head+`"`) {
		t.Errorf("payload: %.300s", payload)
	}
}

// A token does no more than it was made for, and who has none nothing.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	for i, role := range []string{"read", "write", "none"} {
		s.AddUser("u-"+role, int64(10+i), "User")
		s.SetPermission(widgets, "u-"+role, role)
	}
	issue := s.OpenIssue(widgets, githubtest.Issue{Title: "I"})
	owners := s.AddComment(widgets, issue, "acme", "mine").ID
	sha := s.Head(widgets, "main")
	comments := fmt.Sprintf("/repos/acme/widgets/issues/%d/comments", issue)
	edit := fmt.Sprintf("/repos/acme/widgets/issues/comments/%d", owners)
	check := `{"name":"ycbot","head_sha":"` + sha + `"}`
	job := func(perms map[string]string) string { return s.Token("", perms, "actions") }
	reader, writer, stranger := s.Token("u-read", nil, "personal"), s.Token("u-write", nil, "personal"), s.Token("u-none", nil, "personal")
	for _, tt := range []struct {
		name, token, method, path, body string
		want                            int
	}{
		{"no-one", "", "GET", comments, "", 401},
		{"wrong token", "ghp_x", "GET", comments, "", 401},
		{"stranger", stranger, "GET", comments, "", 404},
		{"reader comments", reader, "POST", comments, `{"body":"x"}`, 201},
		{"empty comment", reader, "POST", comments, `{"body":" "}`, 422},
		{"reader edits another's", reader, "PATCH", edit, `{"body":"x"}`, 403},
		{"writer edits another's", writer, "PATCH", edit, `{"body":"x"}`, 200},
		{"reader's status", reader, "POST", "/repos/acme/widgets/statuses/" + sha, `{"state":"success"}`, 403},
		{"writer's status", writer, "POST", "/repos/acme/widgets/statuses/" + sha, `{"state":"success"}`, 201},
		{"long status", writer, "POST", "/repos/acme/widgets/statuses/" + sha, `{"state":"success","description":"` + strings.Repeat("x", 141) + `"}`, 422},
		{"status of nothing", writer, "POST", "/repos/acme/widgets/statuses/" + strings.Repeat("1", 40), `{"state":"success"}`, 422},
		{"narrow personal token", s.Token("u-write", map[string]string{"checks": "write"}, "personal"), "POST", comments, `{"body":"x"}`, 403},
		{"personal check run", writer, "POST", "/repos/acme/widgets/check-runs", check, 403},
		{"job without permission", job(nil), "POST", comments, `{"body":"x"}`, 403},
		{"job reads", job(nil), "GET", comments, "", 200},
		{"job may not read", job(map[string]string{"issues": "none", "pull_requests": "none"}), "GET", comments, "", 403},
		{"permission for pulls does for no issue", job(map[string]string{"pull_requests": "write"}), "POST", comments, `{"body":"x"}`, 403},
		{"job's check run", job(map[string]string{"checks": "write"}), "POST", "/repos/acme/widgets/check-runs", check, 201},
		{"check run of nothing", job(map[string]string{"checks": "write"}), "POST", "/repos/acme/widgets/check-runs", strings.Replace(check, sha, strings.Repeat("1", 40), 1), 422},
		{"job asks who it is", job(nil), "GET", "/user", "", 403},
		{"person asks who it is", reader, "GET", "/user", "", 200},
		{"no JSON web token", reader, "GET", "/app", "", 401},
	} {
		if got, _, body := call(t, s, tt.token, tt.method, tt.path, tt.body); got != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.name, got, tt.want, body)
		}
	}
}

// An App changes its own check runs, no one else's.
func TestCheckRunsBelongToTheirApp(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	s.AddApp(7, "ycbot")
	perms := map[string]string{"checks": "write"}
	mine, job := s.Token("ycbot[bot]", perms, "installation"), s.Token("", perms, "actions")
	status, _, body := call(t, s, mine, "POST", "/repos/acme/widgets/check-runs", `{"name":"ycbot","head_sha":"`+s.Head(widgets, "main")+`"}`)
	if status != 201 {
		t.Fatal(status, body)
	}
	path := fmt.Sprintf("/repos/acme/widgets/check-runs/%d", s.CheckRuns(widgets)[0].ID)
	if status, _, body = call(t, s, job, "PATCH", path, `{"status":"in_progress"}`); status != 403 {
		t.Error(status, body)
	}
	if status, _, body = call(t, s, mine, "PATCH", path, `{"conclusion":"success"}`); status != 200 || s.CheckRuns(widgets)[0].Status != "completed" {
		t.Error(status, body)
	}
}

// GitHub's limits are held: what is too much changes nothing.
func TestCheckRunLimits(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	token := s.Token("", map[string]string{"checks": "write"}, "actions")
	note := `{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"}`
	for name, output := range map[string]string{
		"annotations": `{"title":"t","summary":"s","annotations":[` + strings.Repeat(note+",", 50) + note + `]}`,
		"summary":     `{"title":"t","summary":"` + strings.Repeat("x", 65536) + `"}`,
		"text":        `{"title":"t","summary":"s","text":"` + strings.Repeat("x", 65536) + `"}`,
	} {
		status, _, _ := call(t, s, token, "POST", "/repos/acme/widgets/check-runs",
			`{"name":"ycbot","head_sha":"`+s.Head(widgets, "main")+`","output":`+output+`}`)
		if status != 422 || len(s.CheckRuns(widgets)) != 0 {
			t.Errorf("%s: %d, %d check runs", name, status, len(s.CheckRuns(widgets)))
		}
	}
}

// The n-th call from now fails as it was asked to, once; every other goes on.
func TestFailAt(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	issue := s.OpenIssue(widgets, githubtest.Issue{Title: "I"})
	token := s.Token("", map[string]string{"issues": "write"}, "actions")
	path := fmt.Sprintf("/repos/acme/widgets/issues/%d/comments", issue)
	post := func() int {
		status, _, _ := call(t, s, token, "POST", path, `{"body":"x"}`)
		return status
	}
	var phases []string
	hook := func(n int, r *http.Request, phase string) {
		phases = append(phases, fmt.Sprintf("%d %s %s with %d", n, r.Method, phase, len(s.Comments(widgets, issue))))
	}
	s.FailAt(2, githubtest.Before())
	s.FailAt(3, githubtest.After())
	s.FailAt(4, githubtest.Status(503, "Retry-After", "7"))
	s.FailAt(5, githubtest.Hook(hook))
	dropped := githubtest.After()
	dropped.Hook = hook
	s.FailAt(6, dropped)
	var got []int
	for range 7 {
		got = append(got, post(), len(s.Comments(widgets, issue)))
	}
	want := []int{201, 1, 0, 1, 0, 2, 503, 2, 201, 3, 0, 4, 201, 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status and comments in turn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"5 POST before with 2", "5 POST after with 3", "6 POST after with 4"}, phases); diff != "" {
		t.Errorf("phases:\n%s", diff)
	}
	var status []int
	for _, c := range s.Calls() {
		status = append(status, c.Status)
	}
	if diff := cmp.Diff([]int{201, 0, 0, 503, 201, 0, 201}, status); diff != "" {
		t.Errorf("calls:\n%s", diff)
	}
}

// A request that GitHub would not understand fails the test, and so does one
// that no one has thought of yet; so does a transport that checks requests to
// another stand-in.
func TestRequestsAreChecked(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	s := githubtest.New(r)
	s.AddRepo("acme", "widgets")
	token := s.Token("", nil, "actions")
	for _, c := range [][3]string{
		{"POST", "/repos/acme/widgets/issues/1/comments", `{"text":"x"}`},
		{"POST", "/repos/acme/widgets/check-runs", `{"name":"x","status":"running"}`},
		{"GET", "/repos/acme/widgets/nonsense", ""},
	} {
		r.errs = nil
		call(t, s, token, c[0], c[1], c[2])
		if len(r.errs) == 0 {
			t.Errorf("%s %s %s: no error", c[0], c[1], c[2])
		}
	}
	stand := &http.Client{Transport: githubtest.Validator(r, http.DefaultTransport)}
	for path, want := range map[string]int{"/api/v3/repos/a/b/pulls/1": 0, "/repos/a/b/branches/x%2Fy": 0, "/repos/a/b/pulls/one": 1} {
		r.errs = nil
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:1"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := stand.Do(req); err == nil {
			_ = resp.Body.Close()
			t.Error("port 1 answers")
		}
		if len(r.errs) != want {
			t.Errorf("%s: errors %q, want %d", path, r.errs, want)
		}
	}
}

// Lists have pages, and links that lead from each to the next.
func TestPages(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	s.AddRepo("acme", "widgets")
	issue := s.OpenIssue(widgets, githubtest.Issue{Title: "I"})
	for range 31 {
		s.AddComment(widgets, issue, "acme", "x")
	}
	token := s.Token("", nil, "actions")
	path := fmt.Sprintf("/repos/acme/widgets/issues/%d/comments", issue)
	for query, want := range map[string]struct {
		items int
		link  string
	}{
		"":                    {30, fmt.Sprintf(`<%[1]s?page=2>; rel="next", <%[1]s?page=2>; rel="last"`, s.URL+path)},
		"?page=2":             {1, fmt.Sprintf(`<%s?page=1>; rel="prev"`, s.URL+path)},
		"?per_page=100":       {31, ""},
		"?per_page=10&page=9": {0, fmt.Sprintf(`<%s?page=8&per_page=10>; rel="prev"`, s.URL+path)},
	} {
		_, h, body := call(t, s, token, "GET", path+query, "")
		if got := strings.Count(body, `"body"`); got != want.items || h.Get("Link") != want.link {
			t.Errorf("%s: %d items, Link %s\nwant %d, %s", query, got, h.Get("Link"), want.items, want.link)
		}
	}
}
