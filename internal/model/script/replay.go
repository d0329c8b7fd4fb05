package script

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/model"
)

// A Replay answers with what a provider answered before, and fails as it
// failed. It is safe for concurrent use.
type Replay struct {
	name    string
	answers map[string]*model.Response // by agent id and number of the answer
	faults  map[string]fault           // where there was none: the error
	agents  map[string][]string        // ids by name, in the order of their first question

	mu    sync.Mutex
	stood map[string]string // recorded ids by those that they stand for
}

// NewReplay reads a model.jsonl. Where a question was asked more than once the
// last answer counts.
func NewReplay(log io.Reader) (*Replay, error) {
	r := &Replay{answers: map[string]*model.Response{}, faults: map[string]fault{}, agents: map[string][]string{}, stood: map[string]string{}}
	err := model.ReadExchanges(log, func(e model.Exchange) error {
		r.name = e.Model
		if !slices.Contains(r.agents[e.Agent], e.ID) {
			r.agents[e.Agent] = append(r.agents[e.Agent], e.ID)
		}
		if e.Response != nil {
			r.answers[replayKey(e.ID, e.N)] = e.Response
		} else {
			r.faults[replayKey(e.ID, e.N)] = fault{e.Error, e.Unasked}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return r, nil
}

func replayKey(id string, n int) string { return fmt.Sprintf("%s/%d", id, n) }

// Name is the recorded model's.
func (r *Replay) Name() string { return r.name }

// Recorded is the id that an agent had in the record which is id now. That is
// the same one where it was given the same; else ids of the same agent stand for
// each other in their order. "" is one that the record does not have.
func (r *Replay) Recorded(agent, id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok := r.stood[id]; ok {
		return was
	}
	for _, known := range r.agents {
		if slices.Contains(known, id) {
			r.stood[id] = id
			return id
		}
	}
	for _, was := range r.agents[agent] {
		if !r.taken(was) {
			r.stood[id] = was
			return was
		}
	}
	return ""
}

func (r *Replay) taken(was string) bool {
	for _, s := range r.stood {
		if s == was {
			return true
		}
	}
	return false
}

// Generate gives the recorded answer to the same agent's question of this number.
func (r *Replay) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("replay: %w", context.Cause(ctx))
	}
	n := model.Answers(req.Messages) + 1
	key := replayKey(r.Recorded(req.Agent, req.ID), n)
	resp, ok := r.answers[key]
	if !ok {
		if f, failed := r.faults[key]; failed {
			return nil, &f
		}
		return nil, fmt.Errorf("replay: %w: there is no answer %d of agent %s (%s)", model.ErrRequest, n, req.Agent, req.ID)
	}
	if on != nil && resp.Message.Text != "" {
		on(model.Delta{Text: resp.Message.Text})
	}
	copied := *resp
	return &copied, nil
}

// A fault is a recorded error, of the kind that its text names.
type fault struct {
	text    string
	unasked bool
}

func (f *fault) Error() string { return f.text }

// Is says whether the question was not asked, beside what Unwrap says.
func (f *fault) Is(target error) bool { return f.unasked && target == model.ErrUnasked }

func (f *fault) Unwrap() error {
	for _, kind := range []error{model.ErrAuth, model.ErrQuota, model.ErrModel, model.ErrRequest, model.ErrOverflow, model.ErrDown} {
		if strings.Contains(f.text, kind.Error()) {
			return kind
		}
	}
	return model.ErrDown
}
