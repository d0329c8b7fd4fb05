package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A server is killed at the moment at which the check run of a waiting job was created, and
// before it knows; the next one goes on with the run at work, and each commit ends with one
// check run. What a newer head supersedes is cancelled, and a repeated delivery changes nothing.
func TestAppQueuedCheck(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.held(t)
	h.start(t, "--workers", "1")
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	first, created := h.process, make(chan struct{}, 9)
	h.FailAt(0, githubtest.Hook(func(_ int, r *http.Request, phase string) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/check-runs") && phase == "after" {
			_ = first.cmd.Process.Kill()
			created <- struct{}{}
		}
	}))
	h.Push(h.repo, githubtest.Commit{Branch: "second", Message: "change", Files: good})
	second := h.OpenPull(h.repo, githubtest.Pull{Title: "Another", Author: "alice", Head: "second"})
	h.deliver(t, "pull_request", h.PullEvent(h.repo, second, "opened", "alice", ""))
	<-created
	first.end(t, syscall.SIGKILL)
	h.Heal()
	old := h.PullHead(h.repo, second)
	if runs := h.of(old); len(runs) != 1 || runs[0].Status != "queued" || runs[0].Output.Title != "queued at position 1" || runs[0].DetailsURL != "https://ycbot.example.com/queue" {
		t.Fatalf("the waiting job has the check runs %+v", runs)
	}
	h.start(t, "--workers", "1")
	h.deliver(t, "pull_request", h.PullEvent(h.repo, second, "opened", "alice", ""))
	h.wait(t, "check run shows that the job waits")
	if runs := h.of(old); len(runs) != 1 {
		t.Errorf("after the crash there are %d check runs", len(runs))
	}
	h.Push(h.repo, githubtest.Commit{Branch: "second", Message: "more", Files: map[string]string{"more.txt": "more\n"}})
	h.deliver(t, "pull_request", h.PullEvent(h.repo, second, "synchronize", "alice", ""))
	h.wait(t, "check run shows that the job waits")
	h.waitFor(t, func() bool { return h.of(old)[0].Status == "completed" })
	if runs := h.of(old); len(runs) != 1 || runs[0].Conclusion != "cancelled" || runs[0].Output.Title != "superseded" {
		t.Errorf("of the head that was superseded: %+v", runs)
	}
	h.release(t)
	for range 2 {
		h.wait(t, "run has ended", "state=finished")
	}
	for _, head := range []string{h.PullHead(h.repo, h.pull), h.PullHead(h.repo, second)} {
		if runs := h.of(head); len(runs) != 1 || runs[0].Status != "completed" || !strings.Contains(runs[0].DetailsURL, "/runs/") {
			t.Errorf("in the end %+v", runs)
		}
	}
	if code := h.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// of are the check runs of a commit.
func (h *installed) of(head string) (out []github.CheckRun) {
	for _, r := range h.CheckRuns(h.repo) {
		if r.HeadSHA == head {
			out = append(out, r)
		}
	}
	return out
}
