package runs

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Statistic is what all runs of one test on both sides said.
type Statistic struct {
	ID    results.ID    `json:"id"`
	Head  compare.Count `json:"head"`
	Base  compare.Count `json:"base"`
	P     float64       `json:"p"`     // one-sided exact test of the worse side
	Flips Flips         `json:"flips"` // on record from earlier runs
}

// Line words it: "failed 5 of 5 on head, 0 of 5 on base; flaked in 3 of 212 runs".
func (s Statistic) Line() string {
	line := s.Head.Of("head")
	if s.Base.Runs > 0 {
		line += "," + strings.TrimPrefix(s.Base.Of("base"), "failed")
	}
	if s.Flips.Flips > 0 {
		line += "; " + s.Flips.String()
	}
	return line
}

// Stand is what the runs say of a test of a list.
func (d *Dispute) Stand(k results.Case, l Disputed) compare.Standing {
	head, base := d.Runs.Count(results.Head, k.ID), d.Runs.Count(results.Base, k.ID)
	switch {
	case l == IsFixed:
		return compare.Slow.Stand(base, head, false)
	case k.Broken && head.Passed() == 0 && base.Failed == 0 && head.Runs >= brokenRuns:
		return compare.Settled
	}
	rule, ok := d.rules[k.ID]
	if !ok {
		rule = d.Rule
	}
	return rule.Stand(head, base, l == IsNew)
}

// brokenRuns is how often something has to fail to compile, in fresh copies.
const brokenRuns = 2

// Disputed is the list of a comparison that a disagreement is in.
type Disputed int

// The lists whose tests are run again.
const (
	IsRegressed Disputed = iota // passed on the base, failed on the head
	IsNew                       // failed on the head, and the base has it not
	IsFixed                     // failed on the base, passed on the head
)

// Each calls f for each disagreement.
func (c *Comparison) Each(f func(results.Case, Disputed)) {
	for l, list := range [][]results.Case{IsRegressed: c.Regressed, IsNew: c.NewFailing, IsFixed: c.Fixed} {
		for _, k := range list {
			f(k, Disputed(l))
		}
	}
}

// decides says whether a test is one that is run again for itself.
func (d *Dispute) decides(id results.ID) bool { return d.Asked == nil || d.Asked[id] }

// Open are those of ids that more runs can settle. A test whose subtest is open is
// run with it.
func (d *Dispute) Open(ids []results.ID) []results.ID {
	var out []results.ID
	d.Cases.Each(func(k results.Case, l Disputed) {
		if d.decides(k.ID) && slices.Contains(ids, k.ID) && d.Stand(k, l) == compare.Open && !d.missing(k.ID, l) {
			out = append(out, k.ID)
		}
	})
	return out
}

// missing says whether a test is not reported by run after run of a side that should
// have it.
func (d *Dispute) missing(id results.ID, l Disputed) bool {
	lacks := func(side results.Side) bool {
		return len(d.Runs[side])-d.Runs.Count(side, id).Runs > SpareRounds
	}
	return lacks(results.Head) || l != IsNew && lacks(results.Base)
}

// Hidden are the tests that pass on the base and that are not reported there when
// they are run again, as where another one ends the program: the head fails them.
func (d *Dispute) Hidden() []results.ID {
	var out []results.ID
	d.Cases.Each(func(k results.Case, l Disputed) {
		if head := d.Runs.Count(results.Head, k.ID); l == IsRegressed && d.decides(k.ID) && k.ID.Test != "" && head.Passed() == 0 && head.Runs > 1 &&
			d.missing(k.ID, l) && d.Stand(k, l) == compare.Open {
			out = append(out, k.ID)
		}
	})
	return out
}

// Among are the tests that failed on the head among others and passed there when a
// part of the suite was run.
func (d *Dispute) Among(dependent func(results.ID) bool) []results.ID {
	var out []results.ID
	d.Cases.Each(func(k results.Case, l Disputed) {
		head := d.Runs.Count(results.Head, k.ID)
		if l != IsFixed && d.decides(k.ID) && head.Failed == 1 && head.Passed() > 0 && d.Runs.Count(results.Base, k.ID).Failed == 0 &&
			d.first(results.Head, k.ID) == results.Failed && dependent(k.ID) {
			out = append(out, k.ID)
		}
	})
	return out
}

// first is what a side said of a test at first.
func (d *Dispute) first(side results.Side, id results.ID) results.Status {
	if len(d.Runs[side]) == 0 {
		return ""
	}
	return d.Runs[side][0][id].Status
}

// Enough says whether more runs of a test would show nothing new.
func (d *Dispute) Enough(id results.ID) bool {
	head, base := d.Runs.Count(results.Head, id), d.Runs.Count(results.Base, id)
	if compare.Despite(head, base) == compare.Open {
		return min(head.Runs, base.Runs) >= compare.Contested.Runs
	}
	return base.Failed > 0 || base.Runs == 0 && (head.Failed > 0 && head.Passed() > 0 || head.Runs >= compare.Usual.Runs)
}

// Take puts what another selection said of tests in place of what theirs did.
func (d *Dispute) Take(w *Dispute, ids []results.ID, rule compare.Rule) {
	for _, side := range []results.Side{results.Base, results.Head} {
		for _, run := range d.Runs[side] {
			for _, id := range ids {
				delete(run, id)
			}
		}
		for _, run := range w.Runs[side] {
			only := results.Suite{}
			for _, id := range ids {
				if t, ok := run[id]; ok {
					only[id] = t
				}
			}
			d.Runs[side] = append(d.Runs[side], only)
		}
	}
	if d.rules == nil {
		d.rules = map[results.ID]compare.Rule{}
	}
	for _, id := range ids {
		d.rules[id] = rule
	}
}

// Unsteady are the tests of the base that failed on the head at least once, not each
// time, and never on the base, without an excuse, and those that failed on the head each
// time and on the base at least once, not each time.
func (d *Dispute) Unsteady(excused func(results.ID) bool) []results.ID {
	var out []results.ID
	d.Cases.Each(func(k results.Case, l Disputed) {
		head, base := d.Runs.Count(results.Head, k.ID), d.Runs.Count(results.Base, k.ID)
		random := head.Failed > 0 && head.Passed() > 0 && base.Failed == 0 && !excused(k.ID)
		if _, elsewhere := d.rules[k.ID]; !elsewhere && l == IsRegressed && d.decides(k.ID) && (random || compare.Despite(head, base) == compare.Open) {
			out = append(out, k.ID)
		}
	})
	return out
}

// Settle decides the disagreements by all runs of both sides.
//
//   - Settled: it stays what it was. In slow suites, where three runs settle it, that
//     takes the same failure each time and no excuse.
//   - It failed on the head each time, and on the base not each time: a regression
//     where it failed there once in many runs, not settled where that is no accident.
//   - Else, where it passed once on the head, or failed once on the base: flaky; of a test that
//     only the head has, flaky new; new flakiness where it failed at least twice on
//     the head, never on the base, and without an excuse.
//   - It did not turn up again: where it is part of another test, its name is made
//     up at random, and that other test has its own result; else nothing is known.
//   - Else there were too few runs: not settled.
func (d *Dispute) Settle(excused func(results.ID) bool) Comparison {
	out := d.Cases
	out.Regressed, out.NewFailing, out.Fixed = nil, nil, nil
	var rest []results.Case // that others decide for
	d.Cases.Each(func(k results.Case, l Disputed) {
		k.Evidence = Gather(d.Runs, k.ID)
		stays := map[Disputed]*[]results.Case{IsRegressed: &out.Regressed, IsNew: &out.NewFailing, IsFixed: &out.Fixed}[l]
		st := d.Stand(k, l)
		switch {
		case st == compare.Conflict:
			d.conflict(&out, k, l, excused)
		case l == IsFixed:
			*stays = append(*stays, k)
		case st == compare.Open && !d.decides(k.ID):
			rest = append(rest, k)
		case d.Runs.Count(results.Head, k.ID).Runs < 2 && len(d.Runs[results.Head]) > 1:
			out.lost(k, d.Runs[results.Head])
		case st == compare.Settled && (d.Rule != compare.Slow || k.Broken || d.same(k.ID) && !excused(k.ID)):
			*stays = append(*stays, k)
		default:
			out.Unsettled = append(out.Unsettled, k)
		}
	})
	if len(out.Regressed)+len(out.NewFailing) > 0 {
		out.Regressed = append(out.Regressed, rest...)
	} else {
		out.Unsettled = append(out.Unsettled, rest...)
	}
	out.Sort()
	return out
}

// conflict files a test that gave both results on one side.
func (d *Dispute) conflict(out *Comparison, k results.Case, l Disputed, excused func(results.ID) bool) {
	head, base := d.Runs.Count(results.Head, k.ID), d.Runs.Count(results.Base, k.ID)
	switch {
	case l == IsNew && head.Failed > 0 && head.Passed() > 0:
		out.FlakyNew = append(out.FlakyNew, k)
	case l == IsRegressed && compare.Despite(head, base) == compare.Settled:
		out.Regressed = append(out.Regressed, k)
	case l == IsRegressed && compare.Despite(head, base) == compare.Open:
		out.Unsettled = append(out.Unsettled, k)
	case l == IsNew && base.Failed > 0 && base.Passed() == 0 && d.first(results.Base, k.ID) != results.Skipped:
		out.PreExisting = append(out.PreExisting, k) // the base did not say so at first
	case l == IsRegressed && compare.Flaking(head, base) && !excused(k.ID):
		out.NewFlakiness = append(out.NewFlakiness, k)
	default:
		out.Flaky = append(out.Flaky, k)
	}
}

// varies are parts of a failure that differ from run to run.
var varies = pattern.New(`0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(ns|µs|ms|s)?|/tmp/\S+|\s+`)

// same says whether a test failed in the same way each time on the head, but for
// numbers, times and addresses.
func (d *Dispute) same(id results.ID) bool {
	first, some := "", false
	for _, run := range d.Runs[results.Head] {
		t, ok := run[id]
		if !ok || t.Status != results.Failed {
			continue
		}
		now := varies.ReplaceAllString(t.Output, " ")
		if some && now != first {
			return false
		}
		first, some = now, true
	}
	return some
}

// lost files a failure that did not turn up again in the runs of its side. That its name has the
// form of a part says nothing where nothing was reported as the whole.
func (c *Comparison) lost(k results.Case, said []results.Suite) {
	up, part := k.ID.Parent()
	if part && slices.ContainsFunc(said, func(run results.Suite) bool { t, ok := run[up]; return ok && !t.Leaf }) {
		c.Flaky = append(c.Flaky, k)
		return
	}
	c.Unknown = append(c.Unknown, k)
}

// Seen counts the runs in which id ended with a status. One that its runner ran again
// after a failure failed and passed.
func Seen(runs []results.Suite, id results.ID, s results.Status) int {
	n := 0
	for _, run := range runs {
		if t, ok := run[id]; ok {
			if t.Status == s || s == results.Failed && t.Flipped() {
				n++
			}
		}
	}
	return n
}

// Gather lists the evidence of all runs of a test, the head's first.
func Gather(h History, id results.ID) []string {
	var out []string
	for _, side := range []results.Side{results.Head, results.Base} {
		for _, run := range h[side] {
			if t, ok := run[id]; ok && t.Evidence != "" && !slices.Contains(out, t.Evidence) {
				out = append(out, t.Evidence)
			}
		}
	}
	return out
}

// StillFailing marks those packages of failures whose failure a test explains in
// a run as failed when that test is not one that failed on base before: a crash
// that hits no test in one run and a test in another is still the same crash.
func StillFailing(run, base results.Suite, failures ...results.Case) results.Suite {
	for _, k := range failures {
		p, ok := run[k.ID]
		if !ok || k.ID.Test != "" || k.ID.Command != "" {
			continue
		}
		for id, t := range run {
			if id.Test != "" && id.Unit == k.ID.Unit && id.Package == k.ID.Package && t.Status == results.Failed && base[id].Status != results.Failed {
				p.Status = results.Failed
			}
		}
		run[k.ID] = p
	}
	return run
}

// Disagreeing are the tests that one side alone fails.
func Disagreeing(c Comparison) []results.ID {
	var ids []results.ID
	for _, list := range [][]results.Case{c.Regressed, c.NewFailing, c.Fixed} {
		for _, k := range list {
			ids = append(ids, k.ID)
		}
	}
	return ids
}
