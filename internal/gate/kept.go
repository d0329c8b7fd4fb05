package gate

import (
	"context"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/kept"
)

// kept finds out what became of the tests that pass on the base.
func (r *runner) kept(ctx context.Context) error {
	if r.prep.Unprepared() != "" || len(r.sides.Suites[Base]) == 0 {
		return nil
	}
	out, err := kept.Run(ctx, r.arms(), r.keptInput())
	r.res.Tests, r.over, r.keptArm = out.Compared, out.Over, out.Arm
	r.facts.KeptRan += out.Ran
	r.facts.Unnamed += out.Unnamed
	switch {
	case out.Expectations == nil:
	case r.res.Expectations == nil:
		r.res.Expectations = out.Expectations
	default:
		r.res.Expectations.Join(out.Expectations)
	}
	return err
}

// keptInput is what the kept arm starts from.
func (r *runner) keptInput() kept.Input {
	return kept.Input{
		Change: r.in.Change, Untrusted: r.in.Untrusted, Policy: compare.Floor(r.in.Expectations, r.in.Untrusted, false),
		Compared: r.res.Tests, Over: r.over, Own: r.own.Beside, Commands: r.keptTests,
		OverBase: func(ctx context.Context) (*arms.Arm, error) { return r.overBase(ctx, r.sides.BroughtForTests()...) },
	}
}
