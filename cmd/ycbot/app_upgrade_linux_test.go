package main

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var before = flag.String("before", "", "upgrade the App from `FILE`, an older ycbot, and go back to it; without it, from this one")

// An App is upgraded with its data, and goes back to the older program with a backup that
// was made as docs/operate.md says. The pull request has one comment through all of it, and
// each program verifies. A program does not start on tables that a newer one has changed.
func TestAppUpgrade(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.program = *before
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "run has ended", "state=finished")
	h.end(t, syscall.SIGTERM)

	backup := t.TempDir()
	db := filepath.Join(h.data, "ycbot.db")
	execute(t, db, `vacuum into '`+filepath.Join(backup, "ycbot.db")+`'`)
	blobs := os.DirFS(filepath.Join(h.data, "blobs"))
	if _, err := os.Stat(filepath.Join(h.data, "blobs")); err == nil { // releases had none at first
		if err := os.CopyFS(filepath.Join(backup, "blobs"), blobs); err != nil {
			t.Fatal(err)
		}
	}

	h.program = ""
	h.verifiesAgain(t, 2)

	execute(t, db, `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
	p := h.launch(t, "app", "serve", "--sandbox", "none", "--addr", "127.0.0.1:0", "--data", h.data)
	p.wait(t, "they have version 9999 and this program knows")
	if code := p.end(t, syscall.SIGCONT); code != 3 {
		t.Errorf("on tables of a newer program it ended with %d, want 3", code)
	}

	if err := os.RemoveAll(h.data); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(h.data, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	h.program = *before
	h.verifiesAgain(t, 3)
}

// verifiesAgain starts the server and has it verify the pull request for the nth time.
func (h *installed) verifiesAgain(t *testing.T, nth int) {
	t.Helper()
	h.start(t)
	_, command := h.says("alice", "/verify full")
	h.deliver(t, "issue_comment", command)
	h.wait(t, "run has ended", "state=finished")
	if text := h.get(t, "/readyz"); !strings.HasPrefix(text, "200") {
		t.Errorf("/readyz says %s", text)
	}
	if checks, comments := h.checks(); len(checks) != nth || comments != 1 {
		t.Errorf("after run %d people see\n%s", nth, h.outcome())
	}
	h.end(t, syscall.SIGTERM)
}

// execute has SQLite carry out a statement in the database of a file.
func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
