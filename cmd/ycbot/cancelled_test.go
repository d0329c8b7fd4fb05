package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/report"
)

// The reason of a run that was stopped before its directory was there is the signal, and not
// what failed for it.
func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&signaled{os.Interrupt})
	p := program{env: []string{"USER=ann"}, now: time.Now}
	rep := p.unverified(ctx, fmt.Errorf("checkout: import: %w", context.Canceled))
	const want = "cancelled before there was a verdict: received an interrupt (Ctrl-C)"
	if rep.Outcome != report.Cancelled || len(rep.Reasons) != 1 || rep.Reasons[0] != want {
		t.Errorf("got %s %q, want %q", rep.Outcome, rep.Reasons, want)
	}
}
