package gate

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/workspace"
)

// passByOwn takes the blame from new and edited tests that fail as ycbot calls their runner, where the
// project's own command for its tests goes well on both sides: it sets or makes what they need.
func (r *runner) passByOwn(ctx context.Context) error {
	t := &r.res.Tests
	if r.in.Commands.Test != nil {
		return nil
	}
	for _, p := range r.sides.Plans[Head].Projects {
		in := func(k Case) bool {
			return k.ID.Unit == p.Dir && k.ID.Command == "" && r.sides.Suites[Head][k.ID].Eco == p.Eco.Name
		}
		regressed := func(k Case) bool { return in(k) && r.onlyEdited(k) }
		failing := slices.Concat(filtered(t.NewFailing, in), filtered(t.Regressed, regressed))
		if len(failing) == 0 {
			continue
		}
		for _, c := range ownOf(p) {
			well, err := r.wellOnBoth(ctx, c)
			if err != nil {
				return err
			}
			if !well {
				continue
			}
			runs, known, err := r.runsToo(ctx, p, c, failing)
			if err != nil {
				return err
			}
			if known && !runs {
				continue
			}
			for _, k := range failing {
				r.note("%s is new or edited, and fails as ycbot calls the runner of %s; %q, which the project runs its tests by, goes well on both sides and counts as one test", k.ID, p.What, c.Text)
				if !known && !slices.Contains(r.stoodIn, ID{Unit: c.Unit, Command: c.Text}) { // it may not be among what that runs
					t.Unknown = append(t.Unknown, k)
				}
			}
			t.NewFailing, t.Regressed = slices.DeleteFunc(t.NewFailing, in), slices.DeleteFunc(t.Regressed, regressed)
			t.Sort()
			break
		}
	}
	return nil
}

// onlyEdited says whether a file or package of tests as a whole fails for what the change makes
// of the tests themselves: all of the base's tests in it hold.
func (r *runner) onlyEdited(k Case) bool {
	e := r.res.Expectations
	if k.ID.Test != "" || e == nil || e.Held == 0 {
		return false
	}
	return !slices.ContainsFunc(e.Changed, func(x kept.Expectation) bool { return x.ID.Unit == k.ID.Unit && x.ID.Package == k.ID.Package })
}

// filtered are those of a list that something is said of.
func filtered(list []Case, is func(Case) bool) []Case {
	return slices.DeleteFunc(slices.Clone(list), func(k Case) bool { return !is(k) })
}

// wellOnBoth says whether a project's own command goes well on both sides. It is then one of
// the commands of both.
func (r *runner) wellOnBoth(ctx context.Context, c ecosystem.Command) (bool, error) {
	id := ID{Unit: c.Unit, Command: c.Text}
	if slices.ContainsFunc(r.sides.Plans[Base].Test, func(t ecosystem.Command) bool { return t.Unit == c.Unit && t.Text == c.Text }) {
		return r.sides.Suites[Head][id].Status == Passed, nil
	}
	if slices.Contains(r.tried, known.Wholly(c)) {
		return false, nil
	}
	if well, err := r.goesWell(ctx, c); err != nil || !well {
		return false, err
	}
	suite, _, err := r.tests.RunFresh(ctx, Head, c)
	if err != nil || suite[id].Status != Passed {
		delete(r.sides.Suites[Base], id)
		return false, err
	}
	suite.SetEcosystem(c.Eco)
	r.sides.Suites[Head].Add(suite)
	for _, side := range []Side{Base, Head} {
		r.sides.Plans[side].Test = append(r.sides.Plans[side].Test, c)
	}
	r.ownTests = append(r.ownTests, id)
	return true, nil
}

// runsToo says whether a project's own command runs the tests that fail as their runner is called
// by itself: it fails where one that must fail is planted beside each of them. It is not known
// where none can be planted.
func (r *runner) runsToo(ctx context.Context, p ecosystem.Project, c ecosystem.Command, failing []Case) (runs, known bool, err error) {
	var beside []string // as in ID.Package
	for _, k := range failing {
		if !slices.Contains(beside, k.ID.Package) {
			beside = append(beside, k.ID.Package)
		}
	}
	name := r.executor.Steps.Unforeseen()
	for _, in := range beside {
		plants := r.plantBeside(p, in, name)
		if len(plants) == 0 {
			return false, false, nil
		}
		a, err := r.arms().New(ctx, Head, StageRerun, plants, nil)
		if err == nil {
			err = a.Lay(ctx)
		}
		if err != nil {
			return false, false, err
		}
		c.Stage = StageRerun
		suite, _, err := r.tests.RunTests(ctx, Head, c)
		if err = errors.Join(err, a.Close(context.WithoutCancel(ctx))); err != nil {
			return false, false, err
		}
		if suite[ID{Unit: c.Unit, Command: c.Text}].Status != Failed {
			return false, true, nil
		}
	}
	return true, true, nil
}

// plantBeside is a file with a test that must fail, beside the tests of a package or file.
func (r *runner) plantBeside(p ecosystem.Project, in, name string) []workspace.Put {
	var out []workspace.Put
	if by := p.Eco.Packages; by != nil {
		for _, pkg := range r.sides.Packages {
			tests := slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles)
			if pkg.ImportPath != in || len(tests) == 0 {
				continue
			}
			src, err := ecosystem.ReadInTree(r.in.Head.Dir, path.Join(pkg.Dir, tests[0]))
			if file, text := by.Plant(src, name); err == nil && text != "" {
				out = append(out, workspace.Put{Path: path.Join(pkg.Dir, file), Data: []byte(text)})
			}
		}
		return out
	}
	for _, t := range r.sides.Plans[Head].Test {
		if t.Eco != p.Eco.Name || t.Unit != p.Dir || t.Results == nil || t.Results.Plant == nil {
			continue
		}
		_, files := t.Results.Plant(t, ecosystem.Planting{
			Tree: r.in.Head.Dir, Passing: []string{in}, Name: name, IsTest: languages.IsTestSource, Near: func(string) bool { return true },
		})
		for _, f := range files {
			out = append(out, workspace.Put{Path: f.Path, Data: []byte(f.Text)})
		}
		break
	}
	return out
}
