package tester

import (
	"context"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// RunFresh runs a test command in the prepared side as it was before the first
// test, so that what an earlier run left in the tree or in HOME decides nothing.
func (t *Tester) RunFresh(ctx context.Context, side results.Side, c ecosystem.Command) (results.Suite, ecosystem.Step, error) {
	if err := t.Executor.Reset(ctx, side); err != nil {
		return results.Suite{}, ecosystem.Step{}, err
	}
	return t.RunTests(ctx, side, c)
}

// RunTests runs one test command and returns what each test said. For a
// command without per-test output that is the command as one test.
func (t *Tester) RunTests(ctx context.Context, side results.Side, c ecosystem.Command) (results.Suite, ecosystem.Step, error) {
	return t.RunTestsIn(ctx, side, t.Executor.Tree(side), c, t.Limits.Step)
}

// RunTestsIn does so in a tree of that side, in the time that the command may take.
func (t *Tester) RunTestsIn(ctx context.Context, side results.Side, tree *workspace.Tree, c ecosystem.Command, limit time.Duration) (results.Suite, ecosystem.Step, error) {
	if c.Results == nil {
		var said beginning
		step, err := t.Executor.Run(ctx, side, tree, t.limitedIn(side, c, limit), &said)
		test := commandTest(step)
		if test.Status == results.Passed && results.RanNothing(string(said)) {
			test.Status, test.NoTests, test.Output = results.NotRun, true, string(said)
			step = t.withoutTests(step)
		}
		return results.Suite{results.ID{Unit: c.Unit, Command: c.Text}: test}, step, err
	}
	stream := c.Results.Collect(c.Unit)
	if c.Results.Hang != nil {
		c.Timeout = limit + t.Limits.Grace // it has a limit of its own
	} else {
		c = t.limitedIn(side, c, limit)
	}
	step, err := t.Executor.Run(ctx, side, tree, c, stream)
	suite := t.Collected(side, tree, c, stream, step)
	if c.Results.Refused != nil && c.Results.Refused(step.Exit) { // what it made of single tests is no result of them
		clear(suite)
	}
	if err == nil {
		step = t.asCommand(side, suite, c, stream, step, tree.Dir)
	}
	return suite, step, err
}

// asCommand adds to a suite what the command did as a whole, as one test that is the
// same on both sides, where its runner refused, was ended or has not reported a whole
// run. A run without a test is no result of any. More output than is kept makes the
// command count as one test.
func (t *Tester) asCommand(side results.Side, suite results.Suite, c ecosystem.Command, stream results.Collector, step ecosystem.Step, wd string) ecosystem.Step {
	why, much := stream.Gap()
	step.Empty = stream.None()
	failed := results.AnyFailed(suite)
	if !much && !failed && !results.AnyRan(suite) {
		step = t.withoutTests(step)
	}
	if why == "" && (!step.Failed() || failed && !step.Stopped()) {
		return step
	}
	if step.NoTests && side == results.Head && foundNone(why, step) {
		if why := t.Sides.Untested(c); why != "" {
			t.Note("%s: that %q finds none there is not a failure", why, strings.TrimSpace(c.Typed()))
			return step
		}
	}
	test := commandTest(step)
	test.NoTests = step.NoTests
	test.Output, test.Cut = results.Clean(results.JoinOutput(stream.Rest(), step.Output), wd), true
	if step.Stopped() || why != "" && !much && !step.Failed() {
		test.Status = results.NotRun
	}
	if much {
		clear(suite)
		t.NotCoveredOnce("the tests of %q one by one: %s, so that it counts as one test", c.Label(), why)
	}
	suite[results.ID{Unit: c.Unit, Command: c.Label()}] = test
	return step
}

// foundNone says of a run without a test, of whose results why says what is wrong with them, whether it had
// nothing to run: it ended well, or its runner says so. What does not compile, or is ended, runs no test either.
func foundNone(why string, step ecosystem.Step) bool {
	return !step.Stopped() && (why == "" || why == results.NoTests) && (!step.Failed() || results.FoundNone(step.Output))
}

// A beginning is the first of what a command prints.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 4<<10-len(*b))]...)
	return len(p), nil
}

// withoutTests is a step of which it is known that it ran no test.
func (t *Tester) withoutTests(step ecosystem.Step) ecosystem.Step {
	step.NoTests = true
	for i := range t.Executor.Steps {
		if t.Executor.Steps[i].Evidence == step.Evidence {
			t.Executor.Steps[i].NoTests = true
		}
	}
	return step
}

func commandTest(step ecosystem.Step) results.Test {
	t := results.Test{Status: results.Passed, Evidence: step.Evidence, Elapsed: step.Duration, Leaf: true}
	if step.Failed() {
		t.Status, t.Output, t.Lacks = results.Failed, step.Output, step.Lacks
	}
	if step.Limited() {
		t.Status = results.NotRun
	}
	return t
}

// Collected is what a command reported of its tests in a tree of a side. What the
// base itself shows as a phantom is forgiven.
func (t *Tester) Collected(side results.Side, tree *workspace.Tree, c ecosystem.Command, stream results.Collector, step ecosystem.Step) results.Suite {
	s := stream.Suite(step.Evidence, tree.Dir)
	s.SetEcosystem(c.Eco)
	if c.Stage == results.StageFailToPass {
		s.NameBy(t.Sides.Suites[results.Head])
	} else {
		s.NameBy(t.Sides.Suites[results.Base])
	}
	if side == results.Base && tree == t.Sides.Base {
		for id, test := range s {
			t.Phantoms.Note(id, test)
		}
	}
	t.Phantoms.ForgiveIn(s)
	return s
}
