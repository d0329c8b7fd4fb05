package gate

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// overlayCommands are the test commands of a side, other than Go's, that tell
// tests apart and have files of the overlay to run.
func (r *runner) overlayCommands(side Side, files []string) []command {
	var out []command
	for _, c := range r.plan[side].test {
		mine := func(f string) bool { return r.runs(side, c, f) }
		if c.results != nil && c.eco != "Go" && slices.ContainsFunc(files, mine) {
			out = append(out, c)
		}
	}
	return out
}

// runs says whether a test command of a side has to do with a file: it lies in
// the command's folder and in that of no project further in.
func (r *runner) runs(side Side, c command, name string) bool {
	var same []project
	for _, p := range r.plan[side].projects {
		if p.eco.name == c.eco && inside(c.unit, p.dir) {
			same = append(same, p)
		}
	}
	dir, ok := innermost(same, name)
	return inside(c.unit, name) && (!ok || dir == c.unit || !slices.ContainsFunc(r.plan[side].test, func(d command) bool { return d.unit == dir && d.eco == c.eco }))
}

// overlayOthers runs the tests of the change in languages other than Go, over
// the base's sources.
func (r *runner) overlayOthers(ctx context.Context, tree *workspace.Tree) (Suite, error) {
	out := Suite{}
	for _, c := range r.overlayCommands(Base, r.res.FailToPass.Files) {
		broken, err := r.rebuildOverlay(ctx, tree, c)
		if err != nil {
			return nil, err
		}
		if broken.Evidence != "" {
			out[ID{Unit: c.unit, Package: broken.Command}] = Test{
				Status: Failed, Broken: true, Output: broken.Output, Evidence: broken.Evidence, Eco: c.eco,
			}
			continue
		}
		suite, err := r.testOverlay(ctx, tree, r.narrowed(c))
		if err != nil {
			return nil, err
		}
		out.add(suite)
	}
	return out, nil
}

// testOverlay runs tests there. Where none could be run, files that the runner
// names are put back as they were on base, so that the others say something.
func (r *runner) testOverlay(ctx context.Context, tree *workspace.Tree, c command) (Suite, error) {
	for round := 0; ; round++ {
		suite, step, err := r.runTestsIn(ctx, Base, tree, c)
		if err != nil {
			return nil, err
		}
		r.res.FailToPass.Evidence = append(r.res.FailToPass.Evidence, step.Evidence)
		whole := suite[ID{Unit: c.unit, Command: c.label()}]
		drop := r.namedIn(whole.Output, c.unit)
		if !whole.Cut || anyRan(suite) || len(drop) == 0 || round == maxDrops {
			return suite, nil
		}
		r.res.FailToPass.Dropped = append(r.res.FailToPass.Dropped, drop...)
		if err := tree.Overlay(ctx, r.in.Base.Commit, drop); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.res.FailToPass.Files, func(f string) bool {
			return isTestSource(f) && !slices.Contains(r.res.FailToPass.Dropped, f)
		}) {
			return suite, nil
		}
	}
}

// narrowed is c for the tests that the change brings, where they can be named.
func (r *runner) narrowed(c command) command {
	var pkgs []string
	for _, f := range r.res.FailToPass.Files {
		if isTestSource(f) && r.runs(Base, c, f) && hasPackage(r.suites[Head], ID{Unit: c.unit, Package: f}) {
			pkgs = append(pkgs, f)
		}
	}
	if data := slices.ContainsFunc(r.res.FailToPass.Files, func(f string) bool { return !slices.Contains(pkgs, f) && r.runs(Base, c, f) }); len(pkgs) > 0 && !data {
		if less, ok := c.results.narrow(c, part{packages: pkgs}); ok {
			less.name = c.label()
			c = less
		}
	}
	c.stage = StageFailToPass
	return c
}

// rebuildOverlay builds the overlay for a command that needs it. Test files that
// do not compile are put back as they were on base, so that the others still say
// something. It returns the step that failed where nothing can be done about it.
func (r *runner) rebuildOverlay(ctx context.Context, tree *workspace.Tree, c command) (Step, error) {
	if !c.results.rebuild {
		return Step{}, nil
	}
	for range maxDrops {
		failed, err := r.buildOverlay(ctx, tree, c)
		if err != nil || failed.Evidence == "" {
			return Step{}, err
		}
		drop := r.namedIn(failed.Output, c.unit)
		if len(drop) == 0 {
			return failed, nil
		}
		r.res.FailToPass.Dropped = append(r.res.FailToPass.Dropped, drop...)
		if err := tree.Overlay(ctx, r.in.Base.Commit, drop); err != nil {
			return Step{}, err
		}
		if len(r.res.FailToPass.Dropped) == len(r.res.FailToPass.Files) {
			return failed, nil
		}
	}
	return Step{}, nil
}

// buildOverlay runs the base's build commands of c's project there, and returns
// the one that failed.
func (r *runner) buildOverlay(ctx context.Context, tree *workspace.Tree, c command) (Step, error) {
	for _, b := range r.plan[Base].build {
		if b.unit != c.unit || b.eco != c.eco && b.eco != "" {
			continue
		}
		b.stage = StageFailToPass
		step, err := r.exec(ctx, Base, tree, r.limited(Base, b), nil)
		if err != nil {
			return step, err
		}
		r.res.FailToPass.Evidence = append(r.res.FailToPass.Evidence, step.Evidence)
		if step.Failed() {
			return step, nil
		}
	}
	return Step{}, nil
}

// namedIn returns the files of the overlay that a build's output names and that
// are not the base's own already.
func (r *runner) namedIn(output, unit string) []string {
	var out []string
	for _, f := range r.res.FailToPass.Files {
		short := f
		if unit != "." {
			short = strings.TrimPrefix(f, unit+"/")
		}
		named := regexp.MustCompile(`(?m)(^|[\s"'/(])` + regexp.QuoteMeta(short) + `($|[\s"':(),])`)
		if named.MatchString(output) && !slices.Contains(r.res.FailToPass.Dropped, f) {
			out = append(out, f)
		}
	}
	return out
}

// wanting returns what tells of a failed test whether it wants what only the
// change has: a dependency, or a name that its sources define.
func (r *runner) wanting() func(Test) (deps, api bool) {
	before, after := map[string]bool{}, map[string]bool{}
	steered := false
	for _, f := range r.in.Change.Files {
		if isTestFile(f.Path) {
			continue
		}
		steered = steered || steers(f.Path)
		if b, err := readInTree(r.in.Base.Dir, f.Path); err == nil {
			maps.Copy(before, words(b))
		}
		if a, err := readInTree(r.in.Head.Dir, f.Path); err == nil {
			maps.Copy(after, words(a))
			after[strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))] = true
		}
	}
	return func(t Test) (deps, api bool) {
		for _, e := range ecosystems() {
			if e.name != t.Eco || e.absent == nil {
				continue
			}
			name, dep := e.absent(t.Output)
			if name == "" {
				continue
			}
			for w := range words([]byte(name)) {
				api = api || after[w] && !before[w]
			}
			deps = dep && steered && !api
		}
		return deps, api
	}
}

func wantsAbsent(wants func(Test) (deps, api bool), t Test) bool {
	deps, api := wants(t)
	return deps || api
}

var word = pattern.New(`[\pL_$][\pL\pN_$]*`)

// words are the names in a source.
func words(src []byte) map[string]bool {
	out := map[string]bool{}
	for _, w := range word.FindAll(src, -1) {
		out[string(w)] = true
	}
	return out
}

// needsAPI words that the change's tests want what only the change has.
func (r *runner) needsAPI(over Suite) string {
	for _, o := range over {
		if o.Eco != "" && o.Eco != "Go" && o.Status == Failed {
			return "the change's tests cannot be run without the change, whose API they need: no reproduction claimed"
		}
	}
	return "the change's tests do not compile without the change, whose API they need: no reproduction claimed"
}
