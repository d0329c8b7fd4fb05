package gate

import (
	"context"
	"path"
	"slices"
	"time"
)

// otherTrials makes the mutants of changed lines in languages whose tests are run
// whole for each of them: one after the other, in the tree itself, because
// environments of these tools name its folder.
func (m *mutator) otherTrials(ctx context.Context, files []changedFile) ([]*trial, error) {
	var out []*trial
	byCommand := map[int][]changedFile{}
	for _, f := range files {
		if path.Ext(f.path) == ".go" && m.goTools() != nil && len(m.packages) > 0 {
			continue
		}
		if at := m.testOf(f.path); at >= 0 {
			byCommand[at] = append(byCommand[at], f)
		}
	}
	for at, c := range m.plan[Head].test {
		if len(byCommand[at]) == 0 || m.suites[Head][ID{Unit: c.unit, Command: c.label()}].Lacks != "" {
			continue
		}
		g, err := m.otherGroup(ctx, c)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out = append(out, interleave(byCommand[at], func(changedFile) *testGroup { return g })...)
		}
	}
	return out, nil
}

// testOf finds the command whose tests are those of a source: that of the
// innermost folder, of the source's own ecosystem before any other; -1 for none.
func (m *mutator) testOf(name string) int {
	best := -1
	better := func(c, than command) bool {
		if mine, theirs := m.speaks(c, name), m.speaks(than, name); mine != theirs {
			return mine
		}
		return len(c.unit) > len(than.unit) && c.unit != "."
	}
	for i, c := range m.plan[Head].test {
		if c.race || !inside(c.unit, name) || c.eco != "" && !m.speaks(c, name) {
			continue
		}
		if best < 0 || better(c, m.plan[Head].test[best]) {
			best = i
		}
	}
	return best
}

// speaks says whether a command is of the ecosystem that a source belongs to.
func (m *mutator) speaks(c command, name string) bool {
	return slices.ContainsFunc(ecosystems(), func(e *ecosystem) bool {
		return e.name == c.eco && e.isSource != nil && e.isSource(name)
	})
}

// otherGroup runs the tests once without a mutant; nil where they are too slow or
// do not pass.
func (m *mutator) otherGroup(ctx context.Context, c command) (*testGroup, error) {
	var took time.Duration
	for _, s := range m.stepsOf(StageTest, Head) {
		if s.Unit == c.unit && s.Command == c.text {
			took = s.Duration
		}
	}
	if took > slowTests {
		m.notCovered("mutation of the changed lines: %q takes %s", c.text, took.Round(time.Second))
		return nil, nil
	}
	c.stage = StageMutation
	suite, step, err := m.runFresh(ctx, Head, c)
	if err != nil {
		return nil, err
	}
	if step.TimedOut || c.results == nil && step.Failed() || c.results != nil && !anyRan(suite) {
		m.notCovered("mutation of the changed lines: %q does not pass without a mutant", c.text)
		return nil, nil
	}
	m.out.Command = step.Command
	m.out.Evidence = append(m.out.Evidence, step.Evidence)
	return &testGroup{command: c, baseline: suite, evidence: step.Evidence, took: step.Duration, builds: m.rebuilding(c)}, nil
}

// rebuilding are the build commands that have to be run before changed code is
// tested: those of the same folder.
func (m *mutator) rebuilding(c command) []command {
	var out []command
	if c.results != nil && !c.results.rebuild {
		return nil
	}
	for _, b := range m.plan[Head].build {
		if b.unit == c.unit && (b.eco == c.eco || c.eco == "") {
			out = append(out, b)
		}
	}
	return out
}
