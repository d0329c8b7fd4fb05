package gate

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
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
	tree, err := r.overlaid(ctx, files)
	if err != nil {
		return err
	}
	defer tree.Close()
	over, err := r.runOverlay(ctx, tree, pkgs)
	if err != nil {
		return err
	}
	others, err := r.overlayOthers(ctx, tree)
	if err != nil {
		return err
	}
	maps.Copy(over, others)
	r.judgeOverlay(over)
	return nil
}

// reproducible tells the cases in which there is nothing to lay over the base.
func (r *runner) reproducible() (ReproState, string) {
	files, pkgs := r.overlay()
	switch {
	case r.facts.Unprepared != "":
		return ReproEnvironment, "a side could not be set up"
	case !slices.ContainsFunc(r.plan[Head].test, func(c command) bool { return c.results != nil }):
		return ReproUnsupported, "fail-to-pass needs results of each test, which no test command gives"
	case !r.res.Runnable && len(files) > 0:
		return ReproTestsOnly, "the change brings only tests and their data: there is nothing to undo"
	case !r.res.Runnable:
		return ReproNothing, "no line that can run changed: there is nothing to reproduce"
	case len(files) == 0 || len(pkgs) == 0 && len(r.overlayCommands(Head, files)) == 0:
		return ReproNoTests, "the change brings no tests"
	case len(r.overlayCommands(Base, files)) == 0 &&
		!slices.ContainsFunc(pkgs, func(p goPackageInfo) bool { return len(r.goTests(Base, p.unit, StageFailToPass)) > 0 }):
		return ReproNeedsAPI, "the base has no module that the change's tests could run in: no reproduction claimed"
	case len(r.suites[Base]) == 0:
		return ReproEnvironment, "the base's tests could not be run"
	}
	return "", ""
}

func (r *runner) hasGoTests() bool {
	return slices.ContainsFunc(r.plan[Head].test, func(c command) bool { return c.results != nil && c.eco == "Go" })
}

// overlay returns the paths that travel with the change's tests (test files,
// their data, golden files beside them) and the packages whose tests they are.
func (r *runner) overlay() (files []string, pkgs []goPackageInfo) {
	withTests := map[string]bool{} // folders in which test files changed
	for _, p := range r.in.Change.Paths() {
		if isTestSource(p) {
			withTests[path.Dir(p)] = true
		}
	}
	for _, f := range r.in.Change.Files {
		for _, p := range slices.Compact([]string{f.Path, f.OldPath}) {
			if p != "" && r.travels(p, withTests) {
				files = append(files, p)
			}
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, f := range files {
		p, ok := packageOf(r.packages, f)
		same := func(q goPackageInfo) bool { return q.ImportPath == p.ImportPath }
		if ok && p.hasTests() && !slices.ContainsFunc(pkgs, same) {
			pkgs = append(pkgs, p)
		}
	}
	return files, pkgs
}

// travels says whether a path is part of the tests rather than of what they test.
func (r *runner) travels(name string, withTests map[string]bool) bool {
	switch {
	case isTestFile(name):
		return true
	case steers(name), isDoc(name), r.embedded(name), isSource(name):
		return false
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) { // data in a folder of any name below the tests
		if withTests[dir] {
			return dir != "." || path.Dir(name) != "."
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// overlaid is a copy of the prepared base with the change's tests over it.
func (r *runner) overlaid(ctx context.Context, files []string) (*workspace.Tree, error) {
	tree, err := r.in.Base.Copy(ctx, filepath.Join(filepath.Dir(r.in.Base.Dir), "over"))
	if err != nil {
		return nil, fmt.Errorf("copy of the base: %w", err)
	}
	if err := tree.Overlay(ctx, r.in.Head.Commit, files); err != nil {
		return nil, fmt.Errorf("tests over the base: %w", err)
	}
	return tree, nil
}

// runOverlay runs the tests of pkgs there. Test files that do not compile are
// put back as they were on base, so that those that do still say something.
func (r *runner) runOverlay(ctx context.Context, tree *workspace.Tree, pkgs []goPackageInfo) (Suite, error) {
	over := Suite{}
	rest := pkgs
	for round := 0; len(rest) > 0 && round < maxDrops; round++ {
		suite, err := r.overlayTests(ctx, tree, rest)
		if err != nil {
			return nil, err
		}
		maps.Copy(over, suite)
		var drop []string
		var retry []goPackageInfo
		for _, p := range rest {
			bad := r.uncompilable(suite[ID{Unit: p.unit, Package: p.ImportPath}], p)
			if len(bad) > 0 {
				r.missing = r.missing || missingDeps.MatchString(suite[ID{Unit: p.unit, Package: p.ImportPath}].Output)
				drop, retry = append(drop, bad...), append(retry, p)
			}
		}
		if len(drop) == 0 {
			break
		}
		r.res.FailToPass.Dropped = append(r.res.FailToPass.Dropped, drop...)
		if err := tree.Overlay(ctx, r.in.Base.Commit, drop); err != nil {
			return nil, fmt.Errorf("tests over the base: %w", err)
		}
		rest = retry
	}
	return over, nil
}

// maxDrops bounds how often files that do not compile are taken out: the
// compiler names at most ten errors at a time.
const maxDrops = 5

func (r *runner) overlayTests(ctx context.Context, tree *workspace.Tree, pkgs []goPackageInfo) (Suite, error) {
	out := Suite{}
	byUnit := map[string][]string{}
	for _, p := range pkgs {
		byUnit[p.unit] = append(byUnit[p.unit], p.ImportPath)
	}
	for _, unit := range slices.Sorted(maps.Keys(byUnit)) {
		for _, c := range r.goTests(Base, unit, StageFailToPass, append([]string{"-count=1"}, byUnit[unit]...)...) {
			c.timeout = r.Limits.step()
			stream := newGoStream(unit)
			step, err := r.exec(ctx, Base, tree, c, stream)
			if err != nil {
				return nil, err
			}
			r.res.FailToPass.Evidence = append(r.res.FailToPass.Evidence, step.Evidence)
			out.add(r.collected(Base, tree, c, stream, step))
		}
	}
	return out, nil
}

// errorPlace is the beginning of a compiler's message: the file.
var errorPlace = pattern.New(`(?m)^(?:vet: )?(?:\./)?([^\s:]+_test\.go):\d+`)

// uncompilable returns the changed test files of p that a broken package
// result names and that are not the base's own already.
func (r *runner) uncompilable(t Test, p goPackageInfo) []string {
	if t.Status != Failed || !t.Broken {
		return nil
	}
	var out []string
	for _, m := range errorPlace.FindAllStringSubmatch(t.Output, -1) {
		// The go command names files from the folder that it runs in, where that is shorter.
		for _, name := range []string{path.Join(p.unit, m[1]), m[1], path.Join(p.Dir, m[1])} {
			if slices.Contains(r.res.FailToPass.Files, name) {
				if !slices.Contains(r.res.FailToPass.Dropped, name) && !slices.Contains(out, name) {
					out = append(out, name)
				}
				break
			}
		}
	}
	return out
}

// missingDeps are messages for imports that the base's go.mod does not provide.
var missingDeps = pattern.New(`no required module provides package|missing go\.sum entry|cannot find module providing|module lookup disabled`)

// judgeOverlay tells what the change's tests say over the base's sources.
func (r *runner) judgeOverlay(over Suite) {
	rep := &r.res.FailToPass
	base, head := r.suites[Base], r.suites[Head]
	fresh := r.changedTests()
	deps, broken, failed := r.missing, len(rep.Dropped) > 0, false
	wants := r.wanting()
	for id, o := range over {
		h, ok := head[id]
		switch {
		case id.Test == "" && o.Status == Failed && o.Broken:
			broken = true
			dep, _ := wants(o)
			deps = deps || dep || missingDeps.MatchString(o.Output)
		case id.Command != "" && o.Cut && o.Eco != "Go" && wantsAbsent(wants, o):
			dep, _ := wants(o)
			broken, deps = true, deps || dep
		case id.Test == "" || !ok || h.Status != Passed || flakyTest(r.res.Tests, id):
			failed = failed || o.Status == Failed
		case o.Status == Failed && o.Eco != "Go" && wantsAbsent(wants, o):
			dep, _ := wants(o)
			broken, deps = true, deps || dep
		case o.Status == Failed:
			rep.Proven = append(rep.Proven, Case{ID: id, Output: o.Output, Evidence: []string{o.Evidence, h.Evidence}})
		case o.Status == Passed && (base[id].Status == "" || o.Eco == "Go" && fresh[id.Top()]) && h.Leaf:
			rep.PassOnBase = append(rep.PassOnBase, Case{ID: id, Evidence: []string{o.Evidence, h.Evidence}})
		}
	}
	sortCases(rep.Proven)
	sortCases(rep.PassOnBase)
	n := len(Leaves(rep.Proven))
	switch {
	case n > 0:
		rep.State = ReproProven
		rep.Note = fmt.Sprintf("%s without the change and %s with it", count(n, "test fails", "tests fail"), plural(n, "passes", "pass"))
	case deps:
		rep.State, rep.Note = ReproNeedsDeps, "the change's tests need dependencies that only the change has: no reproduction claimed"
	case broken:
		rep.State, rep.Note = ReproNeedsAPI, r.needsAPI(over)
	case len(rep.PassOnBase) > 0:
		rep.State, rep.Note = ReproPassOnBase, "the change's tests pass without the change as well"
	case failed:
		rep.State, rep.Note = ReproEnvironment, "the change's tests fail without the change and do not pass reliably with it"
	default:
		rep.State, rep.Note = ReproPassOnBase, "no test of the change fails without it"
	}
	if n > 0 && len(rep.Dropped) > 0 {
		rep.Note += "; " + listed(rep.Dropped, 3) + plural(len(rep.Dropped), " needs", " need") + " the change's API and could not be tried"
	}
}

// changedTests names the top-level tests whose own text the change adds or alters.
func (r *runner) changedTests() map[string]bool {
	out := map[string]bool{}
	for _, f := range r.in.Change.Files {
		if !isTestSource(f.Path) || f.Status == change.Deleted {
			continue
		}
		old := f.OldPath
		if old == "" {
			old = f.Path
		}
		after, err := readInTree(r.in.Head.Dir, f.Path)
		if err != nil {
			continue
		}
		before, err := readInTree(r.in.Base.Dir, old)
		if err != nil {
			before = nil
		}
		if path.Ext(f.Path) != ".go" {
			out[f.Path] = string(before) != string(after)
			continue
		}
		was := testFuncs(before)
		for name, text := range testFuncs(after) {
			if was[name] != text {
				out[name] = true
			}
		}
	}
	return out
}

func flakyTest(c Comparison, id ID) bool {
	is := func(k Case) bool { return k.ID == id }
	return slices.ContainsFunc(c.Flaky, is) || slices.ContainsFunc(c.FlakyNew, is)
}
