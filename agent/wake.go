package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Wake makes the Wake of the agent with id parent: it waits until the tasks that
// it has in the background are over and returns those results that it has not
// read, all in one text. A task that a person stopped wakes no one.
func (r *Runner) Wake(parent string) func(context.Context) string {
	return func(ctx context.Context) string {
		var parts []string
		for _, rec := range slices.Backward(r.List()) { // the oldest first
			if rec.Parent != parent || !rec.Background {
				continue
			}
			if _, err := r.Wait(ctx, rec.ID); err != nil {
				return "" // the turn ends with ctx
			}
			rec, _ = r.Get(rec.ID)
			if r.seen(rec.ID) && !rec.CanceledByUser {
				parts = append(parts, rec.Describe(r.Now()))
			}
		}
		if len(parts) == 0 {
			return ""
		}
		return fmt.Sprintf(sayWake, strings.Join(parts, "\n\n"))
	}
}

// seen notes that a task's result was read, and reports whether that is new.
func (r *Runner) seen(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.tasks[id]
	if !ok || t.seen {
		return false
	}
	t.seen = true
	return true
}

// wake puts what work in the background came to into the history before a reply
// counts as final, and reports whether there was something. It may take one more
// question than the cap allows: without it, what was waited for would be lost.
func (t *turn) wake(ctx context.Context) (bool, error) {
	key := t.key(t.end.Iterations + 1)
	var text string
	known, err := t.recall(kindWake, key, &text)
	if err != nil {
		return false, err
	}
	if !known {
		if t.cfg.Wake == nil || t.journaled(kindModel, key) {
			return false, nil
		}
		text = t.cfg.Wake(ctx)
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if text == "" {
			return false, nil
		}
		if err := t.record(kindWake, key, text); err != nil {
			return false, err
		}
	}
	t.cap = max(t.cap, t.end.Iterations+1)
	return true, t.say("wake", text)
}
