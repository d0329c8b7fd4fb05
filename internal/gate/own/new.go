package own

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/workspace"
)

// PassNew takes the blame from new and edited tests that fail as ycbot calls their runner, where the
// project's own command for its tests succeeds on both sides: it sets or makes what they need.
func (o *Commands) PassNew(ctx context.Context, t *runs.Comparison, x *kept.Expectations) error {
	if o.On.Sides.Configured {
		return nil
	}
	for _, p := range o.On.Sides.Plans[results.Head].Projects {
		in := func(k results.Case) bool {
			return k.ID.Unit == p.Dir && k.ID.Command == "" && o.On.Sides.Suites[results.Head][k.ID].Eco == p.Eco.Name
		}
		regressed := func(k results.Case) bool { return in(k) && onlyEdited(k, x) }
		failing := slices.Concat(filtered(t.NewFailing, in), filtered(t.Regressed, regressed))
		if len(failing) == 0 {
			continue
		}
		for _, c := range ownOf(p) {
			well, err := o.wellOnBoth(ctx, c)
			if err != nil {
				return err
			}
			if !well {
				continue
			}
			runsThem, sure, err := o.runsToo(ctx, p, c, failing)
			if err != nil {
				return err
			}
			if sure && !runsThem {
				continue
			}
			for _, k := range failing {
				o.Note("%s is new or edited, and fails as ycbot calls the runner of %s; %q, which the project runs its tests by, succeeds on both sides and counts as one test", k.ID, p.What, c.Text)
				if !sure && !slices.Contains(o.StoodIn, results.ID{Unit: c.Unit, Command: c.Text}) { // it may not be among what that runs
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
func onlyEdited(k results.Case, e *kept.Expectations) bool {
	if k.ID.Test != "" || e == nil || e.Held == 0 {
		return false
	}
	return !slices.ContainsFunc(e.Changed, func(x kept.Expectation) bool { return x.ID.Unit == k.ID.Unit && x.ID.Package == k.ID.Package })
}

// filtered are those of a list that something is said of.
func filtered(list []results.Case, is func(results.Case) bool) []results.Case {
	return slices.DeleteFunc(slices.Clone(list), func(k results.Case) bool { return !is(k) })
}

// wellOnBoth says whether a project's own command succeeds on both sides. It is then one of
// the commands of both.
func (o *Commands) wellOnBoth(ctx context.Context, c ecosystem.Command) (bool, error) {
	if !slices.ContainsFunc(o.On.Sides.Plans[results.Base].Files, func(f string) bool { return ecosystem.Inside(c.Unit, f) }) {
		return false, nil // the change brings its folder
	}
	id := results.ID{Unit: c.Unit, Command: c.Text}
	if slices.ContainsFunc(o.On.Sides.Plans[results.Base].Test, func(t ecosystem.Command) bool { return t.Unit == c.Unit && t.Text == c.Text }) {
		return o.On.Sides.Suites[results.Head][id].Status == results.Passed, nil
	}
	if slices.Contains(o.Tried, known.Wholly(c)) {
		return false, nil
	}
	by := o.ofSides(c)
	if well, err := o.goesWell(ctx, by[results.Base]); err != nil || !well {
		return false, err
	}
	suite, _, err := o.On.Tests.RunFresh(ctx, results.Head, by[results.Head])
	if err != nil || suite[id].Status != results.Passed {
		delete(o.On.Sides.Suites[results.Base], id)
		return false, err
	}
	suite.SetEcosystem(c.Eco)
	o.On.Sides.Suites[results.Head].Add(suite)
	for side, c := range by {
		o.On.Sides.Plans[side].Test = append(o.On.Sides.Plans[side].Test, c)
	}
	o.Beside = append(o.Beside, id)
	return true, nil
}

// runsToo says whether a project's own command runs the tests that fail as their runner is called
// by itself: it fails where one that must fail is planted beside each of them. It is not known
// where none can be planted.
func (o *Commands) runsToo(ctx context.Context, p ecosystem.Project, c ecosystem.Command, failing []results.Case) (runsThem, sure bool, err error) {
	var beside []string // as in ID.Package
	for _, k := range failing {
		if !slices.Contains(beside, k.ID.Package) {
			beside = append(beside, k.ID.Package)
		}
	}
	name := o.On.Executor.Steps.Unforeseen()
	for _, in := range beside {
		plants := o.plantBeside(p, in, name)
		if len(plants) == 0 {
			return false, false, nil
		}
		a, err := o.On.New(ctx, results.Head, results.StageRerun, plants, nil)
		if err == nil {
			err = a.Lay(ctx)
		}
		if err != nil {
			return false, false, err
		}
		c.Stage = results.StageRerun
		suite, _, err := o.On.Tests.RunTests(ctx, results.Head, c)
		if err = errors.Join(err, a.Close(context.WithoutCancel(ctx))); err != nil {
			return false, false, err
		}
		if suite[results.ID{Unit: c.Unit, Command: c.Text}].Status != results.Failed {
			return false, true, nil
		}
	}
	return true, true, nil
}

// plantBeside is a file with a test that must fail, beside the tests of a package or file.
func (o *Commands) plantBeside(p ecosystem.Project, in, name string) []workspace.Put {
	var out []workspace.Put
	if by := p.Eco.Packages; by != nil {
		for _, pkg := range o.On.Sides.Packages {
			tests := slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles)
			if pkg.ImportPath != in || len(tests) == 0 {
				continue
			}
			src, err := ecosystem.ReadInTree(o.On.Sides.Head.Dir, path.Join(pkg.Dir, tests[0]))
			if file, text := by.Plant(src, name); err == nil && text != "" {
				out = append(out, workspace.Put{Path: path.Join(pkg.Dir, file), Data: []byte(text)})
			}
		}
		return out
	}
	for _, t := range o.On.Sides.Plans[results.Head].Test {
		if t.Eco != p.Eco.Name || t.Unit != p.Dir || t.Results == nil || t.Results.Plant == nil {
			continue
		}
		_, files := t.Results.Plant(t, ecosystem.Planting{
			Tree: o.On.Sides.Head.Dir, Passing: []string{in}, Name: name, IsTest: languages.IsTestSource, Near: func(string) bool { return true },
		})
		for _, f := range files {
			out = append(out, workspace.Put{Path: f.Path, Data: []byte(f.Text)})
		}
		break
	}
	return out
}
