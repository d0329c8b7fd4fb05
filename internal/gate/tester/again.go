package tester

import (
	"cmp"
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Alone runs tests by themselves, without the others of their packages where their
// runner can name them.
func (t *Tester) Alone(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error) {
	named := map[results.ID]map[string]bool{} // top-level tests by package
	for _, id := range ids {
		pkg := results.ID{Unit: id.Unit, Package: id.Package}
		if !t.Has(side, pkg) {
			continue
		}
		if named[pkg] == nil {
			named[pkg] = map[string]bool{}
		}
		named[pkg][id.Top()] = true
	}
	out := results.Suite{}
	for _, pkg := range sorted.Keys(named, func(a, b results.ID) int { return cmp.Compare(a.String(), b.String()) }) {
		for _, c := range t.Parts(side, ecosystem.Group{Eco: t.Sides.EcoOf(pkg), Unit: pkg.Unit}, results.StageRerun, ecosystem.Part{Packages: []string{pkg.Package}, Tests: named[pkg]}) {
			suite, _, err := t.RunFresh(ctx, side, c)
			if err != nil {
				return out, err
			}
			out.Add(suite)
		}
	}
	return out, nil
}

// Parted runs tests again in their packages.
func (t *Tester) Parted(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error) {
	return t.Again(ctx, side, ids, false)
}

// Entire runs tests again in all of their suite.
func (t *Tester) Entire(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error) {
	return t.Again(ctx, side, ids, true)
}

// Again runs the tests of ids once more at one side, in their packages or, with
// whole, in all of their suite. Packages that the side does not have are left out. Where a
// runner does not find by its file what it has reported, all of the suite is run.
func (t *Tester) Again(ctx context.Context, side results.Side, ids []results.ID, whole bool) (results.Suite, error) {
	out := results.Suite{}
	for _, c := range t.againCommands(side, ids, whole) {
		suite, _, err := t.RunFresh(ctx, side, c)
		out.Add(suite)
		if err != nil {
			return out, err
		}
	}
	lost := slices.DeleteFunc(slices.Clone(ids), func(id results.ID) bool { return !t.lostAlone(side, id, out) })
	if whole || len(lost) == 0 {
		return out, nil
	}
	all, err := t.Again(ctx, side, lost, true)
	for id := range out {
		if slices.ContainsFunc(lost, func(l results.ID) bool { return l.Unit == id.Unit && l.Package == id.Package }) {
			delete(out, id)
		}
	}
	for id, test := range all {
		if _, ok := out[id]; !ok {
			out[id] = test
		}
	}
	return out, err
}

// lostAlone says whether a side reported a test, and a run of its file did not, nor that its
// program ended before. A run that reports no test at all says nothing of this one.
func (t *Tester) lostAlone(side results.Side, id results.ID, again results.Suite) bool {
	if id.Test == "" || id.Command != "" || languages.ByPackage(t.Sides.EcoOf(id)) || !t.Has(side, id) || t.Sides.Suites[side][id].Status == results.NotRun {
		return false
	}
	for have, test := range again {
		if have == id || test.Cut && !test.NoTests && have.Unit == id.Unit || have.Package == id.Package && have.Test != "" {
			return false
		}
	}
	return true
}

func (t *Tester) againCommands(side results.Side, ids []results.ID, whole bool) []ecosystem.Command {
	var out []ecosystem.Command
	packages := map[ecosystem.Group][]string{}
	for _, id := range ids {
		g := ecosystem.Group{Eco: t.Sides.EcoOf(id), Unit: id.Unit}
		switch pkg := (results.ID{Unit: id.Unit, Package: id.Package}); {
		case id.Command != "":
			out = append(out, t.commandOf(side, id)...)
		case !t.Has(side, pkg) && !t.hasPackageOf(side, id):
		case !slices.Contains(packages[g], id.Package):
			packages[g] = append(packages[g], id.Package)
		}
	}
	for _, g := range sorted.Keys(packages, ecosystem.Group.Compare) {
		p := ecosystem.Part{Packages: slices.Sorted(slices.Values(packages[g]))}
		if whole {
			p = ecosystem.Part{}
		}
		out = append(out, t.Parts(side, g, results.StageRerun, p)...)
	}
	return out
}

// hasPackageOf says whether a side's tree has the package of a test of which it reported
// nothing, as where its runner failed as a whole.
func (t *Tester) hasPackageOf(side results.Side, id results.ID) bool {
	for _, p := range t.Sides.Packages {
		if p.ImportPath == id.Package {
			return languages.PackagesOf(p.Eco).Has(t.Executor.Tree(side).Dir, p.Dir)
		}
	}
	_, err := ecosystem.ReadInTree(t.Executor.Tree(side).Dir, id.Package)
	return err == nil
}

// Parts are the commands of a group for a part of its tests: for all of them
// where the part cannot be named. A side that has no such tests has none.
func (t *Tester) Parts(side results.Side, g ecosystem.Group, stage results.Stage, p ecosystem.Part) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range t.Sides.Plans[side].Test {
		if c.Results == nil || c.Eco != g.Eco || c.Unit != g.Unit {
			continue
		}
		p := p
		if len(p.Packages) > 0 {
			p.Packages = slices.DeleteFunc(slices.Clone(p.Packages), func(pkg string) bool { return t.OfOthers(c, pkg) })
			if len(p.Packages) == 0 {
				continue
			}
		}
		if less, ok := c.Results.Narrow(c, p); ok && len(p.Packages) > 0 {
			less.Name = c.Label()
			c = less
		}
		c.Stage = stage
		c = t.Hanging(c)
		if !slices.ContainsFunc(out, func(have ecosystem.Command) bool { return have.Text == c.Text }) {
			out = append(out, c)
		}
	}
	return out
}

// Reports keeps which packages or files of tests a command has reported on.
func (t *Tester) Reports(unit, label string, suite results.Suite) {
	for id := range suite {
		if id.Package == "" {
			continue
		}
		by := results.ID{Unit: unit, Package: id.Package}
		if t.reportedBy == nil {
			t.reportedBy = map[results.ID][]string{}
		}
		if !slices.Contains(t.reportedBy[by], label) {
			t.reportedBy[by] = append(t.reportedBy[by], label)
		}
	}
}

// OfOthers says whether other commands alone have reported on a package or file of tests. This
// one runs it in another way, in which it may fail on both sides.
func (t *Tester) OfOthers(c ecosystem.Command, pkg string) bool {
	by := t.reportedBy[results.ID{Unit: c.Unit, Package: pkg}]
	return len(by) > 0 && !slices.Contains(by, c.Label())
}

func (t *Tester) Has(side results.Side, pkg results.ID) bool {
	_, ok := t.Sides.Suites[side][pkg]
	return ok
}

// commandOf finds the test command that an identity without tests stands for.
func (t *Tester) commandOf(side results.Side, id results.ID) []ecosystem.Command {
	for _, c := range t.Sides.Plans[side].Test {
		if c.Unit == id.Unit && (c.Text == id.Command || c.Results != nil && c.Label() == id.Command) {
			c.Stage = results.StageRerun
			return []ecosystem.Command{c}
		}
	}
	return nil
}

// PackageTests are the test commands of a group made into others, such as those that
// look for data races, once for each set of flags that its tests are run with. A side
// that has no such tests has none.
func (t *Tester) PackageTests(side results.Side, g ecosystem.Group, stage results.Stage, as func(ecosystem.Command) ecosystem.Command) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range t.Sides.Plans[side].Test {
		if c.Eco != g.Eco || c.Results == nil || c.Unit != g.Unit {
			continue
		}
		c = as(c)
		c.Stage = stage
		c = t.Hanging(c)
		if !slices.ContainsFunc(out, func(have ecosystem.Command) bool { return have.Text == c.Text }) {
			out = append(out, c)
		}
	}
	return out
}
