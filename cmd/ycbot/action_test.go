package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A hosted is a repository on a GitHub, with a machine on which its workflow runs.
type hosted struct {
	*githubtest.Server
	repo  github.Repo
	pull  int
	token string
	home  string
	temp  string // RUNNER_TEMP
}

// Permissions of a workflow that may write what ycbot writes, and of a fork's.
var (
	mayPost  = map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write"}
	readOnly = map[string]string{"contents": "read", "checks": "read", "pull_requests": "read", "issues": "read"}
)

// newHosted has a pull request of alice, who may write, that adds the files of
// change to main.
func newHosted(t *testing.T, change map[string]string) *hosted {
	t.Helper()
	s := githubtest.New(t)
	h := &hosted{Server: s, repo: github.Repo{Owner: "acme", Name: "sums"}, home: t.TempDir(), temp: t.TempDir()}
	s.AddRepo(h.repo.Owner, h.repo.Name)
	for i, login := range []string{"alice", "bob", "mallory"} {
		s.AddUser(login, int64(i+1), "User")
	}
	s.AddUser("robot[bot]", 9, "Bot")
	s.SetPermission(h.repo, "alice", "write")
	s.SetPermission(h.repo, "bob", "read")
	s.Push(h.repo, githubtest.Commit{Branch: "main", Message: "base", Files: map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\n",
		"sum.sh":            "echo $(($1 + $2))\n",
		"test.sh":           "test \"$(sh sum.sh 1 1)\" = 2\n",
	}})
	s.Push(h.repo, githubtest.Commit{Branch: "work", Message: "work", Files: change})
	h.pull = s.OpenPull(h.repo, githubtest.Pull{Title: "Work on sums", Body: "It sums.", Author: "alice", Head: "work"})
	h.token = s.Token("github-actions[bot]", mayPost, "actions")
	return h
}

// good and bad are changes whose test passes and fails.
var (
	good = map[string]string{"sum.sh": "# adds\necho \"$(($1 + $2))\"\n"}
	bad  = map[string]string{"sum.sh": "echo $(($1 - $2))\n"}
)

// A step is what one execution of the action left behind.
type step struct {
	code    int
	log     string
	outputs map[string]string
	summary string
}

// command is the program as a step of a workflow.
func (h *hosted) command(t *testing.T, name string, event []byte, inputs map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"output", "summary"} {
		write(t, filepath.Join(dir, file), "")
	}
	write(t, filepath.Join(dir, "event.json"), string(event))
	cmd := realProgram(t, h.home, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env,
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME="+name, "GITHUB_EVENT_PATH="+filepath.Join(dir, "event.json"),
		"GITHUB_API_URL="+h.URL, "GITHUB_SERVER_URL="+h.URL, "GITHUB_REPOSITORY="+h.repo.String(), "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "RUNNER_TEMP="+h.temp,
		"INPUT_GITHUB_TOKEN="+h.token,
	)
	for k, v := range inputs {
		cmd.Env = append(cmd.Env, "INPUT_"+strings.ToUpper(k)+"="+v)
	}
	return cmd
}

// step executes the action to its end. Commands run without a sandbox, unless
// inputs say otherwise.
func (h *hosted) step(t *testing.T, name string, event []byte, inputs map[string]string) step {
	t.Helper()
	with := map[string]string{"sandbox": "none"}
	maps.Copy(with, inputs)
	return ended(t, h.command(t, name, event, with, "action"))
}

func ended(t *testing.T, cmd *exec.Cmd) step {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	out := step{code: cmd.ProcessState.ExitCode(), log: log.String(), outputs: map[string]string{}}
	summary, err := os.ReadFile(filepath.Join(cmd.Dir, "summary"))
	if err != nil {
		t.Fatal(err)
	}
	out.summary = string(summary)
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if name, _, ok := strings.Cut(line, "<<"); ok {
			out.outputs[name] = lines[i+1]
		}
	}
	return out
}

// opened is the event of the pull request as it is now.
func (h *hosted) opened() []byte { return h.PullEvent(h.repo, h.pull, "opened", "alice", "") }

// says posts a comment and returns its event.
func (h *hosted) says(login, text string) (id int64, event []byte) {
	c := h.AddComment(h.repo, h.pull, login, text)
	return c.ID, h.CommentEvent(h.repo, c.ID, "created", login)
}

// posted returns the comments that ycbot wrote.
func (h *hosted) posted() []string {
	var out []string
	for _, c := range h.Comments(h.repo, h.pull) {
		if c.Author.Login == "github-actions[bot]" {
			out = append(out, c.Body)
		}
	}
	return out
}

// one wants one comment of ycbot's and one check run that is completed.
func (h *hosted) one(t *testing.T, conclusion, text string) {
	t.Helper()
	comments, checks := h.posted(), h.CheckRuns(h.repo)
	if len(comments) != 1 || !strings.Contains(comments[0], text) {
		t.Errorf("comments: %q, want one with %q", comments, text)
	}
	if len(checks) != 1 || checks[0].Status != "completed" || checks[0].Conclusion != conclusion || checks[0].Name != "ycbot" {
		t.Errorf("check runs: %+v, want one %s", checks, conclusion)
	}
}

// A pull request gets one comment and one check run, and the step outputs and a
// summary; the same event again changes nothing of that, and the artifact is
// intact.
func TestActionOnPull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, conclusion, verdict string
		change                    map[string]string
		code                      int
	}{
		{"passes", "success", "PASS", good, 0},
		{"fails", "failure", "FAIL", bad, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, c.change)
			var s step
			for range 2 {
				if s = h.step(t, "pull_request", h.opened(), nil); s.code != c.code {
					t.Fatalf("exit %d, want %d\n%s", s.code, c.code, s.log)
				}
				h.one(t, c.conclusion, c.verdict)
			}
			if got := h.CheckRuns(h.repo)[0].HeadSHA; got != h.PullHead(h.repo, h.pull) {
				t.Errorf("check run on %s", got)
			}
			o := s.outputs
			if o["verdict"] != c.verdict || o["comment-url"] == "" || o["check-url"] == "" || o["tokens"] != "0" || o["cost-usd"] != "0.0000" {
				t.Errorf("outputs: %q", o)
			}
			if !strings.Contains(s.summary, c.verdict) || strings.Contains(s.log, h.token+"\n") && !strings.Contains(s.log, "::add-mask::"+h.token) {
				t.Errorf("summary: %s\nlog: %s", s.summary, s.log)
			}
			if out, err := realProgram(t, h.home, "check", o["report-dir"]).CombinedOutput(); err != nil || o["report-json"] != filepath.Join(o["report-dir"], "report.json") {
				t.Errorf("check: %v\n%s", err, out)
			}
		})
	}
}

// A push to the default branch is verified, and leaves the results of its tests for the
// pull requests that begin there: their base is not tested again.
func TestActionOnPush(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	before := h.Head(h.repo, "main")
	head := h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "merge", Files: map[string]string{"more.sh": "echo more\n"}})
	s := h.step(t, "push", h.PushEvent(h.repo, "main", before, "alice"), nil)
	if s.code != 0 || s.outputs["verdict"] != "PASS" {
		t.Fatalf("exit %d, %q\n%s", s.code, s.outputs, s.log)
	}
	checks := h.CheckRuns(h.repo)
	if len(checks) != 1 || checks[0].HeadSHA != head || checks[0].Conclusion != "success" || len(h.posted()) != 0 {
		t.Errorf("checks %+v, comments %q", checks, h.posted())
	}
	h.Push(h.repo, githubtest.Commit{Branch: "next", Message: "next", Files: good})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Next", Author: "alice", Head: "next"})
	s = h.step(t, "pull_request", h.opened(), nil)
	if s.code != 0 || !strings.Contains(s.summary, "reused: ") {
		t.Errorf("exit %d: the base's results were not known:\n%s\n%s", s.code, s.summary, s.log)
	}
}

// Who may ask, and how those are answered who may not.
func TestActionOnComment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, login, text, action string
		code                      string // in the log; empty: it runs
		reply                     string // in a comment; empty: no comment
	}{
		{name: "a writer", login: "alice", text: "/verify"},
		{name: "a writer names the head", login: "alice", text: "/verify HEAD"},
		{name: "another head", login: "alice", text: "/verify 0123456789abcdef", code: "sha-mismatch", reply: "you named"},
		{name: "a reader", login: "bob", text: "/verify", code: "no-permission", reply: "permission"},
		{name: "a stranger", login: "mallory", text: "/verify full", code: "no-permission", reply: "permission"},
		{name: "a bot", login: "robot[bot]", text: "/verify", code: "bot"},
		{name: "an edited comment", login: "alice", text: "/verify", action: "edited", code: "edited"},
		{name: "an unknown word", login: "alice", text: "/verify everything", code: "unknown-command", reply: "/verify"},
		{name: "help", login: "alice", text: "/verify help", code: "help", reply: "/verify"},
		{name: "stop", login: "alice", text: "/verify stop", code: "app-only", reply: "App"},
		{name: "talk", login: "alice", text: "please /verify", code: "no-command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			id, event := h.says(c.login, strings.ReplaceAll(c.text, "HEAD", h.PullHead(h.repo, h.pull)))
			if c.action != "" {
				event = h.CommentEvent(h.repo, id, c.action, c.login)
			}
			s := h.step(t, "issue_comment", event, nil)
			if s.code != 0 {
				t.Fatalf("exit %d\n%s", s.code, s.log)
			}
			if c.code == "" {
				h.one(t, "success", "PASS")
				if r := h.Reactions(h.repo, id); len(r) != 1 || r[0].Content != "eyes" {
					t.Errorf("reactions: %+v", r)
				}
				return
			}
			if !strings.Contains(s.log, "("+c.code+")") {
				t.Errorf("log: %s\nwant %s", s.log, c.code)
			}
			comments := h.posted()
			if (c.reply != "") != (len(comments) == 1) || len(h.CheckRuns(h.repo)) != 0 {
				t.Fatalf("comments: %q, checks %v", comments, h.CheckRuns(h.repo))
			}
			if c.reply != "" && !strings.Contains(comments[0], c.reply) {
				t.Errorf("reply: %s", comments[0])
			}
		})
	}
}

// Repeated requests are answered in one comment, which says the last.
func TestActionRefusesOnce(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	for _, said := range [][2]string{{"bob", "/verify"}, {"mallory", "/verify"}, {"mallory", "/verify full"}, {"alice", "/verify everything"}} {
		_, event := h.says(said[0], said[1])
		if s := h.step(t, "issue_comment", event, nil); s.code != 0 {
			t.Fatalf("exit %d\n%s", s.code, s.log)
		}
	}
	if got := h.posted(); len(got) != 1 || !strings.Contains(got[0], "was not understood") {
		t.Errorf("%d comments: %q", len(got), got)
	}
}

// A comment on an issue is answered what it is for, and nothing runs.
func TestActionOnIssue(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	n := h.OpenIssue(h.repo, githubtest.Issue{Title: "it is slow", Author: "alice"})
	c := h.AddComment(h.repo, n, "alice", "/verify")
	s := h.step(t, "issue_comment", h.CommentEvent(h.repo, c.ID, "created", "alice"), nil)
	got := h.Comments(h.repo, n)
	if s.code != 0 || len(got) != 2 || !strings.Contains(got[1].Body, "this is an issue") || len(h.CheckRuns(h.repo)) != 0 {
		t.Errorf("exit %d, comments %+v\n%s", s.code, got, s.log)
	}
}

// A push while the run goes: what is published belongs to the commit that was
// verified, and says that there is a newer one.
func TestActionSuperseded(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	was := h.PullHead(h.repo, h.pull)
	var pushed atomic.Bool
	h.FailAt(0, githubtest.Hook(func(_ int, r *http.Request, phase string) {
		if phase == "after" && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/check-runs") && pushed.CompareAndSwap(false, true) {
			go h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "more", Files: map[string]string{"more": "x\n"}})
		}
	}))
	s := h.step(t, "pull_request", h.opened(), nil)
	h.Heal()
	now := h.PullHead(h.repo, h.pull)
	if now == was || s.code != 0 {
		t.Fatalf("no push, or exit %d\n%s", s.code, s.log)
	}
	h.one(t, "cancelled", "uperseded")
	if c := h.CheckRuns(h.repo)[0]; c.HeadSHA != was || !strings.Contains(c.Output.Title, now[:7]) {
		t.Errorf("check run: %+v %+v, head now %s", c, c.Output, now)
	}
}

// The head moved before the step looked: the newer event verifies it.
func TestActionStaleEvent(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	event := h.opened()
	h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "more", Files: map[string]string{"more": "x\n"}})
	s := h.step(t, "pull_request", event, nil)
	if s.code != 0 || !strings.Contains(s.log, "(superseded)") || len(h.posted())+len(h.CheckRuns(h.repo)) != 0 {
		t.Errorf("exit %d\n%s", s.code, s.log)
	}
}

// fork opens a pull request of mallory's, whose test writes down what it sees.
func (h *hosted) fork(t *testing.T, test string) {
	t.Helper()
	from := github.Repo{Owner: "mallory", Name: h.repo.Name}
	h.AddFork(h.repo, "mallory")
	h.Push(from, githubtest.Commit{Branch: "evil", Message: "evil", Files: map[string]string{"test.sh": test}})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Better sums", Author: "mallory", Head: "evil", From: from})
}

// Of a fork nothing is executed where the sandbox does not give what that needs,
// and what was not executed is no success. With a token that may not write, the
// log and the summary say it.
func TestActionOnForkRefused(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	seen := filepath.Join(t.TempDir(), "seen")
	h.fork(t, "env >"+seen+"\n")
	_, event := h.says("alice", "/verify "+h.PullHead(h.repo, h.pull))
	s := h.step(t, "issue_comment", event, nil) // the operator's "none" has no say here
	if _, err := os.Stat(seen); err == nil || s.code != 1 {
		t.Fatalf("exit %d, executed: %t\n%s", s.code, err == nil, s.log)
	}
	h.one(t, "failure", "nothing of the change was executed")

	h.token = h.Token("github-actions[bot]", readOnly, "actions")
	s = h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""), map[string]string{"sandbox": "auto"})
	if len(h.posted()) != 1 || len(h.CheckRuns(h.repo)) != 1 || s.summary == "" || !strings.Contains(s.log, "could not post") {
		t.Errorf("exit %d\n%s", s.code, s.log)
	}
}

// A fork's commands see no secret of the step, whatever its isolation.
func TestActionOnForkSecrets(t *testing.T) {
	variants.Only(t) // a run; TestActionOnForkRefused has a fork
	t.Parallel()
	for _, tier := range []string{"basic", "full"} {
		t.Run(tier, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			h.fork(t, "env; cat /proc/*/environ | tr '\\0' '\\n'; echo \"$INPUT_API_KEY\"; exit 1\n")
			s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""),
				map[string]string{"sandbox": tier, "api_key": "sk-very-secret-value-0123456789"})
			if strings.Contains(s.log, "sandbox tier "+tier+": not available") {
				t.Skipf("sandbox tier %s cannot be had here", tier)
			}
			if s.outputs["verdict"] != "FAIL" {
				t.Fatalf("exit %d, %q: the fork's test was not run\n%s", s.code, s.outputs, s.log)
			}
			err := filepath.WalkDir(s.outputs["report-dir"], func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				for _, secret := range []string{h.token, "sk-very-secret", "INPUT_API_KEY="} {
					if bytes.Contains(data, []byte(secret)) {
						t.Errorf("%s has %s", path, secret)
					}
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What a fork's run left is posted as a claim, on its own pull request only.
func TestActionPublishesClaims(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	h.fork(t, "test \"$(sh sum.sh 1 1)\" = 2; exit\n")
	writes := h.token
	h.token = h.Token("github-actions[bot]", readOnly, "actions")
	s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""), nil)
	if s.outputs["verdict"] != "PASS" || len(h.CheckRuns(h.repo)) != 0 {
		t.Fatalf("%q\n%s", s.outputs, s.log)
	}
	h.token = writes
	event := h.WorkflowRunEvent(h.repo, h.pull, 77, "success", "mallory")
	dir := s.outputs["report-dir"]
	for range 2 {
		if s = h.step(t, "workflow_run", event, map[string]string{"publish": dir}); s.code != 0 {
			t.Fatalf("exit %d\n%s", s.code, s.log)
		}
	}
	h.one(t, "neutral", "the PASS is an unverified claim")
	if strings.Contains(h.posted()[0], "ycbot: PASS") {
		t.Errorf("headed as a PASS: %s", h.posted()[0])
	}

	// It names another pull request than the one whose head it is.
	moved := h.Push(github.Repo{Owner: "mallory", Name: h.repo.Name}, githubtest.Commit{Branch: "evil", Message: "more", Files: map[string]string{"x": "y"}})
	event = h.WorkflowRunEvent(h.repo, h.pull, 78, "success", "mallory")
	if s = h.step(t, "workflow_run", event, map[string]string{"publish": dir}); s.code != 3 || !strings.Contains(s.log, moved) {
		t.Errorf("exit %d\n%s", s.code, s.log)
	}
	h.one(t, "neutral", "PASS")

	// It was edited.
	write(t, filepath.Join(dir, "report.md"), "all is well")
	if s = h.step(t, "workflow_run", event, map[string]string{"publish": dir}); s.code != 3 || !strings.Contains(s.log, "not intact") {
		t.Errorf("exit %d\n%s", s.code, s.log)
	}
}

// However early the step is killed, its last step ends what was begun: one
// comment, one check run that is completed. The same event again then gives the
// verdict.
func TestActionKilled(t *testing.T) {
	variants.Only(t) // a run that is killed and goes on; TestKilledRunGoesOn has one without the Action
	t.Parallel()
	whole := newHosted(t, good)
	if s := whole.step(t, "pull_request", whole.opened(), nil); s.code != 0 {
		t.Fatal(s.log)
	}
	calls := len(whole.Calls())
	for n := 1; n <= calls; n++ {
		// make variants kills it at each call: the calls in between are of the same few kinds.
		if !variants.Asked() && n%8 != 1 {
			continue
		}
		for _, phase := range []string{"before", "after"} {
			killAt(t, n, phase)
		}
	}
}

func killAt(t *testing.T, n int, phase string) {
	t.Helper()
	h := newHosted(t, good)
	cmd := h.command(t, "pull_request", h.opened(), map[string]string{"sandbox": "none"}, "action")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	started := make(chan *os.Process, 1)
	h.FailAt(n, githubtest.Hook(func(_ int, _ *http.Request, now string) {
		if now == phase {
			_ = (<-started).Kill()
		}
	}))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started <- cmd.Process
	err := cmd.Wait()
	h.Heal()
	if err == nil {
		t.Errorf("call %d, %s: it was not killed\n%s", n, phase, log.String())
		return
	}
	begun := len(h.CheckRuns(h.repo)) > 0
	dirs, globErr := filepath.Glob(filepath.Join(h.temp, "ycbot", "*.effects.jsonl"))
	if globErr != nil || len(dirs) > 1 {
		t.Fatal(dirs, globErr)
	}
	for _, file := range dirs {
		s := ended(t, h.command(t, "pull_request", h.opened(), nil, "publish", "--finalize", strings.TrimSuffix(file, ".effects.jsonl")))
		if s.code != 0 {
			t.Errorf("call %d, %s: finalize: exit %d\n%s", n, phase, s.code, s.log)
		}
	}
	checks := h.CheckRuns(h.repo)
	if unfinished := slices.ContainsFunc(checks, func(c github.CheckRun) bool { return c.Status != "completed" }); unfinished || begun != (len(checks) == 1) && len(dirs) == 0 {
		t.Errorf("call %d, %s: after finalize: %+v", n, phase, checks)
	}
	if s := h.step(t, "pull_request", h.opened(), nil); s.code != 0 {
		t.Errorf("call %d, %s: again: exit %d\n%s", n, phase, s.code, s.log)
	}
	h.one(t, "success", "PASS")
}

// On one's own machine a pull request is verified by its number, posted on
// request with a person's token, and a stranger's is not executed without the
// isolation that it needs.
func TestRunPull(t *testing.T) {
	variants.Only(t) // the scripts of the Action take the same way
	t.Parallel()
	h := newHosted(t, bad)
	h.token = h.Token("alice", nil, "personal")
	run := func(args ...string) (int, string) {
		cmd := realProgram(t, h.home, append([]string{"run", "--repo", h.repo.String(), "--sandbox", "none"}, args...)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(cmd.Env, "GITHUB_API_URL="+h.URL, "GH_TOKEN="+h.token)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	head := h.PullHead(h.repo, h.pull)
	if code, out := run("--pr", "1"); code != 1 || !strings.Contains(out, "ycbot run --pr 1 --repo acme/sums --head "+head) || len(h.Comments(h.repo, 1)) != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
	for range 2 {
		if code, out := run("--pr", "1", "--publish"); code != 1 {
			t.Errorf("exit %d\n%s", code, out)
		}
	}
	comments, statuses := h.Comments(h.repo, 1), h.Statuses(h.repo, head)
	if len(comments) != 1 || comments[0].Author.Login != "alice" || !strings.Contains(comments[0].Body, "FAIL") {
		t.Errorf("comments %+v", comments)
	}
	if len(statuses) == 0 || statuses[0].State != "failure" || statuses[0].Context != "ycbot" {
		t.Errorf("statuses %+v", statuses)
	}
	h.token = h.Token("bob", nil, "personal")
	if code, out := run("--pr", "1", "--publish"); code != 3 || !strings.Contains(out, "VERDICT: FAIL") || !strings.Contains(out, "could not be posted") {
		t.Errorf("a reader: exit %d\n%s", code, out)
	}
	if code, out := run("--pr", "9"); code != 3 || !strings.Contains(out, "there is no pull request 9 in "+h.repo.String()+", or the token may not read it") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out := run("--pr", "#9"); code != 3 || !strings.Contains(out, "there is no pull request 9 in") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out := run("--publish"); code != 3 || !strings.Contains(out, "give --pr N") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out := run("--pr", "1", "--head", "0123456"); code != 3 || !strings.Contains(out, head) {
		t.Errorf("exit %d\n%s", code, out)
	}
	h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "more", Files: good})
	if code, out := run("--pr", "1", "--head", head); code != 1 {
		t.Errorf("an earlier head: exit %d\n%s", code, out)
	}
	h.token = h.Token("alice", nil, "personal")
	if code, out := run("--pr", "1", "--publish"); code != 0 {
		t.Errorf("the new head: exit %d\n%s", code, out)
	}
	said := func(s github.Status) bool {
		return s.State == "pending" && strings.HasPrefix(s.Description, "so far PASS")
	}
	if all := h.Statuses(h.repo, h.PullHead(h.repo, h.pull)); !slices.ContainsFunc(all, said) {
		t.Errorf("the first verdict was not shown: %+v", all)
	}
}

// A step that is cancelled, as the runner does it with a signal, ends what it
// began: the check run is cancelled, and the report says what there was.
func TestActionCancelled(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "started")
	if err := exec.Command("mkfifo", fifo).Run(); err != nil {
		t.Skipf("mkfifo: %v", err)
	}
	h := newHosted(t, map[string]string{"test.sh": "echo started >" + fifo + "\nexec sleep 1000\n"})
	cmd := h.command(t, "pull_request", h.opened(), map[string]string{"sandbox": "none"}, "action")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v\n%s", err, log.String())
	}
	checks := h.CheckRuns(h.repo)
	if len(checks) != 1 || checks[0].Conclusion != "cancelled" || checks[0].Output.Title != "stopped" || len(h.posted()) != 0 {
		t.Errorf("comments %q, check runs %+v", h.posted(), checks)
	}
}

// What fails before the gate begins is no one's cancelling: the check could not verify, and
// comment and summary say why.
func TestActionFailsBeforeTheGate(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "remove", Delete: []string{".github/ycbot.yml"}})
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "a folder", Files: map[string]string{".github/ycbot.yml/x": "y"}})
	s := h.step(t, "pull_request", h.opened(), nil)
	const why = ".github/ycbot.yml"
	if s.code != 3 || s.outputs["verdict"] != "ERROR" || !strings.Contains(s.summary, why) || !strings.Contains(s.log, "::error title=ycbot%3A could not verify::") {
		t.Errorf("exit %d, outputs %v, summary\n%s\n%s", s.code, s.outputs, s.summary, s.log)
	}
	h.one(t, "failure", why)
	if checks := h.CheckRuns(h.repo); len(checks) == 1 && checks[0].Output.Title != "could not verify" {
		t.Errorf("check run %+v", checks[0].Output)
	}
}

// Out of time, and a provider that is not there: an end that people can see, with
// what was found.
func TestActionPartial(t *testing.T) {
	variants.Only(t) // a run for each case; TestVerdict has the exit codes
	t.Parallel()
	for _, c := range []struct {
		name   string
		test   string
		inputs map[string]string
		want   string
	}{
		{"out of time", "exec sleep 1000\n", map[string]string{"timeout": "15s"}, "time limit"},
		{"no provider", "true\n", map[string]string{"model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key": "sk-0123456789"}, "could not be asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, map[string]string{"test.sh": c.test, "x": "y\n"})
			s := h.step(t, "pull_request", h.opened(), c.inputs)
			if s.code != 0 || s.outputs["verdict"] != "PARTIAL" {
				t.Errorf("exit %d, %q\n%s", s.code, s.outputs, s.log)
			}
			h.one(t, "neutral", c.want)
		})
	}
}

// A workflow that names a model and gets no secret, as for a fork, runs the gate
// alone and says so.
func TestActionWithoutKey(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	s := h.step(t, "pull_request", h.opened(), map[string]string{"model": "gpt-5"})
	if s.code != 0 || s.outputs["verdict"] != "PASS" || !strings.Contains(s.summary, "the workflow has no key") {
		t.Errorf("exit %d, %q\n%s", s.code, s.outputs, s.log)
	}
}

// The run that an earlier push left as an artifact is looked at again; what a
// fork's workflow left under the same name is not, and neither is one that may
// not be read.
func TestActionLooksAtTheLastRun(t *testing.T) {
	variants.Only(t) // the script check has a last run
	t.Parallel()
	h := newHosted(t, bad)
	first := h.step(t, "pull_request", h.opened(), nil)
	archive := zipped(t, first.outputs["report-dir"])
	h.Push(h.repo, githubtest.Commit{Branch: "work", Message: "fix", Files: good})
	if s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""), nil); s.outputs["verdict"] != "PASS" || strings.Contains(s.summary, "Since the last run") {
		t.Errorf("%q\n%s", s.outputs, s.log)
	}
	h.AddFork(h.repo, "mallory")
	h.AddArtifact(h.repo, "ycbot", "work", github.Repo{Owner: "mallory", Name: h.repo.Name}, []byte("nothing that unpacks"))
	h.AddArtifact(h.repo, "ycbot", "work", h.repo, archive)
	h.AddArtifact(h.repo, "ycbot", "work", github.Repo{Owner: "mallory", Name: h.repo.Name}, []byte("nothing that unpacks"))
	h.token = h.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write", "actions": "read"}, "actions")
	s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""), nil)
	if s.outputs["verdict"] != "PASS" || !strings.Contains(s.summary, "Since the last run") || strings.Contains(s.log, "not looked at again") {
		t.Errorf("%q\n%s\n%s", s.outputs, s.summary, s.log)
	}
	h.token = h.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write", "actions": "none"}, "actions")
	s = h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""), nil)
	if s.outputs["verdict"] != "PASS" || !strings.Contains(s.log, "not looked at again") {
		t.Errorf("%q\n%s", s.outputs, s.log)
	}
}

func zipped(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The merge queue's commit is verified against the group's base and gets a check run of
// its own and no comment: a group that breaks a test is not merged.
func TestActionOnMergeGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     map[string]string
		conclusion string
		code       int
	}{"passes": {good, "success", 0}, "fails": {bad, "failure", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			head := h.Push(h.repo, githubtest.Commit{Branch: "gh-readonly-queue/main/pr-1", Message: "merged", Files: c.change})
			s := h.step(t, "merge_group", h.MergeGroupEvent(h.repo, "main", head, "alice"), nil)
			checks := h.CheckRuns(h.repo)
			if s.code != c.code || len(checks) != 1 || checks[0].HeadSHA != head || checks[0].Conclusion != c.conclusion || len(h.posted()) != 0 {
				t.Errorf("exit %d, checks %+v, comments %q\n%s", s.code, checks, h.posted(), s.log)
			}
		})
	}
}

// A dispatch names a pull request, or verifies its branch against the default one; who has
// no permission starts nothing.
func TestActionOnDispatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		branch, login string
		inputs        func(*hosted) map[string]string
		comments      int
		code          string // in the log; empty: it runs
	}{
		"a pull request": {"main", "alice", func(h *hosted) map[string]string { return map[string]string{"pr": strconv.Itoa(h.pull)} }, 1, ""},
		"a branch":       {"work", "alice", func(*hosted) map[string]string { return nil }, 0, ""},
		"by a reader":    {"work", "bob", func(*hosted) map[string]string { return nil }, 0, "no-permission"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t, good)
			s := h.step(t, "workflow_dispatch", h.DispatchEvent(h.repo, c.branch, c.login, c.inputs(h)), nil)
			checks := h.CheckRuns(h.repo)
			if c.code != "" {
				if s.code != 0 || !strings.Contains(s.log, "("+c.code+")") || len(checks) != 0 {
					t.Errorf("exit %d, checks %+v\n%s", s.code, checks, s.log)
				}
				return
			}
			if s.code != 0 || len(checks) != 1 || checks[0].HeadSHA != h.PullHead(h.repo, h.pull) || checks[0].Conclusion != "success" || len(h.posted()) != c.comments {
				t.Errorf("exit %d, checks %+v, comments %q\n%s", s.code, checks, h.posted(), s.log)
			}
		})
	}
}

// Dependabot's pull request has a token that only reads, in the repository itself: the step
// ends by the verdict, and what could not be posted stands in the summary and in the log, at
// the place of the failure.
func TestActionOnDependabot(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	h.AddUser("dependabot[bot]", 49699333, "Bot")
	h.Push(h.repo, githubtest.Commit{Branch: "dependabot/a", Message: "bump", Files: map[string]string{
		"sum.sh": bad["sum.sh"], ".github/workflows/ci.yml": "on: push\n",
	}})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Bump a", Author: "dependabot[bot]", Head: "dependabot/a"})
	h.token = h.Token("github-actions[bot]", readOnly, "actions")
	s := h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "dependabot[bot]", ""), nil)
	if s.code == 0 || len(h.posted()) != 0 || len(h.CheckRuns(h.repo)) != 0 {
		t.Errorf("exit %d, comments %q", s.code, h.posted())
	}
	for _, want := range []string{"Not posted", "may be the change's own"} {
		if !strings.Contains(s.summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, s.summary)
		}
	}
	if n := strings.Count(s.log, "::warning"); n != 1 {
		t.Errorf("%d warnings\n%s", n, s.log)
	}

	// What it finds is a claim to the workflow that posts it: what the update brings ran there.
	h.Push(h.repo, githubtest.Commit{Branch: "dependabot/a", Message: "bump again", Files: good})
	s = h.step(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "dependabot[bot]", ""), nil)
	if s.outputs["verdict"] != "PASS" {
		t.Fatal(s.log)
	}
	h.token = h.Token("github-actions[bot]", mayPost, "actions")
	event := h.WorkflowRunEvent(h.repo, h.pull, 77, "success", "dependabot[bot]")
	if s = h.step(t, "workflow_run", event, map[string]string{"publish": s.outputs["report-dir"]}); s.code != 0 {
		t.Fatal(s.log)
	}
	h.one(t, "neutral", "the PASS is an unverified claim")
}
