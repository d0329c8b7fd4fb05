package checks

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A Vacuous test is one of the change that nothing makes fail: the base's sources do not,
// nor does a mutant of the changed lines that it runs.
type Vacuous struct {
	ID       ID       `json:"id"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Mutants  int      `json:"mutants"` // of lines that it runs
	OnBase   bool     `json:"on_base"` // it passes over the base's sources; else it could not be tried there
	Evidence []string `json:"evidence"`
}

// A Candidate is a test that the change brings or edits, that passes on the head, and that
// is not known to fail without the change.
type Candidate struct {
	ID     ID
	Path   string
	Line   int
	OnBase bool // it passes over the base's sources
}

// Bounds of what tests are tried with.
const (
	maxCandidates = 30 // tests
	enoughMutants = 2  // with less, nothing is said of a test; at least one of them makes a difference
	mostMutants   = 12 // that a test is run with
)

// reach finds out which tests run the lines of mutants: those of the change, and where the
// tests take long all others.
func (m *mutator) reach(ctx context.Context, p *programs, at Place, trials []*trial) error {
	var tests []ecosystem.VariantTest
	counted := map[string]ecosystem.Package{}
	for _, t := range trials {
		counted[p.own[t.Path].ImportPath] = p.own[t.Path]
	}
	all := m.narrows(p, trials)
	for _, q := range p.tested {
		for _, name := range m.topTests(p, q) {
			id := ID{Unit: p.plain.Unit, Package: q.ImportPath, Test: name}
			if all || m.candidate(id) != nil {
				tests = append(tests, ecosystem.VariantTest{Package: q, Test: name})
			}
		}
	}
	if len(tests) == 0 {
		return nil
	}
	var pkgs []ecosystem.Package
	for _, q := range counted {
		pkgs = append(pkgs, q)
	}
	sorted.By(pkgs, func(a, b ecosystem.Package) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	step, err := m.buildOnce(ctx, at, nil, p.variants.Build(p.plain, p.tested, pkgs), nil)
	if err != nil || step.Failed() {
		return err
	}
	c, each := p.variants.Each(p.plain, tests, mutantGrace+slowTests)
	if step, err = m.buildOnce(ctx, at, nil, c, each); err != nil || step.Failed() {
		return err
	}
	p.reached, p.reaching = each.Tests, step.Evidence
	if all && len(each.Tests) == len(tests) { // each passes by itself
		for _, t := range trials {
			t.tests = p.reachedBy(t)
		}
	}
	return nil
}

// narrows says whether it takes less to find out which tests reach a mutant than to run all
// of them for each.
func (m *mutator) narrows(p *programs, trials []*trial) bool {
	var took time.Duration
	n := 0
	for _, q := range p.tested {
		took += m.in.Suites[Head][ID{Unit: q.Unit, Package: q.ImportPath}].Elapsed
		n += len(m.topTests(p, q))
	}
	return took >= slowEnough && n <= eachTests && len(trials) > 2
}

// topTests are the top-level tests of a package that pass as the sources stand.
func (m *mutator) topTests(p *programs, q ecosystem.Package) []string {
	var out []string
	for id, t := range p.counted {
		if id.Package == q.ImportPath && strings.HasPrefix(id.Test, "Test") && !strings.Contains(id.Test, "/") && t.Status == Passed {
			out = append(out, id.Test)
		}
	}
	slices.Sort(out)
	return out
}

// candidate is the test of the change that is called so, nil for none.
func (m *mutator) candidate(id ID) *Candidate {
	for i, c := range m.candidates {
		if c.ID == id {
			return &m.candidates[i]
		}
	}
	return nil
}

// reachedBy are the tests that run the line of a mutant; nil where that is none.
func (p *programs) reachedBy(t *trial) map[string][]string {
	out := map[string][]string{}
	for _, q := range t.tested() {
		out[q.ImportPath] = []string{}
	}
	any := false
	for id, counts := range p.reached {
		if _, ok := out[id.Package]; ok && p.runs(counts, t) {
			out[id.Package] = append(out[id.Package], id.Test)
			any = true
		}
	}
	if !any {
		return nil
	}
	return out
}

// runs says whether the line of a mutant is among those that ran.
func (p *programs) runs(counts *results.LineCounts, t *trial) bool {
	ran, _ := counts.Line(path.Join(p.own[t.Path].ImportPath, path.Base(t.Path)), t.Line)
	return ran
}

// strength tries the tests of the change with the mutants of lines that they run, until one
// makes them fail.
func (m *mutator) strength(ctx context.Context, p *programs, at Place, trials []*trial) error {
	for _, c := range m.candidates {
		counts := p.reached[c.ID]
		if counts == nil || m.budget <= 0 {
			continue
		}
		tried, strong, evidence, known := 0, 0, []string{p.reaching}, true
		for _, t := range trials {
			if !p.runs(counts, t) || t.result == discarded {
				continue
			}
			passed, err := m.passes(ctx, p, at, c.ID, t)
			if err != nil {
				return err
			}
			if known = passed != ""; !known {
				break
			}
			evidence = append(evidence, passed)
			tried, strong = tried+1, strong+b2i(!t.Weak)
			if tried == mostMutants {
				break
			}
		}
		if known {
			m.vacuous(c, tried, strong, evidence)
		}
	}
	return nil
}

// passes is the evidence that a test passes with a mutant; empty where it fails, or where
// that cannot be known.
func (m *mutator) passes(ctx context.Context, p *programs, at Place, id ID, t *trial) (evidence string, err error) {
	switch {
	case !t.inside || t.result == notTried:
		return "", nil
	case t.result == survived:
		return t.step.Evidence, nil // all tests ran
	case slices.ContainsFunc(t.killed, func(k ID) bool { return k.Package == id.Package && k.Top() == id.Top() }):
		return "", nil
	}
	c := p.variants.Run(p.plain, t.tested(), ecosystem.VariantRun{
		Setting: variantSetting + "=" + t.name, Tests: only(t, id), Limit: (5*t.group.took + mutantGrace).Round(time.Second),
	})
	suite, step, err := m.recorded(ctx, at, c)
	if err != nil || step.Failed() || suite[id].Status != Passed {
		return "", err
	}
	return step.Evidence, nil
}

// only is one test of those of a mutant.
func only(t *trial, id ID) map[string][]string {
	out := map[string][]string{}
	for _, q := range t.tested() {
		out[q.ImportPath] = []string{}
	}
	out[id.Package] = []string{id.Test}
	return out
}

// vacuous names a test that no mutant made fail, where there were enough to say so.
func (m *mutator) vacuous(c Candidate, tried, strong int, evidence []string) {
	enough := enoughMutants
	if m.out.Left > 0 {
		enough *= 2 // there would be others
	}
	if tried < enough || strong == 0 {
		return
	}
	m.out.Vacuous = append(m.out.Vacuous, Vacuous{ID: c.ID, Path: c.Path, Line: c.Line, Mutants: tried, OnBase: c.OnBase, Evidence: evidence})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
