package gate

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Statistic is what all runs of one test on both sides said.
type Statistic struct {
	ID    ID            `json:"id"`
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

// stand is what the runs say of a test of a list.
func (d *dispute) stand(k Case, l disputed) compare.Standing {
	head, base := d.runs.count(Head, k.ID), d.runs.count(Base, k.ID)
	switch {
	case l == isFixed:
		return compare.Slow.Stand(base, head, false)
	case k.Broken && head.Passed() == 0 && base.Failed == 0 && head.Runs >= brokenRuns:
		return compare.Settled
	}
	rule, ok := d.rules[k.ID]
	if !ok {
		rule = d.rule
	}
	return rule.Stand(head, base, l == isNew)
}

// brokenRuns is how often something has to fail to compile, in fresh copies.
const brokenRuns = 2

// disputed is the list of a comparison that a disagreement is in.
type disputed int

const (
	isRegressed disputed = iota
	isNew
	isFixed
)

// each calls f for each disagreement.
func (c *Comparison) each(f func(Case, disputed)) {
	for l, list := range [][]Case{isRegressed: c.Regressed, isNew: c.NewFailing, isFixed: c.Fixed} {
		for _, k := range list {
			f(k, disputed(l))
		}
	}
}

// decides says whether a test is one that is run again for itself.
func (d *dispute) decides(id ID) bool { return d.asked == nil || d.asked[id] }

// open are those of ids that more runs can settle. A test whose subtest is open is
// run with it.
func (d *dispute) open(ids []ID) []ID {
	var out []ID
	d.cases.each(func(k Case, l disputed) {
		if d.decides(k.ID) && slices.Contains(ids, k.ID) && d.stand(k, l) == compare.Open && !d.missing(k.ID, l) {
			out = append(out, k.ID)
		}
	})
	return out
}

// missing says whether a test is not reported by run after run of a side that should
// have it.
func (d *dispute) missing(id ID, l disputed) bool {
	lacks := func(side Side) bool {
		return len(d.runs[side])-d.runs.count(side, id).Runs > spareRounds
	}
	return lacks(Head) || l != isNew && lacks(Base)
}

// hidden are the tests that pass on the base and that are not reported there when
// they are run again, as where another one ends the program: the head fails them.
func (d *dispute) hidden() []ID {
	var out []ID
	d.cases.each(func(k Case, l disputed) {
		if head := d.runs.count(Head, k.ID); l == isRegressed && d.decides(k.ID) && k.ID.Test != "" && head.Passed() == 0 && head.Runs > 1 &&
			d.missing(k.ID, l) && d.stand(k, l) == compare.Open {
			out = append(out, k.ID)
		}
	})
	return out
}

// among are the tests that failed on the head among others and passed there when a
// part of the suite was run.
func (d *dispute) among(dependent func(ID) bool) []ID {
	var out []ID
	d.cases.each(func(k Case, l disputed) {
		head := d.runs.count(Head, k.ID)
		if l != isFixed && d.decides(k.ID) && head.Failed == 1 && head.Passed() > 0 && d.runs.count(Base, k.ID).Failed == 0 &&
			d.first(Head, k.ID) == Failed && dependent(k.ID) {
			out = append(out, k.ID)
		}
	})
	return out
}

// first is what a side said of a test at first.
func (d *dispute) first(side Side, id ID) Status {
	if len(d.runs[side]) == 0 {
		return ""
	}
	return d.runs[side][0][id].Status
}

// enough says whether more runs of a test would show nothing new.
func (d *dispute) enough(id ID) bool {
	head, base := d.runs.count(Head, id), d.runs.count(Base, id)
	if compare.Despite(head, base) == compare.Open {
		return min(head.Runs, base.Runs) >= compare.Contested.Runs
	}
	return base.Failed > 0 || base.Runs == 0 && (head.Failed > 0 && head.Passed() > 0 || head.Runs >= compare.Usual.Runs)
}

// take puts what another selection said of tests in place of what theirs did.
func (d *dispute) take(w *dispute, ids []ID, rule compare.Rule) {
	for _, side := range []Side{Base, Head} {
		for _, run := range d.runs[side] {
			for _, id := range ids {
				delete(run, id)
			}
		}
		for _, run := range w.runs[side] {
			only := Suite{}
			for _, id := range ids {
				if t, ok := run[id]; ok {
					only[id] = t
				}
			}
			d.runs[side] = append(d.runs[side], only)
		}
	}
	if d.rules == nil {
		d.rules = map[ID]compare.Rule{}
	}
	for _, id := range ids {
		d.rules[id] = rule
	}
}

// unsteady are the tests of the base that failed on the head at least once, not each
// time, and never on the base, without an excuse, and those that failed on the head each
// time and on the base at least once, not each time.
func (d *dispute) unsteady(excused func(ID) bool) []ID {
	var out []ID
	d.cases.each(func(k Case, l disputed) {
		head, base := d.runs.count(Head, k.ID), d.runs.count(Base, k.ID)
		random := head.Failed > 0 && head.Passed() > 0 && base.Failed == 0 && !excused(k.ID)
		if _, elsewhere := d.rules[k.ID]; !elsewhere && l == isRegressed && d.decides(k.ID) && (random || compare.Despite(head, base) == compare.Open) {
			out = append(out, k.ID)
		}
	})
	return out
}

// settle decides the disagreements by all runs of both sides.
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
func (d *dispute) settle(excused func(ID) bool) Comparison {
	out := d.cases
	out.Regressed, out.NewFailing, out.Fixed = nil, nil, nil
	var rest []Case // that others decide for
	d.cases.each(func(k Case, l disputed) {
		k.Evidence = gather(d.runs, k.ID)
		stays := map[disputed]*[]Case{isRegressed: &out.Regressed, isNew: &out.NewFailing, isFixed: &out.Fixed}[l]
		st := d.stand(k, l)
		switch {
		case st == compare.Conflict:
			d.conflict(&out, k, l, excused)
		case st == compare.Open && !d.decides(k.ID):
			rest = append(rest, k)
		case l == isFixed:
			*stays = append(*stays, k)
		case d.runs.count(Head, k.ID).Runs < 2 && len(d.runs[Head]) > 1:
			out.lost(k)
		case st == compare.Settled && (d.rule != compare.Slow || k.Broken || d.same(k.ID) && !excused(k.ID)):
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
	out.sort()
	return out
}

// conflict files a test that gave both results on one side.
func (d *dispute) conflict(out *Comparison, k Case, l disputed, excused func(ID) bool) {
	head, base := d.runs.count(Head, k.ID), d.runs.count(Base, k.ID)
	switch {
	case l == isNew && head.Failed > 0 && head.Passed() > 0:
		out.FlakyNew = append(out.FlakyNew, k)
	case l == isRegressed && compare.Despite(head, base) == compare.Settled:
		out.Regressed = append(out.Regressed, k)
	case l == isRegressed && compare.Despite(head, base) == compare.Open:
		out.Unsettled = append(out.Unsettled, k)
	case l == isNew && base.Failed > 0 && base.Passed() == 0 && d.first(Base, k.ID) != Skipped:
		out.PreExisting = append(out.PreExisting, k) // the base did not say so at first
	case l == isRegressed && compare.Flaking(head, base) && !excused(k.ID):
		out.NewFlakiness = append(out.NewFlakiness, k)
	default:
		out.Flaky = append(out.Flaky, k)
	}
}

// varies are parts of a failure that differ from run to run.
var varies = pattern.New(`0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(ns|µs|ms|s)?|/tmp/\S+|\s+`)

// same says whether a test failed in the same way each time on the head, but for
// numbers, times and addresses.
func (d *dispute) same(id ID) bool {
	first, some := "", false
	for _, run := range d.runs[Head] {
		t, ok := run[id]
		if !ok || t.Status != Failed {
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

// lost files a failure that did not turn up again.
func (c *Comparison) lost(k Case) {
	if _, part := k.ID.Parent(); part {
		c.Flaky = append(c.Flaky, k)
		return
	}
	c.Unknown = append(c.Unknown, k)
}

// state keeps the counts of tests, for people and for report.json.
func (r *runner) state(d *dispute, ids []ID) {
	var cases []Case
	for _, id := range ids {
		cases = append(cases, Case{ID: id})
	}
	for _, k := range Leaves(cases) {
		head, base := d.runs.count(Head, k.ID), d.runs.count(Base, k.ID)
		if head.Runs+base.Runs < 2 {
			continue // with a name that was made up
		}
		s := Statistic{ID: k.ID, Head: head, Base: base, P: min(compare.P(head, base), compare.P(base, head)), Flips: r.flakes.of(k.ID)}
		r.res.Statistics = slices.DeleteFunc(r.res.Statistics, func(have Statistic) bool { return have.ID == k.ID })
		r.res.Statistics = append(r.res.Statistics, s)
	}
}

// counted words the statistics of cases, one line each.
func (r *runner) counted(cases []Case) []string {
	var out []string
	for _, k := range Leaves(cases) {
		for _, s := range r.res.Statistics {
			if s.ID == k.ID {
				out = append(out, k.ID.String()+" "+s.Line())
			}
		}
	}
	return out
}

// seen counts the runs in which id ended with a status. One that its runner ran again
// after a failure failed and passed.
func seen(runs []Suite, id ID, s Status) int {
	n := 0
	for _, run := range runs {
		if t, ok := run[id]; ok {
			n += b2i(t.Status == s || s == Failed && t.Flipped())
		}
	}
	return n
}

// gather lists the evidence of all runs of a test, the head's first.
func gather(h history, id ID) []string {
	var out []string
	for _, side := range []Side{Head, Base} {
		for _, run := range h[side] {
			if t, ok := run[id]; ok && t.Evidence != "" && !slices.Contains(out, t.Evidence) {
				out = append(out, t.Evidence)
			}
		}
	}
	return out
}
