package conclude

import (
	"errors"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/report"
)

// A run that its time limit ended says so once, in its own words, and keeps what the
// gate has against the change besides.
func TestIncompleteIsSaidOnce(t *testing.T) {
	t.Parallel()
	facts := goodFacts(compare.Strict, gate.Changed{Class: compare.Regressed, Count: 1})
	facts.Incomplete = "the gate's own words"
	result := concluded(facts)
	result.Steps = []gate.Step{{Stage: gate.StageTest, Side: gate.Head, Evidence: "E1"}}
	if len(result.Reasons) < 2 {
		t.Fatalf("reasons %q", result.Reasons)
	}
	header := &report.Report{Notes: []string{"kept"}}
	rep := Report(Input{Header: header, Outcome: report.TimedOut, Gate: result, Cause: errors.New("20m are over")})
	if slices.ContainsFunc(rep.Reasons, func(r string) bool { return r == "not finished: the gate's own words" }) ||
		rep.Reasons[len(rep.Reasons)-1] != "not finished: 20m are over" || len(rep.Reasons) != len(result.Reasons) {
		t.Errorf("reasons %q of %q", rep.Reasons, result.Reasons)
	}
	if len(header.Notes) != 1 || header.Verdict != "" {
		t.Errorf("the header was changed: %+v", header)
	}
}
