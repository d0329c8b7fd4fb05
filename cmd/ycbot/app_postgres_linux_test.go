package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// On PostgreSQL a server only receives, and a worker on another machine goes on with the run of
// one that was killed: one check run, one comment, and no question is asked of the model
// twice.
func TestAppAnotherWorkerGoesOn(t *testing.T) {
	variants.Only(t) // a lease that ends is waited for; TestKilledWorkers of internal/queue has it
	t.Parallel()
	h := newInstalled(t)
	h.database = storetest.Postgres(t)
	h.script = filepath.Join(t.TempDir(), "script")
	write(t, h.script, appScript)
	h.start(t, "--no-work")
	work := func() (*process, string) {
		data := t.TempDir()
		p := h.launch(t, "app", "work", "--sandbox", "none", "--data", data)
		p.wait(t, "msg=working")
		return p, data
	}
	first, _ := work()
	// The command that follows the second answer kills the worker at once, before what is
	// copied each second could be.
	write(t, h.hold+"-kill", fmt.Sprint(first.cmd.Process.Pid))
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	for range first.lines {
		continue
	}
	first.end(t, syscall.SIGKILL)
	second, data := work()
	second.wait(t, "run has ended", "state=finished")
	if checks, comments := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed ") || strings.Contains(checks[0], "cancelled") || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
	dirs, err := filepath.Glob(filepath.Join(data, "runs/acme/sums", fmt.Sprint(h.pull), "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("run directories %q, want one", dirs)
	}
	askedOnce(t, dirs[0])
}
