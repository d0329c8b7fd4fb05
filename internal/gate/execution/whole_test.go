package execution

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Setup goes on while history is still being brought; no other command begins before it
// is there, because what it looks for could be missing.
func TestCommandsWaitForHistory(t *testing.T) {
	t.Parallel()
	box, err := sandbox.Detect(t.Context(), sandbox.Options{Mode: string(sandbox.TierNone), PATH: os.Getenv("PATH"), TempDir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for stage, waits := range map[results.Stage]bool{
		results.StageSetup: false, results.StageBuild: true, results.StageList: true, results.StageTest: true, results.StageLint: true,
	} {
		log, err := evidence.Open(t.TempDir(), "run", evidence.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		dir := t.TempDir()
		there := filepath.Join(dir, "there")
		m := Machine{
			Sandbox: box, Log: log, Mirror: &workspace.Mirror{Dir: t.TempDir()}, CacheDir: t.TempDir(), Shared: t.TempDir(), Scratch: t.TempDir(), Now: time.Now,
			Whole: func(context.Context) {
				if err := os.WriteFile(there, nil, 0o600); err != nil {
					t.Error(err)
				}
			},
		}
		c := ecosystem.Command{Stage: stage, Argv: []string{"sh", "-c", "test -e there"}}
		step, err := New(m, Job{}).RunAt(t.Context(), results.Head, Place{Tree: &workspace.Tree{Dir: dir}, Home: t.TempDir()}, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if waited := step.Exit == 0; waited != waits {
			t.Errorf("%s: waited %t, want %t: %s", stage, waited, waits, step.Output)
		}
	}
}
