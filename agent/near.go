package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A nearing is a limit that comes near, as the journal keeps it: what others use
// and what the clock says is not the same when a run is continued.
type nearing struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"`
}

// reportQuestions is how many questions a final report may take: one, and what its
// author needs to go on where the output limit cuts it.
const reportQuestions = 3

// reserve makes the next question one for the final report where little more
// than the reserve is left, and where the agent makes no progress. Where one answer
// used up all of a budget, the report is asked for all the same: without it, what
// the rest was paid for would be lost. The reserve of questions lies beyond the cap,
// so that no question is lost with which the work would have been done.
func (t *turn) reserve(ctx context.Context) error {
	if t.reporting != "" || t.planning || t.noCalls { // a question without tools is for a report already
		return nil
	}
	key := t.key(t.end.Iterations + 1)
	var n nearing
	known, err := t.recall(kindReport, key, &n)
	if err != nil {
		return err
	}
	if !known {
		if t.cfg.Reserve <= 0 || t.journaled(kindModel, key) {
			return nil
		}
		if ctx.Err() != nil {
			return nil // no time is left at all
		}
		if n = t.nears(ctx); n.Outcome == "" {
			return nil
		}
		if err := t.record(kindReport, key, n); err != nil {
			return err
		}
	}
	t.reporting, t.nearness = n.Outcome, n.Reason
	t.reportBy = t.end.Iterations + reportQuestions
	if t.cfg.Submit != "" {
		return t.say("reserve", fmt.Sprintf(sayHandIn, n.Reason, t.cfg.Submit))
	}
	t.noCalls = true
	say := fmt.Sprintf(sayReport, n.Reason)
	if t.parts != nil {
		t.parts = nil
		say += sayWhole
	}
	return t.say("reserve", say)
}

// nears says which limit is reached but for the reserve.
func (t *turn) nears(ctx context.Context) nearing {
	share := min(t.cfg.Reserve, 0.9)
	if t.stuck != "" {
		return nearing{NoProgress, t.stuck}
	}
	if t.end.Iterations >= t.cap {
		return nearing{IterCapped, fmt.Sprintf("it asked the model %d times, which is its cap", t.end.Iterations)}
	}
	if reason := t.cfg.Budget.near(share); reason != "" {
		return nearing{OverBudget, reason}
	}
	if t.outgrown() {
		return nearing{OverBudget, fmt.Sprintf("the model's window of %d tokens is nearly full", t.window.tokens)}
	}
	if most := t.cfg.OutputTokens; most > 0 && float64(t.end.Usage.Output) >= float64(most)*(1-share) {
		return nearing{OverBudget, fmt.Sprintf("the limit of %d output tokens is %s (%d)", most, usedUp(t.end.Usage.Output < most), t.end.Usage.Output)}
	}
	if left, bounded := t.workTime(ctx); bounded && left <= 0 {
		return nearing{TimedOut, "the time is " + usedUp(true)}
	}
	return nearing{}
}

// workTime is how long the agent may work until the time for its report begins.
func (t *turn) workTime(ctx context.Context) (left time.Duration, bounded bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	all := deadline.Sub(t.started)
	return deadline.Sub(t.cfg.Now()) - time.Duration(float64(all)*min(t.cfg.Reserve, 0.9)), true
}

// errWorkTime is the cause with which a tool or a question is stopped that would use the time
// for the report.
var errWorkTime = errors.New("the time for work is over, and what is left is for the report")

// askInTime asks the next question, and gives up waiting for the answer where the time for the
// report begins. Then late is true, and what came of the answer is dropped.
func (t *turn) askInTime(ctx context.Context) (resp *model.Response, late bool, err error) {
	if t.planning || t.noCalls { // it is one for a report already
		resp, err = t.ask(ctx)
		return resp, false, err
	}
	working, done := t.working(ctx)
	defer done()
	resp, err = t.ask(working)
	if err == nil || ctx.Err() != nil || t.fault != nil || errors.Is(err, errRecord) || !errors.Is(context.Cause(working), errWorkTime) {
		return resp, false, err
	}
	t.log().WarnContext(ctx, "an answer did not come before the time for the report", "agent", t.cfg.Name)
	return nil, true, t.send(Event{Type: transcript.ContentReset, N: t.end.Iterations + 1})
}

// working bounds a tool's context, and that of a question, by the time for work.
func (t *turn) working(ctx context.Context) (context.Context, context.CancelFunc) {
	left, bounded := t.workTime(ctx)
	if !bounded || t.cfg.Reserve <= 0 || t.reporting != "" {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, max(left, 0), errWorkTime)
}

// listen puts what people said into the history, and reports whether there was
// something. It is called once for each answer, so that the number of the next
// question names what was heard before it.
func (t *turn) listen() (bool, error) {
	key := t.key(t.end.Iterations + 1)
	var said []string
	known, err := t.recall(kindInbox, key, &said)
	if err != nil {
		return false, err
	}
	if !known {
		if t.cfg.Inbox == nil || t.journaled(kindModel, key) {
			return false, nil
		}
		if said = t.cfg.Inbox(); len(said) == 0 {
			return false, nil
		}
		if err := t.record(kindInbox, key, said); err != nil {
			return false, err
		}
	}
	return true, t.say("injected", fmt.Sprintf(sayInbox, strings.Join(said, "\n\n")))
}

// fellBack says that an agent does not get the model that it names.
func fellBack(wanted, used, why string) Event {
	return Event{Type: transcript.Fallback, Text: fmt.Sprintf("model %s -> %s", wanted, used), Reason: why}
}

// A Fallback says that another model is used than the one that was wanted.
type Fallback struct{ Wanted, Why string }

// args are the arguments of a call as its tool takes them.
func (t *turn) args(c model.Call) (json.RawMessage, error) {
	return Arguments(c.Args, t.tools[t.canonical(c.Name)].Schema)
}
