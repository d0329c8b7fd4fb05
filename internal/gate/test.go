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
	"github.com/ycbot/ycbot/internal/workspace"
)

// testBase takes what is known of the base's tests from earlier runs, runs the
// others and keeps the results for later ones.
func (r *runner) testBase(ctx context.Context) error {
	r.suites[Base] = Suite{}
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
		r.suites[Base] = Suite{}
	}
	if err := r.test(ctx, Base); err != nil {
		return err
	}
	r.measure()
	return nil
}

// measure keeps how long the slowest of the base's tests took.
func (r *runner) measure() {
	for _, t := range r.suites[Base] {
		r.longest = max(r.longest, t.Elapsed)
	}
}

func (r *runner) testHead(ctx context.Context) error { return r.test(ctx, Head) }

// test runs the tests of one side that the change can affect, at the base those
// that are not known.
func (r *runner) test(ctx context.Context, side Side) error {
	if side == Head || r.suites[side] == nil {
		r.suites[side] = Suite{}
	}
	if r.prep.Unprepared() != "" {
		return nil
	}
	for _, c := range r.firstTests(side) {
		label := c.Label()
		if side == Head {
			c = r.hanging(r.fitting(c))
		} else if c = r.unknown(c); c.Argv == nil {
			continue
		}
		suite, step, err := r.runFresh(ctx, side, c)
		if err == nil && r.silentCall(side, c, suite, step) {
			suite, step, err = r.asWritten(ctx, side, c, suite, step)
		}
		r.suites[side].Add(suite)
		r.reports(c.Unit, label, suite)
		if err != nil {
			return err
		}
		if step.TimedOut && r.facts.Incomplete == "" {
			r.facts.Incomplete = fmt.Sprintf("%q on the %s took longer than %s", c.Text, side, step.Duration.Round(time.Second))
		}
	}
	if side == Base {
		return nil
	}
	for _, c := range r.plan[Head].Test {
		if t := r.suites[Head][ID{Unit: c.Unit, Command: c.Text}]; c.Results == nil && t.Status != Failed && !slices.Contains(r.ownTests, ID{Unit: c.Unit, Command: c.Text}) {
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
	for id := range r.suites[Head] {
		if id.Package != "" {
			ranIn[id.Package] = id.Unit
		}
	}
	for i, p := range r.packages {
		if unit, ok := ranIn[p.ImportPath]; ok && !results.HasPackage(r.suites[Head], ID{Unit: p.Unit, Package: p.ImportPath}) {
			r.packages[i].Unit = unit
		}
	}
}

// runFresh runs a test command in the prepared side as it was before the first
// test, so that what an earlier run left in the tree or in HOME decides nothing.
func (r *runner) runFresh(ctx context.Context, side Side, c ecosystem.Command) (Suite, Step, error) {
	if err := r.executor.Reset(ctx, side); err != nil {
		return Suite{}, Step{}, err
	}
	return r.runTests(ctx, side, c)
}

// runTests runs one test command and returns what each test said. For a
// command without per-test output that is the command as one test.
func (r *runner) runTests(ctx context.Context, side Side, c ecosystem.Command) (Suite, Step, error) {
	return r.runTestsIn(ctx, side, r.executor.Tree(side), c, r.Limits.step())
}

// runTestsIn does so in a tree of that side, in the time that the command may take.
func (r *runner) runTestsIn(ctx context.Context, side Side, tree *workspace.Tree, c ecosystem.Command, limit time.Duration) (Suite, Step, error) {
	if c.Results == nil {
		var said beginning
		step, err := r.executor.Run(ctx, side, tree, r.limitedIn(side, c, limit), &said)
		t := commandTest(step)
		if t.Status == Passed && results.RanNothing(string(said)) {
			t.Status, t.NoTests, t.Output = NotRun, true, string(said)
			step = r.withoutTests(step)
		}
		return Suite{ID{Unit: c.Unit, Command: c.Text}: t}, step, err
	}
	stream := c.Results.Collect(c.Unit)
	if c.Results.Hang != nil {
		c.Timeout = limit + r.Limits.grace() // it has a limit of its own
	} else {
		c = r.limitedIn(side, c, limit)
	}
	step, err := r.executor.Run(ctx, side, tree, c, stream)
	suite := r.collected(side, tree, c, stream, step)
	if c.Results.Refused != nil && c.Results.Refused(step.Exit) { // what it made of single tests is no result of them
		clear(suite)
	}
	if err == nil {
		step = r.asCommand(suite, c, stream, step, tree.Dir)
	}
	return suite, step, err
}

// asCommand adds to a suite what the command did as a whole, as one test that is the
// same on both sides, where its runner refused, was ended or has not reported a whole
// run. A run without a test is no result of any. More output than is kept makes the
// command count as one test.
func (r *runner) asCommand(suite Suite, c ecosystem.Command, stream results.Collector, step Step, wd string) Step {
	why, much := stream.Gap()
	step.Empty = stream.None()
	failed := results.AnyFailed(suite)
	if !much && !failed && !results.AnyRan(suite) {
		step = r.withoutTests(step)
	}
	if why == "" && (!step.Failed() || failed && !step.TimedOut) {
		return step
	}
	t := commandTest(step)
	t.NoTests = step.NoTests
	t.Output, t.Cut = results.Clean(results.JoinOutput(stream.Rest(), step.Output), wd), true
	if step.TimedOut || why != "" && !much && !step.Failed() {
		t.Status = NotRun
	}
	if much {
		clear(suite)
		r.notCoveredOnce("the tests of %q one by one: %s, so that it counts as one test", c.Label(), why)
	}
	suite[ID{Unit: c.Unit, Command: c.Label()}] = t
	return step
}

// A beginning is the first of what a command prints.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 4<<10-len(*b))]...)
	return len(p), nil
}

// withoutTests is a step of which it is known that it ran no test.
func (r *runner) withoutTests(step Step) Step {
	step.NoTests = true
	for i := range r.executor.Steps {
		if r.executor.Steps[i].Evidence == step.Evidence {
			r.executor.Steps[i].NoTests = true
		}
	}
	return step
}

func commandTest(step Step) Test {
	t := Test{Status: Passed, Evidence: step.Evidence, Elapsed: step.Duration, Leaf: true}
	if step.Failed() {
		t.Status, t.Output, t.Lacks = Failed, step.Output, step.Lacks
	}
	return t
}

// compare compares the sides and runs again what they disagree about.
func (r *runner) compare(ctx context.Context) error {
	r.leaveOut()
	r.refused()
	r.compiledByTests()
	base, head := r.suites[Base], r.suites[Head]
	r.res.Tests = runs.Compare(base, head)
	if len(base) == 0 && len(head) > 0 {
		r.attributeNothing()
		return nil
	}
	err := r.confirm(ctx)
	if err == nil {
		err = r.reveal(ctx)
	}
	if err == nil {
		err = r.rerun(ctx)
	}
	if err != nil {
		r.unconfirmed()
		return err
	}
	r.alikeOld()
	return nil
}

// alikeOld takes the blame from new tests that fail for the reason for which old ones do, with
// and without the change: what they need is not there, such as a program that nothing has built
// or a service.
func (r *runner) alikeOld() {
	t := &r.res.Tests
	old := map[string]bool{} // reasons, by where they are
	for _, k := range t.PreExisting {
		if k.ID.Test != "" {
			old[k.ID.Unit+"\x00"+masked(results.FailureLine(k.Output))] = true
		}
	}
	t.NewFailing = slices.DeleteFunc(t.NewFailing, func(k Case) bool {
		why := results.FailureLine(k.Output)
		if k.ID.Test == "" || len(why) < minReason || compares.MatchString(why) || !old[k.ID.Unit+"\x00"+masked(why)] {
			return false
		}
		t.Unknown = append(t.Unknown, k) // a test that could not show anything is no PASS
		r.note("%s is new and fails as old tests do without the change: %s", k.ID, why)
		return true
	})
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
		if p := r.suites[Base][pkg]; k.ID.Test != "" && p.Cut && !p.Broken {
			if named[pkg] == nil {
				named[pkg] = map[string]bool{}
			}
			named[pkg][k.ID.Top()] = true
		}
	}
	alone := Suite{}
	for pkg, tests := range named {
		for _, c := range r.parts(Base, ecosystem.Group{Eco: r.sides.EcoOf(pkg), Unit: pkg.Unit}, StageRerun, ecosystem.Part{Packages: []string{pkg.Package}, Tests: tests}) {
			suite, _, err := r.runFresh(ctx, Base, c)
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
			r.suites[Base][k.ID] = on
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
	if len(r.plan[Base].Test) == 0 {
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
