package report

import (
	"strings"
	"testing"
)

// TestHeadline: the first line of a PASS names what is left to a person, and says that
// nothing regressed only where nothing is.
func TestHeadline(t *testing.T) {
	t.Parallel()
	given := &Expectations{Held: 3, Dropped: []Expectation{{Test: "a"}}}
	differs := []Difference{{Function: "f", Evidence: []string{"E7"}}}
	for _, tt := range []struct {
		r    Report
		want string
	}{
		{Report{}, "3 tests pass and nothing regressed"},
		{Report{Expectations: &Expectations{Held: 4}}, "3 tests pass and nothing regressed"},
		{Report{Expectations: given}, "1 of 4 old expectations dropped; 3 tests pass"},
		{Report{Behaviour: differs}, "1 function behaves differently; 3 tests pass"},
		{Report{Expectations: given, Behaviour: differs}, "1 function behaves differently, 1 of 4 old expectations dropped; 3 tests pass"},
		{Report{Behaviour: []Difference{{Function: "f", Expected: true}}}, "3 tests pass and nothing regressed"},
		{Report{Executed: &Executed{Lines: 2}}, "no test runs a changed line; 3 tests pass and nothing regressed"},
		{Report{Findings: []Finding{{Severity: SeverityWarning, Title: "the change adds code that prints", Mark: true}, {Severity: SeverityInfo, Title: "a test is long"}}}, "1 finding to look at; 3 tests pass and nothing regressed"},
		{Report{Findings: []Finding{{Severity: SeverityWarning, Title: "no test notices this change: 1 → 2"}}}, "3 tests pass and nothing regressed"},
		{Report{Executed: &Executed{Lines: 2, Ran: 2}}, "3 tests pass and nothing regressed"},
	} {
		tt.r.Verdict, tt.r.Changes, tt.r.Tests = Pass, Changes{Files: 1}, &Tests{HeadPassed: 3}
		if got, _ := tt.r.why(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestReserved: a check that passed and leaves something to a person is none of those that
// passed.
func TestReserved(t *testing.T) {
	t.Parallel()
	r := Report{
		Verdict: Pass, Expectations: &Expectations{Held: 3, Dropped: []Expectation{{Test: "a"}}},
		Behaviour: []Difference{{Function: "f", Evidence: []string{"E7"}}},
		Checks: []Check{
			{Kind: KindBuild, Result: ResultPass},
			{Kind: KindKept, Result: ResultPass},
			{Kind: KindBehaviour, Title: TitleFunctions, Result: ResultPass},
			{Kind: KindBehaviour, Title: TitleCommandLines, Result: ResultPass}, // which behave the same
			{Kind: KindLint, Result: ResultFail, Reproduction: Introduced},
		},
	}
	r.Checks = append(r.Checks, Check{Kind: KindProbe, Title: "probe: repeated", Result: ResultPass, Actual: "nothing failed", Support: Supported})
	if text := r.Text(TextOptions{}); !strings.Contains(text, "probe · nothing failed") || !strings.Contains(text, "NOTE  "+TitleFunctions) || !strings.Contains(text, "PASS  "+TitleCommandLines) {
		t.Error(text)
	}
	r.Checks = r.Checks[:len(r.Checks)-1]
	if got, want := r.tally().String(), "5 checks: 2 passed, 0 failed, 3 for information"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAcceptance: what can only be accepted is not to be fixed, and a run on one's own machine
// says where it is accepted.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	given := &Expectations{Policy: "strict", Held: 3, Dropped: []Expectation{{Test: "a"}}}
	listed := &Expectations{Policy: "report", Held: 3, Dropped: []Expectation{{Test: "a"}}}
	silent := &Expectations{Policy: "report", Held: 3, Silent: []Expectation{{Test: "a"}}}
	kept := []Check{{Kind: KindKept, Result: ResultFail, Reproduction: Introduced, Support: Supported}}
	const meant = "- **Is what the change gives up intended?** "
	for _, tt := range []struct {
		r     Report
		cs    []Check
		first string
	}{
		{Report{Verdict: Fail, Expectations: given}, kept, meant + "On its pull request "},
		{Report{Verdict: Partial, Expectations: given}, nil, meant + "On its pull request "},
		{Report{Verdict: Partial, Expectations: given, PR: 7, HeadSHA: strings.Repeat("a", 40)}, nil, meant + "Someone with write permission can comment `/verify accept "},
		{Report{Verdict: Partial, Expectations: silent}, nil, meant},
		{Report{Verdict: Partial, Expectations: listed}, nil, ""},
		{Report{Verdict: Fail, Expectations: listed}, nil, ""},
		{Report{Verdict: Fail, Expectations: given}, append(kept, Check{Kind: KindBuild, Result: ResultFail, Reproduction: Introduced, Support: Supported}), "- **Fix it.**"},
		{Report{Verdict: Fail, Expectations: &Expectations{Policy: "strict", Held: 3, Regressed: []Expectation{{Test: "a"}}}}, kept, "- **Fix it.**"},
	} {
		ls := tt.r.todo(tt.cs)
		if first := strings.Join(ls, "\n"); !strings.HasPrefix(first, tt.first) || tt.first == "" && first != "" {
			t.Errorf("%q, want %q", first, tt.first)
		}
	}
}
