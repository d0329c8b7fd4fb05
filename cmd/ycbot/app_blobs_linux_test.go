package main

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// growth is how much a run of usual size may add to the database, in bytes.
const growth = 20_000

// While blobs cannot be stored /readyz says so and jobs wait. When they can the job is done;
// what it produced is in blobs, and each further run adds little to the database.
func TestAppBlobs(t *testing.T) {
	variants.Only(t) // the tests of internal/store have buckets
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
	stored, bytes := 0, int64(0)
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			stored++
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return err
	})
	t.Logf("%d blobs of %d bytes", stored, bytes)
	if err != nil || stored < more {
		t.Errorf("%d blobs, %v", stored, err)
	}
}

// A bucket goes away in the middle of a run, which waits: on PostgreSQL with each step, on
// SQLite at its end. Nothing is posted before or twice, and all of the run can be restored.
func TestAppBlobsGoAway(t *testing.T) {
	variants.Only(t) // the tests of internal/store and internal/queue have buckets that go away
	t.Parallel()
	var server storetest.Server
	t.Cleanup(server.Stop)
	for _, on := range []string{"sqlite", "postgres"} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			folder := filepath.Join(t.TempDir(), "bucket")
			h.env = []string{"YCBOT_BLOB_URL=file://" + folder}
			if on == "postgres" {
				h.database = server.Database(t)
			}
			h.held(t)
			h.start(t)
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
			h.started(t)
			if err := os.Rename(folder, folder+".away"); err != nil {
				t.Fatal(err)
			}
			write(t, folder, "in the way")
			h.release(t)
			h.wait(t, "run waits for the database or for blobs")
			if checks, comments := h.checks(); len(checks) != 1 || strings.Contains(checks[0], "completed") || comments > 1 {
				t.Errorf("people see\n%s", h.outcome())
			}
			if err := errors.Join(os.Remove(folder), os.Rename(folder+".away", folder)); err != nil {
				t.Fatal(err)
			}
			h.wait(t, "run has ended", "state=finished")
			if checks, comments := h.checks(); len(checks) != 1 || !strings.Contains(checks[0], "completed success") || comments != 1 {
				t.Errorf("people see\n%s", h.outcome())
			}
			h.end(t, syscall.SIGTERM)
			db, err := store.Open(t.Context(), store.Options{URL: h.database, Path: filepath.Join(h.data, "ycbot.db"), Now: time.Now, Bucket: blobs.File{Dir: folder}})
			if err != nil {
				t.Fatal(err)
			}
			restored := filepath.Join(t.TempDir(), "restored")
			if err := errors.Join(db.Restore(t.Context(), path.Base(h.CheckRuns(h.repo)[0].DetailsURL), restored), db.Close()); err != nil {
				t.Fatal(err)
			}
			if out, err := realProgram(t, h.home, "check", restored).CombinedOutput(); err != nil {
				t.Errorf("ycbot check of the run as it is stored: %v\n%s", err, out)
			}
		})
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
