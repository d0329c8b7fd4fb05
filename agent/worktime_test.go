package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
)

// A tool that is still at work when the time for the report begins is stopped, and the
// report is written in the time that was kept for it.
func TestTimeForTheReport(t *testing.T) {
	t.Parallel()
	b := newBench(parse(t, "-- model --\n> wait {}\n---\n<* the time for work is over\n< This is your last answer: the time is used\nThis much was seen.\n"))
	b.cfg.Now, b.cfg.Timeout, b.cfg.Reserve = time.Now, 20*time.Second, 0.9
	b.cfg.Tools = append(b.cfg.Tools, tool.Tool{
		Name: "wait", Description: "waits.", Class: tool.Exec, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, context.Cause(ctx)
		},
	})
	end, _, err := b.turn(t.Context())
	if err != nil || end.Outcome != agent.TimedOut || end.Text != "This much was seen." {
		t.Errorf("%+v %v", end, err)
	}
}

// An answer that has not come when the time for the report begins is not waited for, and the
// report is written in the time that was kept for it.
func TestAnswerPastTheTimeForWork(t *testing.T) {
	t.Parallel()
	b := newBench(parse(t, "-- model --\n<* This is your last answer: the time is used\nThis much was seen.\n"))
	b.cfg.Now, b.cfg.Timeout, b.cfg.Reserve = time.Now, 20*time.Second, 0.9
	b.cfg.Model = &slowFirst{Model: b.cfg.Model}
	end, _, err := b.turn(t.Context())
	if err != nil || end.Outcome != agent.TimedOut || end.Text != "This much was seen." {
		t.Errorf("%+v %v", end, err)
	}
}

// slowFirst is a model whose first answer does not come.
type slowFirst struct {
	model.Model
	asked bool
}

func (s *slowFirst) Generate(ctx context.Context, r *model.Request, on func(model.Delta)) (*model.Response, error) {
	if !s.asked {
		s.asked = true
		on(model.Delta{Text: "Half of"})
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return s.Model.Generate(ctx, r, on)
}
