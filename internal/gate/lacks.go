package gate

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// lack words that a command could not be run.
func (r *runner) lack(stage Stage, unit, command, program string) {
	where := ""
	if unit != "." && unit != "" {
		where = " in " + unit
	}
	text := fmt.Sprintf("%s %q%s: no %s on this machine", stage, command, where, program)
	if !slices.Contains(r.lacks, text) {
		r.lacks = append(r.lacks, text)
		r.notCovered("%s", text)
	}
}

// leaveOut takes the blame from commands that both sides cannot run for want of the
// same program: nothing is known of their tests.
func (r *runner) leaveOut() {
	base, head := r.sides.Suites[Base], r.sides.Suites[Head]
	for id, h := range head {
		b := base[id]
		if h.Status != Failed || b.Status != Failed || b.Lacks == "" {
			continue
		}
		b.Status = NotRun // so that a failure of the head that is another one has no base
		base[id] = b
		if h.Lacks == b.Lacks {
			h.Status = NotRun
			head[id] = h
			r.lack(StageTest, id.Unit, id.Command, h.Lacks)
		}
	}
}

// refused takes runners out of the comparison that on both sides end without a test: what
// they say themselves is all that is known of their tests. Other commands that fail as a
// whole on both sides stay what they are, failures of both.
func (r *runner) refused() {
	base, head := r.sides.Suites[Base], r.sides.Suites[Head]
	for _, id := range sorted.Keys(head, ID.Compare) {
		h, b := head[id], base[id]
		if id.Command == "" || h.Status != Failed || b.Status != Failed {
			continue
		}
		what := "fails"
		if h.NoTests && b.NoTests {
			what = "runs no test"
			h.Status, b.Status = NotRun, NotRun
			head[id], base[id] = h, b
		}
		r.facts.Refused = append(r.facts.Refused, fmt.Sprintf("%s %s with and without the change: %s", r.inWords(id), what, results.FailureLine(h.Output)))
	}
}

// setupBoth words the setup commands that fail on both sides, which is why what follows
// them says little.
func (r *runner) setupBoth() []string {
	var out []string
	for i, s := range r.executor.Steps {
		name := ID{Unit: s.Unit, Command: s.Command}
		if s.Side == Head && s.Stage == StageSetup && s.Failed() && !r.executor.Steps.RanAgain(i) && slices.Contains(r.res.BrokenBoth, name.String()) {
			out = append(out, fmt.Sprintf("%s: %s", r.inWords(name), results.FailureLine(s.Output)))
		}
	}
	return out
}

// withErrors adds to what does not build on the head why it does not, in its own words.
func (r *runner) withErrors(names []string) []string {
	var out []string
	said := map[string]bool{}
	for _, name := range names {
		at := slices.IndexFunc(r.executor.Steps, func(s Step) bool {
			return s.Side == Head && s.Stage == StageBuild && s.Failed() &&
				(ID{Unit: s.Unit, Command: s.Command}.String() == name || slices.Contains(languages.Unbuilt(s.Output), name))
		})
		if at >= 0 {
			if why := languages.WhyUnbuilt(name, r.executor.Steps[at].Output); why != "" && !said[why] {
				said[why] = true
				name += ": " + why
			}
		}
		out = append(out, name)
	}
	return out
}

// isSetup says whether what does not build is a setup command of the head.
func (r *runner) isSetup(name string) bool {
	return slices.ContainsFunc(r.executor.Steps, func(s Step) bool {
		return s.Side == Head && s.Stage == StageSetup && s.Failed() && ID{Unit: s.Unit, Command: s.Command}.String() == name
	})
}

// crashed words the commands that fail as a whole on the head alone.
func (r *runner) crashed() []string {
	var out []string
	for _, k := range r.res.Tests.NewFailing {
		if k.ID.Command != "" {
			out = append(out, fmt.Sprintf("%s fails with the change, and not on base: %s", r.inWords(k.ID), results.FailureLine(k.Output)))
		}
	}
	return out
}

// inWords names a command as a person would type it.
func (r *runner) inWords(id ID) string {
	text := id.Command
	for _, s := range r.executor.Steps {
		if s.Unit == id.Unit && s.Command == id.Command && s.Shown != "" {
			text = s.Shown
		}
	}
	if id.Unit != "." && id.Unit != "" {
		return fmt.Sprintf("%q in %s", text, id.Unit)
	}
	return fmt.Sprintf("%q", text)
}

// lackingBoth are the steps of a stage that fail on both sides for want of the same
// program, as they stand at the head.
func (r *runner) lackingBoth(stage Stage) []Step {
	var out []Step
	for _, h := range r.executor.Steps.Of(stage, Head) {
		same := func(b Step) bool { return b.Unit == h.Unit && b.Command == h.Command && b.Lacks == h.Lacks }
		if h.Lacks != "" && slices.ContainsFunc(r.executor.Steps.Of(stage, Base), same) {
			out = append(out, h)
		}
	}
	return out
}

// buildsIn says whether what does not build is a package or a build command of a folder.
func (r *runner) buildsIn(unit, name string) bool {
	return slices.ContainsFunc(r.sides.Packages, func(p ecosystem.Package) bool { return p.Unit == unit && p.ImportPath == name }) ||
		slices.ContainsFunc(r.sides.Plans[Head].Build, func(c ecosystem.Command) bool {
			return c.Unit == unit && name == ID{Unit: unit, Command: c.Text}.String()
		})
}

// unbuilt leaves the builds out that no side can run for want of a program.
func (r *runner) unbuilt(broken []string) []string {
	for _, s := range r.lackingBoth(StageBuild) {
		r.lack(StageBuild, s.Unit, s.Command, s.Lacks)
		name := ID{Unit: s.Unit, Command: s.Command}.String()
		broken = slices.DeleteFunc(broken, func(b string) bool { return b == name })
	}
	return broken
}

// compiledByTests forgives packages that do not build on either side and whose tests pass
// on both, which compiles them: a program without a main function, of tests alone, cannot
// be linked; or the project's own command for tests makes what they need, and goes well.
func (r *runner) compiledByTests() {
	r.res.BrokenBoth = slices.DeleteFunc(r.res.BrokenBoth, func(name string) bool {
		for _, id := range r.own.StoodIn {
			if r.sides.Suites[Base][id].Status == Passed && r.sides.Suites[Head][id].Status == Passed && r.buildsIn(id.Unit, name) {
				r.note("%s does not build on either side before %q, which makes what it needs", name, id.Command)
				return true
			}
		}
		for id, t := range r.sides.Suites[Head] {
			if id.Package == name && id.Test == "" && t.Status == Passed && r.sides.Suites[Base][id].Status == Passed {
				r.note("%s does not build on either side, and its tests pass on both: that is not the build's fault", name)
				return true
			}
		}
		return false
	})
}
