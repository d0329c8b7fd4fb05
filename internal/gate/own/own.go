// Package own runs the commands by which projects test themselves, such as "make test", beside the
// runners that ycbot calls, where they may show more (docs/detection.md, "The project's own commands").
package own

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Commands are those by which projects run their tests themselves, and what became of them.
type Commands struct {
	On         arms.Maker
	Untrusted  bool                             // no maintainer answers for the head
	Known      *known.Record                    // what earlier runs said of the base's tests; nil: nothing
	Note       func(format string, args ...any) // says something once
	NotCovered func(format string, args ...any) // says what is not found out
	Covered    func(line string)                // takes that back

	// What became of them.
	Tried   []string     // that were tried on the base, as [known.Wholly] names them
	StoodIn []results.ID // that run in the place of a runner
	Beside  []results.ID // that run beside the runner that they call
	Gone    []results.ID // what the base calls alone, and the head no longer has: they fail there

	took time.Duration // what was tried on the base
}

// OnBase runs a project's own commands for its tests on the base, such as "make test", where
// the runner that they call is called by itself and tests fail so, or none runs: these may need
// what the command sets or makes, and what the change breaks of them would count as old. The
// same holds where the command runs other tests too, or scripts beside them, or the tests in
// another way. One that goes well is run on both sides, as one test: beside the runner, or in
// its place where most of its tests fail.
func (o *Commands) OnBase(ctx context.Context) error {
	if o.On.Sides.Configured {
		return nil
	}
	for _, p := range o.On.Sides.Plans[results.Base].Projects {
		if len(p.Test) == 0 || p.Missing != "" || o.ranEmpty(p) {
			continue
		}
		for _, what := range p.Ungiven {
			o.NotCovered("%s: %s", p.What, what)
		}
		failed, passed := o.endedIn(p)
		besides, elsewhere := o.besides(p)
		own, given := p.OwnTests, p.Given
		if failed == 0 && passed > 0 {
			own, given = o.beyond(p, len(besides) > 0)
		}
		if len(own)+len(given) == 0 || o.On.Sides.ProjectAt(results.Head, p.Eco.Name, p.Dir) == nil {
			o.nameWorkflows(p, elsewhere)
			continue
		}
		added := false
		for _, c := range own {
			well, err := o.goesWell(ctx, c)
			if err != nil {
				return err
			}
			if well {
				o.addOwn(p, c, failed, passed)
				besides, added = nil, true
				break
			}
		}
		if err := o.givenVariables(ctx, p, given, failed, passed, added); err != nil {
			return err
		}
		o.nameWorkflows(p, elsewhere)
		switch {
		case len(besides) > 0:
			o.NotCovered("%s: its own commands also run %s, which is not run", p.What, results.Listed(besides, 3))
		case p.Differs != "" && len(own) > 0 && !added && passed > 0:
			o.NotCovered("%s: %q runs more, or in another way: %s; it fails on the base here", p.What, p.Target, p.Differs)
		}
	}
	return nil
}

// beyond are a project's own commands that may show more than its runner, whose tests all pass on
// the base: its targets, where they run more or in another way, and calls with variables that
// files of tests name. They are not run where that takes long; then that is named.
func (o *Commands) beyond(p ecosystem.Project, besides bool) (own []ecosystem.Command, given []ecosystem.Given) {
	for _, g := range p.Given {
		if g.InTests {
			given = append(given, g)
		}
	}
	if o.tookOnBase() >= ownLeast {
		if p.Differs != "" {
			o.NotCovered("%s: %q runs more, or in another way: %s; it is not run, as the tests take more than a minute", p.What, p.Target, p.Differs)
		}
		for _, g := range given {
			o.NotCovered("%s: %s: %q is not run, as the tests take more than a minute", p.What, whatFor(g), g.Text)
		}
		given = nil
	}
	if !besides && (len(p.Scripts) == 0 && p.Differs == "" || o.tookOnBase() >= ownLeast) {
		return nil, given
	}
	for _, c := range p.OwnTests {
		if p.IsTarget(c) { // what else runs is in the target
			own = append(own, c)
		}
	}
	return own, given
}

// givenVariables runs the calls of a project's runner in workflows that give its tests variables,
// as one test each: beside the runner, or in its place where most of its tests fail and no
// other command is.
func (o *Commands) givenVariables(ctx context.Context, p ecosystem.Project, given []ecosystem.Given, failed, passed int, added bool) error {
	var unrun []string
	for i, g := range given {
		if slices.ContainsFunc(o.Beside, func(id results.ID) bool { return id.Unit == g.Unit && id.Command == g.Text }) {
			continue // the target is called as it is
		}
		if i >= givenAlways && (o.took > givenShare || i >= givenMost) {
			unrun = append(unrun, strconv.Quote(g.Text))
			continue
		}
		well, err := o.goesWell(ctx, g.Command)
		if err != nil {
			return err
		}
		switch {
		case !well && added && !g.InTests:
			continue
		case !well:
			o.NotCovered("%s: %s: %q fails on the base here", p.What, whatFor(g), g.Text)
			continue
		case !added && failed > passed, !added && passed == 0:
			o.addOwn(p, g.Command, failed, passed)
			added = true
			continue
		}
		added = true
		o.addBeside(g.Command)
		if len(g.Variables) == 0 {
			o.Note("%s runs tests of %s in another way: %q is run as well, and counts as one test", g.From, p.What, g.Text)
			continue
		}
		o.Note("%s sets %s for tests of %s: %q is run as well, and counts as one test", g.From, results.Listed(g.Variables, 3), p.What, g.Text)
	}
	if len(unrun) > 0 {
		o.NotCovered("%s: its workflows and settings also call %s, which would take too long", p.What, results.Listed(unrun, givenMost))
	}
	return nil
}

// whatFor says what a call of a workflow would show.
func whatFor(g ecosystem.Given) string {
	if len(g.Variables) == 0 {
		return "what its tests do as " + g.From + " calls them"
	}
	return fmt.Sprintf("what its tests do by %s, which %s sets for them", results.Listed(g.Variables, 3), g.From)
}

// ofSides is a command for each side, as what its setup brings starts it.
func (o *Commands) ofSides(c ecosystem.Command) map[results.Side]ecosystem.Command {
	return map[results.Side]ecosystem.Command{results.Base: o.On.Sides.AsPrepared(results.Base, c), results.Head: o.On.Sides.AsPrepared(results.Head, c)}
}

// addBeside has a project's own command run on both sides, beside its runner.
func (o *Commands) addBeside(c ecosystem.Command) {
	for side, c := range o.ofSides(c) {
		o.On.Sides.Plans[side].Test = append(o.On.Sides.Plans[side].Test, c)
	}
	o.Beside = append(o.Beside, results.ID{Unit: c.Unit, Command: c.Text})
}

// ranEmpty says whether the runner of a project reported on the base that there is no test.
func (o *Commands) ranEmpty(p ecosystem.Project) bool {
	return slices.ContainsFunc(o.On.Executor.Steps.Of(results.StageTest, results.Base), func(s ecosystem.Step) bool { return s.Unit == p.Dir && s.NoTests && !s.Failed() })
}

// besides are the calls in the target for tests of a project's folder that run tests of which
// none was reported, and a script that is no test by itself; and those of workflows.
func (o *Commands) besides(p ecosystem.Project) (out, elsewhere []string) {
	if p.Eco.Packages != nil { // all of its packages are run
		return nil, nil
	}
	for _, c := range languages.OwnCalls(o.On.Sides.Plans[results.Base].Survey, p) {
		switch reached := o.reachedBy(p, c); {
		case reached:
		case c.Workflow:
			elsewhere = append(elsewhere, c.Text)
		default:
			out = append(out, strconv.Quote(c.Text))
		}
	}
	return out, elsewhere
}

// nameWorkflows names calls of workflows that run tests of which none was reported, but for those
// that are run.
func (o *Commands) nameWorkflows(p ecosystem.Project, calls []string) {
	var out []string
	for _, c := range calls {
		if !slices.Contains(o.Beside, results.ID{Unit: p.Dir, Command: c}) && !slices.Contains(o.StoodIn, results.ID{Unit: p.Dir, Command: c}) {
			out = append(out, strconv.Quote(c))
		}
	}
	if len(out) > 0 {
		o.NotCovered("%s: its workflows also run %s, which is not run; \"commands: {test: …}\" in .github/ycbot.yml at the base can name it", p.What, results.Listed(out, 3))
	}
}

// reachedBy says whether a test was reported of what a call selects, or there is none.
func (o *Commands) reachedBy(p ecosystem.Project, c languages.OwnCall) bool {
	reported := map[string]bool{} // files
	for id := range o.On.Sides.Suites[results.Base] {
		reported[id.Package] = true
	}
	// lost says whether files have tests, and none of them was reported.
	lost := func(files []string) bool {
		return !slices.ContainsFunc(files, func(f string) bool { return reported[f] }) && slices.ContainsFunc(files, func(f string) bool {
			src, err := ecosystem.ReadInTree(o.On.Sides.Base.Dir, f)
			return err == nil && classes.MayTest(src)
		})
	}
	var sources []string
	for _, f := range o.On.Sides.Plans[results.Base].Files {
		if languages.IsSource(f) && ecosystem.Inside(p.Dir, f) && !ecosystem.IgnoredDir(path.Dir(f)) {
			sources = append(sources, f)
		}
	}
	if !slices.ContainsFunc(sources, func(f string) bool { return reported[f] }) {
		return true // its results name no files, or there are none
	}
	if c.Pattern != "" {
		fits := func(f string) bool { ok, err := path.Match(c.Pattern, path.Base(f)); return ok && err == nil }
		return !lost(slices.DeleteFunc(sources, func(f string) bool { return !fits(f) }))
	}
	return !slices.ContainsFunc(c.Places, func(place string) bool {
		return lost(slices.DeleteFunc(slices.Clone(sources), func(f string) bool { return !ecosystem.Inside(place, f) }))
	})
}

// endedIn counts the tests of a project that failed on the base, and those that passed, with
// commands that count as one.
func (o *Commands) endedIn(p ecosystem.Project) (failed, passed int) {
	for id, t := range o.On.Sides.Suites[results.Base] {
		mine := t.Eco == p.Eco.Name && id.Test != "" || id.Command != "" && slices.ContainsFunc(o.On.Sides.Plans[results.Base].Test, func(c ecosystem.Command) bool {
			return c.Eco == p.Eco.Name && c.Unit == p.Dir && (c.Text == id.Command || c.Label() == id.Command)
		})
		if id.Unit != p.Dir || !mine || !t.Leaf {
			continue
		}
		switch t.Status {
		case results.Failed:
			failed++
		case results.Passed:
			passed++
		}
	}
	return failed, passed
}

// Bounds of the time that a project's own command may take when it is tried.
const (
	ownShare = 4           // times what the base's tests took
	ownLeast = time.Minute // what else a command runs is tried within it: beyond says so in words
)

// Of the calls of a project's runner with variables and options, some are always tried, and others as
// long as that is cheap.
const (
	givenAlways = 3
	givenMost   = 16
	givenShare  = 20 * time.Second
)

// tookOnBase is how long the base's tests took in this run.
func (o *Commands) tookOnBase() time.Duration {
	var took time.Duration
	for _, s := range o.On.Executor.Steps.Of(results.StageTest, results.Base) {
		took += s.Duration
	}
	return took
}

// goesWell says whether a command of a project succeeds on the base. What is known of it
// stands.
func (o *Commands) goesWell(ctx context.Context, c ecosystem.Command) (bool, error) {
	id := results.ID{Unit: c.Unit, Command: c.Text}
	if o.Known != nil && slices.Contains(o.Known.Whole, known.Wholly(c)) {
		return o.On.Sides.Suites[results.Base][id].Status == results.Passed, nil
	}
	if err := o.On.Executor.Reset(ctx, results.Base); err != nil {
		return false, err
	}
	c.Stage = results.StageRerun
	suite, step, err := o.On.Tests.RunTestsIn(ctx, results.Base, o.On.Executor.Tree(results.Base), c, min(o.On.Tests.Limits.Step, max(ownShare*o.tookOnBase(), ownLeast)))
	if err != nil {
		return false, err
	}
	o.Tried, o.took = append(o.Tried, known.Wholly(c)), o.took+step.Duration
	if suite[id].Status != results.Passed {
		return false, nil
	}
	suite.SetEcosystem(c.Eco)
	o.On.Sides.Suites[results.Base].Add(suite)
	return true, nil
}

// addOwn has a project's own command run on both sides.
func (o *Commands) addOwn(p ecosystem.Project, c ecosystem.Command, failed, passed int) {
	if n := p.NotRun(); n != "" && c.Text == p.Target {
		o.Covered(p.What + ": " + n)
	}
	if failed <= passed && passed > 0 {
		o.addBeside(c)
		switch {
		case failed == 0 && p.Differs != "" && p.IsTarget(c):
			o.Note("%q runs more than the runner of %s, or in another way: %s; it is run as well, and counts as one test", c.Text, p.What, p.Differs)
		case failed == 0:
			o.Note("%q runs more than the tests that the runner of %s reports: it is run as well, and counts as one test", c.Text, p.What)
		default:
			o.Note("%q succeeds on the base, where %s as ycbot calls the runner of %s: it is run as well, and counts as one test", c.Text, results.Count(failed, "test fails", "tests fail"), p.What)
		}
		return
	}
	o.StoodIn = append(o.StoodIn, results.ID{Unit: c.Unit, Command: c.Text})
	ofRunner := func(t ecosystem.Command) bool { return t.Eco == p.Eco.Name && t.Unit == p.Dir }
	for side, c := range o.ofSides(c) {
		plan := o.On.Sides.Plans[side]
		plan.Test = append(slices.DeleteFunc(slices.Clone(plan.Test), ofRunner), c)
	}
	for id, t := range o.On.Sides.Suites[results.Base] {
		if id.Unit == p.Dir && t.Eco == p.Eco.Name && id.Command != c.Text {
			delete(o.On.Sides.Suites[results.Base], id)
		}
	}
	what := "no test passes"
	if passed > 0 {
		what = "most tests fail"
	}
	o.Note("%q succeeds on the base, where %s as ycbot calls the runner of %s: it is run in its place, and counts as one test", c.Text, what, p.What)
}
