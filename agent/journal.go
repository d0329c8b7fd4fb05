package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ycbot/ycbot/internal/model"
)

// The kinds of journal entries that this package writes, with their keys. They
// are stored: do not change them. <id> is the agent's, n the number of the
// model's answer from 1, i the position of a call in it from 0.
const (
	kindTurn   = "turn"   // <id>: system prompt and history that the turn began with
	kindModel  = "model"  // <id>/<n>: the answer, as it went into the history
	kindPrune  = "prune"  // <id>/<n>, and <id>/<n>+<times> where that was not enough: the history was shortened before this question
	kindInbox  = "inbox"  // <id>/<n>: what was put in before this question
	kindWake   = "wake"   // <id>/<n>: what work in the background came to, put in before this question
	kindReport = "report" // <id>/<n>: the final report was asked for with this question, and why
	kindTool   = "tool"   // <id>/<n>.<i>: the answer to a call. A call without one is made again

	kindTask     = "subagent"      // <id>: what the subagent was started with
	kindTaskDone = "subagent_done" // <id>: its Result. A cancelled or broken-off one has none
)

// errRecord marks errors of the journal itself, which end a turn even while it is being cancelled.
var errRecord = errors.New("journal")

// An opening is what a turn began with.
type opening struct {
	System   string          `json:"system"`
	Messages []model.Message `json:"messages"`
}

// open takes the opening from the journal, or puts it there.
func (t *turn) open() error {
	o := opening{System: t.cfg.System, Messages: *t.history}
	ok, err := t.recall(kindTurn, t.cfg.ID, &o)
	if err != nil {
		return err
	}
	t.system, *t.history = o.System, append([]model.Message(nil), o.Messages...)
	if ok {
		return nil
	}
	return t.recordSoon(kindTurn, t.cfg.ID, o) // a paid answer to it brings it to disk
}

func (t *turn) key(n int) string { return fmt.Sprintf("%s/%d", t.cfg.ID, n) }

// pruneKey is that of the history that was shortened so many times before the n-th question.
func (t *turn) pruneKey(n, times int) string {
	if times == 0 {
		return t.key(n)
	}
	return fmt.Sprintf("%s+%d", t.key(n), times)
}

func (t *turn) callKey(i int) string { return fmt.Sprintf("%s/%d.%d", t.cfg.ID, t.end.Iterations, i) }

func (t *turn) journaled(kind, key string) bool {
	if t.cfg.Journal == nil {
		return false
	}
	_, ok := t.cfg.Journal.Lookup(kind, key)
	return ok
}

func (t *turn) recall(kind, key string, v any) (bool, error) {
	if t.cfg.Journal == nil {
		return false, nil
	}
	raw, ok := t.cfg.Journal.Lookup(kind, key)
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("%w %s %s: %w", errRecord, kind, key, err)
	}
	return true, nil
}

// recordSoon is record for what comes to disk with the next that must be there.
func (t *turn) recordSoon(kind, key string, v any) error {
	if t.cfg.Journal == nil {
		return nil
	}
	if err := t.cfg.Journal.AppendSoon(kind, key, v); err != nil {
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	return nil
}

func (t *turn) record(kind, key string, v any) error {
	if t.cfg.Journal == nil {
		return nil
	}
	if err := t.cfg.Journal.Append(kind, key, v); err != nil {
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	return nil
}
