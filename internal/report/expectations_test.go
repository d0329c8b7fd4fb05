package report

import (
	"strings"
	"testing"
)

// TestExpectations: each class has its list, and the list its name.
func TestExpectations(t *testing.T) {
	t.Parallel()
	var e Expectations
	e.Held = 40
	lists := e.lists()
	if len(lists) != len(e.classes()) {
		t.Fatalf("%d lists, %d classes", len(lists), len(e.classes()))
	}
	for _, c := range e.classes() {
		if err := e.Add(c.name, Expectation{Test: c.name}); err != nil {
			t.Error(err)
		}
	}
	if err := e.Add("forgotten", Expectation{}); err == nil {
		t.Error("an unknown class is taken")
	}
	if got, want := e.line(), "40 of 51 old expectations hold"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (&Expectations{Held: 1}).line(), "1 of 1 old expectation holds"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExpectationsDigest: what was given up makes the digest, and neither its order nor
// its lines.
func TestExpectationsDigest(t *testing.T) {
	t.Parallel()
	a := Expectation{Test: "a", Path: "a_test.go", Line: 3, Old: "1", New: "2"}
	b := Expectation{Test: "b", Path: "b_test.go", Line: 9}
	moved := a
	moved.Line, moved.Evidence = 30, []string{"E1"}
	one := (&Expectations{Held: 1, Weakened: []Expectation{a, b}}).Digest()
	if two := (&Expectations{Held: 7, Weakened: []Expectation{b, moved}}).Digest(); two != one {
		t.Error("the same list has another digest")
	}
	other := a
	other.New = "3"
	for name, e := range map[string]*Expectations{
		"a test less": {Weakened: []Expectation{a}}, "another class": {Weakened: []Expectation{a}, Dropped: []Expectation{b}},
		"another text": {Weakened: []Expectation{other, b}},
	} {
		if e.Digest() == one {
			t.Errorf("%s: the same digest", name)
		}
	}
	if (*Expectations)(nil).Digest() != "" {
		t.Error("no expectations have a digest")
	}
}

// TestTitle: the gravest remark comes first, and a first verdict says what has not run.
func TestTitle(t *testing.T) {
	t.Parallel()
	r := minimal()
	r.Phase = PhaseFirst
	if got, want := r.MakeTitle(), "PASS (probes not run)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, first := range []string{r.Text(TextOptions{}), r.Markdown(), r.Headline(300)} {
		if !strings.Contains(first, " (probes not run)") {
			t.Errorf("probes are not said to be left out: %s", first)
		}
	}
	r.Phase, r.Unprobed = PhaseEnd, true
	if got := r.MakeTitle(); got != "PASS (probes not run)" || !strings.Contains(r.Headline(300), NotProbed) {
		t.Errorf("%q, %q", got, r.Headline(300))
	}
	r.Verdict = Partial
	if got := r.MakeTitle(); got != "PARTIAL" {
		t.Errorf("%q", got)
	}
	r.Verdict, r.Unprobed = Pass, false
	r.Accepted = []Acceptance{{By: "bob"}}
	r.Expectations = &Expectations{Held: 3, Weakened: []Expectation{{}}, Data: []Expectation{{}}}
	if got, want := r.MakeTitle(), "PASS · accepted by bob · 1 weakened · 1 has other data · 3 of 5 old expectations hold"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Believed.Suites = []string{"go test ./..."}
	if got := r.MakeTitle(); !strings.Contains(got, "1 test suite not believed") {
		t.Errorf("%q", got)
	}
}

// TestTitleOfLines holds what a title says of which changed lines ran.
func TestTitleOfLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		x    *Executed
		v    Verdict
		want string
	}{
		{nil, Pass, "PASS"},
		{&Executed{Lines: 3, Ran: 2}, Pass, "PASS"},
		{&Executed{Lines: 3}, Pass, "PASS · no test runs a changed line"},
		{&Executed{Lines: 3}, Partial, "PARTIAL"},
		{&Executed{}, Pass, "PASS"}, // nothing that can run
		{&Executed{Lines: 3, Ran: 1, OwnOnly: true}, Pass, "PASS · only its own tests run the changed lines"},
		{&Executed{Lines: 3, Ran: 1, OwnOnly: true}, Partial, "PARTIAL · only its own tests run the changed lines"},
	} {
		r := &Report{Verdict: tt.v, Executed: tt.x, Believed: Belief{OK: true}}
		if got := r.MakeTitle(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.x, got, tt.want)
		}
	}
}

// TestFindingOfExpectation: what an old expectation shows is not shown once more as a
// finding, and what its test says is not lost.
func TestFindingOfExpectation(t *testing.T) {
	t.Parallel()
	x := Expectation{Test: "m TestDouble", Path: "a_test.go", Line: 7, Old: "Double(2) == 4", New: "Double(2) != 0"}
	r := minimal()
	r.Expectations = &Expectations{Held: 1, Weakened: []Expectation{x}}
	r.Findings = []Finding{
		{Severity: SeverityWarning, Title: x.Test + " is weakened", Path: x.Path, Line: x.Line, Detail: x.hunk() + "\ngot 6, want 4"},
		{Severity: SeverityWarning, Title: x.Test + " says something else", Path: "b_test.go", Line: x.Line, Detail: "of another file"},
		{Severity: SeverityWarning, Title: x.Test + " also passes", Path: x.Path, Line: x.Line, Evidence: []string{"E7"}, Detail: x.hunk() + "\nof another run"},
	}
	for _, page := range []string{r.Text(TextOptions{}), r.Markdown()} {
		for text, times := range map[string]int{"-Double(2) == 4": 2, "got 6, want 4": 1, "of another file": 1, "of another run": 1, "Findings (2)": 1} {
			if n := strings.Count(page, text); n != times {
				t.Errorf("%q stands %d times:\n%s", text, n, page)
			}
		}
	}
}
