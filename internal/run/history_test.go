package run

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// A run that ends does not leave git at work, nor waits for it; one that is asked to end
// does not wait for old history.
func TestBackfillStops(t *testing.T) {
	t.Parallel()
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git is needed: %v", err)
	}
	m, err := workspace.OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "mirror.git"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.Dir, "ycbot-partial"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(m.Dir + ".whole.lock") // of another process that takes long
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p := &prepared{runner: &Runner{Log: slog.New(slog.DiscardHandler)}, held: &held{layout: rundir.Layout{Trees: t.TempDir(), Temp: t.TempDir()}}, history: beginBackfill(t.Context(), m)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.history.wait(ended)
	if why := p.history.failure(ended); why != nil {
		t.Errorf("of a run that was asked to end: %v", why)
	}
	p.close()
	if !errors.Is(p.history.err, context.Canceled) {
		t.Errorf("broken off: %v", p.history.err)
	}
}

// The gate's commands wait until the history has come, or cannot be had.
func TestGateWaitsForBackfill(t *testing.T) {
	t.Parallel()
	p := &prepared{runner: &Runner{}, begun: &begun{dir: &rundir.Dir{}}, history: &backfill{done: make(chan struct{})}}
	g := p.newGate(nil)
	go close(p.history.done)
	g.Whole(t.Context())
	select {
	case <-p.history.done:
	default:
		t.Error("it did not wait")
	}
	p.history = nil // everything came at once
	p.newGate(nil).Whole(t.Context())
}
