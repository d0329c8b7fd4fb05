package publish

import (
	"testing"

	"github.com/ycbot/ycbot/internal/report"
)

// TestDecline: what is not verified completes the check all the same: skipped where the
// configuration excludes it, as a PARTIAL where a limit refuses it.
func TestDecline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		excluded, required bool
		want               string
	}{
		"excluded": {true, true, skipped}, "refused": {false, false, neutral}, "refused, required": {false, true, actionRequired},
	} {
		b := newBench(t)
		if tt.required {
			b.RequireByRule(calc, "main", CheckName)
		}
		p := b.publisher(nil)
		p.FailOn = failOnAuto
		for range 2 {
			if err := p.Decline(t.Context(), b.target(1), "Not verified: the pull request is a `draft`. Ask.", tt.excluded); err != nil {
				t.Fatal(err)
			}
		}
		runs := b.checksOf(b.head)
		if len(runs) != 1 || runs[0].Conclusion != tt.want || runs[0].Output.Title != "Not verified: the pull request is a draft" || len(b.ours()) != 0 {
			t.Errorf("%s: %+v", name, runs)
		}
	}
}

// TestDeclineHidesNothing: a FAIL, and a run that is under way, stay the newest check
// run of their commit; a skipped one gives way to the run that follows.
func TestDeclineHidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	decline := func(job int) {
		t.Helper()
		if err := b.publisher(nil).Decline(t.Context(), b.target(job), "Not verified: a draft.", true); err != nil {
			t.Fatal(err)
		}
	}
	decline(1)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	decline(2)
	if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Status != inProgress {
		t.Fatalf("while it runs: %+v", runs)
	}
	b.finish(p, b.target(1), b.failing(0), Ending{})
	decline(1)
	decline(2)
	if runs := b.checksOf(b.head); len(runs) != 1 || runs[0].Conclusion != failure {
		t.Errorf("after a FAIL: %+v", runs)
	}
}

// TestRunAgain: the check of work that is done again is in progress meanwhile.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		p := b.publisher(memory{})
		b.begin(p, b.target(1))
		if run := b.checksOf(b.head)[0]; run.Status != inProgress || run.Conclusion != "" || run.Output.Title != "verifying" {
			t.Errorf("%s %s %q", run.Status, run.Conclusion, run.Output.Title)
		}
		b.finish(p, b.target(1), b.passing(), Ending{})
		b.one(b.head)
	}
}

// TestCancelledSaysNothingNew: a workflow that each push cancels leaves no comment and
// does not touch what an earlier run said; what it showed itself so far is ended.
func TestCancelledSaysNothingNew(t *testing.T) {
	t.Parallel()
	stopped := func(b *bench) *report.Report {
		r := b.failing(0)
		r.Verdict, r.Outcome = report.Error, report.Cancelled
		return r
	}
	b := newBench(t)
	p := b.publisher(nil)
	b.begin(p, b.target(1))
	b.finish(p, b.target(1), stopped(b), Ending{})
	if n := len(b.ours()); n != 0 || b.checksOf(b.head)[0].Conclusion != cancelled {
		t.Errorf("%d comments, %+v", n, b.checksOf(b.head))
	}
	hasNot(t, b.checksOf(b.head)[0].Output.Text, "ycbot: ERROR")
	b.finish(b.publisher(nil), b.target(2), b.passing(), Ending{})
	before := b.ours()[0].Body
	b.finish(b.publisher(nil), b.target(3), stopped(b), Ending{})
	if got := b.ours()[0].Body; got != before {
		t.Errorf("edited: %s", got)
	}
	p = b.publisher(nil)
	b.begin(p, b.target(4))
	so := b.passing()
	so.Interim = true
	if err := p.First(t.Context(), b.target(4), so); err != nil {
		t.Fatal(err)
	}
	b.finish(p, b.target(4), stopped(b), Ending{})
	has(t, b.ours()[0].Body, "ycbot: stopped", "**Stopped**")
}
