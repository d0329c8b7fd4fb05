package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// full has tests that take minutes tried out in all their cases.
var full = flag.Bool("full", false, "try all cases of the tests that take long")

// A crashPoint is an event of a run, at which its worker is killed.
type crashPoint struct{ event, stage string }

func (c crashPoint) String() string { return c.event + " " + c.stage }

// crashPoints are the beginning and the end of every stage, and what happens inside them.
func crashPoints() []crashPoint {
	var out []crashPoint
	for _, stage := range []string{"checkout", "gate", "agents", "report"} {
		out = append(out, crashPoint{"stage_start", stage}, crashPoint{"stage_done", stage})
	}
	return append(out, crashPoint{"command_start", ""}, crashPoint{"command_done", ""}, crashPoint{"tool_start", ""}, crashPoint{"assistant_message", ""})
}

// Wherever the worker is killed, the run is gone on with: on SQLite by the same machine, on
// PostgreSQL by one that has nothing of it. The pull request ends with one check run that is
// completed and one comment, there is one run, and no question that is in the journal is
// asked of the model again.
func TestAppCrashMatrix(t *testing.T) {
	t.Parallel()
	points := crashPoints()
	if !*full {
		points = []crashPoint{{"stage_done", "checkout"}, {"stage_start", "agents"}, {"stage_done", "report"}}
	}
	for _, place := range []string{"SQLite", "PostgreSQL"} {
		variants.Run(t, place, place == "PostgreSQL" && !*full, func(t *testing.T) { // TestAppAnotherWorkerGoesOn has it
			t.Parallel()
			var server storetest.Server
			t.Cleanup(server.Stop)
			for _, point := range points {
				t.Run(point.String(), func(t *testing.T) {
					h := newInstalled(t)
					if place == "PostgreSQL" {
						h.database = server.Database(t)
					}
					h.dies(t, point)
				})
			}
		})
	}
}

// dies has a run killed at a point and gone on with.
func (h *installed) dies(t *testing.T, point crashPoint) {
	t.Helper()
	h.script = filepath.Join(t.TempDir(), "script")
	write(t, h.script, appScript)
	h.start(t)
	first := h.process
	seen := make(chan bool, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		seen <- h.reaches(ctx, point)
		_ = first.cmd.Process.Kill()
	}()
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	select {
	case ok := <-seen:
		if !ok {
			t.Fatal("the point is not reached")
		}
	case <-time.After(hangs):
		t.Fatal("the point is not reached in time")
	}
	first.end(t, syscall.SIGKILL)
	dirs := []string{h.data}
	if h.database != "" { // another machine
		h.data = t.TempDir()
		dirs = append(dirs, h.data)
	}
	h.start(t)
	h.waitFor(t, func() bool {
		checks, comments := h.checks()
		return len(checks) == 1 && strings.HasPrefix(checks[0], "check ycbot completed ") && comments == 1
	})
	if code := h.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if checks, comments := h.checks(); len(checks) != 1 || strings.Contains(checks[0], "cancelled") || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
	names := map[string]bool{}
	for _, data := range dirs {
		found, err := filepath.Glob(filepath.Join(data, "runs/acme/sums/*/*/journal.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			names[filepath.Base(filepath.Dir(f))] = true
			// Or a copy of its beginning would not be gone on with, and differ from what follows.
			if text, err := os.ReadFile(f); err != nil || !strings.Contains(strings.SplitN(string(text), "\n", 2)[0], `"key":"identity"`) {
				t.Errorf("%s does not begin with whose it is: %v", f, err)
			}
			askedAtMostOnce(t, filepath.Dir(f))
		}
	}
	if len(names) != 1 {
		t.Errorf("runs %v, want one", names)
	}
}

// reaches waits until the run's events have a point.
func (h *installed) reaches(ctx context.Context, point crashPoint) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		files, _ := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/events.jsonl"))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, `"type":"`+point.event+`"`) && strings.Contains(line, `"stage":"`+point.stage) || point.stage == "" && strings.Contains(line, `"type":"`+point.event+`"`) {
					return true
				}
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// askedAtMostOnce holds that no question that was answered and kept was asked again.
func askedAtMostOnce(t *testing.T, dir string) {
	t.Helper()
	for question, n := range (&killed{out: dir}).asked(t) {
		if n != 1 {
			t.Errorf("question %s was asked %d times", question, n)
		}
	}
}
