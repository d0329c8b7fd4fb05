package checks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// A Believed is what became of the tests that were planted to see whether the suite
// reports a failure.
type Believed struct {
	Planted  int      `json:"planted"`  // packages or files in which the planted test ran
	Missed   []string `json:"missed"`   // those of them in which it was not reported as failing
	Evidence []string `json:"evidence"` // of the runs
}

// Plant lays one test of an unforeseeable name that must fail beside existing tests
// of the head and runs them. A suite in which it ran and that does not report its
// failure is not believed. It is left out where the change fails anyway.
func Plant(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	err := r.plant(ctx)
	return r.found, err
}

func (r *check) plant(ctx context.Context) error {
	if !r.in.Runnable || r.in.Unprepared || r.in.Fails || r.in.MutationTime < 0 {
		return nil
	}
	name := ecosystem.Steps(r.in.Steps()).Unforeseen()
	done := &Believed{}
	for _, c := range r.in.Tests[Head] {
		run, files, why := r.plantsFor(ctx, c, name)
		if len(files) == 0 && c.Results == nil {
			continue // that it counts as one test is said already
		}
		if len(files) == 0 {
			r.in.NotCoveredOnce("whether the suite reports failures: no test can be planted for %q (%s)", c.Label(), why)
			continue
		}
		p := planting{c, run, name, files}
		suite, err := r.runPlanted(ctx, Head, p, done)
		if err != nil {
			return err
		}
		if files[0].Ends {
			if err := r.judgeEnded(ctx, p, suite, done); err != nil {
				return err
			}
			continue
		}
		missed := r.judgePlanted(p, suite, done)
		if len(missed) == 0 {
			continue
		}
		base, err := r.runPlanted(ctx, Base, r.onBase(ctx, p), done)
		if err != nil {
			return err
		}
		r.judgeMissed(p, missed, base, done)
	}
	if done.Planted > 0 || len(done.Evidence) > 0 {
		r.found.Believed = done
	}
	if len(done.Missed) > 0 {
		r.found.Unbelieved = append(r.found.Unbelieved, fmt.Sprintf("a planted test that must fail is not reported as failing in %s", results.Listed(done.Missed, 5)))
	}
	return nil
}

// plantsFor are the files for a test command and the command that runs them, or why there
// are none.
func (r *check) plantsFor(ctx context.Context, c ecosystem.Command, name string) (run ecosystem.Command, files []ecosystem.Planted, why string) {
	switch {
	case c.Results == nil:
		return c, nil, "its output does not name each test"
	case r.chooses(c):
		return c, nil, "it runs only tests with certain names or marks"
	case languages.ByPackage(c.Eco):
		return r.plantsInPackages(c, name)
	case c.Results.Plant == nil:
		return c, nil, "its files cannot be run by themselves"
	}
	run, files = c.Results.Plant(c, r.placesFor(ctx, Head, c, name))
	files = slices.DeleteFunc(files, func(f ecosystem.Planted) bool { // the change may have its program end otherwise
		return f.Ends && slices.Contains(r.in.Change.Paths(), f.Path)
	})
	return run, files, "none of its test files is of a known style"
}

// placesFor is where tests are planted for a command in a side.
func (r *check) placesFor(ctx context.Context, side Side, c ecosystem.Command, name string) ecosystem.Planting {
	return ecosystem.Planting{
		Tree: r.in.tree(side).Dir, Name: name, IsTest: languages.IsTestSource,
		Passing: slices.DeleteFunc(r.passing(c), func(pkg string) bool { return r.chosenIn(ctx, pkg) }),
		Near: func(file string) bool {
			return slices.ContainsFunc(r.in.Change.Paths(), func(p string) bool { return p == file || path.Dir(p) == path.Dir(file) })
		},
	}
}

// selects is what has a runner choose among the tests of its files, by their names or marks,
// chosen what has it choose tests of a file in the file itself.
var (
	selects = pattern.New(`\bgo test\b.*\s-(?:test\.)?(?:run|skip)\b|\b(?:pytest|py\.test|unittest)\b.*\s-[mk]\b|\b(?:jest|vitest)\b.*\s(?:-t|--testNamePattern)\b|\bmocha\b.*\s(?:-g|--grep|-f|--fgrep)\b|\brspec\b.*\s(?:-e|--example|-t|--tag)\b|--test-name-pattern\b`)
	chosen  = pattern.New(`\b(?:it|test|describe|context|suite)\.only\(|(?m:^\s*(?:fit|fdescribe|fcontext)[ (])`)
)

// chooses says whether a command of the base and of the head chooses among the tests, of which
// a planted one is none.
func (r *check) chooses(c ecosystem.Command) bool {
	return selects.MatchString(c.Text) && slices.ContainsFunc(r.in.Tests[Base], func(b ecosystem.Command) bool {
		return b.Eco == c.Eco && b.Unit == c.Unit && selects.MatchString(b.Text)
	})
}

// chosenIn says whether a file of tests chooses among them on both sides.
func (r *check) chosenIn(ctx context.Context, name string) bool {
	for _, side := range []Side{Base, Head} {
		if src, err := r.in.ReadFile(ctx, side, name); err != nil || !chosen.Match(src) { // results can name classes
			return false
		}
	}
	return true
}

// passing are the packages, as in [ID].Package, of a command all of whose tests pass on
// the head.
func (r *check) passing(c ecosystem.Command) []string {
	ok := map[string]bool{}
	for id, t := range r.in.Suites[Head] {
		if id.Unit != c.Unit || t.Eco != c.Eco || id.Test == "" {
			continue
		}
		pass, seen := ok[id.Package]
		ok[id.Package] = (pass || !seen) && t.Status != Failed && t.Status != NotRun
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(ok)), func(pkg string) bool { return !ok[pkg] })
}

// plantsInPackages makes a test file for each package.
func (r *check) plantsInPackages(c ecosystem.Command, name string) (run ecosystem.Command, files []ecosystem.Planted, why string) {
	changed := ecosystem.Touched(r.in.Packages, r.in.Change.Paths())
	var pkgs []string
	near, others := 0, 0
	for _, p := range r.in.Packages {
		ran := r.in.Suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}]
		if p.Unit != c.Unit || !p.HasTests() || ran.Status != Passed || ran.Cut || ran.Elapsed > slowTests {
			continue
		}
		if changed[p.ImportPath] {
			if near++; near > ecosystem.MaxPlanted {
				continue
			}
		} else if others++; others > ecosystem.MaxPlantedOther {
			continue
		}
		beside := slices.Concat(p.TestGoFiles, p.XTestGoFiles)[0]
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, path.Join(p.Dir, beside))
		if err != nil {
			continue
		}
		file, text := languages.PackagesOf(c.Eco).Plant(src, name)
		if text == "" {
			continue
		}
		files, pkgs = append(files, ecosystem.Planted{Path: path.Join(p.Dir, file), Package: p.ImportPath, Text: text}), append(pkgs, p.ImportPath)
	}
	if len(files) == 0 {
		return c, nil, "no package with tests is fast enough and passes"
	}
	run, ok := c.Results.Narrow(c, ecosystem.Part{Packages: pkgs})
	if !ok {
		return c, nil, "its packages cannot be run by themselves"
	}
	return run, files, ""
}

// A planting is planted tests and the commands around them.
type planting struct {
	c, run ecosystem.Command // the test command, and as it runs them
	name   string
	files  []ecosystem.Planted
}

// runPlanted lays the files into a prepared side and runs their tests. It is as it was
// prepared afterwards.
func (r *check) runPlanted(ctx context.Context, side Side, p planting, done *Believed) (Suite, error) {
	if err := r.in.Reset(ctx, side); err != nil {
		return nil, err
	}
	dir, n := r.in.tree(side).Dir, p.run
	n.Stage, n.Name, n.Timeout = StageMutation, p.c.Label(), r.in.StepLimit
	if p.files[0].Ends {
		n = afterBuilds(n, r.in.rebuilding(p.c), "")
	}
	before, err := layPlanted(dir, p.files)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := takePlanted(dir, p.files, before); err != nil {
			r.in.Note("planted tests could not be removed: %v", err)
		}
	}()
	stream := n.Results.Collect(n.Unit)
	step, err := r.in.AsLaid(ctx, side, n, stream) // what was laid stays
	if err != nil {
		return nil, err
	}
	done.Evidence = append(done.Evidence, step.Evidence)
	return r.in.Collect(side, r.in.tree(side), n, stream, step), nil
}

// seen says whether a planted test was reported as failing, and whether something of its file
// or package ran.
func seen(name string, f ecosystem.Planted, suite Suite) (failed, ran bool) {
	for id, t := range suite {
		if id.Package != f.Package {
			continue
		}
		mine := strings.Contains(strings.ToLower(id.Test), name)
		failed = failed || mine && t.Status == Failed
		ran = ran || mine || id.Test != "" && t.Status == Passed
	}
	return failed, ran
}

// judgePlanted finds the files in which the planted test was not reported as failing on the
// head, although others of the same file or package were reported.
func (r *check) judgePlanted(p planting, suite Suite, done *Believed) (missed []ecosystem.Planted) {
	var unseen []string
	for _, f := range p.files {
		failed, ran := seen(p.name, f, suite)
		whole := suite[ID{Unit: p.c.Unit, Package: f.Package}]
		switch {
		case failed:
			done.Planted++
		case ran && !whole.Broken && f.Types != "": // their files are often outside of what is compiled
			r.in.NotCoveredOnce("the tests of types in %s: a wrong type in one of them is not reported", f.Types)
		case ran && !whole.Broken:
			missed = append(missed, f)
		default:
			unseen = append(unseen, f.Path)
		}
	}
	if len(unseen) > 0 {
		r.in.NotCoveredOnce("whether the suite reports failures in %s: a planted test did not run there", results.Plural(len(unseen), "a file", "some files"))
	}
	return missed
}

// judgeEnded decides about programs of tests that end as failures: what passes yet on the head, and
// fails so on the base, reports nothing there.
func (r *check) judgeEnded(ctx context.Context, p planting, suite Suite, done *Believed) error {
	passing := func(of Suite) (out []ID) {
		for id, t := range of {
			if id.Unit == p.c.Unit && id.Test != "" && t.Status == Passed {
				out = append(out, id)
			}
		}
		return out
	}
	if !results.AnyRan(suite) {
		r.in.NotCoveredOnce("whether the suite reports failures: programs of %q that must fail are not built", p.c.Label())
		return nil
	}
	left := passing(suite)
	if len(left) == 0 {
		done.Planted += len(p.files)
		return nil
	}
	base, err := r.runPlanted(ctx, Base, r.onBase(ctx, p), done)
	if err != nil {
		return err
	}
	done.Planted += len(p.files)
	for _, id := range left {
		if base[id].Status == Failed {
			done.Missed = append(done.Missed, id.String())
		}
	}
	slices.Sort(done.Missed)
	return nil
}

// onBase are the files of a planting as they are laid into the base: made of its own test
// files where it has them, which need nothing of the change.
func (r *check) onBase(ctx context.Context, p planting) planting {
	if p.c.Results.Plant == nil || languages.ByPackage(p.c.Eco) {
		return p
	}
	_, own := p.c.Results.Plant(p.c, r.placesFor(ctx, Base, p.c, p.name))
	p.files = slices.Clone(p.files)
	for i, f := range p.files {
		if at := slices.IndexFunc(own, func(o ecosystem.Planted) bool { return o.Path == f.Path && o.Package == f.Package }); at >= 0 {
			p.files[i] = own[at]
		}
	}
	return p
}

// judgeMissed decides about planted tests that the head did not report as failing, by what the base
// makes of them: where it misses them as well, its own settings choose among the tests.
func (r *check) judgeMissed(p planting, missed []ecosystem.Planted, base Suite, done *Believed) {
	var reported, chosen, unseen []string
	for _, f := range missed {
		switch failed, ran := seen(p.name, f, base); {
		case failed:
			reported = append(reported, f.Package)
		case ran && !base[ID{Unit: p.c.Unit, Package: f.Package}].Broken:
			chosen = append(chosen, f.Package)
		default:
			unseen = append(unseen, f.Package)
		}
	}
	if len(chosen) > 0 {
		r.in.NotCoveredOnce("whether the suite reports failures: %q does not report a planted test on the base either (do settings choose among the tests?)", p.c.Typed())
	}
	if len(reported) > 0 || len(chosen) == 0 {
		done.Missed = append(done.Missed, append(reported, unseen...)...)
		done.Planted += len(reported) + len(unseen)
	}
}

// layPlanted writes the files and returns what those had that were there before.
func layPlanted(dir string, files []ecosystem.Planted) (before map[string][]byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	before = map[string][]byte{}
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		src, err := fs.ReadFile(regular.FS(root), name)
		if err == nil {
			before[f.Path] = src
		} else if !errors.Is(err, fs.ErrNotExist) { // a pipe would be waited for
			return nil, fmt.Errorf("planted test: %w", err)
		}
		if err := root.WriteFile(name, []byte(f.Text), 0o644); err != nil {
			return nil, fmt.Errorf("planted test: %w", err)
		}
	}
	return before, nil
}

func takePlanted(dir string, files []ecosystem.Planted, before map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if src, ok := before[f.Path]; ok {
			err = root.WriteFile(name, src, 0o644)
		} else if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
