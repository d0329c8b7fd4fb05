package checks

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/mutate"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// coveredTrials makes the mutants of changed lines that tests run: which those are the
// coverage of the changed packages' own tests shows, or, where they have none, of tests
// that use them.
func (m *mutator) coveredTrials(ctx context.Context, files []changedFile) ([]*trial, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f changedFile) bool { return !countable(f.path) })
	if len(files) == 0 || len(m.in.Packages) == 0 {
		return nil, nil
	}
	probed := m.check.probed()
	m.untested(files, probed)
	by := map[ecosystem.Group][]string{}
	for _, p := range probed {
		if took := m.in.Suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}].Elapsed; took > slowTests {
			m.in.NotCovered("mutation of %s: its tests take %s", p.ImportPath, took.Round(1e9))
			continue
		}
		by[ecosystem.GroupOf(p)] = append(by[ecosystem.GroupOf(p)], p.ImportPath)
	}
	var out []*trial
	for _, g := range sorted.Keys(by, ecosystem.Group.Compare) {
		count := languages.Named(g.Eco).Coverage
		if count == nil {
			continue
		}
		slices.Sort(by[g])
		more, err := m.coveredUnit(ctx, g, count, by[g], files)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// untested says of which changed packages no line is counted: those without tests of their own,
// where others that changed have some.
func (m *mutator) untested(files []changedFile, probed []ecosystem.Package) {
	own := m.owners(files)
	is := func(p ecosystem.Package) func(ecosystem.Package) bool {
		return func(q ecosystem.Package) bool { return q.ImportPath == p.ImportPath }
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(own)), func(p ecosystem.Package) bool { return slices.ContainsFunc(probed, is(p)) }) {
		return // tests that use them are counted
	}
	for _, f := range files {
		p, ok := own[f.path]
		if ok && !p.HasTests() && !slices.ContainsFunc(probed, is(p)) && len(mutate.Of(f.path, f.src, f.lines)) > 0 {
			m.in.NotCoveredOnce("mutation of %s: it has no tests of its own", p.ImportPath)
		}
	}
}

// countable says whether the lines of a source can be counted when tests run.
func countable(name string) bool {
	e := languages.Of(name)
	return e != nil && e.Coverage != nil
}

// coveredUnit does so in one project.
func (m *mutator) coveredUnit(ctx context.Context, g ecosystem.Group, count *ecosystem.Coverage, pkgs []string, files []changedFile) ([]*trial, error) {
	commands := m.in.PackageTests(Head, g, StageMutation, ecosystem.AsItIs)
	if len(commands) == 0 {
		return nil, nil
	}
	plain := commands[0]
	own := m.owners(files)
	c, lines := count.Count(plain, slices.Collect(maps.Values(own)), pkgs)
	c.Stage, c.Timeout = StageMutation, m.in.StepLimit
	if err := m.in.Reset(ctx, Head); err != nil {
		return nil, err
	}
	step, err := m.in.Exec(ctx, Head, c, lines)
	if err != nil {
		return nil, err
	}
	baseline := m.in.Collect(Head, m.in.Head, c, lines, step)
	if !results.AnyPassed(baseline) || len(lines.Ran) == 0 {
		m.in.NotCovered("mutation of the changed lines: their tests say nothing when they are counted (%s)", cmpFirst(step.Output, "no lines were counted"))
		return nil, nil
	}
	m.out.Command = step.Command
	m.out.Evidence = append(m.out.Evidence, step.Evidence)
	groups := map[string]*testGroup{}
	var programs *programs
	if v := count.Variants; v != nil && !m.in.MutantsAlone {
		programs = newPrograms(v, plain, baseline, own)
	}
	var mine []changedFile
	for _, f := range files {
		p, ok := own[f.path]
		if !ok || !m.mutableHere(p, f, lines) {
			continue
		}
		mine = append(mine, f)
		if groups[p.ImportPath] == nil {
			t := m.packageGroup(p, pkgs, baseline, step)
			t.command = count.Mutant(plain, t.packages, (5*t.took + mutantGrace).Round(1e9), !results.AnyFailed(baseline))
			t.programs = programs
			groups[p.ImportPath] = t
		}
	}
	return interleave(mine, func(f changedFile) *testGroup { return groups[own[f.path].ImportPath] }), nil
}

// owners are the packages that changed files are compiled into.
func (m *mutator) owners(files []changedFile) map[string]ecosystem.Package {
	out := map[string]ecosystem.Package{}
	for _, f := range files {
		for _, p := range m.in.Packages {
			if p.Dir == path.Dir(f.path) && (slices.Contains(p.GoFiles, path.Base(f.path)) || slices.Contains(p.CgoFiles, path.Base(f.path))) {
				out[f.path] = p
			}
		}
	}
	return out
}

// mutableHere narrows f to its lines that a test runs, and notes the others.
func (m *mutator) mutableHere(p ecosystem.Package, f changedFile, cover *results.LineCounts) bool {
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

// packageGroup is the tests of a package's mutants.
func (m *mutator) packageGroup(p ecosystem.Package, pkgs []string, baseline Suite, step Step) *testGroup {
	g := &testGroup{baseline: baseline, evidence: step.Evidence, parallel: true, packages: []string{p.ImportPath}}
	if !slices.Contains(pkgs, p.ImportPath) {
		g.packages = pkgs
	}
	for _, q := range g.packages {
		g.took += m.in.Suites[Head][ID{Unit: p.Unit, Package: q}].Elapsed
	}
	return g
}

func cmpFirst(output, otherwise string) string {
	if line := results.FirstLine(output); line != "" {
		return strconv.Quote(line)
	}
	return otherwise
}
