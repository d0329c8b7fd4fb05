package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/tester"
)

// Run judges a change. It returns what it found out also when ctx ends on the
// way: Result.Verdict then is what stands without the rest, and the error says
// why it stopped. Other errors are infrastructure.
func (g *Gate) Run(ctx context.Context, in Input) (*Result, error) {
	r := newRunner(g.restricted(ctx), in, task{limit: g.left(ctx)})
	defer r.executor.Close()
	err := r.steps(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	if err != nil {
		r.facts.Incomplete = stopped(context.Cause(ctx))
	}
	r.noteRegistries()
	r.writeFlakes(context.WithoutCancel(ctx))
	r.conclude()
	return r.res, err
}

// A step is one part of the gate. It reads what the steps before it found out, and adds
// to it.
type step struct {
	name string // of errors
	run  func(*runner, context.Context) error
}

// decisive is what a verdict rests on: the build, the tests of both sides, and each
// side's tests over the other's sources.
func decisive() []step {
	return []step{
		{"detection", (*runner).detect},
		{"record of flaky tests", (*runner).readFlakes},
		{"marks of test runs", (*runner).marks},
		{"base", (*runner).prepareBase},
		{"head", (*runner).prepareHead},
		{"packages", (*runner).list},
		{"classes of files", (*runner).classify},
		{"affected packages", (*runner).split},
		{"what setup makes for tests", (*runner).madeForTests},
		{"tests of the base", (*runner).testBase},
		{"tests of the head", (*runner).testHead},
		{"comparison", (*runner).compare},
		{"results of the base", (*runner).saveBase},
		{"files of the base's tests", (*runner).reported},
		{"change's tests over the base", (*runner).failToPass},
		{"base's tests over the head", (*runner).kept},
		{"own commands that the change alters", (*runner).ownAltered},
		{"new tests by the project's own command", (*runner).passByOwn},
		{"rewritten files", (*runner).rewritten},
		{"sources that nothing compiles", (*runner).uncompiled},
	}
}

// lowering is what can only lower a verdict. The checks are those of [checks.All].
func lowering() []step {
	var early, late []step
	for _, c := range checks.All() {
		if s := (step{c.Name, func(r *runner, ctx context.Context) error { return r.check(ctx, c) }}); c.Early {
			early = append(early, s)
		} else {
			late = append(late, s)
		}
	}
	between := []step{{"merge", (*runner).merge}, {"rest", (*runner).rest}}
	return slices.Concat([]step{{"changed lines that ran", (*runner).executed}, {"lint", (*runner).lint}}, early, between, late)
}

// steps is the gate from beginning to end: the decisive part, whose verdict is shown at
// once, and what can only lower it.
func (r *runner) steps(ctx context.Context) error {
	if err := r.decide(ctx); err != nil || r.facts.Nothing != "" {
		return err
	}
	if r.in.UntilFirst {
		r.leaveRest()
		return nil
	}
	sofar := r.sofar()
	r.res.First = sofar.Verdict
	if r.First != nil {
		r.First(sofar)
	}
	r.failed = sofar.Verdict == Fail
	r.tests.Share = tester.DecidesAll
	return r.lower(ctx, lowering())
}

// lower takes steps that can only lower the verdict. One that cannot be taken for a reason
// that is not the change's does not take away what is known: the others are taken, and the
// verdict is PASS no more, as that step could have lowered it. Before the run's time is up
// a step is broken off and named, as are those behind it: the rest is for agents and the report.
func (r *runner) lower(ctx context.Context, steps []step) error {
	within, cancel := r.beforeEnd(ctx)
	defer cancel()
	var late []string
	for _, s := range steps {
		err := context.Cause(within)
		if err == nil {
			err = s.run(r, within)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", s.name, err)
		case within.Err() != nil:
			late = append(late, s.name)
		case r.facts.Incomplete == "":
			r.facts.Incomplete = fmt.Sprintf("%s: %v", s.name, err)
		default:
			r.notCovered("%s: %v", s.name, err)
		}
	}
	if len(late) > 0 {
		r.notCovered("%s: no time was left", strings.Join(late, ", "))
	}
	return nil
}

// reserve is the most that is kept of the run's time, of which the twentieth part is, to conclude
// and report. Agents that follow have half of the time.
const reserve = 10 * time.Second

// beforeEnd is ctx, but that it ends earlier, where it ends by itself.
func (r *runner) beforeEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := max(0, r.left(ctx))
	kept := min(reserve, left/20)
	if r.in.AgentsFollow {
		kept = left / 2
	}
	return context.WithDeadline(ctx, deadline.Add(-kept))
}

// take takes steps one after the other, until there is nothing to run.
func (r *runner) take(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s.run(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if r.facts.Nothing != "" {
			return nil
		}
	}
	return nil
}

// sofar is what the decisive part came to. What is concluded here is concluded again in
// the end.
func (r *runner) sofar() Result {
	facts, result := r.facts, *r.res
	r.facts.NoProbes = true
	r.conclude()
	out := *r.res
	r.facts, *r.res = facts, result
	return out
}

// decide takes the decisive steps.
func (r *runner) decide(ctx context.Context) error {
	err := r.take(ctx, decisive())
	if err == nil && r.facts.Nothing != "" {
		return r.handOver(ctx)
	}
	return err
}

// handOver gives the trees of a change of which nothing can be run to the caller that
// wants them prepared: agents may find something.
func (r *runner) handOver(ctx context.Context) error {
	if r.in.Prepared == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.prepareBase(ctx); err != nil {
		return err
	}
	return r.prepareHead(ctx)
}

// stopped words the reason for which a context ended.
func stopped(cause error) string {
	if errors.Is(cause, context.DeadlineExceeded) {
		return "the time limit was reached"
	}
	if cause == nil || errors.Is(cause, context.Canceled) {
		return "it was cancelled"
	}
	return cause.Error()
}
