package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
)

// givenUp is what is not asked any more in this run, since no question to it will
// ever be answered: an account whose key is refused or that has nothing left, or a
// model that is not there. A run that is continued tries again.
type givenUp struct {
	mu    sync.Mutex
	why   map[string]error
	notes []string
}

// Whose questions an error ends: those with the same key, or those to one model.
func accountKey(account string) string     { return account + "\n" }
func modelKey(account, name string) string { return account + "\n" + name }

// notAsked begins the error of a question that was not asked.
const notAsked = "not asked any more: "

// told returns why a model is not asked.
func (g *givenUp) told(account, name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range []string{accountKey(account), modelKey(account, name)} {
		if err := g.why[key]; err != nil {
			return fmt.Errorf(notAsked+"%w", err)
		}
	}
	return nil
}

// note takes up an error that the next question would meet as well. It returns what
// people are told, once.
func (g *givenUp) note(account, name string, err error) string {
	var key, text string
	switch {
	case errors.Is(err, model.ErrAuth), errors.Is(err, model.ErrQuota):
		key, text = accountKey(account), "no model is asked with this key any more"
	case errors.Is(err, model.ErrModel):
		key, text = modelKey(account, name), "model "+name+" is not asked any more"
	default:
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why[key] != nil {
		return ""
	}
	if g.why == nil {
		g.why = map[string]error{}
	}
	g.why[key] = err
	text += ": " + err.Error()
	g.notes = append(g.notes, text)
	return text
}

// all are the notes so far.
func (g *givenUp) all() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.notes...)
}

// watched keeps questions away from where one was refused for good, so that the
// agents that are left end as well, and nobody waits or pays for what cannot come.
type watched struct {
	model.Model
	s       *session
	account string // whose key it is asked with; empty: the run's own
	driven  bool   // by a record, which has the questions that were not asked as well
}

func (w *watched) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if err := w.s.givenUp.told(w.account, w.Name()); err != nil && !w.driven {
		return nil, errors.Join(err, w.unasked(ctx, req, err))
	}
	resp, err := w.Model.Generate(ctx, req, on)
	if err == nil || strings.HasPrefix(err.Error(), notAsked) {
		return resp, err
	}
	if text := w.s.givenUp.note(w.account, w.Name(), err); text != "" {
		w.s.tell(agent.Event{Type: agent.EventNote, Text: text})
	}
	return resp, err
}

// unasked records a question that was not asked, so that the run goes the same way
// when it is driven again.
func (w *watched) unasked(ctx context.Context, req *model.Request, why error) error {
	return w.s.exchanges.record(ctx, model.Exchange{
		Time: w.s.Now().UTC(), Agent: req.Agent, ID: req.ID, Model: w.Name(), N: model.Answers(req.Messages) + 1, Attempt: 1, Error: why.Error(),
	})
}

// watch has a model heed what was given up.
func (s *session) watch(m model.Model, account string) model.Model {
	return &watched{Model: m, s: s, account: account, driven: s.driven}
}
