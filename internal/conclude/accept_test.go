package conclude

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/report"
)

// goodFacts are the facts of a change in which all that PASS needs is there.
func goodFacts(policy compare.Policy, changed ...gate.Changed) gate.Facts {
	return gate.Facts{Policy: policy, Changed: changed, Builds: 1, Ran: 1, Passed: 1, AffectedRan: 1, AffectedPassed: 1, Runnable: true, Probes: 1, KeptRan: 1}
}

func concluded(f gate.Facts) *gate.Result {
	r := &gate.Result{Facts: f}
	r.Verdict, r.Reasons = gate.Decide(f)
	return r
}

// TestAccept: an acceptance lifts what a person can accept, of exactly the list that was
// accepted, and nothing that is known to be broken.
func TestAccept(t *testing.T) {
	t.Parallel()
	weakened := gate.Changed{Class: compare.Weakened, Count: 1}
	list := &report.Expectations{Weakened: []report.Expectation{{Test: "m TestA", Old: "3", New: "4"}}}
	bob := report.Acceptance{By: "bob"}
	for name, tt := range map[string]struct {
		facts    gate.Facts
		accepted []report.Acceptance
		before   gate.Verdict
		after    gate.Verdict
		counted  int
	}{
		"without one":         {goodFacts(compare.Acknowledge, weakened), nil, gate.Partial, gate.Partial, 0},
		"of this head":        {goodFacts(compare.Acknowledge, weakened), []report.Acceptance{bob}, gate.Partial, gate.Pass, 1},
		"of another list":     {goodFacts(compare.Acknowledge, weakened), []report.Acceptance{{By: "bob", Digest: "00"}}, gate.Partial, gate.Partial, 0},
		"under strict":        {goodFacts(compare.Strict, weakened), []report.Acceptance{bob}, gate.Fail, gate.Pass, 1},
		"beside a regression": {goodFacts(compare.Acknowledge, weakened, gate.Changed{Class: compare.Regressed, Count: 1}), []report.Acceptance{bob}, gate.Fail, gate.Fail, 1},
		"of a silenced one":   {goodFacts(compare.Strict, gate.Changed{Class: compare.Silenced, Count: 1}), []report.Acceptance{bob}, gate.Fail, gate.Fail, 0},
		"of a silent one":     {goodFacts(compare.Report, gate.Changed{Class: compare.Silent, Count: 1}), []report.Acceptance{bob}, gate.Partial, gate.Pass, 1},
		"of nothing":          {goodFacts(compare.Report, weakened), []report.Acceptance{bob}, gate.Pass, gate.Pass, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := concluded(tt.facts)
			if r.Verdict != tt.before {
				t.Fatalf("before: %s %q, want %s", r.Verdict, r.Reasons, tt.before)
			}
			got, counted := accept(r, list, tt.accepted)
			if got.Verdict != tt.after || len(counted) != tt.counted {
				t.Errorf("%s %q, %d counted; want %s, %d", got.Verdict, got.Reasons, len(counted), tt.after, tt.counted)
			}
			if r.Facts.Accepted {
				t.Error("the result itself was changed")
			}
			if len(counted) == 0 {
				return
			}
			if again, _ := accept(r, list, counted); again.Verdict != tt.after {
				t.Errorf("the same list on another head: %s, want %s", again.Verdict, tt.after)
			}
			other := &report.Expectations{Weakened: []report.Expectation{{Test: "m TestA", Old: "3", New: "5"}}}
			if again, n := accept(r, other, counted); again.Verdict != tt.before || len(n) != 0 {
				t.Errorf("another list: %s, %d counted", again.Verdict, len(n))
			}
		})
	}
}
