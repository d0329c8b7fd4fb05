package main

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// growth is how much a run of usual size may add to the database, in bytes.
const growth = 20_000

// While blobs cannot be stored /readyz says so and jobs wait. When they can the job is done;
// what it produced is in blobs, and each further run adds little to the database.
func TestAppBlobs(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	folder := filepath.Join(h.data, "blobs")
	write(t, folder, "a file, so that no folder can be made")
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "no run is begun: blobs cannot be stored")
	if text := h.get(t, "/readyz"); !strings.HasPrefix(text, "503") {
		t.Errorf("/readyz says %s", text)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	h.wait(t, "run has ended", "state=finished")
	if checks, comments := h.checks(); len(checks) != 1 || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
	h.end(t, syscall.SIGTERM)
	before := h.used(t)
	const more = 3
	for range more {
		h.start(t)
		_, command := h.says("alice", "/verify full")
		h.deliver(t, "issue_comment", command)
		h.wait(t, "run has ended", "state=finished")
		h.end(t, syscall.SIGTERM)
	}
	if run := (h.used(t) - before) / more; run > growth {
		t.Errorf("a run adds %d bytes to the database, want %d at most", run, growth)
	} else {
		t.Logf("a run adds %d bytes to the database", run)
	}
	blobs := 0
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			blobs++
		}
		return err
	})
	if err != nil || blobs < more {
		t.Errorf("%d blobs, %v", blobs, err)
	}
}

// used is how much the pages of the SQLite file hold.
func (h *installed) used(t *testing.T) (bytes int64) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.data, "ycbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	err = db.QueryRowContext(context.WithoutCancel(t.Context()), `select sum(payload) from dbstat`).Scan(&bytes)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return bytes
}
