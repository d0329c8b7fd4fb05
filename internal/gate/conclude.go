package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// conclude turns what was found out into the verdict.
func (r *runner) conclude() {
	f := &r.facts
	r.res.Steps = r.executor.Steps
	r.res.Rewrote = slices.Sorted(maps.Keys(r.executor.Rewrote(Base)))
	f.Unprepared, f.Aside, f.BaseTouched = r.prep.Unprepared(), r.prep.Aside(), r.executor.BaseTouched()
	r.leaveUnserved()
	f.Lacks = strings.Join(r.lacks, "; ")
	f.SetupBoth = r.setupBoth()
	f.NamesHead, f.NamesBoth = r.withErrors(r.res.Broken), r.withErrors(slices.DeleteFunc(slices.Clone(r.res.BrokenBoth), r.isSetup))
	f.BrokenHead, f.BrokenBoth = len(f.NamesHead), len(f.NamesBoth)
	f.Crashed = r.crashed()
	for _, s := range r.executor.Steps {
		f.Builds += b2i(s.Side == Head && (s.Stage == StageBuild || s.Stage == StageTest))
	}
	r.countTests(f)
	r.countChecks(f)
	if r.res.FailToPass.State == "" {
		r.res.FailToPass = Reproduction{State: ReproNotRun, Note: "fail-to-pass was not reached"}
	}
	f.NoProbes = f.NoProbes || r.in.UntilFirst || checks.NoTime(r.res.Probes)
	if x := r.res.Expectations; x != nil {
		f.Changed, f.Policy = givenUp(x), x.Policy
	}
	f.Untrusted, f.PolicyWhy = r.in.Untrusted, r.in.PolicyWhy
	f.Runnable, f.Repro, f.RequireRepro = r.res.Runnable, r.res.FailToPass.State, r.in.RequireRepro
	if f.Policy == "" {
		f.Policy = r.in.Expectations
	}
	if f.AffectedPassed > 0 { // else it is a reason of the verdict
		for _, what := range f.Refused {
			r.notCoveredOnce("%s", what)
		}
	}
	r.noteRetried()
	r.noteUnrun()
	r.res.Phantoms, r.res.Statistics = r.tests.Phantoms.Cases(), r.tests.Statistics
	r.res.Facts = *f
	r.res.Verdict, r.res.Reasons = Decide(*f)
	r.noteTargets()
}

// countTests puts into numbers how the tests of both sides ended.
func (r *runner) countTests(f *Facts) {
	t := &r.res.Tests
	if x := r.res.Expectations; x != nil {
		f.Expected = x.Held + len(x.Changed)
	}
	f.Regressed, f.NewFailing = len(Leaves(t.Regressed)), len(Leaves(t.NewFailing))-len(f.Crashed)
	f.FlakyNew, f.Unknown = len(Leaves(t.FlakyNew)), len(Leaves(t.Unknown))
	f.NewFlakiness, f.Unsettled = r.tests.Counted(t.NewFlakiness), r.tests.Counted(t.Unsettled)
	for _, c := range Leaves(t.PreExisting) {
		if _, rested := r.rested[c.ID]; !rested && (c.ID.Test != "" || c.ID.Command != "") {
			f.FailBoth++
		}
	}
	for id, test := range r.sides.Suites[Head] {
		if !test.Leaf || test.Status != Passed && test.Status != Failed {
			continue
		}
		passed := test.Status == Passed
		f.Ran++
		f.Passed += b2i(passed)
		if r.sides.Affects(id, test) {
			f.AffectedRan++
			f.AffectedPassed += b2i(passed)
		}
	}
	for _, t := range r.rested {
		f.Passed += b2i(t.Leaf && t.Status == Passed)
	}
}

// countChecks puts into numbers and sentences what checks came to.
func (r *runner) countChecks(f *Facts) {
	for _, p := range r.res.Probes {
		f.Probes += b2i(p.Ran)
		f.ProbeRegressed += len(Leaves(p.Regressed))
		f.ProbeNew += len(Leaves(p.NewFlaky))
	}
	f.Breaks = nil
	if b := r.res.Behaviour; b != nil {
		f.Probes += b2i(b.Functions > 0)
		for _, d := range b.Differences {
			if d.Breaks {
				f.Breaks = append(f.Breaks, fmt.Sprintf("%s, which is in the base's tree, %s there and %s with the change", d.Example, d.Was, d.Is))
			}
		}
	}
	if p := r.res.Programs; p != nil {
		f.Probes += b2i(p.Lines+p.Requests > 0)
		for _, d := range p.Differences {
			if d.Breaks {
				f.Breaks = append(f.Breaks, fmt.Sprintf("%s, which is in %s of the base, %s there and %s with the change", d.Line, d.Path, d.Was, d.Is))
			}
		}
	}
	if m := r.res.Merge; m != nil {
		f.NamesMerge = m.Broken
		f.MergeBroken, f.MergeFailing = len(m.Broken), len(Leaves(m.Tests.Regressed))+len(Leaves(m.Tests.NewFailing))
	}
}

// noteTargets names targets for tests that were not run, where the tests themselves fail as
// badly without the change: such a target often sets what they need.
func (r *runner) noteTargets() {
	f := r.facts
	if r.res.Verdict != Partial || r.configured(StageTest) || f.BrokenBoth == 0 && (f.FailBoth == 0 || 2*(f.FailBoth+f.Unknown) <= f.Ran) {
		return
	}
	build := ""
	if f.BrokenBoth > 0 {
		build = "build: [], "
	}
	for _, p := range r.sides.Plans[Base].Projects {
		target := languages.TargetForTests(r.sides.Plans[Base].Survey, p.Dir)
		tried := slices.Contains(r.own.Tried, known.Wholly(ecosystem.Command{Unit: p.Dir, Text: target}))
		if target == "" || tried || len(p.Test) == 0 || p.Eco.Calls {
			continue
		}
		command := target
		if p.Dir != "." {
			command = "cd " + p.Dir + " && " + target
		}
		r.notCoveredOnce("%q, which may set what the tests need: with \"commands: {%stest: %s}\" in .github/ycbot.yml at the base it is run in their place", target, build, command)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// noteRetried names the tests of the head whose runner ran them again after a failure.
func (r *runner) noteRetried() {
	var names []string
	for id, t := range r.sides.Suites[Head] {
		if t.Retried {
			names = append(names, id.String())
		}
	}
	if slices.Sort(names); len(names) > 0 {
		r.note("%s after a failure, because the test runner ran %s again: %s", results.Count(len(names), "test passes only", "tests pass only"), results.Plural(len(names), "it", "them"), results.Listed(names, 5))
	}
}

// givenUp are the expectations that do not hold, by class.
func givenUp(x *kept.Expectations) []Changed {
	var out []Changed
	for _, c := range x.Changed {
		i := slices.IndexFunc(out, func(o Changed) bool {
			return o.Class == c.Class && o.SubjectStands == c.SubjectStands && o.Beside == c.Beside && o.Skipped == c.Skipped && o.Lenient == c.Lenient && o.Lost == (len(c.Lost) > 0) && o.Own == c.Own
		})
		if i < 0 {
			i, out = len(out), append(out, Changed{Class: c.Class, SubjectStands: c.SubjectStands, Beside: c.Beside, Skipped: c.Skipped, Lenient: c.Lenient, Lost: len(c.Lost) > 0, Own: c.Own})
		}
		out[i].Count++
	}
	return out
}
