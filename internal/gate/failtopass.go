package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace"
)

// failToPass lays the tests that the change brings over the base's sources. A
// test that fails there and passes on the head shows what the change is for.
func (r *runner) failToPass(ctx context.Context) error {
	state, note := r.reproducible()
	if state != "" {
		r.res.FailToPass = Reproduction{State: state, Note: note}
		return nil
	}
	files, pkgs := r.overlay()
	rep := &r.res.FailToPass
	rep.State, rep.Files = ReproNotRun, files
	rep.Note = "fail-to-pass was not finished"
	a, err := r.overBase(ctx, r.sides.BroughtForTests()...)
	if err != nil {
		return err
	}
	r.over, err = a.Run(ctx, r.overSelection(pkgs))
	rep.Evidence = a.Evidence
	r.overLeft = a.Left
	for f, why := range a.Left {
		if slices.Contains(a.Files, f) {
			rep.Dropped = append(rep.Dropped, f)
		}
		r.missing = r.missing || r.lacksDeps(why)
	}
	slices.Sort(rep.Dropped)
	if err = errors.Join(err, a.Close(ctx)); err != nil {
		return err
	}
	r.judgeOverlay(r.over)
	return nil
}

// overBase is the prepared base with the tests of the change, their data and what
// they share over it, and with other files of the head. What steers the tests stays the base's.
func (r *runner) overBase(ctx context.Context, also ...string) (*arms.Arm, error) {
	var puts []workspace.Put
	for _, name := range also {
		puts = append(puts, workspace.Put{Path: name, From: r.in.Head.Commit})
	}
	moved := map[string]string{} // from where the base's build names a file to where the head has it
	for _, t := range r.sides.Touched {
		if t.Built {
			moved[t.Put.At] = t.Path
		}
	}
	for _, t := range r.sides.Touched {
		switch {
		case t.Class == compare.Steering:
		case moved[t.Path] != "":
			puts = append(puts, workspace.Put{Path: t.Path, From: r.in.Head.Commit, At: moved[t.Path]})
		case !t.Mixed:
			puts = append(puts, workspace.Put{Path: t.Path, From: r.in.Head.Commit})
		default:
			v := r.sides.Texts[t.Path]
			if v.Base != nil {
				if merged, err := t.Merge(v.Head, v.Base); err == nil {
					puts = append(puts, workspace.Put{Path: t.Path, Data: merged})
				}
			}
		}
	}
	a, err := r.arms().New(ctx, Base, StageFailToPass, append(puts, r.sides.Backs()...), r.sides.Plans[Base].Test)
	if err != nil {
		return nil, fmt.Errorf("tests over the base: %w", err)
	}
	return a, nil
}

// overSelection is what the tests of the change can reach of the base's commands.
func (r *runner) overSelection(pkgs []ecosystem.Package) []arms.Selection {
	var out []arms.Selection
	by := map[ecosystem.Group][]string{}
	for _, p := range pkgs {
		by[ecosystem.GroupOf(p)] = append(by[ecosystem.GroupOf(p)], p.Dir)
	}
	for _, g := range sorted.Keys(by, ecosystem.Group.Compare) {
		out = append(out, arms.Selection{Eco: g.Eco, Unit: g.Unit, Places: by[g]})
	}
	for _, c := range r.sides.OverlayCommands(Base, r.res.FailToPass.Files) {
		s := arms.Selection{Eco: c.Eco, Unit: c.Unit, Places: r.changedFiles(c)}
		if !slices.ContainsFunc(out, func(o arms.Selection) bool { return o.Eco == s.Eco && o.Unit == s.Unit }) {
			out = append(out, s)
		}
	}
	return out
}

// reproducible says in which cases in which there is nothing to lay over the base.
func (r *runner) reproducible() (ReproState, string) {
	files, pkgs := r.overlay()
	switch {
	case r.prep.Unprepared() != "":
		return ReproEnvironment, "a side could not be set up"
	case !slices.ContainsFunc(r.sides.Plans[Head].Test, func(c ecosystem.Command) bool { return c.Results != nil }):
		return ReproUnsupported, "fail-to-pass needs results of each test, which no test command gives"
	case !r.res.Runnable && len(files) > 0 && r.sides.OnlyTouched():
		return ReproTestsOnly, "the change brings only tests and their data: there is nothing to undo"
	case !r.res.Runnable:
		return ReproNothing, "no line that can run changed: there is nothing to reproduce"
	case len(files) == 0 || len(pkgs) == 0 && len(r.sides.OverlayCommands(Head, files)) == 0:
		return ReproNoTests, "the change adds no tests"
	case r.sides.MovesAsTheyAre(files):
		return ReproNoTests, "the change moves tests as they are, and brings no others"
	case len(r.sides.OverlayCommands(Base, files)) == 0 &&
		!slices.ContainsFunc(pkgs, func(p ecosystem.Package) bool {
			return len(r.tests.PackageTests(Base, ecosystem.GroupOf(p), StageFailToPass, ecosystem.AsItIs)) > 0
		}):
		return ReproNeedsAPI, "the base has no module that the change's tests could run in: no reproduction claimed"
	case len(r.sides.Suites[Base]) == 0:
		return ReproEnvironment, "the base's tests could not be run"
	}
	return "", ""
}

// overlay returns the paths that travel with the change's tests (test files, what
// they share, their data) and the packages whose tests they are.
func (r *runner) overlay() (files []string, pkgs []ecosystem.Package) {
	for _, t := range r.sides.Touched {
		if t.Class != compare.Steering {
			files = append(files, t.Path)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, f := range files {
		p, ok := ecosystem.PackageOf(r.sides.Packages, f)
		same := func(q ecosystem.Package) bool { return q.ImportPath == p.ImportPath }
		if ok && p.HasTests() && !slices.ContainsFunc(pkgs, same) {
			pkgs = append(pkgs, p)
		}
	}
	return files, pkgs
}

// missingDeps are messages for imports that the base's go.mod does not provide.
var missingDeps = pattern.New(`no required module provides package|missing go\.sum entry|cannot find module providing|module lookup disabled`)

// lacking is the package of Go that such a message names.
var lacking = pattern.New(`(?:provides package|providing package|module providing package) ([^\s;:]+)`)

// lacksDeps says whether imports are missing of what is in no module that the base has.
func (r *runner) lacksDeps(output string) bool {
	if !missingDeps.MatchString(output) {
		return false
	}
	named := lacking.FindAllStringSubmatch(output, -1)
	return len(named) == 0 || slices.ContainsFunc(named, func(m []string) bool {
		return !slices.ContainsFunc(r.sides.Packages, func(p ecosystem.Package) bool {
			return p.ImportPath == m[1] && slices.Contains(r.sides.Plans[Base].Files, path.Join(p.Unit, "go.mod"))
		})
	})
}

// judgeOverlay concludes what the change's tests say over the base's sources.
func (r *runner) judgeOverlay(over Suite) {
	rep := &r.res.FailToPass
	base, head := r.sides.Suites[Base], r.sides.Suites[Head]
	fresh := r.changedTests()
	deps, broken, failed, cut := r.missing, len(rep.Dropped) > 0, false, false
	known := false // of what failed, some is a test that the head has
	wants := r.sides.Wanting()
	for id, o := range over {
		h, ok := atSamePlace(head, id)
		cut = cut || id.Command != "" && o.Cut && o.Status == results.NotRun
		switch {
		case id.Test == "" && o.Status == Failed && o.Broken:
			broken = true
			dep, _ := wants(o)
			deps = deps || dep || r.lacksDeps(o.Output)
		case id.Command != "" && o.Cut && wantsAbsent(wants, o):
			dep, _ := wants(o)
			broken, deps = true, deps || dep
		case id.Test == "" || !ok || h.Status != Passed || runs.IsFlaky(r.res.Tests, id):
			failed = failed || o.Status == Failed
			known = known || o.Status == Failed && id.Test != "" && ok
		case o.Status == Failed && wantsAbsent(wants, o):
			dep, _ := wants(o)
			broken, deps = true, deps || dep
		case o.Status == Failed:
			rep.Proven = append(rep.Proven, Case{ID: id, Output: o.Output, Evidence: []string{o.Evidence, h.Evidence}})
		case o.Status == Passed && (base[id].Status == "" && !r.stoodElsewhere(id) || languages.ByPackage(o.Eco) && fresh[id.Top()]) && h.Leaf:
			rep.PassOnBase = append(rep.PassOnBase, Case{ID: id, Evidence: []string{o.Evidence, h.Evidence}})
		}
	}
	results.SortCases(rep.Proven)
	results.SortCases(rep.PassOnBase)
	n := len(Leaves(rep.Proven))
	switch {
	case n > 0:
		rep.State = ReproProven
		rep.Note = fmt.Sprintf("%s without the change and %s with it", results.Count(n, "test fails", "tests fail"), results.Plural(n, "passes", "pass"))
	case deps:
		rep.State, rep.Note = ReproNeedsDeps, "the change's tests need dependencies that only the change has: no reproduction claimed"
	case broken:
		rep.State, rep.Note = ReproNeedsAPI, r.needsAPI(over)
	case cut:
		rep.State, rep.Note = ReproEnvironment, "the change's tests do not come to their end without the change: no reproduction claimed"
	case len(rep.PassOnBase) > 0:
		rep.State, rep.Note = ReproPassOnBase, "the change's tests pass without the change as well"
	case failed && !slices.ContainsFunc(slices.Collect(maps.Keys(over)), func(id ID) bool { return id.Test != "" }):
		rep.State, rep.Note = ReproEnvironment, "no test of the change runs without it: "+results.FailureLine(firstFailure(over))
	case failed && !known:
		rep.State, rep.Note = ReproEnvironment, "without the change, the run of its tests fails before it comes to them: "+results.FailureLine(firstFailure(over))
	case failed:
		rep.State, rep.Note = ReproEnvironment, "the change's tests fail without the change and do not pass reliably with it"
	default:
		rep.State, rep.Note = ReproPassOnBase, "no test of the change fails without it"
	}
	if n > 0 && len(rep.Dropped) > 0 {
		rep.Note += "; " + results.Listed(rep.Dropped, 3) + results.Plural(len(rep.Dropped), " needs", " need") + " the change's API and could not be tried"
	}
}

// atSamePlace is a test of a suite, also one that commands of another folder run.
func atSamePlace(s Suite, id ID) (Test, bool) {
	if t, ok := s[id]; ok || id.Package == "" || id.Test == "" {
		return t, ok
	}
	for have, t := range s {
		if have.Package == id.Package && have.Test == id.Test && have.Command == id.Command {
			return t, true
		}
	}
	return Test{}, false
}

// stoodElsewhere says whether a test of the head is one of the base, in a file that has another name now.
func (r *runner) stoodElsewhere(id ID) bool {
	return slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool {
		if f.Status != change.Renamed || f.Path != id.Package {
			return false
		}
		for b, t := range r.sides.Suites[Base] {
			if b.Package == f.OldPath && b.Test == id.Test && t.Status == Passed {
				return true
			}
		}
		return false
	})
}

// firstFailure is the output of the first that failed, by name.
func firstFailure(s Suite) string {
	for _, id := range sorted.Keys(s, ID.Compare) {
		if s[id].Status == Failed {
			return s[id].Output
		}
	}
	return ""
}

// changedTests names the top-level tests whose own text the change adds or alters.
func (r *runner) changedTests() map[string]bool {
	out := map[string]bool{}
	for _, f := range r.in.Change.Files {
		if !languages.IsTestSource(f.Path) || f.Status == change.Deleted {
			continue
		}
		old := f.OldPath
		if old == "" {
			old = f.Path
		}
		after, err := ecosystem.ReadInTree(r.in.Head.Dir, f.Path)
		if err != nil {
			continue
		}
		before, err := ecosystem.ReadInTree(r.in.Base.Dir, old)
		if err != nil {
			before = nil
		}
		e := languages.Of(f.Path)
		if e == nil || e.Packages == nil {
			out[f.Path] = string(before) != string(after)
			continue
		}
		was := e.Packages.Tests(before)
		for name, text := range e.Packages.Tests(after) {
			if was[name] != text {
				out[name] = true
			}
		}
	}
	return out
}
