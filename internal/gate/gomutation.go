package gate

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// goTrials makes the mutants of changed lines in Go that tests run: which those
// are is told by the coverage of the changed packages' own tests, or, where they
// have none, of tests that use them.
func (m *mutator) goTrials(ctx context.Context, files []changedFile) ([]*trial, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f changedFile) bool { return path.Ext(f.path) != ".go" })
	if len(files) == 0 || m.goTools() == nil || len(m.packages) == 0 {
		return nil, nil
	}
	byUnit := map[string][]string{}
	for _, p := range m.probed() {
		if took := m.suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}].Elapsed; took > slowTests {
			m.notCovered("mutation of %s: its tests take %s", p.ImportPath, took.Round(1e9))
			continue
		}
		byUnit[p.Unit] = append(byUnit[p.Unit], p.ImportPath)
	}
	var out []*trial
	for _, unit := range slices.Sorted(maps.Keys(byUnit)) {
		slices.Sort(byUnit[unit])
		more, err := m.goUnit(ctx, unit, byUnit[unit], files)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// goUnit does so in one module.
func (m *mutator) goUnit(ctx context.Context, unit string, pkgs []string, files []changedFile) ([]*trial, error) {
	commands := m.goTests(Head, unit, StageMutation)
	if len(commands) == 0 {
		return nil, nil
	}
	plain := commands[0]
	own := m.owners(files)
	covering := slices.Concat([]string{"-count=1"}, coverPackages(own, pkgs), pkgs)
	cover := ecosystem.NewCoverage(plain.Results.Collect(unit))
	c := ecosystem.Covered(plain.GoTest(covering...))
	c.Stage, c.Timeout = StageMutation, m.Limits.step()
	if err := m.reset(ctx, Head); err != nil {
		return nil, err
	}
	step, err := m.exec(ctx, Head, m.in.Head, c, cover)
	if err != nil {
		return nil, err
	}
	baseline := m.collected(Head, m.in.Head, c, cover, step)
	if !anyPassed(baseline) || len(cover.Ran) == 0 {
		m.notCovered("mutation of the changed lines: their tests say nothing when they are counted (%s)", cmpFirst(step.Output, "no lines were counted"))
		return nil, nil
	}
	m.out.Command = step.Command
	m.out.Evidence = append(m.out.Evidence, step.Evidence)
	groups := map[string]*testGroup{}
	var mine []changedFile
	for _, f := range files {
		p, ok := own[f.path]
		if !ok || !m.mutableHere(p, f, cover) {
			continue
		}
		mine = append(mine, f)
		if groups[p.ImportPath] == nil {
			groups[p.ImportPath] = m.goGroup(plain, p, pkgs, baseline, step)
		}
	}
	return interleave(mine, func(f changedFile) *testGroup { return groups[own[f.path].ImportPath] }), nil
}

// owners are the packages that changed files are compiled into.
func (m *mutator) owners(files []changedFile) map[string]ecosystem.GoPackageInfo {
	out := map[string]ecosystem.GoPackageInfo{}
	for _, f := range files {
		for _, p := range m.packages {
			if p.Dir == path.Dir(f.path) && (slices.Contains(p.GoFiles, path.Base(f.path)) || slices.Contains(p.CgoFiles, path.Base(f.path))) {
				out[f.path] = p
			}
		}
	}
	return out
}

// coverPackages counts the changed packages' lines also where other packages'
// tests run them, because they have none of their own.
func coverPackages(own map[string]ecosystem.GoPackageInfo, tested []string) []string {
	var names []string
	for _, p := range own {
		if slices.Contains(tested, p.ImportPath) {
			return nil // each package's own tests are meant to notice
		}
		names = append(names, p.ImportPath)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{"-coverpkg=" + strings.Join(slices.Compact(names), ",")}
}

// mutableHere narrows f to its lines that a test runs, and notes the others.
func (m *mutator) mutableHere(p ecosystem.GoPackageInfo, f changedFile, cover *ecosystem.Coverage) bool {
	name := path.Join(p.ImportPath, path.Base(f.path))
	if !cover.Knows[name] {
		return false // not compiled in these tests, such as a file for another system
	}
	some := false
	for line := range f.lines {
		ran, statement := cover.Line(name, line)
		switch {
		case ran:
			some = true
		case statement:
			m.out.Unrun[f.path] = append(m.out.Unrun[f.path], line)
			fallthrough
		default:
			delete(f.lines, line)
		}
	}
	return some
}

// goGroup is the test of a package's mutants.
func (m *mutator) goGroup(plain ecosystem.Command, p ecosystem.GoPackageInfo, pkgs []string, baseline Suite, step Step) *testGroup {
	tested := []string{p.ImportPath}
	if !slices.Contains(pkgs, p.ImportPath) {
		tested = pkgs
	}
	g := &testGroup{baseline: baseline, evidence: step.Evidence, parallel: true}
	for _, q := range tested {
		g.took += m.suites[Head][ID{Unit: p.Unit, Package: q}].Elapsed
	}
	args := []string{"-count=1", "-vet=off", "-timeout=" + (5*g.took + mutantGrace).Round(1e9).String()}
	if !anyFailed(baseline) {
		args = append(args, "-failfast")
	}
	g.command = plain.GoTest(append(args, tested...)...)
	return g
}

func cmpFirst(output, otherwise string) string {
	if line := ecosystem.FirstLine(output); line != "" {
		return strconv.Quote(line)
	}
	return otherwise
}
