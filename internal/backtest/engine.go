package backtest

import (
	"context"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
)

// A Gate is the Engine of this program.
type Gate struct{ Runner *run.Runner }

// Verify runs the gate as "ycbot run --no-model" does.
func (g Gate) Verify(ctx context.Context, v Verification) (*report.Report, error) {
	return g.Runner.Run(ctx, run.Job{
		Dir: v.Dir, Base: v.Base, Head: v.Head, Out: v.Out, Timeout: v.Timeout, Trigger: "cli", Trust: "local", UntilFirst: v.UntilFirst,
	})
}

// Outside is run.Outside.
func (g Gate) Outside(out string) (report.Verdict, []string, error) { return run.Outside(out) }

// Suite runs the tests of one commit.
func (g Gate) Suite(ctx context.Context, job run.SuiteJob) (*run.SuiteResult, error) {
	return g.Runner.Suite(ctx, job)
}

// Class is run.ClassOf.
func (g Gate) Class(path string) string { return run.ClassOf(path) }
