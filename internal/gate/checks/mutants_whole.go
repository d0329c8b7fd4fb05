package checks

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// otherTrials makes the mutants of changed lines in languages whose tests are run
// whole for each of them: in copies where the tests do the same in one, else one
// after the other in the tree itself, because environments of many tools name its
// folder.
func (m *mutator) otherTrials(ctx context.Context, files []changedFile) ([]*trial, error) {
	var mine []changedFile
	by := map[string]int{} // places of commands, by path
	for _, f := range files {
		if countable(f.path) && len(m.in.Packages) > 0 {
			continue
		}
		if at := m.testOf(f.path); at >= 0 && m.in.Suites[Head][ID{Unit: m.in.Tests[Head][at].Unit, Command: m.in.Tests[Head][at].Label()}].Lacks == "" {
			mine, by[f.path] = append(mine, f), at
		}
	}
	// What tests say without a mutant takes half of the time at most, for those alone that
	// have mutants to try.
	var out []*trial
	groups, least := map[int]*testGroup{}, m.budget/2
	for _, t := range interleave(mine, func(changedFile) *testGroup { return nil }) {
		g, known := groups[by[t.Path]]
		if len(out) == maxMutants || !known && m.budget < least {
			m.out.Left++
			continue
		}
		if !known {
			var err error
			if g, err = m.otherGroup(ctx, m.in.Tests[Head][by[t.Path]]); err != nil {
				return nil, err
			}
			groups[by[t.Path]] = g
		}
		if g != nil {
			t.group = g
			out = append(out, t)
		}
	}
	return out, nil
}

// testOf finds the command whose tests are those of a source: that of the
// innermost folder, of the source's own ecosystem before any other; -1 for none.
func (m *mutator) testOf(name string) int {
	best := -1
	better := func(c, than ecosystem.Command) bool {
		if mine, theirs := m.speaks(c, name), m.speaks(than, name); mine != theirs {
			return mine
		}
		return len(c.Unit) > len(than.Unit) && c.Unit != "."
	}
	for i, c := range m.in.Tests[Head] {
		if c.Race || !ecosystem.Inside(c.Unit, name) || c.Eco != "" && !m.speaks(c, name) {
			continue
		}
		if best < 0 || better(c, m.in.Tests[Head][best]) {
			best = i
		}
	}
	return best
}

// speaks says whether a command is of the ecosystem that a source belongs to.
func (m *mutator) speaks(c ecosystem.Command, name string) bool {
	e := languages.Named(c.Eco)
	return e != nil && e.IsSource != nil && e.IsSource(name)
}

// otherGroup runs the tests once without a mutant; nil where they are too slow or
// do not pass.
func (m *mutator) otherGroup(ctx context.Context, c ecosystem.Command) (*testGroup, error) {
	if took := m.check.took(c).either; took > slowTests {
		m.in.NotCovered("mutation of the changed lines: %q takes %s", c.Text, took.Round(time.Second))
		return nil, nil
	}
	c.Stage = StageMutation
	g := &testGroup{command: c, builds: m.in.rebuilding(c)}
	if m.in.Apart && !bound(c) {
		if same, err := m.inCopy(ctx, g); err != nil || same {
			return g, err
		}
	}
	suite, step, err := m.in.RunFresh(ctx, Head, c)
	if err != nil {
		return nil, err
	}
	m.budget -= step.Duration.Truncate(time.Millisecond)
	if step.Stopped() || c.Results == nil && step.Failed() || c.Results != nil && !results.AnyPassed(suite) {
		m.in.NotCovered("mutation of the changed lines: %q does not pass without a mutant", c.Text)
		return nil, nil
	}
	m.take(g, suite, step)
	return g, nil
}

// take keeps what the tests say without a mutant.
func (m *mutator) take(g *testGroup, suite Suite, step Step) {
	g.baseline, g.evidence, g.took = suite, step.Evidence, step.Duration
	m.out.Command = step.Command
	m.out.Evidence = append(m.out.Evidence, step.Evidence)
}

// bound says whether what a command's ecosystem builds names the folder that it was
// built in, so that a copy is of no use.
func bound(c ecosystem.Command) bool {
	e := languages.Named(c.Eco)
	return e != nil && e.Bound
}

// inCopy runs a group's tests in a copy of the prepared head and says whether all
// do there what they do in the head, so that its mutants can run in copies.
func (m *mutator) inCopy(ctx context.Context, g *testGroup) (bool, error) {
	places, err := m.copies(ctx, 1)
	if err != nil {
		return false, err
	}
	defer m.giveBack(places)
	c := g.command
	if len(g.builds) > 0 {
		c = afterBuilds(c, g.builds, "")
	}
	c.Timeout = m.in.StepLimit
	m.in.Begin(c.Stage, c.Unit, c.Text)
	suite, step, err := m.runAt(ctx, <-places.free, c)
	if err != nil {
		return false, err
	}
	m.budget -= step.Duration.Truncate(time.Millisecond)
	m.in.Record(step)
	m.in.End(c.Stage, c.Unit, c.Text, step)
	if step.Stopped() || c.Results == nil && step.Failed() || c.Results != nil && !m.asBefore(c, suite) {
		return false, nil
	}
	g.parallel = true
	m.take(g, suite, step)
	return true, nil
}

// asBefore says whether each test of a command that passed on the head has passed again.
func (m *mutator) asBefore(c ecosystem.Command, now Suite) bool {
	for id, t := range m.in.Suites[Head] {
		if t.Eco == c.Eco && id.Unit == c.Unit && id.Test != "" && t.Status == Passed && now[id].Status != Passed {
			return false
		}
	}
	return results.AnyPassed(now)
}

// rebuilding are the build commands that have to be run before changed code is
// tested: those of the same folder.
func (s *Subject) rebuilding(c ecosystem.Command) []ecosystem.Command {
	var out []ecosystem.Command
	if c.Results != nil && !c.Results.Rebuild {
		return nil
	}
	for _, b := range s.Build {
		if b.Unit == c.Unit && (b.Eco == c.Eco || c.Eco == "") {
			out = append(out, b)
		}
	}
	return out
}
