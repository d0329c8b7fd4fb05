package orchestrator

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/workspace"
)

// overloaded is a model whose provider cannot answer the first question.
type overloaded struct{ asked int }

func (o *overloaded) Name() string { return "m" }

func (o *overloaded) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	if o.asked++; o.asked == 1 {
		return nil, fmt.Errorf("503: %w", model.ErrDown)
	}
	return &model.Response{Message: model.Message{Role: model.Assistant, Text: "Look at zero."}, Stop: model.StopEnd}, nil
}

// The coordinator asks an overloaded provider again after a pause, as every agent does.
func TestCoordinatorPauses(t *testing.T) {
	t.Parallel()
	dir, emit := testDir(t), func(agent.Event) error { return nil }
	defs := []agents.Definition{{Name: coordinatorAgent, Prompt: "You plan.", Tools: []string{"read_file"}, MaxIterations: 3}}
	a := &Agents{dir: dir, emit: emit, models: &ModelConfig{}, config: &config.Config{}, defs: defs, budget: &agent.Budget{}}
	var paused []time.Duration
	w := &work{
		agents: a, dir: dir, emit: emit, now: clock, log: slog.New(slog.DiscardHandler), model: &overloaded{}, workspaces: map[string]*Workspace{},
		gate:  &gate.Result{},
		sides: &reproduce.Sides{Head: &workspace.Tree{Dir: t.TempDir()}, Base: &workspace.Tree{Dir: t.TempDir()}},
	}
	w.runner = &agent.Runner{
		RunID: "run1", Specs: []agent.Spec{a.spec(defs[0])}, Journal: dir.Journal, Emit: emit, Now: clock, Log: w.log, Budget: a.budget,
		Pause: func(_ context.Context, d time.Duration) error { paused = append(paused, d); return nil },
	}
	res, err := w.coordinate(t.Context(), "")
	if err != nil || res.Outcome != agent.Completed || !slices.Equal(paused, []time.Duration{5 * time.Second}) {
		t.Errorf("%s %v %v, pauses %v", res.Outcome, res.Err, err, paused)
	}
}
