package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// disputed runs tests that fail in the arm and pass on the base again, until it is
// settled which fail each time.
func (k *keeper) disputed(ctx context.Context, tests []*examined) error {
	if len(tests) == 0 {
		return nil
	}
	d := &runs.Dispute{Rule: compare.Usual, Runs: runs.History{results.Base: k.on.Tests.Begun()[results.Base], results.Head: {k.asBase(k.suite, tests)}}}
	for _, e := range tests {
		d.Cases.Regressed = append(d.Cases.Regressed, results.Case{ID: e.id, Output: e.output})
	}
	var among map[results.ID]bool
	d.Once = func(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error) {
		open := slices.DeleteFunc(slices.Clone(tests), func(e *examined) bool { return !slices.Contains(ids, e.id) })
		if side == results.Base {
			suite, need, err := k.onBase(ctx, open, among)
			among = need
			return suite, err
		}
		suite, err := k.runAgain(ctx, open)
		return k.asBase(suite, open), err
	}
	if err := k.on.Tests.Rounds(ctx, d, idsOf(tests)); err != nil {
		return err
	}
	whole := func(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error) {
		if side == results.Base {
			return k.on.Tests.Entire(ctx, results.Base, ids)
		}
		suite, err := k.runWhole(ctx)
		return k.asBase(suite, tests), err
	}
	begun := runs.History{results.Base: k.on.Tests.Begun()[results.Base], results.Head: {k.asBase(k.suite, tests)}}
	if err := k.on.Tests.Elsewhere(ctx, d, d.Among(k.on.Tests.Dependent), whole, compare.Whole, begun); err != nil {
		return err
	}
	if err := k.on.Tests.MoreRounds(ctx, d, d.Unsteady(k.on.Tests.Excused)); err != nil {
		return err
	}
	k.on.Tests.Flipped(d.Runs)
	k.on.Tests.State(d, idsOf(tests))
	k.take(d.Settle(k.on.Tests.Excused), d.Runs, tests)
	return nil
}

// onBase runs tests of the base in the selection in which the arm runs them, but for those that
// need the others of their packages: among has these, or is nil before the first run, which finds
// them. They are run in their packages.
func (k *keeper) onBase(ctx context.Context, tests []*examined, among map[results.ID]bool) (results.Suite, map[results.ID]bool, error) {
	narrow := slices.DeleteFunc(slices.Clone(tests), func(e *examined) bool { return among[e.id] || !languages.ByPackage(e.eco) })
	out, err := k.alone(ctx, results.Base, narrow)
	if err != nil {
		return nil, among, err
	}
	if among == nil {
		among = map[results.ID]bool{}
		for _, e := range narrow {
			among[e.id] = out[e.id].Status != results.Passed
		}
	}
	var left []results.ID
	for _, e := range tests {
		if among[e.id] || !languages.ByPackage(e.eco) {
			left = append(left, e.id)
		}
	}
	if len(left) == 0 {
		return out, among, nil
	}
	more, err := k.partedOrAlone(ctx, left)
	if err != nil {
		return nil, among, err
	}
	for _, id := range left {
		if t, ok := more[id]; ok {
			out[id] = t
		} else {
			delete(out, id)
		}
	}
	return out, among, nil
}

// partedOrAlone runs tests of the base in their packages, and by themselves those that do
// not get their turn there, as behind one that panics.
func (k *keeper) partedOrAlone(ctx context.Context, ids []results.ID) (results.Suite, error) {
	suite, err := k.on.Tests.Parted(ctx, results.Base, ids)
	if err != nil {
		return nil, err
	}
	var left []results.ID
	for _, id := range ids {
		if t, ok := suite[id]; !ok || t.Status == results.NotRun {
			delete(suite, id)
			left = append(left, id)
		}
	}
	if len(left) == 0 {
		return suite, nil
	}
	more, err := k.on.Tests.Alone(ctx, results.Base, left)
	if err != nil {
		return nil, err
	}
	suite.Add(more)
	return suite, nil
}

// take keeps as expectations what fails each time, and lists the rest.
func (k *keeper) take(out runs.Comparison, said runs.History, tests []*examined) {
	in := func(list []results.Case, id results.ID) bool {
		return slices.ContainsFunc(list, func(c results.Case) bool { return c.ID == id })
	}
	t := &k.out.Compared
	for _, e := range tests {
		for _, id := range runs.Gather(said, e.id) {
			if !slices.Contains(e.evidence, id) {
				e.evidence = append(e.evidence, id)
			}
		}
		if e.drop = !in(out.Regressed, e.id); !e.drop || e.whole() {
			continue
		}
		c := results.Case{ID: e.id, Output: e.output, Evidence: e.evidence}
		for _, l := range []struct {
			of []results.Case
			to *[]results.Case
		}{{out.Flaky, &t.Flaky}, {out.NewFlakiness, &t.NewFlakiness}, {out.Unsettled, &t.Unsettled}, {out.Unknown, &t.Unknown}} {
			if in(l.of, e.id) && !t.Random(e.id) {
				*l.to = append(*l.to, c)
			}
		}
	}
}

// asBase is what a run of the arm said of tests, under the names that the base has for
// them.
func (k *keeper) asBase(s results.Suite, tests []*examined) results.Suite {
	out := results.Suite{}
	l := k.lookup(results.Head, s)
	for _, e := range tests {
		status, _, t, _, _ := l.status(e)
		switch status {
		case compare.Passed:
			t.Status = results.Passed
		case compare.Failed:
			t.Status = results.Failed
		case compare.Skipped:
			t.Status = results.Skipped
		default:
			continue
		}
		out[e.id] = t
	}
	return out
}
