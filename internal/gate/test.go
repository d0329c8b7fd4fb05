package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/pattern"
)

// testBase takes what is known of the base's tests from earlier runs, runs the
// others and keeps the results for later ones.
func (r *runner) testBase(ctx context.Context) error {
	r.sides.Suites[Base] = Suite{}
	r.recall(ctx)
	if err := r.runBase(ctx); err != nil {
		return err
	}
	if err := r.ownCommands(ctx); err != nil {
		return err
	}
	r.keep()
	r.bringsMade()
	return nil
}

func (r *runner) runBase(ctx context.Context) error {
	if r.known == nil {
		r.sides.Suites[Base] = Suite{}
	}
	if err := r.test(ctx, Base); err != nil {
		return err
	}
	r.tests.Measure()
	return nil
}

func (r *runner) testHead(ctx context.Context) error { return r.test(ctx, Head) }

// test runs the tests of one side that the change can affect, at the base those
// that are not known.
func (r *runner) test(ctx context.Context, side Side) error {
	if side == Head || r.sides.Suites[side] == nil {
		r.sides.Suites[side] = Suite{}
	}
	if r.prep.Unprepared() != "" {
		return nil
	}
	for _, c := range r.firstTests(side) {
		label := c.Label()
		if side == Head {
			c = r.tests.Hanging(r.fitting(c))
		} else if c = r.known.Unknown(c); c.Argv == nil {
			continue
		}
		suite, step, err := r.tests.RunFresh(ctx, side, c)
		if err == nil && r.silentCall(side, c, suite, step) {
			suite, step, err = r.asWritten(ctx, side, c, suite, step)
		}
		r.sides.Suites[side].Add(suite)
		r.tests.Reports(c.Unit, label, suite)
		if err != nil {
			return err
		}
		if r.prep.WantsNewer(step) { // what else there is of both sides has nothing to compare with
			r.sides.Suites[Base], r.sides.Suites[Head] = Suite{}, Suite{}
			return nil
		}
		if step.Stopped() && r.facts.Incomplete == "" {
			why := step.Ending()
			if step.TimedOut {
				why = fmt.Sprintf("took longer than %s", step.Duration.Round(time.Second))
			}
			r.facts.Incomplete = fmt.Sprintf("%q on the %s %s", c.Text, side, why)
		}
	}
	if side == Base {
		return nil
	}
	for _, c := range r.sides.Plans[Head].Test {
		if t := r.sides.Suites[Head][ID{Unit: c.Unit, Command: c.Text}]; c.Results == nil && t.Status != Failed && !slices.Contains(r.own.Beside, ID{Unit: c.Unit, Command: c.Text}) {
			r.notCovered("the tests of %q one by one: its output does not name them, so that it counts as one test", c.Text)
		}
	}
	r.adopt()
	r.remadeData()
	return nil
}

// adopt lets the listed packages belong to the unit under which their tests
// ran: a command of the configuration runs at the top, wherever the modules are.
func (r *runner) adopt() {
	ranIn := map[string]string{}
	for id := range r.sides.Suites[Head] {
		if id.Package != "" {
			ranIn[id.Package] = id.Unit
		}
	}
	for i, p := range r.sides.Packages {
		if unit, ok := ranIn[p.ImportPath]; ok && !results.HasPackage(r.sides.Suites[Head], ID{Unit: p.Unit, Package: p.ImportPath}) {
			r.sides.Packages[i].Unit = unit
		}
	}
}

// compare compares the sides and runs again what they disagree about.
func (r *runner) compare(ctx context.Context) error {
	r.leaveOut()
	r.refused()
	r.compiledByTests()
	base, head := r.sides.Suites[Base], r.sides.Suites[Head]
	r.res.Tests = runs.Compare(base, head, r.sides.MovedTest)
	if len(base) == 0 && len(head) > 0 {
		r.attributeNothing()
		return nil
	}
	err := r.confirm(ctx)
	if err == nil {
		err = r.reveal(ctx)
	}
	if err == nil {
		r.res.Tests, err = r.tests.Rerun(ctx, r.res.Tests)
	}
	if err != nil {
		r.unconfirmed()
		return err
	}
	r.passWithin()
	r.alikeOld()
	r.withinOld()
	return nil
}

// withinOld looks into old failures that are suites of specs to their runner: one that fails on both
// sides hides what else fails in it with the change.
func (r *runner) withinOld() {
	t := &r.res.Tests
	t.PreExisting = slices.DeleteFunc(t.PreExisting, func(k Case) bool {
		old := results.FailedSpecs(r.sides.Suites[Base][k.ID].Output)
		more := slices.DeleteFunc(results.FailedSpecs(k.Output), func(s string) bool { return slices.Contains(old, s) })
		switch {
		case len(more) > 0:
			t.Unknown = append(t.Unknown, k)
			r.note("%s fails without the change as well, and with it also in %s", k.ID, results.Listed(more, 3))
			return true
		case results.RanNoSpec(k.Output):
			r.notCoveredOnce("the specs of %s: none of them runs, with and without the change: %s", k.ID, results.FailureLine(k.Output))
		}
		return false
	})
	t.Sort()
}

// alikeOld takes the blame from new tests that fail for the reason for which old ones do, with
// and without the change: what they need is not there, such as a program that nothing has built
// or a service. So it does of a file that is not loaded for want of what old ones want, too.
func (r *runner) alikeOld() {
	t := &r.res.Tests
	reason := func(k Case) string {
		why := masked(results.FailureLine(k.Output))
		if k.ID.Test == "" {
			why = "not loaded: " + why
		}
		return k.ID.Unit + "\x00" + why
	}
	old := map[string]bool{}
	for _, k := range t.PreExisting {
		old[reason(k)] = true
	}
	alike := func(k Case, as string) bool {
		why := results.FailureLine(k.Output)
		if len(why) < minReason || compares.MatchString(why) || !old[reason(k)] || k.ID.Test == "" && !r.wantsAbsent(k) {
			return false
		}
		r.note("%s %s as old tests do without the change: %s", k.ID, as, why)
		return true
	}
	stay, gone := results.Parted(t.NewFailing, func(k Case) bool { return alike(k, "is new and fails") })
	t.NewFailing = stay
	t.Regressed = slices.DeleteFunc(t.Regressed, func(k Case) bool {
		same := k.ID.Test == "" && alike(k, "fails")
		if same {
			gone = append(gone, k)
		}
		return same
	})
	t.Unknown = append(t.Unknown, gone...) // a test that could not show anything is no PASS
	t.Sort()
}

// compares is what says that a test found something else than it expected, which many say.
var compares = pattern.New(`(?i)assert|expect|equal|\bwant|\bgot\b|should|mismatch|differ`)

// minReason is how long a reason has to be to say more than that something is not equal.
const minReason = 20

var anyNumber = pattern.New(`\d+`)

// masked is a reason without its numbers.
func masked(why string) string { return anyNumber.ReplaceAllString(why, "0") }

// reveal runs tests by themselves on base that a panic kept from running there
// and that fail on the head, so that they can be compared.
func (r *runner) reveal(ctx context.Context) error {
	t := &r.res.Tests
	named := map[ID]map[string]bool{} // top-level tests by package
	for _, k := range t.Unknown {
		pkg := ID{Unit: k.ID.Unit, Package: k.ID.Package}
		if p := r.sides.Suites[Base][pkg]; k.ID.Test != "" && p.Cut && !p.Broken {
			if named[pkg] == nil {
				named[pkg] = map[string]bool{}
			}
			named[pkg][k.ID.Top()] = true
		}
	}
	alone := Suite{}
	for pkg, tests := range named {
		for _, c := range r.tests.Parts(Base, ecosystem.Group{Eco: r.sides.EcoOf(pkg), Unit: pkg.Unit}, StageRerun, ecosystem.Part{Packages: []string{pkg.Package}, Tests: tests}) {
			suite, _, err := r.tests.RunFresh(ctx, Base, c)
			if err != nil {
				return err
			}
			alone.Add(suite)
		}
	}
	unknown := t.Unknown
	t.Unknown = nil
	for _, k := range unknown {
		on, there := alone[k.ID]
		_, ran := alone[ID{Unit: k.ID.Unit, Package: k.ID.Package}]
		switch {
		case on.Status == Failed:
			k.Evidence = append(k.Evidence, on.Evidence)
			t.PreExisting = append(t.PreExisting, k)
		case on.Status == Passed:
			r.sides.Suites[Base][k.ID] = on
			t.Regressed = append(t.Regressed, k)
		case on.Status == Skipped, ran && !there && !runs.PackageEnded(alone, k.ID):
			t.NewFailing = append(t.NewFailing, k)
		default:
			t.Unknown = append(t.Unknown, k)
		}
	}
	t.Sort()
	return nil
}

// attributeNothing takes the blame from failures that have no base to compare
// with: the base has tests to run, and they could not be.
func (r *runner) attributeNothing() {
	if len(r.sides.Plans[Base].Test) == 0 {
		return // the base really has none
	}
	t := &r.res.Tests
	t.Unknown = append(t.Unknown, t.NewFailing...)
	t.NewFailing = nil
	t.Sort()
}

// unconfirmed takes the blame from failures that there was no time to see twice.
func (r *runner) unconfirmed() {
	t := &r.res.Tests
	t.Unknown = append(append(t.Unknown, t.Regressed...), t.NewFailing...)
	t.Regressed, t.NewFailing = nil, nil
	t.Sort()
}
