package gate

import (
	"context"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A recorder keeps the last command that it was given.
type recorder struct {
	bare
	last sandbox.Command
}

func (r *recorder) Run(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
	r.last = c
	return sandbox.Result{}, nil
}

// TestServices holds that the services of the job reach the gate's own commands
// and the shells of agents alike.
func TestServices(t *testing.T) {
	t.Parallel()
	box := &recorder{}
	log, err := evidence.Open(t.TempDir(), "run", evidence.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	g := &Gate{
		Machine: Machine{
			Sandbox:  box,
			Log:      log,
			Mirror:   &workspace.Mirror{Dir: t.TempDir()},
			CacheDir: t.TempDir(),
			Shared:   t.TempDir(),
			Scratch:  t.TempDir(),
			Services: []sandbox.Service{{Name: "localhost:5432"}},
			Now:      time.Now,
		},
	}
	r := newRunner(g, Input{}, task{})
	if _, err := r.executor.Run(t.Context(), Head, &workspace.Tree{Dir: t.TempDir()}, ecosystem.Command{Stage: StageList, Argv: []string{"true"}}, nil); err != nil {
		t.Fatal(err)
	}
	shell, err := g.Shell(t.Context(), t.TempDir(), t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]sandbox.Command{"gate": box.last, "agent": shell} {
		if len(c.Services) != 1 || c.Services[0].Name != "localhost:5432" {
			t.Errorf("%s: %v", name, c.Services)
		}
	}
}
