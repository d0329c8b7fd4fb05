package checks

import (
	"context"
	"crypto/sha256"
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
)

// Bounds for planted tests: packages with changed lines, and others.
const (
	maxPlanted      = 20
	maxPlantedOther = 5
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
	name := r.plantName()
	done := &Believed{}
	for _, c := range r.in.Tests[Head] {
		files, why := r.plantsFor(c, name)
		if len(files) == 0 && c.Results == nil {
			continue // that it counts as one test is said already
		}
		if len(files) == 0 {
			r.in.NotCoveredOnce("whether the suite reports failures: no test can be planted for %q (%s)", c.Label(), why)
			continue
		}
		if err := r.runPlanted(ctx, c, name, files, done); err != nil {
			return err
		}
	}
	if done.Planted > 0 || len(done.Evidence) > 0 {
		r.found.Believed = done
	}
	if len(done.Missed) > 0 {
		r.found.Unbelieved = append(r.found.Unbelieved, fmt.Sprintf("a planted test that must fail is not reported as failing in %s", ecosystem.Listed(done.Missed, 5)))
	}
	return nil
}

// plantName is a name that no change can know: it is made of how long the commands
// before took, to the precision of the log, so that a run that is played back from
// its log has the same.
func (r *check) plantName() string {
	h := sha256.New()
	for _, s := range r.in.Steps() {
		fmt.Fprintln(h, s.Evidence, s.Side, s.Duration)
	}
	var b strings.Builder
	for _, c := range h.Sum(nil)[:12] {
		b.WriteByte('a' + c%26)
	}
	return b.String()
}

// A planted is a file to lay into the head: a test that must fail, with what is
// before it.
type planted struct {
	path string // in the repository
	pkg  string // as in ID.Package
	text string
}

// plantsFor are the files for a test command, or why there are none.
func (r *check) plantsFor(c ecosystem.Command, name string) ([]planted, string) {
	switch {
	case c.Results == nil || c.Results.Narrow == nil:
		return nil, "its output does not tell tests apart"
	case ecosystem.ByPackage(c.Eco):
		return r.plantsInPackages(c, name)
	}
	var out []planted
	others := 0
	for _, file := range r.plantable(c) {
		near := slices.ContainsFunc(r.in.Change.Paths(), func(p string) bool { return p == file || path.Dir(p) == path.Dir(file) })
		if !near {
			if others++; others > maxPlantedOther {
				continue
			}
		}
		if len(out) == maxPlanted+maxPlantedOther {
			break
		}
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, file)
		if err != nil {
			continue
		}
		if text := ecosystem.FailingTest(file, string(src), c.Results.Name, name); text != "" {
			at := ecosystem.PlantPath(file, name)
			out = append(out, planted{path: at, pkg: at, text: string(src) + text})
		}
	}
	return out, "none of its test files is of a known style"
}

// plantable are the test files of a command all of whose tests pass on the head.
func (r *check) plantable(c ecosystem.Command) []string {
	ok := map[string]bool{}
	for id, t := range r.in.Suites[Head] {
		if id.Unit != c.Unit || t.Eco != c.Eco || id.Test == "" {
			continue
		}
		pass, seen := ok[id.Package]
		ok[id.Package] = (pass || !seen) && t.Status != Failed && t.Status != NotRun
	}
	var out []string
	for _, file := range slices.Sorted(maps.Keys(ok)) {
		if ok[file] && path.Ext(file) != "" && !path.IsAbs(file) {
			out = append(out, file)
		}
	}
	return out
}

// plantsInPackages makes a test file for each package.
func (r *check) plantsInPackages(c ecosystem.Command, name string) ([]planted, string) {
	changed := ecosystem.Touched(r.in.Packages, r.in.Change.Paths())
	var out []planted
	near, others := 0, 0
	for _, p := range r.in.Packages {
		ran := r.in.Suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}]
		if p.Unit != c.Unit || !p.HasTests() || ran.Status != Passed || ran.Cut || ran.Elapsed > slowTests {
			continue
		}
		if changed[p.ImportPath] {
			if near++; near > maxPlanted {
				continue
			}
		} else if others++; others > maxPlantedOther {
			continue
		}
		beside := slices.Concat(p.TestGoFiles, p.XTestGoFiles)[0]
		src, err := ecosystem.ReadInTree(r.in.Head.Dir, path.Join(p.Dir, beside))
		if err != nil {
			continue
		}
		file, text := ecosystem.PackagesOf(c.Eco).Plant(src, name)
		if text == "" {
			continue
		}
		out = append(out, planted{path: path.Join(p.Dir, file), pkg: p.ImportPath, text: text})
	}
	return out, "no package with tests is fast enough and passes"
}

// runPlanted lays the files into the prepared head, runs their tests and looks for
// the planted ones. The head is as it was prepared afterwards.
func (r *check) runPlanted(ctx context.Context, c ecosystem.Command, name string, files []planted, done *Believed) error {
	if err := r.in.Reset(ctx, Head); err != nil {
		return err
	}
	var pkgs []string
	for _, f := range files {
		pkgs = append(pkgs, f.pkg)
	}
	n, ok := c.Results.Narrow(c, ecosystem.Part{Packages: pkgs})
	if !ok {
		r.in.NotCoveredOnce("whether the suite reports failures: no test can be planted for %q (its files cannot be run by themselves)", c.Label())
		return nil
	}
	n.Stage, n.Name, n.Timeout = StageMutation, c.Label(), r.in.StepLimit
	if err := r.layPlanted(files); err != nil {
		return err
	}
	defer func() {
		if err := r.takePlanted(files); err != nil {
			r.in.Note("planted tests could not be removed: %v", err)
		}
	}()
	suite, step, err := r.in.Run(ctx, Head, n)
	if err != nil {
		return err
	}
	done.Evidence = append(done.Evidence, step.Evidence)
	r.judgePlanted(c, name, files, suite, done)
	return nil
}

// judgePlanted finds the files in which the planted test was not reported as failing,
// although others of the same file or package were reported.
func (r *check) judgePlanted(c ecosystem.Command, name string, files []planted, suite Suite, done *Believed) {
	var unseen []string
	for _, f := range files {
		ran, failed := false, false
		for id, t := range suite {
			if id.Package != f.pkg {
				continue
			}
			mine := strings.Contains(strings.ToLower(id.Test), name)
			failed = failed || mine && t.Status == Failed
			ran = ran || mine || id.Test != "" && t.Status == Passed
		}
		whole := suite[ID{Unit: c.Unit, Package: f.pkg}]
		switch {
		case failed:
			done.Planted++
		case ran && !whole.Broken:
			done.Planted++
			done.Missed = append(done.Missed, f.pkg)
		default:
			unseen = append(unseen, f.path)
		}
	}
	if len(unseen) > 0 {
		r.in.NotCoveredOnce("whether the suite reports failures in %s: a planted test did not run there", ecosystem.Plural(len(unseen), "a file", "some files"))
	}
}

func (r *check) layPlanted(files []planted) error {
	root, err := os.OpenRoot(r.in.Head.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if err := root.WriteFile(filepath.FromSlash(f.path), []byte(f.text), 0o644); err != nil {
			return fmt.Errorf("planted test: %w", err)
		}
	}
	return nil
}

func (r *check) takePlanted(files []planted) error {
	root, err := os.OpenRoot(r.in.Head.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if err := root.Remove(filepath.FromSlash(f.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
