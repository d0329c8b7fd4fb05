package gate

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/gate/workflows"
)

// ownAltered takes the blame from a project's own commands beside its runner that fail on the head
// for what the change makes of them: a target that has another name or needs another program, a
// workflow that sets another variable. As the base has them, they passed over the head's
// sources, or are not the project's any more.
func (r *runner) ownAltered(context.Context) error {
	t := &r.res.Tests
	for _, id := range r.ownTests {
		failing := filtered(t.Regressed, func(k Case) bool { return k.ID == id })
		if len(failing) == 0 {
			continue
		}
		at := slices.IndexFunc(r.sides.Plans[Base].Projects, func(p ecosystem.Project) bool {
			return p.Dir == id.Unit && slices.ContainsFunc(ownOf(p), func(c ecosystem.Command) bool { return c.Text == id.Command })
		})
		if at < 0 {
			continue
		}
		p := r.sides.Plans[Base].Projects[at]
		steers := func(t sides.Touch) bool { return t.Class == compare.Steering && ecosystem.Inside(p.Dir, t.Path) }
		inWorkflow := slices.ContainsFunc(p.Given, func(g ecosystem.Given) bool { return g.Text == id.Command })
		now := r.sides.ProjectAt(Head, p.Eco.Name, r.sides.MovedTo(p.Dir))
		has := now != nil && slices.ContainsFunc(ownOf(*now), func(c ecosystem.Command) bool { return c.Text == id.Command })
		held := r.res.Expectations != nil && !slices.ContainsFunc(r.res.Expectations.Changed, func(x Expectation) bool { return x.ID == id })
		switch {
		case inWorkflow && !has && r.touchesWorkflow():
			r.notCovered("%s: %q of the base's workflows fails with the change, which edits the workflow", p.What, id.Command)
			r.dropExpectation(id)
			r.setAside(id, "the change edits the workflow that has it")
		case !held || !slices.ContainsFunc(r.sides.Touched, steers):
			continue
		case !has:
			r.note("the change has no %q for the tests of %s any more: the base's passes over its sources", id.Command, p.What)
			r.setAside(id, "the change has it no more, and the base's passes over its sources")
		case r.sides.Suites[Head][id].Lacks != "" || r.needsElsewhere(id):
			r.notCovered("%s: %q as the change has it: %s", p.What, id.Command, results.FailureLine(r.sides.Suites[Head][id].Output))
			r.setAside(id, "as the change has it, it needs what is not here: "+results.FailureLine(r.sides.Suites[Head][id].Output))
		default:
			r.notCovered("%s: %q fails as the change has it, and passes over its sources as the base has it: %s", p.What, id.Command, results.FailureLine(r.sides.Suites[Head][id].Output))
			t.Unknown = append(t.Unknown, failing...)
		}
		t.Regressed = slices.DeleteFunc(t.Regressed, func(k Case) bool { return k.ID == id })
		t.Sort()
	}
	return nil
}

// ownOf are a project's own commands for its tests, with those of workflows.
func ownOf(p ecosystem.Project) []ecosystem.Command {
	out := slices.Clone(p.OwnTests)
	for _, g := range p.Given {
		out = append(out, g.Command)
	}
	return out
}

// touchesWorkflow says whether the change edits a workflow.
func (r *runner) touchesWorkflow() bool {
	for _, f := range r.in.Change.Files {
		if workflows.Is(f.Path) || workflows.Is(f.OldPath) {
			return true
		}
	}
	return false
}

// needsElsewhere says whether a command failed on the head for what this machine does not have, such
// as a network.
func (r *runner) needsElsewhere(id ID) bool {
	return slices.ContainsFunc(r.executor.Steps, func(s Step) bool {
		return s.Side == Head && s.Unit == id.Unit && s.Command == id.Command && s.Environment != ""
	})
}

// setAside lets a failure of a command on the head not count.
func (r *runner) setAside(id ID, why string) {
	test := r.sides.Suites[Head][id]
	test.Status = NotRun
	r.sides.Suites[Head][id] = test
	for i, s := range r.executor.Steps {
		if s.Side == Head && s.Unit == id.Unit && s.Command == id.Command && s.Failed() {
			r.executor.Steps[i].Aside = why
		}
	}
}

// dropExpectation takes an expectation out that says nothing of the change.
func (r *runner) dropExpectation(id ID) {
	if x := r.res.Expectations; x != nil {
		x.Changed = slices.DeleteFunc(x.Changed, func(e Expectation) bool { return e.ID == id })
		x.Sum()
	}
}
