package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Of a run that was killed with SIGKILL while its agents were at work, and that
// was not continued, the next sweep leaves no worktree, no registration in the
// mirror and no short-lived file or control socket.
func TestAcceptance23KilledAndSwept(t *testing.T) {
	variants.Only(t) // TestKilledRunGoesOn and the tests of internal/workspace have both halves
	t.Parallel()
	r := newKilled(t)
	left := func() (all []string) {
		for _, pattern := range []string{"projects/*/worktrees/*", "projects/*/mirror.git/worktrees/*", "tmp/*"} {
			found, err := filepath.Glob(filepath.Join(r.home, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range found {
				if !strings.HasSuffix(name, ".lock") {
					all = append(all, name)
				}
			}
		}
		return all
	}
	agents := func() bool {
		seats, err := filepath.Glob(filepath.Join(r.home, "projects/*/worktrees/*/agents/*"))
		return err == nil && len(seats) > 0
	}
	for lines := 70; !agents(); lines += 10 {
		if lines > 400 {
			t.Fatal("no moment was found at which an agent has a worktree")
		}
		r = newKilled(t)
		r.run(t, lines)
	}
	if len(left()) < 2 {
		t.Fatalf("a killed run leaves only %s", left())
	}
	old := time.Now().Add(-9 * 24 * time.Hour)
	err := filepath.WalkDir(r.home, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if fi, err := os.Lstat(path); err == nil && fi.Mode()&os.ModeSymlink != 0 {
			return nil
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := realProgram(t, r.home, "worktree", "sweep").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if all := left(); len(all) > 0 {
		t.Errorf("left after the sweep: %s", all)
	}
}
