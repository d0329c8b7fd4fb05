package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// collected is what a command reported of its tests in a tree of a side. What the
// base itself shows as a phantom is forgiven.
func (r *runner) collected(side Side, tree *workspace.Tree, c ecosystem.Command, stream results.Collector, step Step) Suite {
	s := stream.Suite(step.Evidence, tree.Dir)
	s.SetEcosystem(c.Eco)
	if side == Base && tree == r.in.Base {
		for id, t := range s {
			r.phantoms.Note(id, t)
		}
	}
	r.phantoms.ForgiveIn(s)
	return s
}

// noteRetried names the tests of the head whose runner ran them again after a failure.
func (r *runner) noteRetried() {
	var names []string
	for id, t := range r.suites[Head] {
		if t.Retried {
			names = append(names, id.String())
		}
	}
	if slices.Sort(names); len(names) > 0 {
		r.note("%s after a failure, because the test runner ran %s again: %s", results.Count(len(names), "test passes only", "tests pass only"), results.Plural(len(names), "it", "them"), results.Listed(names, 5))
	}
}
