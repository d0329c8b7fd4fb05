package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestMany: what fails is counted by the tests that fail, not by the first of them that have
// checks.
func TestMany(t *testing.T) {
	t.Parallel()
	r := &Report{Verdict: Fail, Outcome: Completed, Reasons: []string{"200 tests pass on base and fail with the change"}, Tests: &Tests{}}
	r.Checks = []Check{{Title: "test: go test", Kind: KindTest, Result: ResultFail, Reproduction: NotRun, Support: Supported, Actual: "200 regressed"}}
	for i := range 200 {
		name := fmt.Sprint("case ", i)
		r.Tests.Regressed = append(r.Tests.Regressed, name)
		if i < 50 {
			r.Checks = append(r.Checks, Check{Title: name + ": regressed", Test: name, Kind: KindTest, Result: ResultFail, Reproduction: Introduced, Support: Supported})
		}
	}
	const headline = "case 0 passes without this change and fails with it, and so do 199 more"
	if got, rest := r.why(); got != headline || len(rest) != 0 {
		t.Errorf("%q, and %q", got, rest)
	}
	md := r.Markdown()
	for _, want := range []string{headline, "❌ fails |\n\n… and 190 more", "What failed (200)"} {
		if !strings.Contains(md, want) {
			t.Errorf("markdown: no %q in\n%s", want, md)
		}
	}
	if text := r.Text(TextOptions{Width: 100}); !strings.Contains(text, "Failed (200, and 1 check that shows the same)") || !strings.Contains(text, "  … and 175 more") {
		t.Error(text)
	}
	// Those that are new count like those that regressed.
	r.Tests.Regressed, r.Tests.NewFailing = nil, r.Tests.Regressed
	if n := r.unlisted(); n != 150 {
		t.Errorf("%d new tests that fail have no check, want 150", n)
	}
}

// TestBlamed: what says the same as a test with a check of its own is not shown beside it.
func TestBlamed(t *testing.T) {
	t.Parallel()
	check := func(title, test string, kind Kind, reproduction Reproduction) Check {
		return Check{Title: title, Test: test, Kind: kind, Result: ResultFail, Reproduction: reproduction, Support: Supported}
	}
	suite, plain := check("suite", "", KindTest, NotRun), check("plain", "", KindTest, Introduced)
	one, kept := check("one", "one", KindTest, Introduced), check("kept", "", KindKept, Introduced)
	build, pkg := check("build", "", KindBuild, Introduced), check("package", "package", KindTest, NotRun)
	for _, tt := range []struct {
		checks []Check
		want   string
	}{
		{[]Check{suite, one, kept}, "one"},
		{[]Check{suite}, "suite"},
		{[]Check{plain, one}, "plain one"}, // no test with a check is a part of it
		{[]Check{build, suite, pkg}, "build"},
		{[]Check{plain, kept}, "plain kept"},
	} {
		var got []string
		for _, c := range (&Report{Verdict: Fail, Checks: tt.checks}).blamed() {
			got = append(got, c.Title)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	// A test that only contains the one that failed is left out, unless it is all that there is.
	within := check("one/b", "one/b", KindTest, Introduced)
	for _, tt := range []struct {
		leaf string
		want int
	}{{"one/b", 1}, {"another", 2}} {
		if got := (&Report{Verdict: Fail, Tests: &Tests{Regressed: []string{tt.leaf}}, Checks: []Check{one, within, build}}).blamed(); len(got) != tt.want+1 {
			t.Errorf("where %s regressed: %+v", tt.leaf, got)
		}
	}
}

// TestSides: a test that a side does not have passes no times there.
func TestSides(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base          string
		reproduction  Reproduction
		without, with string
	}{
		{"0/0", HeadOnly, "does not run", "❌ fails 5 of 5"},
		{"0/5", Introduced, "✅ passes 5 of 5", "❌ fails 5 of 5"},
		{"1/5", Introduced, "⚠ fails 1 of 5", "❌ fails 5 of 5"},
		{"", Introduced, "✅ passes", "❌ fails 5 of 5"},
	} {
		r := Report{Statistics: []Statistic{{Test: "a", Head: "5/5", Base: tt.base}}}
		if without, with := r.sides(Check{Test: "a", Reproduction: tt.reproduction}); without != tt.without || with != tt.with {
			t.Errorf("base %q: %q and %q, want %q and %q", tt.base, without, with, tt.without, tt.with)
		}
	}
}

// TestIntended: only where a test failed does a change of tests say that the change means it.
func TestIntended(t *testing.T) {
	t.Parallel()
	blames := func(kinds ...Kind) (out []Check) {
		for _, k := range kinds {
			out = append(out, Check{Kind: k, Result: ResultFail, Reproduction: Introduced})
		}
		return out
	}
	for _, tt := range []struct {
		cs   []Check
		want string
	}{
		{blames(KindBuild), ""},
		{blames(KindBuild, KindTest), "Change the test"},
		{blames(KindTest, KindAgent), "Change the test"},
		{blames(KindAgent), "No test of the project says so"},
		{blames(KindBuild, KindAgent), "No test of the project says so"},
		{append(blames(KindAgent), Check{Kind: KindTest, Result: ResultFail, Reproduction: PreExisting}), "No test of the project says so"}, // that test says nothing of the change
	} {
		if got := intended(tt.cs); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v: %q, want %q", tt.cs, got, tt.want)
		}
	}
}

// TestSeen: an agent's check is seen to fail with what the agent had around it.
func TestSeen(t *testing.T) {
	t.Parallel()
	const rerun = "With all that the agent had: `ycbot rerun DIR --check C3`, where DIR is the directory of this run."
	for _, tt := range []struct {
		c    Check
		want string
	}{
		{Check{Kind: KindTest, ID: "C3", Command: "go test"}, "To see it fail: `go test`"},
		{Check{Kind: KindTest, ID: "C3"}, "How it was run stands below."},
		{Check{Kind: KindAgent, ID: "C3", Command: "sh a.sh"}, "To see it fail: `sh a.sh`. " + rerun},
		{Check{Kind: KindAgent, ID: "C3", Command: "a\nb"}, "How it was run stands below. " + rerun},
		{
			Check{Kind: KindAgent, ID: "C3", Before: "export PORT=1\nnode app.js &", Command: "curl :$PORT"},
			"To see it fail:\n\n  ```sh\n  export PORT=1\n  node app.js &\n  curl :$PORT\n  ```\n\n  " + rerun,
		},
		{Check{Kind: KindAgent, ID: "C3", Before: strings.Repeat("x\n", mdSteps), Command: "y"}, "How it was run stands below. " + rerun},
		{Check{Kind: KindAgent, ID: "C3", Before: strings.Repeat("x", mdStepRunes), Command: "y"}, "How it was run stands below. " + rerun},
		{Check{Kind: KindAgent, Command: "sh a.sh"}, "To see it fail: `sh a.sh`"}, // nothing to name it by
	} {
		if got := tt.c.mdSeen(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	c := Check{Kind: KindAgent, ID: "C3", Title: "t", Result: ResultFail, Reproduction: Introduced, Support: Supported, Before: "node app.js &", Command: "curl"}
	r := &Report{Schema: Schema, Verdict: Fail, Outcome: Completed, Phase: PhaseEnd, Trigger: "cli", Trust: "local", Checks: []Check{c}}
	sarif, err := r.SARIF()
	junit, err2 := r.JUnit()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for name, text := range map[string]string{"SARIF": string(sarif), "JUnit": string(junit), "text": r.Text(TextOptions{})} {
		if !strings.Contains(text, "node app.js &") {
			t.Errorf("%s does not say how the server is started:\n%s", name, text)
		}
	}
	// Among what to do, and with the check itself.
	if md := r.Markdown(); strings.Count(md, "node app.js &") != 2 {
		t.Errorf("markdown does not say with the check how the server is started:\n%s", md)
	}
}
