package own

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/gate/workflows"
)

// Altered takes the blame from a project's own commands beside its runner that fail on the head
// for what the change makes of them: a target that has another name or needs another program, a
// workflow that sets another variable. As the base has them, they passed over the head's
// sources, or are not the project's any more.
func (o *Commands) Altered(t *runs.Comparison, x *kept.Expectations) {
	for _, id := range slices.Concat(o.Beside, o.Gone) {
		failing := filtered(t.Regressed, func(k results.Case) bool { return k.ID == id })
		if len(failing) == 0 {
			continue
		}
		at := slices.IndexFunc(o.On.Sides.Plans[results.Base].Projects, func(p ecosystem.Project) bool {
			return p.Dir == id.Unit && slices.ContainsFunc(ownOf(p), func(c ecosystem.Command) bool { return c.Text == id.Command })
		})
		if at < 0 {
			continue
		}
		p := o.On.Sides.Plans[results.Base].Projects[at]
		all := ownOf(p)
		was := all[slices.IndexFunc(all, func(c ecosystem.Command) bool { return c.Text == id.Command })]
		steers := func(t sides.Touch) bool { return t.Class == compare.Steering && ecosystem.Inside(p.Dir, t.Path) }
		inWorkflow := slices.IndexFunc(p.Given, func(g ecosystem.Given) bool { return g.Text == id.Command })
		now := o.On.Sides.ProjectAt(results.Head, p.Eco.Name, o.On.Sides.ProjectMovedTo(p))
		has := !slices.Contains(o.Gone, id) && now != nil && slices.ContainsFunc(ownOf(*now), func(c ecosystem.Command) bool { return c.CalledAs(was) })
		held := x != nil && !slices.ContainsFunc(x.Changed, func(e kept.Expectation) bool { return e.ID == id })
		switch {
		case inWorkflow >= 0 && !has && o.touchesCI(p.Given[inWorkflow].From):
			o.NotCovered("%s: %q of the base's workflows fails with the change, which edits the workflow", p.What, id.Command)
			dropExpectation(x, id)
			if o.Untrusted { // it may edit the workflow to hide what it breaks
				t.Unknown = append(t.Unknown, failing...)
			} else {
				o.setAside(id, "the change edits the workflow that has it")
			}
		case o.editsScript(p.Dir, id.Command) && has && (o.On.Sides.Suites[results.Head][id].Lacks != "" || o.needsElsewhere(id)):
			o.NotCovered("%s: %q as the change has it: %s", p.What, id.Command, results.FailureLine(o.On.Sides.Suites[results.Head][id].Output))
			dropExpectation(x, id) // the base's script is not laid over the head
			if o.Untrusted {       // it may edit the script to hide what it breaks
				t.Unknown = append(t.Unknown, failing...)
			} else {
				o.setAside(id, "as the change has it, it needs what is not here: "+results.FailureLine(o.On.Sides.Suites[results.Head][id].Output))
			}
		case !held || !slices.ContainsFunc(o.On.Sides.Touched, steers):
			continue
		case !has:
			o.Note("the change has no %q for the tests of %s any more: the base's passes over its sources", id.Command, p.What)
			o.setAside(id, "the change has it no more, and the base's passes over its sources")
		case o.On.Sides.Suites[results.Head][id].Lacks != "" || o.needsElsewhere(id):
			o.NotCovered("%s: %q as the change has it: %s", p.What, id.Command, results.FailureLine(o.On.Sides.Suites[results.Head][id].Output))
			o.setAside(id, "as the change has it, it needs what is not here: "+results.FailureLine(o.On.Sides.Suites[results.Head][id].Output))
		default:
			o.NotCovered("%s: %q fails as the change has it, and passes over its sources as the base has it: %s", p.What, id.Command, results.FailureLine(o.On.Sides.Suites[results.Head][id].Output))
			t.Unknown = append(t.Unknown, failing...)
		}
		t.Regressed = slices.DeleteFunc(t.Regressed, func(k results.Case) bool { return k.ID == id })
		t.Sort()
	}
}

// ownOf are a project's own commands for its tests, with those of workflows.
func ownOf(p ecosystem.Project) []ecosystem.Command {
	if p.Eco.Calls {
		return p.Test
	}
	out := slices.Clone(p.OwnTests)
	for _, g := range p.Given {
		out = append(out, g.Command)
	}
	return out
}

// touchesCI says whether the change edits what CI calls, or the file that a call is from.
func (o *Commands) touchesCI(from string) bool {
	return slices.ContainsFunc(o.On.Sides.Change.Paths(), func(name string) bool {
		return name == from || workflows.Is(name) || strings.HasPrefix(name, ".github/") || strings.HasPrefix(name, ".gitlab")
	})
}

// editsScript says whether the change edits a script that a command in a folder calls by its path.
func (o *Commands) editsScript(dir, command string) bool {
	words := strings.Fields(command)
	return slices.ContainsFunc(o.On.Sides.Change.Paths(), func(name string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return path.Join(dir, w) == name })
	})
}

// needsElsewhere says whether a command failed on the head for what this machine does not have, such
// as a network.
func (o *Commands) needsElsewhere(id results.ID) bool {
	return slices.ContainsFunc(o.On.Executor.Steps, func(s ecosystem.Step) bool {
		return s.Side == results.Head && s.Unit == id.Unit && s.Command == id.Command && s.Environment != ""
	})
}

// setAside lets a failure of a command on the head not count.
func (o *Commands) setAside(id results.ID, why string) {
	test := o.On.Sides.Suites[results.Head][id]
	test.Status = results.NotRun
	o.On.Sides.Suites[results.Head][id] = test
	for i, s := range o.On.Executor.Steps {
		if s.Side == results.Head && s.Unit == id.Unit && s.Command == id.Command && s.Failed() {
			o.On.Executor.Steps[i].Aside = why
		}
	}
}

// dropExpectation takes an expectation out that says nothing of the change.
func dropExpectation(x *kept.Expectations, id results.ID) {
	if x != nil {
		x.Changed = slices.DeleteFunc(x.Changed, func(e kept.Expectation) bool { return e.ID == id })
		x.Sum()
	}
}
