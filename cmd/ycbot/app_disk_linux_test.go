package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/store"
)

// With a small quota the directories of runs that ended, mirrors and caches go, and the
// records stay in the database. A job that comes while too little is free
// waits, which /readyz and the metrics say, and is done when there is room.
func TestAppDiskQuota(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "run has ended", "state=finished")
	dirs := func() (all []string) {
		for _, pattern := range []string{"runs/acme/sums/*/*", "home/projects/*/mirror.git"} {
			found, err := filepath.Glob(filepath.Join(h.data, pattern))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, found...)
		}
		return all
	}
	if len(dirs()) != 2 {
		t.Fatalf("there are %q, want the directory of a run and a mirror", dirs())
	}
	h.end(t, syscall.SIGTERM)

	h.start(t, "--disk-quota", "1kB")
	h.wait(t, "no run is begun")
	if left := dirs(); len(left) > 0 {
		t.Errorf("over the quota, %q are there", left)
	}
	_, command := h.says("alice", "/verify")
	h.deliver(t, "issue_comment", command)
	h.wait(t, "delivery stored", "fresh=true")
	if text := h.get(t, "/readyz"); !strings.Contains(text, "ready; no run is begun: ") {
		t.Errorf("/readyz says %s", text)
	}
	if text := h.get(t, "/metrics"); !strings.Contains(text, "\nycbot_disk_full 1\n") || !strings.Contains(text, "ycbot_queue_jobs{state=\"waiting\"}") {
		t.Errorf("/metrics says\n%s", text)
	}
	h.end(t, syscall.SIGTERM)
	if checks, _ := h.checks(); len(checks) != 1 {
		t.Errorf("a run was begun:\n%s", h.outcome())
	}
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(h.data, "ycbot.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	report, err := db.File(t.Context(), path.Base(h.CheckRuns(h.repo)[0].DetailsURL), "report.json")
	if err = errors.Join(err, db.Close()); err != nil || len(report) == 0 {
		t.Errorf("the report in the database: %d bytes, %v", len(report), err)
	}

	h.start(t)
	h.wait(t, "run has ended", "state=finished")
	if checks, comments := h.checks(); len(checks) != 2 || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
}

// A run that writes more than it may is ended, and its check run says why; the next is done.
func TestAppRunDisk(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.held(t)
	h.start(t, "--run-disk", "10kB")
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "run has ended", "state=failed")
	run := h.CheckRuns(h.repo)[0]
	if run.Status != "completed" || run.Conclusion == "success" || run.Output == nil || !strings.Contains(run.Output.Title+run.Output.Summary, "fill the disk") {
		t.Errorf("the check run is %s %s\n%+v", run.Status, run.Conclusion, run.Output)
	}
	left, err := filepath.Glob(filepath.Join(h.data, "home/projects/*/worktrees/*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left lie %q", left)
	}
}

// get is what the server answers to everybody.
func (h *installed) get(t *testing.T, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(h.hook, "/webhook")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintln(resp.StatusCode) + string(body)
}
