package orchestrator

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/agent"
)

// helpersShare is the share of what is left, of money, tokens and time, that all who
// look around before the verification may use together. The rest is the verification's.
const helpersShare = 1.0 / 3

// A share is what the helpers of a run may use together.
type share struct {
	budget *agent.Budget
	until  time.Time // zero: no limit
}

// beginShare divides what is left when the agents begin.
func (w *work) beginShare(ctx context.Context) {
	w.helpers.budget = w.runner.Budget.Share(helpersShare)
	if deadline, ok := ctx.Deadline(); ok {
		now := w.now()
		w.helpers.until = now.Add(time.Duration(float64(deadline.Sub(now)) * helpersShare))
	}
}

// shareOf is the Share of the runner: helpers that work before the verification have
// their part, the verification and who works after it have all that is left.
func (w *work) shareOf(spec agent.Spec) (*agent.Budget, time.Duration) {
	if spec.Name == Verification || spec.Name == refuterAgent || w.helpers.budget == nil {
		return w.runner.Budget, 0
	}
	if w.helpers.until.IsZero() {
		return w.helpers.budget, 0
	}
	return w.helpers.budget, max(w.helpers.until.Sub(w.now()), time.Second)
}
