package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/mutate"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// variantSetting is the variable of the environment that chooses a mutant.
const variantSetting = "RUN_ID"

// Bounds of programs that hold all mutants.
const (
	schemaBuilds = 6                // tries, as mutants that do not compile are left out
	manyMachines = 20 * time.Second // of mutants, above which several run side by side
	slowEnough   = time.Second      // tests that take longer run for those lines alone that they reach
	eachTests    = 200              // as many are run by themselves
)

// programs are the test programs of a project that hold its mutants.
type programs struct {
	variants *ecosystem.Variants
	plain    ecosystem.Command
	counted  Suite                        // of the tests as they stand
	own      map[string]ecosystem.Package // by the path of a changed file
	schema   *mutate.Schema
	tested   []ecosystem.Package
	baseline Suite                      // of the programs without a mutant
	reached  map[ID]*results.LineCounts // what tests run by themselves
	reaching string                     // its evidence
}

func newPrograms(v *ecosystem.Variants, plain ecosystem.Command, counted Suite, own map[string]ecosystem.Package) *programs {
	return &programs{variants: v, plain: plain, counted: counted, own: own, schema: mutate.NewSchema(variantSetting)}
}

// runPrograms runs the mutants that can be compiled into one program for each package, and
// returns those that have to be compiled by themselves.
func (m *mutator) runPrograms(ctx context.Context, trials []*trial) (alone []*trial, err error) {
	by := map[*programs][]*trial{}
	var order []*programs
	for _, t := range trials {
		p := t.group.programs
		if p == nil {
			alone = append(alone, t)
			continue
		}
		if by[p] == nil {
			order = append(order, p)
		}
		by[p] = append(by[p], t)
	}
	for _, p := range order {
		left, err := m.runIn(ctx, p, by[p])
		if err != nil {
			return nil, err
		}
		alone = append(alone, left...)
	}
	return alone, nil
}

// runIn does so for one project.
func (m *mutator) runIn(ctx context.Context, p *programs, trials []*trial) (alone []*trial, err error) {
	var machine time.Duration
	for _, t := range trials {
		t.inside = !m.clashes(p, t) && p.schema.Add(t.number, t.Mutant, t.src)
		machine += t.group.took
		for _, q := range t.group.packages {
			p.test(m.in.Packages, q)
		}
	}
	workers := 1
	if machine > manyMachines {
		workers = m.workers()
	}
	places, err := m.copies(ctx, workers)
	if err != nil {
		return nil, err
	}
	defer m.giveBack(places)
	if ok, err := m.build(ctx, p, places); err != nil || !ok {
		p.schema = mutate.NewSchema(variantSetting)
		for _, t := range trials {
			t.inside = false
		}
		return trials, err
	}
	if err := m.reach(ctx, p, places.own[0], trials); err != nil {
		return nil, err
	}
	var inside []*trial
	for _, t := range trials {
		switch {
		case t.inside && p.schema.Has(t.number):
			inside = append(inside, t)
		case t.result != discarded:
			t.inside = false
			alone = append(alone, t)
		}
	}
	if len(inside) > 0 {
		err = m.pool(ctx, places, inside)
	}
	if err == nil {
		err = m.strength(ctx, p, places.own[0], trials)
	}
	return alone, err
}

// test takes a package's program in.
func (p *programs) test(pkgs []ecosystem.Package, importPath string) {
	same := func(q ecosystem.Package) bool { return q.ImportPath == importPath }
	if slices.ContainsFunc(p.tested, same) {
		return
	}
	if i := slices.IndexFunc(pkgs, same); i >= 0 {
		p.tested = append(p.tested, pkgs[i])
	}
}

// clashes says whether the package of a mutant has the name that is added to it.
func (m *mutator) clashes(p *programs, t *trial) bool {
	own := p.own[t.Path]
	for _, f := range slices.Concat(own.GoFiles, own.TestGoFiles) {
		if src, err := ecosystem.ReadInTree(m.in.Head.Dir, path.Join(own.Dir, f)); err != nil || mutate.Clashes(src) {
			return true
		}
	}
	return false
}

// build makes the programs in each place, and says whether its tests do there without a
// mutant what they do as the sources stand.
func (m *mutator) build(ctx context.Context, p *programs, at *places) (bool, error) {
	for i, place := range at.own {
		for try := range schemaBuilds {
			files := p.schema.Files()
			if len(files) == 0 || try == schemaBuilds-1 {
				return false, nil
			}
			var out bytes.Buffer
			step, err := m.buildOnce(ctx, place, files, p.variants.Build(p.plain, p.tested, nil), &out)
			if err != nil {
				return false, err
			}
			if !step.Failed() {
				break
			}
			if i > 0 || step.Stopped() || !m.leaveOut(p, out.String()) {
				return false, nil
			}
		}
	}
	c := p.variants.Run(p.plain, p.tested, ecosystem.VariantRun{Setting: variantSetting + "=M0", Limit: mutantGrace + slowTests})
	suite, step, err := m.recorded(ctx, at.own[0], c)
	if err != nil || step.Exit == exitUnbuilt || step.Stopped() {
		return false, err
	}
	for id, t := range p.counted {
		if id.Test != "" && t.Status == Passed && suite[id].Status != Passed {
			return false, nil // it looks at its own source, or at what the compiler made of it
		}
	}
	p.baseline = suite
	return results.AnyPassed(suite), nil
}

// leaveOut takes out of a schema what the compiler complains of, and says whether
// anything was.
func (m *mutator) leaveOut(p *programs, output string) bool {
	broken, doubtful := p.schema.Failing(output, p.plain.Unit)
	for _, t := range m.trials {
		if t.group.programs == p && slices.Contains(broken, t.number) {
			t.result = discarded
		}
	}
	p.schema.Drop(broken...)
	p.schema.Drop(doubtful...)
	return len(broken)+len(doubtful) > 0
}

// buildOnce lays sources, compiles, and puts the tree back: what runs later finds its
// sources as they are.
func (m *mutator) buildOnce(ctx context.Context, at Place, files map[string][]byte, c ecosystem.Command, out io.Writer) (step Step, err error) {
	root, err := os.OpenRoot(at.Tree.Dir)
	if err != nil {
		return Step{}, err
	}
	defer func() {
		_, back := at.Tree.Restore(ctx)
		err = errors.Join(err, back, root.Close())
	}()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		info, err := root.Lstat(filepath.FromSlash(name))
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", name)
		}
		if err == nil {
			err = root.WriteFile(filepath.FromSlash(name), files[name], info.Mode().Perm())
		}
		if err != nil {
			return Step{}, fmt.Errorf("mutants: %w", err)
		}
	}
	c.Stage, c.Timeout = StageMutation, m.in.StepLimit
	m.in.Begin(c.Stage, c.Unit, c.Text)
	step, err = m.in.At(ctx, at, c, out)
	if step.Evidence != "" {
		m.in.Record(step)
		m.budget -= step.Duration.Truncate(time.Millisecond)
	}
	m.in.End(c.Stage, c.Unit, c.Text, step)
	return step, err
}

// recorded runs tests in a place, alone.
func (m *mutator) recorded(ctx context.Context, at Place, c ecosystem.Command) (Suite, Step, error) {
	c.Stage, c.Timeout = StageMutation, m.in.StepLimit
	m.in.Begin(c.Stage, c.Unit, c.Text)
	suite, step, err := m.runAt(ctx, at, c)
	if step.Evidence != "" {
		m.in.Record(step)
		m.budget -= step.Duration.Truncate(time.Millisecond)
	}
	m.in.End(c.Stage, c.Unit, c.Text, step)
	return suite, step, err
}

// tryInside runs the tests that reach a mutant, and all of them where these do not notice
// it: some only reach it behind others.
func (m *mutator) tryInside(ctx context.Context, at Place, t *trial) {
	for {
		c := t.group.programs.variants.Run(t.group.programs.plain, t.tested(), ecosystem.VariantRun{
			Setting: variantSetting + "=" + t.name, Tests: t.tests,
			Limit: (5*t.group.took + mutantGrace).Round(time.Second), First: !results.AnyFailed(t.group.baseline),
		})
		c.Stage, c.Timeout = StageMutation, 5*t.group.took+mutantGrace+mutantCompile
		t.suite, t.step, t.err = m.runAt(ctx, at, c)
		if t.err != nil {
			return
		}
		t.result, t.killed = judgeMutant(t), newlyFailed(t.suite, t.group.programs.baseline)
		if t.step.Exit == exitUnbuilt {
			t.result = discarded
		}
		if t.tests == nil || t.result == killed {
			return
		}
		t.tests, t.steps = nil, append(t.steps, t.step)
	}
}

// tested are the packages whose tests should notice a mutant.
func (t *trial) tested() []ecosystem.Package {
	return slices.DeleteFunc(slices.Clone(t.group.programs.tested), func(p ecosystem.Package) bool {
		return !slices.Contains(t.group.packages, p.ImportPath)
	})
}
