package publish

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
)

// TestRunning: while a long run works, the comment says so and links the job; the result
// takes its place, and an earlier result stays below it until then.
func TestRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	running := func(job int) string {
		t.Helper()
		if err := p.Running(t.Context(), b.target(job)); err != nil {
			t.Fatal(err)
		}
		if n := len(b.ours()); n != 1 {
			t.Fatalf("%d comments, want 1", n)
		}
		return b.ours()[0].Body
	}
	has(t, running(1), "## ⏳ ycbot: verifying · `"+b.head[:7]+"`", "[Watch the job]("+detailsURL+")")
	b.finish(p, b.target(1), b.failing(1), Ending{})
	hasNot(t, b.ours()[0].Body, "⏳", "Watch the job", runningOpen)
	has(t, b.ours()[0].Body, "ycbot: FAIL", "[Job]("+detailsURL+")")
	hasNot(t, b.ours()[0].Body, "SHA256SUMS")

	first := b.head
	b.push("fix0")
	for range 2 { // again changes nothing
		body := running(2)
		has(t, body, "⏳ Verifying `"+b.head[:7]+"`", "ycbot: FAIL")
		if n := strings.Count(body, "⏳"); n != 1 {
			t.Errorf("said %d times:\n%s", n, body)
		}
	}
	b.finish(p, b.target(2), b.passing(), Ending{})
	hasNot(t, b.ours()[0].Body, "⏳", runningOpen)
	has(t, b.ours()[0].Body, "ycbot: PASS", "Earlier: FAIL at "+first[:7])
}

// TestRunningCancelled: a workflow that is cancelled takes away what it announced.
func TestRunningCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	if err := p.Running(t.Context(), b.target(1)); err != nil {
		t.Fatal(err)
	}
	stopped := b.failing(0)
	stopped.Verdict, stopped.Outcome, stopped.Reasons = report.Error, report.Cancelled, nil
	b.finish(p, b.target(1), stopped, Ending{})
	hasNot(t, b.ours()[0].Body, "⏳", runningOpen)
	has(t, b.ours()[0].Body, "ycbot: stopped")
}

// TestEarlierSame: the same verdict of the same commit again is not named twice.
func TestEarlierSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for job := range 3 {
		b.finish(b.publisher(nil), b.target(job), b.passing(), Ending{})
	}
	hasNot(t, b.ours()[0].Body, "Earlier:")
}
