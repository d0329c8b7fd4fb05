package gate

import (
	"context"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// silentCall says whether a call that was asked for results failed or kept silent without
// a result, and is to be run as the project wrote it: at the head only where the base has
// none either. A runner that reports that it ran no test had none to run.
func (r *runner) silentCall(side Side, c ecosystem.Command, suite Suite, step Step) bool {
	if c.Plain == nil || step.Empty || step.Stopped() || step.Lacks != "" || results.AnyRan(suite) {
		return false
	}
	for id, t := range r.sides.Suites[Base] {
		if side == Head && id.Unit == c.Unit && t.Eco == c.Eco && t.Status != NotRun && !t.Cut {
			return false
		}
	}
	return true
}

// asWritten runs a call as the project wrote it, or in another way that is nearer to it. Where
// that goes well, it stands in place of c on both sides, as one test if it reports none; else
// what c came to stands.
func (r *runner) asWritten(ctx context.Context, side Side, c ecosystem.Command, was Suite, then Step) (Suite, Step, error) {
	plain := *c.Plain
	plain.Eco, plain.Env = c.Eco, c.Env
	suite, step, err := r.tests.RunFresh(ctx, side, plain)
	switch {
	case err == nil && plain.Plain != nil && !results.AnyRan(suite):
		plain.Text = c.Text // of what is replaced
		return r.asWritten(ctx, side, plain, was, then)
	case err != nil, plain.Results == nil && step.Failed():
		return was, then, err
	}
	for _, p := range r.sides.Plans {
		if p == nil {
			continue
		}
		for i, t := range p.Test {
			if t.Plain != nil && t.Unit == c.Unit && t.Text == c.Text {
				p.Test[i] = plain
			}
		}
	}
	if plain.Results != nil {
		r.note("%q reports no test: it is run as %q", c.Text, plain.Text)
	} else {
		r.note("%q reports no test when it is asked for results: it is run as %q, and counts as one test", c.Text, plain.Text)
	}
	return suite, step, nil
}
