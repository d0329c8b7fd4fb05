package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
)

// A breaker is a circuit breaker: it knows what is not asked any more in this run,
// since no question to it will ever be answered: an account whose key is refused or
// that has nothing left, or a model that is not there. A run that is continued tries
// again.
type breaker struct {
	mu    sync.Mutex
	why   map[string]error
	notes []string
}

// Whose questions an error ends: those with the same key, or those to one model.
func accountKey(account string) string     { return account + "\n" }
func modelKey(account, name string) string { return account + "\n" + name }

// open returns why a model is not asked; nil: it is.
func (b *breaker) open(account, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range []string{accountKey(account), modelKey(account, name)} {
		if err := b.why[key]; err != nil {
			return fmt.Errorf("%w: %w", model.ErrUnasked, err)
		}
	}
	return nil
}

// note takes up an error that the next question would meet as well. It returns what
// people read of it, once.
func (b *breaker) note(account, name string, err error) string {
	var key, text string
	switch {
	case errors.Is(err, model.ErrAuth), errors.Is(err, model.ErrQuota):
		key, text = accountKey(account), "no model is asked with this key any more"
	case errors.Is(err, model.ErrModel):
		key, text = modelKey(account, name), "model "+name+" is not asked any more"
	default:
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why[key] != nil {
		return ""
	}
	if b.why == nil {
		b.why = map[string]error{}
	}
	b.why[key] = err
	text += ": " + err.Error()
	b.notes = append(b.notes, text)
	return text
}

// all are the notes so far.
func (b *breaker) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.notes...)
}

// A guarded model keeps questions away from where one was refused for good, so that
// the agents that are left end as well, without waiting or paying for what cannot come.
type guarded struct {
	model.Model
	w       *work
	account string // whose key it is asked with; empty: the run's own
}

func (g *guarded) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if err := g.w.breaker.open(g.account, g.Name()); err != nil && !g.w.playback {
		return nil, errors.Join(err, g.record(ctx, req, err))
	}
	resp, err := g.Model.Generate(ctx, req, on)
	if err == nil || errors.Is(err, model.ErrUnasked) { // in a record
		return resp, err
	}
	if text := g.w.breaker.note(g.account, g.Name(), err); text != "" {
		g.w.agents.note(agent.Event{Type: agent.EventNote, Text: text})
	}
	return resp, err
}

// record records a question that was not asked, so that the run goes the same way
// when it is replayed.
func (g *guarded) record(ctx context.Context, req *model.Request, why error) error {
	return g.w.agents.exchanges.record(ctx, model.Exchange{
		Time: g.w.now().UTC(), Agent: req.Agent, ID: req.ID, Model: g.Name(), N: model.Answers(req.Messages) + 1, Attempt: 1, Error: why.Error(), Unasked: true,
	})
}

// guard has a model obey the circuit breaker.
func (w *work) guard(m model.Model, account string) model.Model {
	return &guarded{Model: m, w: w, account: account}
}
