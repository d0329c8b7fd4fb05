package gate

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/sides"
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
		{"passes later, fails twice and never on base", "regressed", "m TestA", "ppp", "fpf", "new-flakiness m TestA"},
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

		{"new, fails each time", "new", "m TestA", "-----", "fffff", "new m TestA"},
		{"new, passes later", "new", "m TestA", "---", "ffp", "flaky-new m TestA"},
		{"new, does not turn up again", "new", "m TestA", "---", "f--", "unknown m TestA"},
		{"new, with a made-up name", "new", "m TestA/x1", "---", "f--", "flaky m TestA/x1"},
		{"skipped on base at first, then failing there", "new", "m TestA", "sf-", "fff", "flaky m TestA"},
		{"not reported on base at first, then failing there", "new", "m TestA", "-ff", "fff", "pre-existing m TestA"},
		{"new, fails at base's side passing: still new", "new", "m TestA", "-pppp", "fffff", "new m TestA"},

		{"fixed each time", "fixed", "m TestA", "fff", "ppp", "fixed m TestA"},
		{"passes later on base", "fixed", "m TestA", "fpf", "ppp", "flaky m TestA"},
		{"fails later on the head", "fixed", "m TestA", "fff", "pfp", "flaky m TestA"},
	} {
		t.Run(tt.from+": "+tt.what, func(t *testing.T) {
			t.Parallel()
			d := &dispute{rule: compare.Usual, runs: history{Base: runsOf(tt.name, tt.base), Head: runsOf(tt.name, tt.head)}}
			switch tt.from {
			case "regressed":
				d.cases.Regressed = casesOf(tt.name)
			case "new":
				d.cases.NewFailing = casesOf(tt.name)
			case "fixed":
				d.cases.Fixed = casesOf(tt.name)
			}
			got := d.settle(func(i ID) bool { return i.Test == "TestExcused" })
			if show(got) != tt.want {
				t.Errorf("got %q, want %q", show(got), tt.want)
			}
		})
	}
}

// TestSettleSlow holds what three runs decide where there is no time for more: the
// same failure each time, of a test that is not known to flip.
func TestSettleSlow(t *testing.T) {
	t.Parallel()
	fails := func(outputs ...string) []Suite {
		var out []Suite
		for _, o := range outputs {
			out = append(out, Suite{id("m TestA"): {Status: Failed, Output: o}})
		}
		return out
	}
	for _, tt := range []struct {
		what    string
		head    []Suite
		excused bool
		want    string
	}{
		{"the same but for numbers", fails("a.go:7: got 3 after 1.2s at 0xc1", "a.go:7: got 4 after 0.7s at 0xd0", "a.go:7: got 5 after 2ms at 0xaa"), false, "regressed m TestA"},
		{"another failure each time", fails("timeout", "wrong sum", "timeout"), false, "unsettled m TestA"},
		{"a flip on record", fails("no", "no", "no"), true, "unsettled m TestA"},
		{"two runs", fails("no", "no"), false, "unsettled m TestA"},
	} {
		d := &dispute{cases: Comparison{Regressed: casesOf("m TestA")}, rule: compare.Slow, runs: history{Base: runsOf("m TestA", "ppp"), Head: tt.head}}
		if got := show(d.settle(func(ID) bool { return tt.excused })); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// TestSample holds that above twenty disagreeing tests twenty decide for all, and
// which those are.
func TestSample(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("m Test%02d", i))
	}
	r := &runner{res: &Result{}, in: Input{Head: worktreeOf("t1")}}
	c := Comparison{Regressed: casesOf(names...)}
	asked := r.sample(c)
	if len(asked) != maxSample || !maps.Equal(asked, r.sample(c)) || len(r.res.Notes) == 0 {
		t.Fatalf("%d tests: %v", len(asked), r.res.Notes)
	}
	if r.sample(Comparison{Regressed: casesOf(names[:maxSample]...)}) != nil {
		t.Error("twenty tests are not all run again")
	}
	settle := func(heads string) Comparison {
		d := &dispute{cases: c, rule: compare.Usual, asked: asked, runs: history{}}
		for i := range heads {
			base, head := Suite{}, Suite{}
			for _, n := range names {
				if i > 0 && !asked[id(n)] {
					continue
				}
				base[id(n)] = Test{Status: Passed}
				head[id(n)] = Test{Status: map[byte]Status{'f': Failed, 'p': Passed}[heads[i]]}
			}
			d.runs[Base], d.runs[Head] = append(d.runs[Base], base), append(d.runs[Head], head)
		}
		return d.settle(func(ID) bool { return false })
	}
	if got := settle("fffff"); len(got.Regressed) != 30 {
		t.Errorf("all of the sample fail each time: %s", show(got))
	}
	if got := settle("fp"); len(got.Flaky) != maxSample || len(got.Unsettled) != 10 || len(got.Regressed) != 0 {
		t.Errorf("all of the sample are flaky: %s", show(got))
	}
}

// TestAmong holds that a test that fails among others and passes in a part of them is
// decided by the whole suite, by more runs.
func TestAmong(t *testing.T) {
	t.Parallel()
	a := id("a.py test")
	d := &dispute{cases: Comparison{Regressed: casesOf("a.py test")}, rule: compare.Usual, runs: history{Base: runsOf("a.py test", "pp"), Head: runsOf("a.py test", "fp")}}
	if got := d.among(func(ID) bool { return false }); len(got) != 0 {
		t.Errorf("run again although its package is run in a process of its own: %v", got)
	}
	if got := d.among(func(ID) bool { return true }); len(got) != 1 {
		t.Fatalf("not run again among the others: %v", got)
	}
	for heads, want := range map[string]string{"fffff": "unsettled", "fffffff": "regressed", "ffp": "new-flakiness"} {
		e := &dispute{cases: d.cases, rule: d.rule, runs: history{Base: runsOf("a.py test", "pp"), Head: runsOf("a.py test", "fp")}}
		e.take(&dispute{rule: compare.Whole, runs: history{Base: runsOf("a.py test", strings.Repeat("p", len(heads))), Head: runsOf("a.py test", heads)}}, []ID{a}, compare.Whole)
		if got := show(e.settle(func(ID) bool { return false })); got != want+" a.py test" {
			t.Errorf("%s: %q, want %s", heads, got, want)
		}
	}
}

func runsOf(name, letters string) []Suite {
	var out []Suite
	for _, l := range letters {
		s := Suite{}
		switch l {
		case 'p':
			s[id(name)] = Test{Status: Passed}
		case 'f':
			s[id(name)] = Test{Status: Failed}
		case 's':
			s[id(name)] = Test{Status: Skipped}
		}
		out = append(out, s)
	}
	return out
}

// TestSettleKeepsTheRest holds that what was settled already stays, and that the
// evidence of all runs is named, the head's first.
func TestSettleKeepsTheRest(t *testing.T) {
	t.Parallel()
	run := func(evidence string, s Status) Suite { return Suite{id("m TestA"): {Status: s, Evidence: evidence}} }
	c := Comparison{PreExisting: casesOf("m TestOld"), Unknown: casesOf("m TestU"), Regressed: casesOf("m TestA")}
	d := &dispute{cases: c, rule: compare.Slow, runs: history{Base: []Suite{run("E1", Passed), run("E3", Passed), run("E3", Passed)}, Head: []Suite{run("E2", Failed), run("E4", Failed), run("E4", Failed)}}}
	got := d.settle(func(ID) bool { return false })
	if want := "regressed m TestA; pre-existing m TestOld; unknown m TestU"; show(got) != want {
		t.Errorf("got %q, want %q", show(got), want)
	}
	if e := got.Regressed[0].Evidence; len(e) != 4 || e[0] != "E2" || e[1] != "E4" || e[2] != "E1" || e[3] != "E3" {
		t.Errorf("evidence %v", e)
	}
}

// TestStillFailing holds that a crash is confirmed by a run in which it hits
// another test, and not by one in which only an old failure is left.
func TestStillFailing(t *testing.T) {
	t.Parallel()
	base := suiteOf("pass m", "pass m TestA", "fail m TestOld")
	crash := casesOf("m")
	for _, tt := range []struct {
		what string
		run  Suite
		want Status
	}{
		{"hits a test that passed on base", suiteOf("pass! m", "fail m TestA", "fail m TestOld"), Failed},
		{"only the old failure", suiteOf("pass m", "pass m TestA", "fail m TestOld"), Passed},
		{"nothing", suiteOf("pass m", "pass m TestA"), Passed},
		{"another package", suiteOf("pass m", "pass n", "fail n TestA"), Passed},
	} {
		if got := stillFailing(tt.run, base, crash...)[id("m")].Status; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}

// TestOnly holds that exactly the named tests are selected.
func TestOnly(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(ecosystem.Only(map[string]bool{"TestA": true, "Test.B": true}))
	for name, want := range map[string]bool{"TestA": true, "Test.B": true, "TestXB": false, "TestAB": false, "XTestA": false} {
		if re.MatchString(name) != want {
			t.Errorf("%s matches %s: %v", re, name, !want)
		}
	}
}

// TestAgain holds which commands run tests again: whole packages, with each set of
// flags that the configuration has, and only what the side has.
func TestAgain(t *testing.T) {
	t.Parallel()
	suite := suiteOf("pass m", "pass n", "fail m TestA", "fail n TestB")
	suite.SetEcosystem("Go")
	r := &runner{
		Gate:   &Gate{},
		in:     Input{Base: worktreeOf("t1"), Head: worktreeOf("t2")},
		plan:   map[Side]*sides.Plan{Base: {}, Head: {Test: []ecosystem.Command{ecosystem.ShellCommand(StageTest, "go test -short ./..."), ecosystem.ShellCommand(StageTest, "go test -tags=x ./..."), ecosystem.ShellCommand(StageTest, "make check")}}},
		suites: map[Side]Suite{Head: suite, Base: suiteOf("pass m")},
	}
	r.sides = r.reader()
	ids := []ID{id("m TestA"), id("m TestC"), id("n TestB"), id("o TestX"), id("make check:")}
	texts := func(cs []ecosystem.Command) (out []string) {
		for _, c := range cs {
			out = append(out, string(c.Stage)+": "+c.Text)
		}
		return out
	}
	for _, tt := range []struct {
		side  Side
		whole bool
		want  []string
	}{
		{Head, false, []string{"rerun: make check", "rerun: go test -json -short -count=1 m n", "rerun: go test -json -tags=x -count=1 m n"}},
		{Head, true, []string{"rerun: make check", "rerun: go test -json -short ./...", "rerun: go test -json -tags=x ./..."}},
		{Base, false, nil},
	} {
		sameStrings(t, string(tt.side), texts(r.againCommands(tt.side, ids, tt.whole)), tt.want)
	}
}
