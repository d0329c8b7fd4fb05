package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sorted"
)

// strangers finds the tests that fail in the arm each time, that neither side has and that no test
// that gave way explains. Such a failure is one of a test of the base under another name, or of one
// that the base makes of the head's sources: as it cannot be said which, it is none that holds.
func (k *keeper) strangers(ctx context.Context) error {
	if k.arm == nil {
		return nil
	}
	found := k.strange(k.suite)
	if len(found) == 0 {
		return nil
	}
	again, err := k.runWhole(ctx)
	if err != nil {
		return err
	}
	second := k.strange(again)
	for _, c := range found {
		i := slices.IndexFunc(second, func(o results.Case) bool { return o.ID == c.ID })
		if i < 0 {
			continue
		}
		k.lost = append(k.lost, Expectation{
			ID: c.ID, Class: compare.Silent, Path: k.on.Sides.StandsIn(c.ID), Evidence: append(c.Evidence, second[i].Evidence...),
			Message: results.Short(results.JoinOutput("no test has this name on the base; it fails as the base has the tests, over the change", c.Output)),
		})
	}
	return nil
}

// strange are such failures of one run.
func (k *keeper) strange(s results.Suite) []results.Case {
	if !results.AnyFailed(s) {
		return nil
	}
	known := map[sides.Site]bool{}
	base, head := k.on.Sides.Suites[results.Base], k.on.Sides.Suites[results.Head]
	for _, of := range []map[sides.Site]results.ID{k.on.Sides.ByPlace(results.Base, base), k.on.Sides.ByPlace(results.Head, head)} {
		for at := range of {
			known[at] = known[at] || at.Test != ""
		}
	}
	gave := map[string]bool{} // where a test of the base does not hold, which is named
	for _, e := range k.tests {
		for _, at := range k.on.Sides.Sites(e.id, e.eco) {
			known[at] = true
			gave[at.At] = gave[at.At] || e.kept != compare.Passed
		}
	}
	var out []results.Case
	for id, t := range s {
		if t.Status != results.Failed || !t.Leaf || id.Test == "" || k.unsaid(id, t) {
			continue
		}
		at := k.on.Sides.PlaceOf(results.Head, id, t.Eco)
		if !known[at] && !gave[at.At] && !k.below(id, t.Eco, known) {
			out = append(out, results.NewCase(id, t))
		}
	}
	sorted.By(out, func(a, b results.Case) int { return a.ID.Compare(b.ID) })
	return out
}

// below says whether a test is a subtest of one that is known, which fails with it.
func (k *keeper) below(id results.ID, eco string, known map[sides.Site]bool) bool {
	for up, ok := id.Parent(); ok; up, ok = up.Parent() {
		if known[k.on.Sides.PlaceOf(results.Head, up, eco)] {
			return true
		}
	}
	return false
}

// unsaid says whether the base may have a test that it did not report, or fails one of its package
// under another name: its program ended early, or gives names that are made up.
func (k *keeper) unsaid(id results.ID, t results.Test) bool {
	for have, was := range k.on.Sides.Suites[results.Base] {
		switch {
		case have.Unit != id.Unit || was.Eco != "" && was.Eco != t.Eco:
		case have.Test == "" && (was.Cut || was.Broken) && (have.Command != "" || have.Package == id.Package):
			return true
		case have.Test != "" && was.Leaf && was.Status == results.Failed && have.Package == id.Package && k.suite[have].Status == "":
			return true
		}
	}
	return false
}
