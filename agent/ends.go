package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/transcript"
)

// optional says whether a turn has an end without the answer that it waits for: a reply
// that was asked to be corrected, or a limit at which a report was asked for.
func (t *turn) optional() bool { return t.draft != "" || t.reporting != "" }

// without ends a turn without that answer.
func (t *turn) without() (End, error) {
	if t.draft == "" {
		return t.finish(t.reporting, t.nearness, nil)
	}
	t.end.Text = t.draft
	return t.finish(Completed, "", nil)
}

// broken ends a turn that ctx or err stopped in the middle. The history is valid
// already but for what the model had said of its answer.
func (t *turn) broken(ctx context.Context, said string, orphaned []string, err error) (End, error) {
	if h := *t.history; strings.TrimSpace(said) != "" && len(h) > 0 && h[len(h)-1].Role != model.Assistant {
		t.add(model.Message{Role: model.Assistant, Text: said})
		if t.last = strings.Join(append(t.parts, said), ""); t.draft != "" { // a reply stands until its correction is whole
			t.last = t.draft
		}
	}
	if ctx.Err() == nil || t.fault != nil || errors.Is(err, errRecord) {
		if t.fault != nil {
			err = t.fault
		}
		return t.finish(Errored, err.Error(), err)
	}
	outcome, reason := interruption(ctx)
	t.conclude(outcome, reason)
	e := Event{Type: transcript.TurnInterrupted, N: t.end.Iterations, Reason: reason, Orphaned: orphaned, Text: said, Done: t.done()}
	if err := t.send(e); err != nil {
		t.end.Outcome, t.end.Reason = Errored, err.Error()
		return t.end, err
	}
	return t.end, nil
}

// finish ends a turn between two questions.
func (t *turn) finish(outcome Outcome, reason string, err error) (End, error) {
	t.conclude(outcome, reason)
	var events []Event
	switch outcome {
	case IterCapped:
		events = append(events, Event{Type: transcript.IterCap, N: t.end.Iterations, Max: t.cap})
	case Errored:
		events = append(events, Event{Type: transcript.Failure, N: t.end.Iterations, Text: reason})
	}
	for _, e := range append(events, Event{Type: transcript.TurnDone, N: t.end.Iterations, Done: t.done(), Reason: reason}) {
		if sendErr := t.send(e); sendErr != nil && err == nil {
			t.end.Outcome, t.end.Reason, err = Errored, sendErr.Error(), sendErr
		}
	}
	return t.end, err
}

func (t *turn) conclude(outcome Outcome, reason string) {
	t.end.Outcome, t.end.Reason = outcome, reason
	if outcome != Completed && t.end.Text == "" {
		t.end.Text = t.last
	}
}
