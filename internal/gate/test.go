package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func (r *runner) testBase(ctx context.Context) error { return r.test(ctx, Base) }
func (r *runner) testHead(ctx context.Context) error { return r.test(ctx, Head) }

// test runs all tests of one side.
func (r *runner) test(ctx context.Context, side Side) error {
	r.suites[side] = Suite{}
	if r.facts.Unprepared != "" {
		return nil
	}
	for _, c := range r.plan[side].test {
		if c.perTest && side == Head {
			c = r.hanging(c)
		}
		suite, step, err := r.runTests(ctx, side, c)
		maps.Copy(r.suites[side], suite)
		if err != nil {
			return err
		}
		if step.TimedOut && r.facts.Incomplete == "" {
			r.facts.Incomplete = fmt.Sprintf("%q on the %s took longer than %s", c.text, side, step.Duration.Round(time.Second))
		}
	}
	if side == Base {
		for _, t := range r.suites[Base] {
			r.longest = max(r.longest, t.Elapsed)
		}
	}
	return nil
}

// hanging lets "go test" itself end a package that takes far longer than the
// slowest one of the base, so that a change that hangs is a failure of the test
// that hangs.
func (r *runner) hanging(c command) command {
	limit := r.Limits.hang(r.longest).Round(time.Second)
	if r.longest == 0 || limit >= r.Limits.step() || slices.ContainsFunc(c.argv, func(a string) bool { return strings.HasPrefix(a, "-timeout") }) {
		return c
	}
	flag := "-timeout=" + limit.String()
	c.argv = slices.Insert(slices.Clone(c.argv), 3, flag)
	c.text = strings.Replace(c.text, "-json", "-json "+flag, 1)
	return c
}

// runTests runs one test command and returns what each test said. For a
// command without per-test output that is the command as one test.
func (r *runner) runTests(ctx context.Context, side Side, c command) (Suite, Step, error) {
	tree := r.tree(side)
	if !c.perTest {
		step, err := r.exec(ctx, side, tree, r.limited(side, c), nil)
		return Suite{ID{Unit: c.unit, Command: c.text}: commandTest(step)}, step, err
	}
	stream := newGoStream(c.unit)
	c.timeout = r.Limits.step() + r.Limits.grace() // "go test" has a limit of its own
	step, err := r.exec(ctx, side, tree, c, stream)
	suite := stream.suite(step.Evidence, tree.Dir)
	if err == nil && step.Failed() && !step.TimedOut && !anyFailed(suite) {
		// The go command itself refused: say so as one test, the same on both sides.
		t := commandTest(step)
		t.Output = clean(joinOutput(stream.other.String(), step.Output), tree.Dir)
		suite[ID{Unit: c.unit, Command: strings.TrimSpace("go test " + lastArg(c.argv))}] = t
	}
	return suite, step, err
}

func lastArg(argv []string) string { return argv[len(argv)-1] }

func anyFailed(s Suite) bool {
	for _, t := range s {
		if t.Status == Failed {
			return true
		}
	}
	return false
}

func commandTest(step Step) Test {
	t := Test{Status: Passed, Evidence: step.Evidence, Elapsed: step.Duration, Leaf: true}
	if step.Failed() {
		t.Status, t.Output = Failed, step.Output
	}
	return t
}

// compare compares the sides and runs again what they disagree about.
func (r *runner) compare(ctx context.Context) error {
	base, head := r.suites[Base], r.suites[Head]
	r.res.Tests = compare(base, head)
	if len(base) == 0 && len(head) > 0 {
		r.attributeNothing()
		return nil
	}
	if err := r.rerun(ctx); err != nil {
		r.unconfirmed()
		return err
	}
	return nil
}

// attributeNothing takes the blame from failures that have no base to compare
// with: the base has tests to run, and they could not be.
func (r *runner) attributeNothing() {
	if len(r.plan[Base].test) == 0 {
		return // the base really has none
	}
	t := &r.res.Tests
	t.Unknown = append(t.Unknown, t.NewFailing...)
	t.NewFailing = nil
	t.sort()
}

// unconfirmed takes the blame from failures that there was no time to see twice.
func (r *runner) unconfirmed() {
	t := &r.res.Tests
	t.Unknown = append(append(t.Unknown, t.Regressed...), t.NewFailing...)
	t.Regressed, t.NewFailing = nil, nil
	t.sort()
}
