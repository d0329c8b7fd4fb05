package gate

import (
	"regexp"
	"testing"
	"time"
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
		{"fails each time", "regressed", "m TestA", "ppp", "fff", "regressed m TestA"},
		{"passes later", "regressed", "m TestA", "ppp", "fpf", "flaky m TestA"},
		{"fails later on base", "regressed", "m TestA", "ppf", "fff", "flaky m TestA"},
		{"fails again once, did not run once", "regressed", "m TestA", "ppp", "f-f", "regressed m TestA"},
		{"base did not run again", "regressed", "m TestA", "p--", "fff", "regressed m TestA"},
		{"does not turn up again", "regressed", "m TestA", "ppp", "f--", "unknown m TestA"},
		{"a package does not turn up again", "regressed", "m", "ppp", "f--", "unknown m"},
		{"a subtest does not turn up again", "regressed", "m TestA/x1", "ppp", "f--", "flaky m TestA/x1"},

		{"new, fails each time", "new", "m TestA", "---", "fff", "new m TestA"},
		{"new, passes later", "new", "m TestA", "---", "ffp", "flaky-new m TestA"},
		{"new, does not turn up again", "new", "m TestA", "---", "f--", "unknown m TestA"},
		{"new, with a made-up name", "new", "m TestA/x1", "---", "f--", "flaky m TestA/x1"},
		{"skipped on base at first, then failing there", "new", "m TestA", "-f-", "fff", "flaky m TestA"},
		{"new, fails at base's side passing: still new", "new", "m TestA", "-p-", "fff", "new m TestA"},

		{"fixed each time", "fixed", "m TestA", "fff", "ppp", "fixed m TestA"},
		{"passes later on base", "fixed", "m TestA", "fpf", "ppp", "flaky m TestA"},
		{"fails later on the head", "fixed", "m TestA", "fff", "pfp", "flaky m TestA"},
	} {
		t.Run(tt.from+": "+tt.what, func(t *testing.T) {
			t.Parallel()
			c := Comparison{}
			switch tt.from {
			case "regressed":
				c.Regressed = casesOf(tt.name)
			case "new":
				c.NewFailing = casesOf(tt.name)
			case "fixed":
				c.Fixed = casesOf(tt.name)
			}
			got := settleAll(c, history{Base: runsOf(tt.name, tt.base), Head: runsOf(tt.name, tt.head)})
			if show(got) != tt.want {
				t.Errorf("got %q, want %q", show(got), tt.want)
			}
		})
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
	got := settleAll(c, history{Base: []Suite{run("E1", Passed), run("E3", Passed)}, Head: []Suite{run("E2", Failed), run("E4", Failed), run("E4", Failed)}})
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

// TestPassedAlone holds that a test of a slow package, which is run again by
// itself, is run among the others before it is called flaky.
func TestPassedAlone(t *testing.T) {
	t.Parallel()
	slow := func(i ID) bool { return i.Package == "m" }
	ids := []ID{id("m TestA"), id("m TestB"), id("n TestA")}
	h := history{Head: []Suite{
		suiteOf("fail m TestA", "fail m TestB", "fail n TestA"),
		suiteOf("pass m TestA", "fail m TestB", "pass n TestA"),
		suiteOf("pass m TestA", "pass m TestB", "pass n TestA"),
	}}
	alone := passedAlone(ids, h, slow)
	if len(alone) != 1 || alone[0] != id("m TestA") {
		t.Fatalf("passed alone: %v", alone)
	}
	runs := replaceAlone(h[Head], alone, suiteOf("fail m TestA", "pass m TestB"))
	if seen(runs, id("m TestA"), Failed) != 2 || seen(runs, id("m TestA"), Passed) != 0 {
		t.Errorf("after it failed among the others: %v", runs)
	}
	if seen(runs, id("m TestB"), Passed) != 1 || seen(h[Head], id("m TestA"), Passed) != 2 {
		t.Errorf("other tests, or the given runs, were altered")
	}
}

// TestOnly holds that exactly the named tests are selected.
func TestOnly(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(only(map[string]bool{"TestA": true, "Test.B": true}))
	for name, want := range map[string]bool{"TestA": true, "Test.B": true, "TestXB": false, "TestAB": false, "XTestA": false} {
		if re.MatchString(name) != want {
			t.Errorf("%s matches %s: %v", re, name, !want)
		}
	}
}

// TestAgain holds which commands run tests again: whole packages, tests of slow
// ones by name, with each set of flags that the configuration has, and only
// what the side has.
func TestAgain(t *testing.T) {
	t.Parallel()
	suite := suiteOf("pass m", "pass n", "fail m TestA", "fail n TestB")
	suite.of("Go")
	p := suite[id("n")]
	p.Elapsed = slowPackage + time.Second
	suite[id("n")] = p
	r := &runner{
		Gate:   &Gate{},
		plan:   map[Side]*plan{Base: {}, Head: {test: []command{shellCommand(StageTest, "go test -short ./..."), shellCommand(StageTest, "go test -tags=x ./..."), shellCommand(StageTest, "make check")}}},
		suites: map[Side]Suite{Head: suite, Base: suiteOf("pass m")},
	}
	ids := []ID{id("m TestA"), id("m TestC"), id("n TestB"), id("o TestX"), id("make check:")}
	texts := func(cs []command) (out []string) {
		for _, c := range cs {
			out = append(out, string(c.stage)+": "+c.text)
		}
		return out
	}
	for _, tt := range []struct {
		side   Side
		narrow bool
		want   []string
	}{
		{Head, true, []string{
			"rerun: make check", "rerun: go test -json -short -count=1 m", "rerun: go test -json -tags=x -count=1 m",
			"rerun: go test -json -short -count=1 -run=^(TestB)$ n", "rerun: go test -json -tags=x -count=1 -run=^(TestB)$ n",
		}},
		{Head, false, []string{"rerun: make check", "rerun: go test -json -short -count=1 m n", "rerun: go test -json -tags=x -count=1 m n"}},
		{Base, true, nil},
	} {
		sameStrings(t, string(tt.side), texts(r.againCommands(tt.side, ids, tt.narrow)), tt.want)
	}
}
