package orchestrator

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A quick sandbox runs nothing.
type quick struct{}

func (quick) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }

func (quick) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{}, nil
}

// Commands that were run again when the time for that ended are known by the journal: they
// show nothing, and the log has them.
func TestCutShort(t *testing.T) {
	t.Parallel()
	dir, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w := &work{dir: dir}
	run := func(ctx context.Context) string {
		rec, _, err := dir.Evidence.Run(ctx, quick{}, evidence.Execution{Agent: reproduce.Host, Task: reproduce.OnHead, Command: "sh probe", Root: dir.Path})
		if err != nil {
			t.Fatal(err)
		}
		return rec.ID
	}
	cut := func(id string) bool {
		_, ok := dir.Journal.Lookup(KindCut, id)
		return ok
	}
	id := ""
	in, err := w.inTime(t.Context(), time.Time{}, func(ctx context.Context) error {
		id = run(ctx)
		return nil
	})
	if !in || err != nil || cut(id) {
		t.Errorf("one that came to its end: %t %v, cut %t", in, err, cut(id))
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, err = w.inTime(ctx, time.Time{}, func(ctx context.Context) error {
		id = run(ctx)
		cancel()
		return ctx.Err()
	})
	if in || err != nil || !cut(id) || cut("E1") {
		t.Errorf("one that did not: %t %v, cut %t", in, err, cut(id))
	}
	broken := errors.New("no room")
	if in, err = w.inTime(t.Context(), time.Time{}, func(context.Context) error { return broken }); in || !errors.Is(err, broken) {
		t.Errorf("a fault: %t %v", in, err)
	}
}
