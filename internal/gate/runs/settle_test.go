package runs

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestSettle holds what the runs of both sides together say of a disagreement.
// The letters are one run each, the first one first: passed, failed, not run.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what       string
		from       string // list that it is in so far
		name       string
		base, head string
		want       string
	}{
		{"fails each time", "regressed", "m TestA", "ppppp", "fffff", "regressed m TestA"},
		{"four runs do not decide", "regressed", "m TestA", "pppp", "ffff", "unsettled m TestA"},
		{"passes later", "regressed", "m TestA", "ppp", "fpp", "flaky m TestA"},
		{"passes later, fails twice and never on base", "regressed", "m TestA", "ppp", "fpf", "new_flakiness m TestA"},
		{"fails later on base, each time on head", "regressed", "m TestA", "ppf", "fff", "unsettled m TestA"},
		{"fails once in twelve on base", "regressed", "m TestA", "ppfppppppppp", "ffffffffffff", "regressed m TestA"},
		{"fails twice in twelve on base", "regressed", "m TestA", "ppfpppppfppp", "ffffffffffff", "unsettled m TestA"},
		{"fails often on base", "regressed", "m TestA", "ppfffpffffff", "ffffffffffff", "flaky m TestA"},
		{"fails on both at random", "regressed", "m TestA", "pppf", "fpff", "flaky m TestA"},
		{"fails at random, with an excuse", "regressed", "m TestExcused", "pppp", "fpff", "flaky m TestExcused"},
		{"did not run once", "regressed", "m TestA", "pppppp", "f-ffff", "regressed m TestA"},
		{"base did not run again", "regressed", "m TestA", "p----", "fffff", "unsettled m TestA"},
		{"does not turn up again", "regressed", "m TestA", "ppp", "f--", "unknown m TestA"},
		{"a package does not turn up again", "regressed", "m", "ppp", "f--", "unknown m"},
		{"a subtest does not turn up again", "regressed", "m TestA/x1", "ppp", "f--", "flaky m TestA/x1"},

		{"a test with a slash in its name does not turn up again", "regressed", "a_spec.rb GET /x", "ppp", "f--", "unknown a_spec.rb GET /x"},

		{"new, fails each time", "new", "m TestA", "-----", "fffff", "new_failing m TestA"},
		{"new, passes later", "new", "m TestA", "---", "ffp", "flaky_new m TestA"},
		{"new, does not turn up again", "new", "m TestA", "---", "f--", "unknown m TestA"},
		{"new, with a made-up name", "new", "m TestA/x1", "---", "f--", "flaky m TestA/x1"},
		{"skipped on base at first, then failing there", "new", "m TestA", "sf-", "fff", "flaky m TestA"},
		{"not reported on base at first, then failing there", "new", "m TestA", "-ff", "fff", "pre_existing m TestA"},
		{"new, fails at base's side passing: still new", "new", "m TestA", "-pppp", "fffff", "new_failing m TestA"},

		{"fixed each time", "fixed", "m TestA", "fff", "ppp", "fixed m TestA"},
		{"passes later on base", "fixed", "m TestA", "fpf", "ppp", "flaky m TestA"},
		{"fails later on the head", "fixed", "m TestA", "fff", "pfp", "flaky m TestA"},
	} {
		t.Run(tt.from+": "+tt.what, func(t *testing.T) {
			t.Parallel()
			d := &Dispute{Rule: compare.Usual, Runs: History{results.Base: runsOf(tt.name, tt.base), results.Head: runsOf(tt.name, tt.head)}}
			switch tt.from {
			case "regressed":
				d.Cases.Regressed = suites.Cases(tt.name)
			case "new":
				d.Cases.NewFailing = suites.Cases(tt.name)
			case "fixed":
				d.Cases.Fixed = suites.Cases(tt.name)
			}
			if up, ok := suites.ID(tt.name).Parent(); ok && strings.HasPrefix(tt.name, "m ") { // as Go reports the whole, too
				for _, run := range d.Runs[results.Head] {
					run[up] = results.Test{Status: results.Passed}
				}
			}
			got := d.Settle(func(i results.ID) bool { return i.Test == "TestExcused" })
			if suites.Show(t, got) != tt.want {
				t.Errorf("got %q, want %q", suites.Show(t, got), tt.want)
			}
		})
	}
}

// TestSettleSlow holds what three runs decide where there is no time for more: the
// same failure each time, of a test that is not known to flip.
func TestSettleSlow(t *testing.T) {
	t.Parallel()
	fails := func(outputs ...string) []results.Suite {
		var out []results.Suite
		for _, o := range outputs {
			out = append(out, results.Suite{suites.ID("m TestA"): {Status: results.Failed, Output: o}})
		}
		return out
	}
	for _, tt := range []struct {
		what    string
		head    []results.Suite
		excused bool
		want    string
	}{
		{"the same but for numbers", fails("a.go:7: got 3 after 1.2s at 0xc1", "a.go:7: got 4 after 0.7s at 0xd0", "a.go:7: got 5 after 2ms at 0xaa"), false, "regressed m TestA"},
		{"another failure each time", fails("timeout", "wrong sum", "timeout"), false, "unsettled m TestA"},
		{"a flip on record", fails("no", "no", "no"), true, "unsettled m TestA"},
		{"two runs", fails("no", "no"), false, "unsettled m TestA"},
	} {
		d := &Dispute{Cases: Comparison{Regressed: suites.Cases("m TestA")}, Rule: compare.Slow, Runs: History{results.Base: runsOf("m TestA", "ppp"), results.Head: tt.head}}
		if got := suites.Show(t, d.Settle(func(results.ID) bool { return tt.excused })); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// TestBounds holds with how many runs a rule begins to hold, and with one fewer or more that
// it does not.
func TestBounds(t *testing.T) {
	t.Parallel()
	asked := func(d *Dispute) bool { return len(d.Open(Disagreeing(d.Cases))) == 1 }
	among := func(d *Dispute) bool { return len(d.Among(func(results.ID) bool { return true })) == 1 }
	for _, tt := range []struct {
		what       string
		base, head string
		broken     bool
		holds      func(*Dispute) bool
		want       bool
	}{
		{"not compiled once: more runs", "p", "f", true, asked, true},
		{"not compiled twice: settled", "p", "ff", true, asked, false},
		{"not reported by as many runs of the head as are spare: more runs", "ppp", "f--", false, asked, true},
		{"not reported by one more: missing", "ppp", "f---", false, asked, false},
		{"not reported by as many runs of the base as are spare: more runs", "p--", "fff", false, asked, true},
		{"not reported there by one more: missing", "p---", "fff", false, asked, false},
		{"failed among others, and not run again", "p", "f", false, among, false},
		{"failed among others and passed in a part", "pp", "fp", false, among, true},
		{"failed twice", "ppp", "ffp", false, among, false},
	} {
		d := &Dispute{Rule: compare.Usual, Runs: History{results.Base: runsOf("m TestA", tt.base), results.Head: runsOf("m TestA", tt.head)}}
		d.Cases.Regressed = suites.Cases("m TestA")
		d.Cases.Regressed[0].Broken = tt.broken
		if got := tt.holds(d); got != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
}

// TestAmong holds that a test that fails among others and passes in a part of them is
// decided by the whole suite, by more runs.
func TestAmong(t *testing.T) {
	t.Parallel()
	a := suites.ID("a.py test")
	d := &Dispute{Cases: Comparison{Regressed: suites.Cases("a.py test")}, Rule: compare.Usual, Runs: History{results.Base: runsOf("a.py test", "pp"), results.Head: runsOf("a.py test", "fp")}}
	if got := d.Among(func(results.ID) bool { return false }); len(got) != 0 {
		t.Errorf("run again although its package is run in a process of its own: %v", got)
	}
	if got := d.Among(func(results.ID) bool { return true }); len(got) != 1 {
		t.Fatalf("not run again among the others: %v", got)
	}
	for heads, want := range map[string]string{"fffff": "unsettled", "fffffff": "regressed", "ffp": "new_flakiness"} {
		e := &Dispute{Cases: d.Cases, Rule: d.Rule, Runs: History{results.Base: runsOf("a.py test", "pp"), results.Head: runsOf("a.py test", "fp")}}
		e.Take(&Dispute{Rule: compare.Whole, Runs: History{results.Base: runsOf("a.py test", strings.Repeat("p", len(heads))), results.Head: runsOf("a.py test", heads)}}, []results.ID{a}, compare.Whole)
		if got := suites.Show(t, e.Settle(func(results.ID) bool { return false })); got != want+" a.py test" {
			t.Errorf("%s: %q, want %s", heads, got, want)
		}
	}
}

func runsOf(name, letters string) []results.Suite {
	var out []results.Suite
	for _, l := range letters {
		s := results.Suite{}
		switch l {
		case 'p':
			s[suites.ID(name)] = results.Test{Status: results.Passed}
		case 'f':
			s[suites.ID(name)] = results.Test{Status: results.Failed}
		case 's':
			s[suites.ID(name)] = results.Test{Status: results.Skipped}
		}
		out = append(out, s)
	}
	return out
}

// TestSettleKeepsTheRest holds that what was settled already stays, and that the
// evidence of all runs is named, the head's first.
func TestSettleKeepsTheRest(t *testing.T) {
	t.Parallel()
	run := func(evidence string, s results.Status) results.Suite {
		return results.Suite{suites.ID("m TestA"): {Status: s, Evidence: evidence}}
	}
	c := Comparison{PreExisting: suites.Cases("m TestOld"), Unknown: suites.Cases("m TestU"), Regressed: suites.Cases("m TestA")}
	d := &Dispute{Cases: c, Rule: compare.Slow, Runs: History{results.Base: []results.Suite{run("E1", results.Passed), run("E3", results.Passed), run("E3", results.Passed)}, results.Head: []results.Suite{run("E2", results.Failed), run("E4", results.Failed), run("E4", results.Failed)}}}
	got := d.Settle(func(results.ID) bool { return false })
	if want := "regressed m TestA; pre_existing m TestOld; unknown m TestU"; suites.Show(t, got) != want {
		t.Errorf("got %q, want %q", suites.Show(t, got), want)
	}
	if e := got.Regressed[0].Evidence; len(e) != 4 || e[0] != "E2" || e[1] != "E4" || e[2] != "E1" || e[3] != "E3" {
		t.Errorf("evidence %v", e)
	}
}

// TestStillFailing holds that a crash is confirmed by a run in which it hits
// another test, and not by one in which only an old failure is left.
func TestStillFailing(t *testing.T) {
	t.Parallel()
	base := suites.Of("pass m", "pass m TestA", "fail m TestOld")
	crash := suites.Cases("m")
	for _, tt := range []struct {
		what string
		run  results.Suite
		want results.Status
	}{
		{"hits a test that passed on base", suites.Of("pass! m", "fail m TestA", "fail m TestOld"), results.Failed},
		{"only the old failure", suites.Of("pass m", "pass m TestA", "fail m TestOld"), results.Passed},
		{"nothing", suites.Of("pass m", "pass m TestA"), results.Passed},
		{"another package", suites.Of("pass m", "pass n", "fail n TestA"), results.Passed},
	} {
		if got := StillFailing(tt.run, base, crash...)[suites.ID("m")].Status; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}
