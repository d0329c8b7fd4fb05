package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A nearing is a limit that comes near, as the journal keeps it: what others use
// and what the clock says is not the same when a run is continued.
type nearing struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"`
}

// reserve makes the next question one for the final report where little more
// than the reserve is left. The reserve of questions is one beyond the cap, so
// that nobody loses one with which the work would have been done.
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
		if stop, _ := t.mustStop(ctx); stop != "" && stop != IterCapped {
			return nil // nothing is left at all
		}
		if n = t.nears(ctx); n.Outcome == "" {
			return nil
		}
		if err := t.record(kindReport, key, n); err != nil {
			return err
		}
	}
	t.reporting, t.nearness = n.Outcome, n.Reason
	t.extra = max(0, t.end.Iterations+1-t.cap)
	if t.cfg.Submit != "" {
		return t.say("reserve", fmt.Sprintf(sayHandIn, n.Reason, t.cfg.Submit))
	}
	t.noCalls = true
	return t.say("reserve", fmt.Sprintf(sayReport, n.Reason))
}

// nears says which limit is reached but for the reserve.
func (t *turn) nears(ctx context.Context) nearing {
	share := min(t.cfg.Reserve, 0.9)
	if t.end.Iterations >= t.cap {
		return nearing{IterCapped, fmt.Sprintf("it asked the model %d times, which is its cap", t.end.Iterations)}
	}
	if reason := t.cfg.Budget.near(share); reason != "" {
		return nearing{OverBudget, reason}
	}
	if most := t.cfg.OutputTokens; most > 0 && float64(t.end.Usage.Output) >= float64(most)*(1-share) {
		return nearing{OverBudget, fmt.Sprintf("the limit of %d output tokens is %s (%d)", most, usedUp(share), t.end.Usage.Output)}
	}
	if deadline, ok := ctx.Deadline(); ok {
		all, left := deadline.Sub(t.started), deadline.Sub(t.cfg.Now())
		if float64(left) <= float64(all)*share {
			return nearing{TimedOut, "the time is " + usedUp(share)}
		}
	}
	return nearing{}
}

// listen puts what people said into the history, and tells whether there was
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

// fellBack tells that an agent does not get the model that it names.
func fellBack(wanted, used, why string) Event {
	return Event{Type: transcript.Fallback, Text: fmt.Sprintf("model %s -> %s", wanted, used), Reason: why}
}

// A Fallback says that another model is used than the one that was wanted.
type Fallback struct{ Wanted, Why string }

// args are the arguments of a call as its tool takes them.
func (t *turn) args(c model.Call) ([]byte, error) {
	args, err := object(c.Args)
	if err != nil {
		return nil, err
	}
	tl, ok := t.tools[t.canonical(c.Name)]
	if !ok {
		return args, nil
	}
	return coerce(args, tl.Schema), nil
}
