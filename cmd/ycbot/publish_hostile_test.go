package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// posting executes the step that posts what another job left in dir.
func (l *left) posting(t *testing.T, name string, event []byte, dir string) step {
	t.Helper()
	return l.step(t, name, event, map[string]string{"publish": dir})
}

// laidOut is the run directory, as change makes it.
func (l *left) laidOut(t *testing.T, change func(map[string][]byte)) string {
	t.Helper()
	files := maps.Clone(l.dir)
	if change != nil {
		change(files)
	}
	dir := filepath.Join(t.TempDir(), "run")
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What lies between the job that executes and the job that posts is posted where it is what
// a run left of the pull request that the event is about; as a claim where another workflow
// left it; and not at all where anything of it was changed.
func TestPublishTampered(t *testing.T) {
	t.Parallel()
	dir := verified(t)
	type row struct {
		name, event string
		do          func(*testing.T, *left) (event []byte, dir string)
		says        string // of the log, where nothing is posted
		conclusion  string // of the check run, where it is
	}
	comment := func(l *left) []byte {
		_, event := l.says("alice", "/verify "+l.head)
		return event
	}
	ended := func(l *left) []byte { return l.WorkflowRunEvent(l.repo, l.pull, 77, "success", "alice") }
	rows := []row{
		{"honest, of the same workflow", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			return comment(l), l.laidOut(t, nil)
		}, "", "success"},
		{"honest, of another workflow", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			return ended(l), l.laidOut(t, nil)
		}, "", "neutral"},
		{"the head moved meanwhile", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			event := ended(l)
			l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "more", Files: map[string]string{"x": "y\n"}})
			return event, l.laidOut(t, nil)
		}, "", "cancelled"},
		{"of another pull request", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			l.Push(l.repo, githubtest.Commit{Branch: "next", Message: "next", Files: bad})
			l.pull = l.OpenPull(l.repo, githubtest.Pull{Title: "Next", Author: "alice", Head: "next"})
			return comment(l), l.laidOut(t, nil)
		}, "the run is of pull request 1, and this event of 2", ""},
		{"of another head than the workflow's", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "more", Files: bad})
			return ended(l), l.laidOut(t, nil)
		}, "and the workflow that left it of", ""},
		{"of another repository's event", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			return bytes.ReplaceAll(comment(l), []byte(`"sums"`), []byte(`"others"`)), l.laidOut(t, nil)
		}, "and this workflow of acme/others", ""},
		{"of a pull request from another repository", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			event := ended(l)
			l.Close(l.repo, l.pull)
			fork := github.Repo{Owner: "mallory", Name: "sums"}
			l.SetBranch(fork, "same", l.head)
			n := l.OpenPull(l.repo, githubtest.Pull{Title: "Same", Author: "mallory", Head: "same", From: fork})
			forks := l.WorkflowRunEvent(l.repo, n, 78, "success", "mallory")
			if bytes.Equal(event, forks) {
				t.Fatal("the events are the same")
			}
			return forks, l.laidOut(t, nil)
		}, "is not of the repository that pull request 1 is from", ""},
		{"a symbolic link in place of the report", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			dir, elsewhere := l.laidOut(t, nil), filepath.Join(t.TempDir(), "report.json")
			if err := errors.Join(os.Rename(filepath.Join(dir, "report.json"), elsewhere), os.Symlink(elsewhere, filepath.Join(dir, "report.json"))); err != nil {
				t.Fatal(err)
			}
			return comment(l), dir
		}, "no regular file", ""},
		{"a folder that is not there", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			t.Helper()
			return comment(l), filepath.Join(t.TempDir(), "none")
		}, "none", ""},
	}
	for _, d := range damages() {
		for _, name := range []string{"issue_comment", "workflow_run"} {
			of := map[string]func(*left) []byte{"issue_comment": comment, "workflow_run": ended}[name]
			rows = append(rows, row{d.name + ", " + name, name, func(t *testing.T, l *left) ([]byte, string) {
				t.Helper()
				return of(l), l.laidOut(t, d.change)
			}, d.says, ""})
		}
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLeft(t, workflowText, dir)
			event, dir := row.do(t, l)
			s := l.posting(t, row.event, event, dir)
			checks := l.CheckRuns(l.repo)
			if row.conclusion != "" {
				if s.code != 0 || len(checks) != 1 || checks[0].Conclusion != row.conclusion || checks[0].HeadSHA != l.head {
					t.Errorf("exit %d, want 0 and one check run that ends as %s: %+v\n%s", s.code, row.conclusion, checks, s.log)
				}
				return
			}
			if s.code != 3 || !strings.Contains(s.log, row.says) || len(checks) != 0 || len(l.posted()) != 0 {
				t.Errorf("exit %d, want 3 and %q, check runs %+v, comments %q\n%s", s.code, row.says, checks, l.posted(), s.log)
			}
		})
	}
}

// What another workflow left under the artifact's name is neither the record that an
// acceptance is concluded from, nor the last run, whose acceptances stay in force and whose
// verdict is taken over where nothing has changed since.
func TestForgedRecord(t *testing.T) {
	variants.Only(t) // TestEveryEditOfTheLastRunIsFound has one run
	t.Parallel()
	l := newLeft(t, workflowText, verified(t))
	l.token = l.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write", "actions": "read"}, "actions")
	step := func(name string, event []byte) step {
		cmd := l.command(t, name, event, map[string]string{"sandbox": "none"}, "action")
		cmd.Env = append(cmd.Env, "GITHUB_WORKFLOW_REF=acme/sums/"+verdictWorkflow+"@refs/heads/main")
		return ended(t, cmd)
	}
	pushed := l.PullEvent(l.repo, l.pull, "synchronize", "alice", "")
	_, accepts := l.says("alice", "/verify accept "+l.head)
	l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Path = ".github/workflows/forge.yml" }), nil)
	if s := step("issue_comment", accepts); !strings.Contains(s.log, "(no-record)") || !strings.Contains(s.log, "of another workflow") || len(l.CheckRuns(l.repo)) != 0 {
		t.Errorf("an acceptance: exit %d\n%s", s.code, s.log)
	}
	if s := step("pull_request", pushed); s.outputs["verdict"] != "PASS" || strings.Contains(s.log, "verified the same files") || !strings.Contains(s.log, "of another workflow") {
		t.Errorf("a push: %q\n%s", s.outputs, s.log)
	}
	l.leave(t, l.run, nil)
	if s := step("issue_comment", accepts); s.code != 0 || strings.Contains(s.log, "(no-record)") {
		t.Errorf("an honest record: exit %d\n%s", s.code, s.log)
	}
	if s := step("pull_request", pushed); s.outputs["verdict"] != "PASS" || !strings.Contains(s.log, "verified the same files") {
		t.Errorf("an honest last run: %q\n%s", s.outputs, s.log)
	}
}

// A run of one's own repository is not posted, whatever it was cloned from: its base, its
// configuration and how far it went are a person's choice.
func TestPublishOfNoPull(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	dir := filepath.Join(t.TempDir(), "repo")
	makeChange(t, dir, sumBase, sumHead)
	h.Import(h.repo, dir)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "remote", "add", "origin", "git@github.com:"+h.repo.String()+".git").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{"committed": {"--base", "HEAD", "--head", "HEAD"}, "not committed": {"--dirty"}} {
		write(t, filepath.Join(dir, "sum.sh"), "# "+name+"\necho $(($1 + $2))\n")
		out := filepath.Join(t.TempDir(), "out")
		run := func(args ...string) string {
			cmd := realProgram(t, h.home, args...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "GITHUB_API_URL="+h.URL, "GH_TOKEN="+h.Token("alice", nil, "personal"))
			log, _ := cmd.CombinedOutput()
			return string(log)
		}
		if log := run(append([]string{"run", "--sandbox", "none", "--out", out}, args...)...); !strings.Contains(log, "VERDICT: PASS") {
			t.Fatalf("%s:\n%s", name, log)
		}
		if log := run("publish", out); !strings.Contains(log, "is not the run of a pull request (but of acme/sums): only one of a pull request can be posted; see ycbot run --pr") {
			t.Errorf("%s:\n%s", name, log)
		}
	}
	head, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	if statuses := h.Statuses(h.repo, strings.TrimSpace(string(head))); len(statuses) > 0 {
		t.Errorf("posted: %+v", statuses)
	}
}
