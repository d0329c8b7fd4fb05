package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
)

// A process that was held when ycbot ended is held again with its input before the next command,
// which runs beside it; of one that does not come up the model learns once, and nothing runs
// before. Those that were over stay over, and names go on behind them.
func TestHeldAgain(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	s.Roots.Temp = t.TempDir()
	s.Template.Env = append(s.Template.Env, "TMPDIR="+s.Roots.Temp)
	var kept []Holding
	p := NewProcesses(s, []Holding{
		{ID: "p0", Beside: evidence.Beside{Command: "serve [redacted:KEY]", Port: 48210}},
		{ID: "p1", Beside: evidence.Beside{Command: "exit 3", Port: 48211, Text: "ready"}},
		{ID: "p2", Beside: evidence.Beside{Command: "true", Port: 48212}, Stopped: true},
		{ID: "p3", Beside: evidence.Beside{Command: "while read x; do echo got $x; done", Port: 48213, Inputs: []evidence.Input{{Text: "5\n", Await: "got 5"}}}},
	}, func(h Holding) error { kept = append(kept, h); return nil })
	t.Cleanup(func() { _ = p.Close(context.WithoutCancel(t.Context())) })
	bash := Bash(s)
	if _, err := bash.Run(t.Context(), []byte(`{"command": "echo ran"}`)); !errors.As(err, new(*BadCall)) || !strings.Contains(err.Error(), "had a secret in it") {
		t.Fatalf("a process whose command is not kept: %v", err)
	}
	if _, err := bash.Run(t.Context(), []byte(`{"command": "echo ran"}`)); !errors.As(err, new(*BadCall)) || !strings.Contains(err.Error(), "p1 (exit 3)") || !strings.Contains(err.Error(), "does not become ready") {
		t.Fatalf("a process that is gone: %v", err)
	}
	if got := call(t, bash, m{"command": "echo $PORT"}); !strings.Contains(got, "48213") {
		t.Errorf("beside p3: %s", got)
	}
	tools := p.Tools()
	if got := call(t, tools[1], m{"id": "p3", "input": "6\n", "wait_text": "got 6"}); !strings.Contains(got, "got 5\ngot 6") {
		t.Errorf("p3 goes on: %s", got)
	}
	if got := call(t, tools[0], m{"command": "sleep 60"}); !strings.HasPrefix(got, "p5:") {
		t.Errorf("the next one: %s", got)
	}
	var states []string
	for _, h := range kept {
		state := h.ID
		for _, in := range h.Beside.Inputs {
			state += " " + strings.TrimSpace(in.Text)
		}
		if h.Stopped {
			state += " stopped"
		}
		states = append(states, state)
	}
	if want := []string{"p0 stopped", "p1 stopped", "p3 5 6", "p5"}; !slices.Equal(states, want) {
		t.Errorf("kept %q, want %q", states, want)
	}
}
