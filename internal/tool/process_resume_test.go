package tool

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
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

// A process is not held again where that cannot be as it was: its input was not kept, or its port
// has gone to something else.
func TestNotHeldAgain(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	other, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	for why, beside := range map[string]evidence.Beside{
		"had a secret in it":            {Command: "read x; echo got", Port: 48220, Inputs: []evidence.Input{{Text: "[redacted:KEY]\n", Await: "got"}}},
		"something else listens":        {Command: "sleep 60", Port: port},
		"something else listens on the": {Command: "sleep 60", Port: 48221, Await: port},
	} {
		s, _, _ := shell(t)
		s.Roots.Temp = t.TempDir()
		p := NewProcesses(s, []Holding{{ID: "p1", Beside: beside}}, nil)
		_, err := Bash(s).Run(t.Context(), []byte(`{"command": "echo ran"}`))
		if !errors.As(err, new(*BadCall)) || !strings.Contains(err.Error(), strings.TrimSuffix(why, " on the")) || len(s.Log.Records()) != 0 {
			t.Errorf("%s: %v after %d commands", why, err, len(s.Log.Records()))
		}
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// Of an agent that runs nothing more nothing has to be held again: to close it is no error.
func TestCloseBeforeHeldAgain(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	p := NewProcesses(s, []Holding{{ID: "p1", Beside: evidence.Beside{Command: "sleep 60", Port: 48222}}}, func(h Holding) error {
		t.Errorf("it is noted as %+v", h)
		return nil
	})
	if err := p.Close(context.WithoutCancel(t.Context())); err != nil || len(s.Log.Records()) != 0 {
		t.Errorf("%v, %d records", err, len(s.Log.Records()))
	}
}

// An answer counts for the input that it followed: what came of an earlier one does not answer the
// next, and one that was answered is noted so.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	s.Roots.Temp = t.TempDir()
	s.Template.Env = append(s.Template.Env, "TMPDIR="+s.Roots.Temp)
	p := NewProcesses(s, nil, nil)
	t.Cleanup(func() { _ = p.Close(context.WithoutCancel(t.Context())) })
	// It reads both inputs and answers one of them.
	h := &heldProcess{id: "p1", beside: evidence.Beside{Command: "read x; echo ok; read y", Port: 48223, Inputs: []evidence.Input{{Text: "1\n", Await: "ok"}, {Text: "2\n", Await: "ok"}}}}
	p.all = append(p.all, h)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.hold(t.Context(), h, readyTime); err != nil {
		t.Fatal(err)
	}
	if err := h.held.Repeat(t.Context(), s.Roots.Temp, h.beside, time.Minute); err != nil {
		t.Fatal(err)
	}
	want := []evidence.Input{{Text: "1\n", Await: "ok"}, {Text: "2\n"}}
	if got := h.held.Inputs(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// cutting ends the call that starts a process in the middle, and says when the process is over.
type cutting struct {
	*direct
	cancel context.CancelFunc
	over   chan struct{}
}

func (c cutting) Run(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	defer close(c.over)
	c.cancel()
	res, err := c.direct.Run(ctx, cmd)
	if err != nil {
		err = context.Cause(ctx) // that it was stopped, as sandboxes say
	}
	return res, err
}

// A process whose start is cut, as where the time for work ends while it is waited for, ends with
// the agent all the same, and the log has it.
func TestStartThatIsCut(t *testing.T) {
	t.Parallel()
	s, sb, _ := shell(t)
	s.Roots.Temp = t.TempDir()
	s.Template.Env = append(s.Template.Env, "TMPDIR="+s.Roots.Temp)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	s.Sandbox = cutting{sb, cancel, over}
	p := NewProcesses(s, nil, nil)
	if _, err := p.Tools()[0].Run(ctx, []byte(`{"command": "sleep 60", "wait_text": "ready"}`)); !errors.Is(err, context.Canceled) {
		t.Fatalf("the start is not cut: %v", err)
	}
	if err := p.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-over:
	default:
		t.Error("the process goes on when the agent has ended")
	}
	if n := len(s.Log.Records()); n != 1 {
		t.Errorf("%d records, want that of the process", n)
	}
}
