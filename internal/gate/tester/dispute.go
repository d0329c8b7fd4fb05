package tester

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/sorted"
)

// maxSample is how many tests that the head fails are run again at most: chosen by digest,
// they decide for all.
const maxSample = 20

// roundShare is the part of the time limit over which a round of runs is slow.
const roundShare = 10

// Rerun runs what both sides disagree about again, base and head in turns, in the
// selection in which it failed, until it is settled what is a regression and what is
// flaky.
func (t *Tester) Rerun(ctx context.Context, test runs.Comparison) (runs.Comparison, error) {
	ids := runs.Disagreeing(test)
	if len(ids) == 0 {
		return test, nil
	}
	d := &runs.Dispute{Cases: test, Once: t.Parted, Runs: t.Begun(), Rule: compare.Usual, Asked: t.sample(test)}
	if again := t.retried(ids); len(again) > 0 { // they gave both results at once
		if err := t.round(ctx, d, again); err != nil {
			return test, err
		}
	}
	if err := t.Rounds(ctx, d, ids); err != nil {
		return test, err
	}
	// Among the other tests they failed: only that separates flaky from dependent.
	if err := t.Elsewhere(ctx, d, d.Among(t.Dependent), t.Entire, compare.Whole, t.Begun()); err != nil {
		return test, err
	}
	// What ends the program before them on the base does not when they are alone.
	if err := t.Elsewhere(ctx, d, d.Hidden(), t.Alone, compare.Usual, runs.History{}); err != nil {
		return test, err
	}
	if err := t.MoreRounds(ctx, d, d.Unsteady(t.Excused)); err != nil {
		return test, err
	}
	t.Flipped(d.Runs)
	t.State(d, ids)
	return d.Settle(t.Excused), nil
}

// retried are the tests that failed on the head and passed when their runner ran them
// again.
func (t *Tester) retried(ids []results.ID) []results.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id results.ID) bool { return !t.Sides.Suites[results.Head][id].Flipped() })
}

// Elsewhere runs tests again in another selection, which then decides about them; begun are
// runs in it that have been made.
func (t *Tester) Elsewhere(ctx context.Context, d *runs.Dispute, ids []results.ID, once func(context.Context, results.Side, []results.ID) (results.Suite, error), rule compare.Rule, begun runs.History) error {
	if len(ids) == 0 {
		return nil
	}
	w := &runs.Dispute{Cases: d.Cases, Once: once, Runs: begun, Rule: rule}
	if err := t.Rounds(ctx, w, ids); err != nil {
		return err
	}
	if err := t.MoreRounds(ctx, w, w.Unsteady(t.Excused)); err != nil {
		return err
	}
	d.Take(w, ids, rule)
	return nil
}

// Begun is a history that begins with the first runs of this log. What was known of
// the base from earlier runs is no run.
func (t *Tester) Begun() runs.History {
	h := runs.History{}
	for _, side := range []results.Side{results.Base, results.Head} {
		first := maps.Clone(t.Sides.Suites[side])
		maps.DeleteFunc(first, func(_ results.ID, test results.Test) bool { return test.Evidence == "" })
		h[side] = []results.Suite{first}
	}
	return h
}

// sample chooses the tests that decide for all, and of those that only the base fails, which decide
// for none, as many; nil where there are few.
func (t *Tester) sample(c runs.Comparison) map[results.ID]bool {
	failing, fixed := append(results.Leaves(c.Regressed), results.Leaves(c.NewFailing)...), results.Leaves(c.Fixed)
	if len(failing) <= maxSample && len(fixed) <= maxSample {
		return nil
	}
	digest := func(k results.Case) string {
		sum := sha256.Sum256([]byte(t.Sides.Head.OID + "\n" + k.ID.Unit + "\n" + k.ID.String()))
		return string(sum[:])
	}
	out := map[results.ID]bool{}
	for _, leaves := range [][]results.Case{failing, fixed} {
		sorted.By(leaves, func(a, b results.Case) int { return cmp.Compare(digest(a), digest(b)) })
		for _, k := range leaves[:min(len(leaves), maxSample)] {
			out[k.ID] = true
			for up, ok := k.ID.Parent(); ok; up, ok = up.Parent() {
				out[up] = true
			}
		}
	}
	if len(failing) > maxSample {
		t.Note("%d tests disagree: %d of them, chosen by digest, were run again and decide for all", len(failing), maxSample)
	}
	return out
}

// Rounds runs tests again, on both sides in turns, until each is settled or there is
// no time for more.
func (t *Tester) Rounds(ctx context.Context, d *runs.Dispute, ids []results.ID) error {
	for n := 0; n < d.Rule.Runs+runs.SpareRounds; n++ {
		open := d.Open(ids)
		if len(open) == 0 {
			return nil
		}
		if n > 0 && d.Cost > t.Decisive() {
			if d.Rule == compare.Usual { // in the time that there is, these tests are slow
				d.Rule = compare.Slow
			}
			return nil
		}
		if err := t.round(ctx, d, open); err != nil {
			return err
		}
		if d.Cost > t.Limit/roundShare {
			d.Rule = compare.Slow
		}
	}
	return nil
}

// round runs tests once on each side.
func (t *Tester) round(ctx context.Context, d *runs.Dispute, ids []results.ID) error {
	began := t.Logged()
	for _, side := range []results.Side{results.Base, results.Head} {
		suite, err := d.Once(ctx, side, ids)
		if err != nil {
			return err
		}
		failures := slices.Concat(d.Cases.Regressed, d.Cases.NewFailing)
		d.Runs[side] = append(d.Runs[side], runs.StillFailing(suite, t.Sides.Suites[results.Base], failures...))
	}
	d.Cost = t.Logged() - began
	return nil
}

// moreRounds bounds how often tests are run again that fail on the head at random.
const moreRounds = 20

// MoreRounds runs tests again that failed on the head once and not each time, until it is
// known that the base fails them too, and those that failed there each time and on the base
// once, until it is known whether that differs; or until there were enough runs.
func (t *Tester) MoreRounds(ctx context.Context, d *runs.Dispute, ids []results.ID) error {
	began := t.Logged()
	for range moreRounds {
		ids = slices.DeleteFunc(ids, d.Enough)
		if used := t.Logged() - began; len(ids) == 0 || used+d.Cost > t.Limits.Random || d.Cost > t.Decisive() {
			return nil
		}
		if err := t.round(ctx, d, ids); err != nil {
			return err
		}
	}
	return nil
}

// Parts of the time limit, in percent: what building, the tests of both sides and
// what they disagree about may take, and what all may take before it is concluded.
const (
	DecidesFirst = 70
	DecidesAll   = 95
)

// Decisive is the time that is left for more runs.
func (t *Tester) Decisive() time.Duration { return t.Limit*time.Duration(t.Share)/100 - t.Logged() }

// Excused says whether a test is known to have flipped on the base, or cannot be
// reached by the change, so that it fails at random without its help.
func (t *Tester) Excused(id results.ID) bool {
	return t.Flakes.Of(id).Flips > 0 || !t.Sides.Affects(id, t.Sides.Suites[results.Head][id])
}

// Dependent says whether a part of the suite in which a test is run again can differ
// from the whole: its runner has the tests of several packages in one process.
func (t *Tester) Dependent(id results.ID) bool {
	return id.Test != "" && slices.ContainsFunc(t.Sides.Plans[results.Head].Test, func(c ecosystem.Command) bool {
		if c.Results == nil || c.Results.Apart || c.Eco != t.Sides.EcoOf(id) || c.Unit != id.Unit {
			return false
		}
		_, narrowed := c.Results.Narrow(c, ecosystem.Part{Packages: []string{id.Package}})
		return narrowed
	})
}

// Flipped notes the tests that gave both results on the base, or on the head where
// the change cannot reach them: what only the change makes flaky is no excuse for it
// in its next run.
func (t *Tester) Flipped(h runs.History) {
	both := func(id results.ID, said []results.Suite) bool {
		return runs.Seen(said, id, results.Failed) > 0 && runs.Seen(said, id, results.Passed) > 0
	}
	for side, said := range h {
		if side == results.Base { // what was known of it from earlier said is the same code too
			said = append(slices.Clone(said), t.Sides.Suites[results.Base])
		}
		for _, run := range said {
			for id, test := range run {
				if (test.Status == results.Failed || test.Flipped()) && both(id, said) && (side == results.Base || !t.Sides.Affects(id, test)) {
					t.Flakes.Flipped[runs.FlakeKey(id)] = true
					t.Doubted = t.Doubted || side == results.Base
				}
			}
		}
	}
}

// State keeps the counts of tests, for people and for report.json.
func (t *Tester) State(d *runs.Dispute, ids []results.ID) {
	var cases []results.Case
	for _, id := range ids {
		cases = append(cases, results.Case{ID: id})
	}
	for _, k := range results.Leaves(cases) {
		head, base := d.Runs.Count(results.Head, k.ID), d.Runs.Count(results.Base, k.ID)
		if head.Runs+base.Runs < 2 {
			continue // with a name that was made up
		}
		s := runs.Statistic{ID: k.ID, Head: head, Base: base, P: min(compare.P(head, base), compare.P(base, head)), Flips: t.Flakes.Of(k.ID)}
		t.Statistics = slices.DeleteFunc(t.Statistics, func(have runs.Statistic) bool { return have.ID == k.ID })
		t.Statistics = append(t.Statistics, s)
	}
}

// Counted words the statistics of cases, one line each.
func (t *Tester) Counted(cases []results.Case) []string {
	var out []string
	for _, k := range results.Leaves(cases) {
		for _, s := range t.Statistics {
			if s.ID == k.ID {
				out = append(out, k.ID.String()+" "+s.Line())
			}
		}
	}
	return out
}
