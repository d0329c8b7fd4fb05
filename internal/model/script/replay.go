package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ycbot/ycbot/internal/model"
)

// A Replay answers with what a provider answered before. It is safe for
// concurrent use.
type Replay struct {
	name    string
	answers map[string]*model.Response // by agent id and number of the answer
}

// NewReplay reads a model.jsonl. Where a question was asked more than once the
// last answer counts.
func NewReplay(log io.Reader) (*Replay, error) {
	r := &Replay{answers: map[string]*model.Response{}}
	lines := bufio.NewReader(log)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return r, nil // a torn last line was never used by anybody
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		var e model.Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("replay: line %d: %w", n, err)
		}
		r.name = e.Model
		if e.Response != nil {
			r.answers[replayKey(e.ID, e.N)] = e.Response
		}
	}
}

func replayKey(id string, n int) string { return fmt.Sprintf("%s/%d", id, n) }

// Name is the recorded model's.
func (r *Replay) Name() string { return r.name }

// Generate gives the recorded answer to the same agent's question of this number.
func (r *Replay) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("replay: %w", context.Cause(ctx))
	}
	n := model.Answers(req.Messages) + 1
	resp, ok := r.answers[replayKey(req.ID, n)]
	if !ok {
		return nil, fmt.Errorf("replay: %w: there is no answer %d of agent %s (%s)", model.ErrRequest, n, req.Agent, req.ID)
	}
	if on != nil && resp.Message.Text != "" {
		on(model.Delta{Text: resp.Message.Text})
	}
	copied := *resp
	return &copied, nil
}
