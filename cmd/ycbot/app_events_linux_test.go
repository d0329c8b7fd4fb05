package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Title and body are those of the event, whatever the author makes of them until the run
// begins; and so they are for the command of a person, who has read them.
func TestAppTextOfTheEvent(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.SetIssue(h.repo, h.pull, func(title, _ string) (string, string) { return title, "What was read." })
	pushed := h.PullEvent(h.repo, h.pull, "opened", "alice", "")
	_, command := h.says("alice", "/verify full")
	h.SetIssue(h.repo, h.pull, func(string, string) (string, string) { return "Another title", "What no one read." })
	h.start(t)
	for event, body := range map[string][]byte{"pull_request": pushed, "issue_comment": command} {
		h.deliver(t, event, body)
		h.wait(t, "run has ended", "state=finished")
	}
	briefs, err := filepath.Glob(filepath.Join(h.data, "runs/*/*/*/*/brief.md"))
	if err != nil || len(briefs) != 2 {
		t.Fatalf("briefs %q, want two", briefs)
	}
	for _, name := range briefs {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "What was read.") || strings.Contains(string(text), "no one") || strings.Contains(string(text), "Another") {
			t.Errorf("the brief is %s (%v)", text, err)
		}
	}
}

// Where the App is removed from a repository, or suspended, its runs end; nothing of
// them is tried again, and what is asked for then is refused. When it is let in again,
// which is an event as well, the check run that was left unfinished is ended; nothing is
// run by itself, and all can be asked for: by a comment, by that check run, and by a push.
func TestAppRemoved(t *testing.T) {
	variants.Only(t) // TestRemoved of ./app has the rules
	t.Parallel()
	for _, way := range []struct{ out, back string }{{"removed", "added"}, {"suspend", "unsuspend"}, {"deleted", "created"}} {
		t.Run(way.out, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			h.start(t)
			h.held(t)
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
			h.started(t)
			_, refused := h.says("alice", "/verify") // its webhook comes late
			h.lets(t, way.out)
			h.wait(t, "run has ended", "state=stopped")
			h.release(t)
			h.deliver(t, "issue_comment", refused)
			h.wait(t, "cannot report an abandoned job")
			if checks, _ := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot in_progress") {
				t.Errorf("without access there is\n%s", h.outcome())
			}
			h.lets(t, way.back)
			h.wait(t, "published the run's result")
			if checks, comments := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed cancelled stopped") || comments != 1 {
				t.Errorf("let in again, people see\n%s", h.outcome())
			}
			before := len(h.CheckRuns(h.repo))

			_, command := h.says("alice", "/verify")
			h.deliver(t, "issue_comment", command)
			h.wait(t, "run has ended", "state=finished")
			h.deliver(t, "check_run", h.CheckRunEvent(h.repo, h.CheckRuns(h.repo)[0].ID, "rerequested", "alice", ""))
			h.wait(t, "run has ended", "state=finished")
			h.Push(h.repo, githubtest.Commit{Branch: "held", Message: "more", Files: map[string]string{"more": "x"}})
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""))
			h.wait(t, "run has ended", "state=finished")
			if checks, comments := h.checks(); len(checks) != before+3 || comments != 1 {
				t.Errorf("%d check runs were there, then people see\n%s", before, h.outcome())
			}
		})
	}
}

// lets puts the App out of its repository, or in, or out and in altogether.
func (h *installed) lets(t *testing.T, action string) {
	t.Helper()
	event, repos := "installation", []github.Repo(nil)
	switch action {
	case "removed":
		event, repos = "installation_repositories", []github.Repo{h.repo}
		h.SetInstalled(h.id)
	case "added":
		event, repos = "installation_repositories", []github.Repo{h.repo}
		h.SetInstalled(h.id, h.repo)
	case "suspend", "unsuspend":
		h.Suspend(h.id, action == "suspend")
	case "deleted":
		h.Uninstall(h.id)
	case "created": // it has another number
		h.id = h.Install(h.app, mayPost, h.repo)
	}
	h.deliver(t, event, h.InstallationEvent(h.id, action, "alice", repos...))
}

// Also who was away when the App was let in again says how runs ended, at the start; and
// where another run of the pull request has ended since, its comment stays.
func TestAppToldLater(t *testing.T) {
	variants.Only(t) // TestTellWhereItIs of ./app has it
	t.Parallel()
	h := newInstalled(t)
	h.start(t)
	h.held(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	h.lets(t, "suspend")
	h.wait(t, "run has ended", "state=stopped")
	h.release(t)
	h.Suspend(h.id, false)
	_, command := h.says("alice", "/verify")
	h.deliver(t, "issue_comment", command)
	h.wait(t, "run has ended", "state=finished")
	comment := h.outcome()[strings.LastIndex(h.outcome(), "comment"):]
	h.end(t, syscall.SIGTERM)
	h.start(t)
	h.wait(t, "published the run's result")
	if checks, comments := h.checks(); len(checks) != 2 || !strings.HasPrefix(checks[0], "check ycbot completed cancelled stopped") ||
		comments != 1 || !strings.HasSuffix(h.outcome(), comment) {
		t.Errorf("people see\n%s, want the comment\n%s", h.outcome(), comment)
	}
}

// A suite that is asked for again runs again what it was about, also of a fork, of which
// GitHub names no pull request; so does the button of a check run.
func TestAppAgain(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	fork := h.AddFork(h.repo, "mallory")
	h.SetPermission(h.repo, "mallory", "read")
	h.Push(fork.Repo, githubtest.Commit{Branch: "theirs", Message: "theirs", Files: map[string]string{"sum.sh": "echo 2\n"}})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Help", Author: "mallory", Head: "theirs", From: fork.Repo})
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""))
	h.wait(t, "run has ended")
	h.deliver(t, "check_suite", h.CheckSuiteEvent(h.repo, h.app, h.PullHead(h.repo, h.pull), "rerequested", "alice"))
	h.wait(t, "run has ended")
	h.deliver(t, "check_run", h.CheckRunEvent(h.repo, h.CheckRuns(h.repo)[0].ID, "requested_action", "alice", "verify"))
	h.wait(t, "run has ended")
	if checks, comments := h.checks(); len(checks) != 3 || checks[0] != checks[1] || checks[0] != checks[2] || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
}

// What the configuration excludes completes the check as skipped, and what a limit refuses
// as a PARTIAL: a required check never waits.
func TestAppDeclines(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "limits", Files: map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\non: {paths_ignore: [\"docs/**\"], outsiders: never}\n",
	}})
	fork := h.AddFork(h.repo, "mallory")
	h.SetPermission(h.repo, "mallory", "read")
	h.Push(fork.Repo, githubtest.Commit{Branch: "theirs", Message: "theirs", Files: map[string]string{"sum.sh": "echo 2\n"}})
	h.Push(h.repo, githubtest.Commit{Branch: "docs", Message: "docs", Files: map[string]string{"docs/a.md": "a\n"}})
	h.start(t)
	for _, tt := range []struct {
		pull        githubtest.Pull
		login, want string
	}{
		{githubtest.Pull{Title: "Docs", Author: "alice", Head: "docs"}, "alice", "skipped"},
		{githubtest.Pull{Title: "Help", Author: "mallory", Head: "theirs", From: fork.Repo}, "mallory", "neutral"},
	} {
		h.pull = h.OpenPull(h.repo, tt.pull)
		h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", tt.login, ""))
		h.wait(t, "nothing is run")
		runs := h.CheckRuns(h.repo)
		if last := runs[len(runs)-1]; last.HeadSHA != h.PullHead(h.repo, h.pull) || last.Conclusion != tt.want || !strings.Contains(last.Output.Title, "Not verified") {
			t.Errorf("%s: %s %q, want %s", tt.pull.Title, last.Conclusion, last.Output.Title, tt.want)
		}
	}
}

// What the operator forces holds over what a repository says of itself, and the report
// says so.
func TestAppForce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, want string }{
		{"below the repository's", "version: 1\nfail_on: fail\n", "neutral"},
		{"over the repository's", "version: 1\nforce: {fail_on: fail, commands: {test: sh test.sh}}\n", "failure"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			file := filepath.Join(t.TempDir(), "operator.yml")
			if err := os.WriteFile(file, []byte(tt.file), 0o644); err != nil {
				t.Fatal(err)
			}
			h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "lenient", Files: map[string]string{
				".github/ycbot.yml": "version: 1\nfail_on: never\ncommands: {test: sh test.sh}\n",
			}})
			h.Push(h.repo, githubtest.Commit{Branch: "wrong", Message: "wrong", Files: map[string]string{"sum.sh": "echo 3\n"}})
			h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Wrong sums", Author: "alice", Head: "wrong"})
			h.start(t, "--config", file)
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
			h.wait(t, "run has ended")
			runs := h.CheckRuns(h.repo)
			last := runs[len(runs)-1]
			said := strings.Contains(last.Output.Summary+last.Output.Text, "the operator's file decides about fail_on, commands")
			if last.Conclusion != tt.want || said != strings.Contains(tt.file, "force") {
				t.Errorf("%s, want %s; said: %v\n%s\n%s", last.Conclusion, tt.want, said, last.Output.Title, last.Output.Summary)
			}
		})
	}
}

// The merge queue gets a check run on its own commit, of no pull request and with no
// comment, and gets another when that is asked for again.
func TestAppMergeQueue(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	head := h.Push(h.repo, githubtest.Commit{Branch: "gh-readonly-queue/main/pr-1", Message: "merged", Files: good})
	h.start(t)
	h.deliver(t, "merge_group", h.MergeGroupEvent(h.repo, "main", head, "alice"))
	h.wait(t, "run has ended", "state=finished")
	h.deliver(t, "check_run", h.CheckRunEvent(h.repo, h.CheckRuns(h.repo)[0].ID, "rerequested", "alice", ""))
	h.wait(t, "run has ended", "state=finished")
	checks, comments := h.checks()
	if len(checks) != 2 || comments != 0 || h.CheckRuns(h.repo)[0].HeadSHA != head || h.CheckRuns(h.repo)[1].HeadSHA != head {
		t.Errorf("people see\n%s", h.outcome())
	}
}
