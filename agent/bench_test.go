package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/tool"
)

// noon is the time in these tests; it does not pass.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// A bench is one agent with tools that do what a test needs, and a list of what
// it emitted.
type bench struct {
	cfg    agent.Config
	cancel context.CancelCauseFunc
	stopAt string // "type n": the event with which the turn is cancelled
	emit   agent.Emit

	mu     sync.Mutex
	events []agent.Event
	ran    []string      // tools that ran, with their arguments
	quick  chan struct{} // closed when quick has run
	bash   int           // commands that run_bash ran: the number of the last evidence id
}

func newBench(m model.Model) *bench {
	b := &bench{quick: make(chan struct{})}
	b.emit = func(e agent.Event) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !e.Type.Transient() {
			b.events = append(b.events, e)
		}
		if b.stopAt == fmt.Sprintf("%s %d", e.Type, e.N) {
			b.cancel(agent.ErrSuperseded)
		}
		return nil
	}
	b.cfg = agent.Config{
		Name: "verification", ID: "00000000000000aa", System: "You verify.", Model: m, Tools: b.tools(),
		Known:         map[string]tool.Class{"write_file": tool.Write, "Agent": tool.Delegate, "fetch_url": tool.Net},
		MaxIterations: 6, Now: noon,
		Price: func(u model.Usage) (float64, bool) { return float64(u.Input) / 1000, true },
	}
	return b
}

// tools are read-only ones that run side by side, and run_bash and its like that do not.
func (b *bench) tools() []tool.Tool {
	type run = func(context.Context, string) (tool.Result, error)
	make := func(name string, class tool.Class, parallel bool, f run) tool.Tool {
		return tool.Tool{
			Name: name, Description: name + ".", Class: class, Parallel: parallel, Schema: json.RawMessage(`{"type":"object"}`),
			Run: func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
				b.mu.Lock()
				b.ran = append(b.ran, name+" "+string(args))
				b.mu.Unlock()
				return f(ctx, string(args))
			},
		}
	}
	return []tool.Tool{
		make("run_bash", tool.Exec, false, func(_ context.Context, args string) (tool.Result, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.bash++
			id := fmt.Sprintf("E%d", b.bash)
			return tool.Result{Text: fmt.Sprintf("[%s] exit=0 in %d.5s\n--- stdout ---\nran %s", id, b.bash, args), Evidence: []string{id}}, nil
		}),
		make("read", tool.Read, true, func(_ context.Context, args string) (tool.Result, error) {
			return tool.Result{Text: "content of " + args}, nil
		}),
		make("long", tool.Read, true, func(context.Context, string) (tool.Result, error) {
			return tool.Result{Text: strings.Repeat("long line\n", 500)}, nil
		}),
		make("silent", tool.Read, true, func(context.Context, string) (tool.Result, error) { return tool.Result{}, nil }),
		make("picky", tool.Read, true, func(context.Context, string) (tool.Result, error) {
			return tool.Result{}, tool.Badf("path is missing")
		}),
		make("crash", tool.Read, true, func(context.Context, string) (tool.Result, error) { panic("nil map") }),
		make("disk", tool.Exec, false, func(context.Context, string) (tool.Result, error) {
			return tool.Result{}, errors.New("disk full")
		}),
		make("refuse", tool.Exec, false, func(context.Context, string) (tool.Result, error) {
			return tool.Result{Denied: &tool.Denied{Code: "policy_deny", Rule: "Bash(rm *)", Source: "operator"}, Evidence: []string{"E2"}}, nil
		}),
		make("stop", tool.Exec, false, func(ctx context.Context, _ string) (tool.Result, error) {
			b.cancel(agent.ErrSuperseded)
			return tool.Result{}, ctx.Err()
		}),
		make("stop_after", tool.Exec, false, func(context.Context, string) (tool.Result, error) {
			b.cancel(agent.ErrStopped)
			return tool.Result{Text: "done before the end"}, nil
		}),
		make("quick", tool.Read, true, func(context.Context, string) (tool.Result, error) {
			defer close(b.quick)
			return tool.Result{Text: "quick result"}, nil
		}),
		make("stop_beside", tool.Read, true, func(ctx context.Context, _ string) (tool.Result, error) {
			<-b.quick
			b.cancel(agent.ErrSuperseded)
			<-ctx.Done()
			return tool.Result{}, fmt.Errorf("command: %w", ctx.Err())
		}),
		make("submit_result", tool.Session, false, func(_ context.Context, args string) (tool.Result, error) {
			return tool.Result{Text: "accepted", Final: json.RawMessage(args)}, nil
		}),
	}
}

// more tools: one with types, one with a list, and a command that prints a lot.
func (b *bench) more() []tool.Tool {
	echo := func(_ context.Context, args json.RawMessage) (tool.Result, error) {
		return tool.Result{Text: "got " + string(args)}, nil
	}
	return []tool.Tool{
		{Name: "typed", Description: "typed.", Class: tool.Read, Run: echo, Schema: json.RawMessage(
			`{"type":"object","required":["s"],"properties":{"s":{"type":"string"},"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}}}}`)},
		{Name: "todo_write", Description: "todo.", Class: tool.Session, Run: echo, Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "loud", Description: "loud.", Class: tool.Exec, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "[E7] exit=0 duration=0.1s\n" + strings.Repeat("a line of output\n", 400), Evidence: []string{"E7"}}, nil
		}},
	}
}

// setup applies the lines of a scenario's setup section.
func (b *bench) setup(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		n, _ := strconv.Atoi(rest) // 0 where it is no number
		switch word {
		case "":
		case "max":
			b.cfg.MaxIterations = n
		case "tokens":
			b.cfg.Budget = &agent.Budget{Tokens: n}
		case "usd":
			b.cfg.Budget = &agent.Budget{CostUSD: float64(n) / 1000}
		case "window":
			b.cfg.Window = n
		case "output":
			b.cfg.OutputTokens = n
		case "mode":
			b.cfg.Mode = agent.Mode(rest)
		case "verdict":
			b.cfg.Corrective = func(final string) (string, bool) {
				return "Give the report again, with the verdict as its last line.", agent.Verdict(final) == ""
			}
		case "submit":
			b.cfg.Submit = "submit_result"
		case "background":
			b.cfg.Background = true
		case "classes":
			for _, c := range strings.Fields(rest) {
				b.cfg.Classes = append(b.cfg.Classes, tool.Class(c))
			}
		case "deny":
			b.cfg.Decide = func(_ context.Context, tl tool.Tool, args json.RawMessage) *tool.Denied {
				if tl.Name == "run_bash" && strings.Contains(string(args), rest) {
					return &tool.Denied{Code: "hard_floor", Target: rest, Rule: "hardline", Source: "ycbot"}
				}
				return nil
			}
		case "stop":
			b.stopAt = rest
		case "reserve": // per cent
			b.cfg.Reserve = float64(n) / 100
		case "hear": // what is said before the n-th time that it is read
			when, text, _ := strings.Cut(rest, " ")
			times := 0
			b.cfg.Inbox = func() []string {
				if times++; strconv.Itoa(times) == when {
					return []string{text}
				}
				return nil
			}
		case "approved":
			b.cfg.Approved = func(tl tool.Tool, _ json.RawMessage) string {
				if tl.Class == tool.Exec {
					return "class exec (grant)"
				}
				return ""
			}
		case "processes":
			b.cfg.Tools = append(b.cfg.Tools, b.processes(t))
		case "more": // tools that few scenarios need
			b.cfg.Tools = append(b.cfg.Tools, b.more()...)
		default:
			t.Fatalf("setup: %q", line)
		}
	}
}

// turn runs the agent on one message.
func (b *bench) turn(ctx context.Context) (agent.End, []model.Message, error) {
	ctx, b.cancel = context.WithCancelCause(ctx)
	defer b.cancel(nil)
	history := []model.Message{{Role: model.User, Text: "Verify the change."}}
	end, err := agent.Turn(ctx, &b.cfg, &history, b.emit)
	return end, history, err
}

func parse(t *testing.T, text string) *script.Model {
	t.Helper()
	m, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openJournal(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "journal.jsonl"), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// render writes what a turn did, as scenarios want it.
func render(events []agent.Event, history []model.Message, end agent.End, err error) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(line(e) + "\n")
	}
	b.WriteString("\nhistory\n")
	for _, m := range history {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.CallID != "" {
			fmt.Fprintf(&b, " %s", m.CallID)
		}
		if m.Text != "" {
			fmt.Fprintf(&b, " %s", short(m.Text))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " [%s %s %s]", c.ID, c.Name, c.Args)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nend %s: %s\n", end.Outcome, end.Reason)
	fmt.Fprintf(&b, "text %s\n", short(end.Text))
	if end.Submitted != nil {
		fmt.Fprintf(&b, "submitted %s\n", end.Submitted)
	}
	fmt.Fprintf(&b, "iterations %d, tool calls %d, tokens %d, $%.2f, evidence %v, denied %d\n",
		end.Iterations, end.ToolCalls, end.Usage.Input+end.Usage.Output, end.CostUSD, end.Evidence, len(end.Denied))
	if err != nil {
		fmt.Fprintf(&b, "error %v\n", err)
	}
	return b.String()
}

func line(e agent.Event) string {
	s := string(e.Type)
	if e.N > 0 {
		s += fmt.Sprintf(" %d", e.N)
	}
	if e.Call != nil {
		s += fmt.Sprintf(".%d %s %s", e.Call.Index, e.Call.Name, e.Call.Args)
	}
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	if e.Errored {
		s += " errored"
	}
	if e.Text != "" {
		s += " " + short(e.Text)
	}
	for _, c := range e.Calls {
		s += fmt.Sprintf(" [%s %s]", c.ID, c.Name)
	}
	if e.Orphaned != nil {
		s += fmt.Sprintf(" orphaned %v", e.Orphaned)
	}
	if e.Evidence != nil {
		s += fmt.Sprintf(" evidence %v", e.Evidence)
	}
	if e.Denied != nil {
		s += " " + e.Denied.Code
	}
	if e.Meta != nil {
		s += fmt.Sprintf(" tools %v", len(e.Meta.Tools))
	}
	if e.Done != nil {
		s += " " + e.Done.Outcome
	}
	return s
}

// short quotes s, with its middle left out where it is long.
func short(s string) string {
	if r := []rune(s); len(r) > 300 {
		s = fmt.Sprintf("%s…%d…%s", string(r[:100]), len(r)-200, string(r[len(r)-100:]))
	}
	return strconv.Quote(s)
}

type toolResult = tool.Result

func isRead(t tool.Tool) bool { return t.Name == "read" }
