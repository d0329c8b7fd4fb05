package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// restShare is the part of the time that is left in which what the change cannot
// affect has to fit: agents and attacks on the change come after it.
const restShare = 2

// A restUnit is something to build and test that the change cannot affect, by all
// that is known.
type restUnit struct {
	what string // for people
	plan *sides.Plan
}

// rest runs what the change cannot affect, one thing after the other, as far as
// the time goes: on the head first, and only where something fails there the whole
// way, on both sides. What there was no time for is named.
func (r *runner) rest(ctx context.Context) error {
	units := r.restUnits()
	if len(units) == 0 || r.prep.Unprepared() != "" {
		return nil
	}
	r.executor.Rest = true
	defer func() { r.executor.Rest = false }()
	budget := (r.tests.Limit - r.tests.Logged()) / restShare
	began := r.tests.Logged()
	var late []string
	fresh := false
	for _, u := range units {
		left := budget - (r.tests.Logged() - began)
		if left <= 0 {
			late = append(late, u.what)
			continue
		}
		if !fresh {
			if err := r.executor.Reset(ctx, Head); err != nil {
				return err
			}
			fresh = true
		}
		seen, end, err := r.quickly(ctx, u, left)
		if err == nil && end == restFails {
			err, fresh = r.thoroughly(ctx, u, seen), false
		}
		if err != nil {
			return err
		}
		if end == restLate {
			late = append(late, u.what)
		}
	}
	if len(late) > 0 {
		r.notCovered("what the change does not touch, for lack of time: %s", results.Listed(late, 20))
	}
	return nil
}

// leaveRest names what the change cannot affect where no more is asked for than the first
// verdict, which says nothing of it.
func (r *runner) leaveRest() {
	var left []string
	for _, u := range r.restUnits() {
		left = append(left, u.what)
	}
	if len(left) > 0 && r.prep.Unprepared() == "" {
		r.notCovered("what the change does not touch, which the first verdict leaves out: %s", results.Listed(left, 20))
	}
}

// restUnits are the packages of Go modules whose tests were not run yet, then the
// projects that the change does not touch. Commands of the configuration are run
// as they stand, before; they leave nothing.
func (r *runner) restUnits() []restUnit {
	if r.in.Commands.Test != nil {
		return nil
	}
	var out []restUnit
	for _, c := range r.sides.Plans[Head].Test {
		by := languages.PackagesOf(c.Eco)
		if s, ok := r.splits[c.Unit]; ok && by != nil && c.Results != nil {
			what := results.Plural(len(s.rest), by.One+" ", by.Many+" ") + results.Listed(s.rest, 10)
			out = append(out, restUnit{what, &sides.Plan{Test: []ecosystem.Command{by.But(c, s.first)}}})
		}
	}
	for _, p := range r.sides.Plans[Base].Left {
		on := func(q ecosystem.Project) bool { return q.Eco.Name == p.Eco.Name && q.Dir == p.Dir }
		if p.Missing != "" || !slices.ContainsFunc(r.sides.Plans[Head].Left, on) {
			continue
		}
		mine := newPlan([]ecosystem.Project{p}, r.in.Commands)
		mine.Lint = nil
		for stage, list := range map[Stage]*[]ecosystem.Command{StageSetup: &mine.Setup, StageBuild: &mine.Build} {
			if r.configured(stage) { // they have run
				*list = nil
			}
		}
		if len(mine.Build)+len(mine.Test) > 0 {
			out = append(out, restUnit{p.InPlace(), mine})
		}
	}
	return out
}

// How a unit ends on the head.
type restEnd int

const (
	restPasses restEnd = iota + 1
	restFails
	restLate
)

// quickly sets a unit up on the head, builds and tests it, in the time that is left.
func (r *runner) quickly(ctx context.Context, u restUnit, left time.Duration) (Suite, restEnd, error) {
	until := r.tests.Logged() + left
	suite := Suite{}
	for _, c := range slices.Concat(r.prep.SetupOf(Head, u.plan), u.plan.Build) {
		if c.Timeout = min(r.Limits.Step, until-r.tests.Logged()); c.Timeout <= 0 {
			return suite, restLate, nil
		}
		step, err := r.executor.Run(ctx, Head, r.in.Head, c, nil)
		if err != nil || step.Failed() {
			return suite, ended(step), err
		}
	}
	for _, c := range u.plan.Test {
		step := min(r.Limits.Step, until-r.tests.Logged())
		if step <= 0 {
			return suite, restLate, nil
		}
		one, ran, err := r.tests.RunTestsIn(ctx, Head, r.in.Head, r.tests.HangingIn(c, step), step)
		suite.Add(one)
		switch {
		case err != nil:
			return suite, 0, err
		case results.AnyFailed(one):
			return suite, restFails, nil
		case ran.Failed():
			return suite, ended(ran), nil
		}
	}
	switch took := r.tests.Logged() - (until - left); {
	case !r.silentRest(u, suite):
	case 2*took > left-took: // on both sides that takes as long again on each, and the base is set up
		return suite, restLate, nil
	default:
		return suite, restFails, nil
	}
	r.rested.Add(suite)
	r.count(suite)
	return suite, restPasses, nil
}

// silentRest says whether tests of a project may have been silent on the head, which only the base's
// show: some are skipped, or none of them passed. Packages of a module that the change affects
// otherwise import nothing that it changes.
func (r *runner) silentRest(u restUnit, suite Suite) bool {
	passed, skipped := 0, 0
	for _, t := range suite {
		switch {
		case t.Leaf && t.Status == Passed:
			passed++
		case t.Leaf && t.Status == Skipped:
			skipped++
		}
	}
	return slices.ContainsFunc(u.plan.Projects, func(p ecosystem.Project) bool {
		return len(p.Test) > 0 && (skipped > 0 || passed == 0 && slices.ContainsFunc(r.sides.Plans[Base].Files, func(f string) bool {
			return ecosystem.Inside(p.Dir, f) && languages.IsTestSource(f)
		}))
	})
}

func ended(s Step) restEnd {
	if s.TimedOut {
		return restLate
	}
	return restFails
}

// count adds tests to those that ran on the head.
func (r *runner) count(s Suite) {
	if r.res.Tests.Head == nil {
		r.res.Tests.Head = map[Status]int{}
	}
	for status, n := range s.Count() {
		r.res.Tests.Head[status] += n
	}
}

// thoroughly judges a unit as the gate judges what the change can affect: it was
// thought that it cannot fail because of the change, and it fails. What it said at
// first is seen.
func (r *runner) thoroughly(ctx context.Context, u restUnit, seen Suite) error {
	for _, side := range []Side{Base, Head} {
		if err := r.executor.Reset(ctx, side); err != nil {
			return err
		}
	}
	in := r.in
	in.Prepared = nil
	plans := map[Side]*sides.Plan{}
	for _, side := range []Side{Base, Head} {
		p := *u.plan
		p.Survey = r.sides.Plans[side].Survey
		plans[side] = &p
	}
	g := newRunner(r.aside(r.Scratch), in, task{
		beside: r.executor.Beside,
		plan:   plans, copies: "rest", rest: true, limit: r.tests.Limit - r.tests.Logged(), longest: r.tests.Longest,
		packages: r.sides.Packages, affected: r.sides.Affected, flakes: r.tests.Flakes, phantoms: r.tests.Phantoms,
	})
	defer func() { r.takeRest(u, g, seen) }()
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return g.prep.Prepare(ctx, Base) }, g.prepareHead, g.testBase, g.testHead, g.compare, g.kept, g.ownAltered, g.passByOwn,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%s: %w", u.what, err)
		}
	}
	return nil
}

// takeRest brings what was found out about a unit into the result. That it cannot be
// built on either side, or not be set up, is not covered: the change is not about it.
func (r *runner) takeRest(u restUnit, g *runner, seen Suite) {
	g.executor.Close()
	r.executor.Steps = append(r.executor.Steps, g.executor.Steps...)
	r.tests.Statistics = append(r.tests.Statistics, g.tests.Statistics...)
	for _, n := range g.res.Notes {
		r.note("%s: %s", u.what, n)
	}
	out := &r.res.Tests
	r.res.Broken = append(r.res.Broken, g.res.Broken...)
	if len(g.res.BrokenBoth) > 0 {
		r.notCovered("%s, which the change does not touch: it does not build on either side", u.what)
	}
	for _, l := range g.lacks {
		r.notCovered("%s, which the change does not touch: %s", u.what, l)
	}
	if why := g.prep.Unprepared() + g.facts.Incomplete; why != "" {
		r.notCovered("%s, which the change does not touch: %s", u.what, why)
	}
	g.account(seen)
	t := g.res.Tests
	mine, theirs := out.Lists(), t.Lists()
	for i := range mine {
		*mine[i] = append(*mine[i], *theirs[i]...)
	}
	if x := g.res.Expectations; x != nil && r.res.Expectations != nil {
		r.res.Expectations.Join(x)
	}
	r.rested.Add(g.sides.Suites[Head])
	r.count(g.sides.Suites[Head])
	if out.Base == nil {
		out.Base = map[Status]int{}
	}
	for status, n := range g.sides.Suites[Base].Count() {
		out.Base[status] += n
	}
	out.Sort()
}

// account files what failed at first and is in none of the lists: what passed later
// is flaky, of the rest nothing more is known.
func (r *runner) account(seen Suite) {
	t := &r.res.Tests
	for id, test := range seen {
		is := func(k Case) bool { return k.ID == id }
		if test.Status != Failed || r.tests.Phantoms.Has(id) || slices.ContainsFunc(t.Lists(), func(list *[]Case) bool { return slices.ContainsFunc(*list, is) }) {
			continue
		}
		if r.sides.Suites[Head][id].Status == Passed {
			t.Flaky = append(t.Flaky, results.NewCase(id, test))
		} else {
			t.Unknown = append(t.Unknown, results.NewCase(id, test))
		}
	}
}
