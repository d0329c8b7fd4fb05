package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
)

// said is a model that gives its answers in turn and keeps what it was asked.
type said struct {
	answers []model.Response
	asked   [][]byte // the messages of each question, without the bracket that ends them
	systems []string
	tools   [][]byte
}

func (s *said) Name() string { return "said" }

func (s *said) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
	messages, err := json.Marshal(req.Messages)
	if err != nil {
		return nil, err
	}
	tools, err := json.Marshal(req.Tools)
	if err != nil {
		return nil, err
	}
	s.asked, s.systems, s.tools = append(s.asked, bytes.TrimSuffix(messages, []byte("]"))), append(s.systems, req.System), append(s.tools, tools)
	return &s.answers[len(s.asked)-1], nil
}

// In forty questions with tools, refusals, bad calls, something that is said in
// between and the last report, each question begins with all of the one before:
// providers cache what they have seen.
func TestRequestsOnlyGrow(t *testing.T) {
	t.Parallel()
	m := &said{}
	for i := range 40 {
		call := model.Call{ID: fmt.Sprint("c", i), Name: "read", Args: fmt.Sprintf(`{"path": "%d"}`, i)}
		switch i % 5 {
		case 1:
			call.Name = "write_file"
		case 2:
			call.Args = `{"path":`
		case 3:
			call.Name = "run_bash"
		}
		m.answers = append(m.answers, model.Response{Message: model.Message{Role: model.Assistant, Text: "thinking", Calls: []model.Call{call, {ID: "c", Name: "silent", Args: fmt.Sprintf(`{"n": %d}`, i)}}}, Stop: model.StopCalls})
	}
	m.answers[39].Message = model.Message{Role: model.Assistant, Text: "Report."}
	b := newBench(m)
	b.cfg.MaxIterations, b.cfg.Reserve = 39, 0.1
	heard := 0
	b.cfg.Inbox = func() []string {
		if heard++; heard%7 == 0 {
			return []string{fmt.Sprint("word ", heard)}
		}
		return nil
	}
	end, history, err := b.turn(t.Context())
	if err != nil || end.Text != "Report." || len(m.asked) != 40 {
		t.Fatalf("%+v %v, %d questions", end, err, len(m.asked))
	}
	if err := model.Validate(history); err != nil {
		t.Error(err)
	}
	shared, all := 0, 0
	for i := 1; i < len(m.asked); i++ {
		all += len(m.asked[i-1])
		if bytes.HasPrefix(m.asked[i], m.asked[i-1]) {
			shared += len(m.asked[i-1])
		} else {
			t.Errorf("question %d is no extension of the one before:\n%s\n%s", i+1, m.asked[i-1], m.asked[i])
		}
		if m.systems[i] != m.systems[0] || !bytes.Equal(m.tools[i], m.tools[0]) {
			t.Errorf("question %d: system text or tools changed", i+1)
		}
	}
	t.Logf("%.1f%% of each question was in the one before it", 100*float64(shared)/float64(all))
}

// What a provider wants back as it gave it goes back so, with the text and calls
// that it belongs to, or not at all.
func TestKept(t *testing.T) {
	t.Parallel()
	kept := []model.Kept{{API: "messages", Raw: json.RawMessage(`{"type":"thinking","signature":"x=="}`)}}
	call := []model.Call{{ID: "1", Name: "read", Args: `{}`}}
	m := &said{answers: []model.Response{
		{Message: model.Message{Text: "beside calls", Calls: call, Kept: kept}, Stop: model.StopCalls},
		{Message: model.Message{Text: "beside calls", Calls: []model.Call{{ID: "2", Name: "read", Args: `{"path":"b"}`}}}, Stop: model.StopCalls},
		{Message: model.Message{Text: "No verdict.", Kept: kept}},
		{Message: model.Message{Text: "VERDICT: PASS", Calls: []model.Call{{ID: "3", Name: "read"}}, Kept: kept}},
	}}
	b := newBench(m)
	b.setup(t, "verdict")
	_, history, err := b.turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []model.Message
	for _, h := range history {
		if h.Role == model.Assistant {
			got = append(got, h)
		}
	}
	want := []model.Message{
		{Role: model.Assistant, Text: "beside calls", Calls: call, Kept: kept},
		{Role: model.Assistant, Calls: []model.Call{{ID: "2", Name: "read", Args: `{"path":"b"}`}}},
		{Role: model.Assistant, Text: "No verdict.", Kept: kept},
		{Role: model.Assistant, Text: "VERDICT: PASS"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What was said to a run, and that its report was asked for, is the same when the
// run is continued, whatever is said and left then.
func TestContinuedWithInboxAndReserve(t *testing.T) {
	t.Parallel()
	const scenario = "-- model --\n> read {\"path\": \"a\"}\n---\n> read {\"path\": \"b\"}\n---\nReport.\n"
	dir := t.TempDir()
	run := func(setup string) (agent.End, []model.Message) {
		b := newBench(parse(t, scenario))
		b.setup(t, setup)
		b.cfg.Journal = openJournal(t, dir)
		end, history, err := b.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return end, history
	}
	end, history := run("hear 1 Look closely.\nreserve 20\ntokens 270")
	if end.Outcome != agent.OverBudget || !strings.Contains(fmt.Sprint(history), "Look closely.") {
		t.Fatalf("%+v %v", end, history)
	}
	again, same := run("hear 2 Something else.\ntokens 5000")
	if diff := cmp.Diff(end, again); diff != "" {
		t.Errorf("end: -first +second\n%s", diff)
	}
	if diff := cmp.Diff(history, same); diff != "" {
		t.Errorf("history: -first +second\n%s", diff)
	}
}

// A word is said to a task that runs, and to none that is over.
func TestInject(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- Explore --\n> read {\"path\": \"a\"}\n---\n< Look at the parser too.\nSeen.\n")
	emit := c.Emit
	c.Emit = func(e agent.Event) error {
		if e.Type == agent.EventToolStart && !c.Inject(e.ID[:6], "Look at the parser too.") {
			t.Error("the task that runs took nothing")
		}
		return emit(e)
	}
	res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "Where?"})
	if err != nil || res.Outcome != agent.Completed || res.Text != "Seen." {
		t.Errorf("%+v, %v", res, err)
	}
	if c.Inject(res.ID, "late") || c.Inject("", "late") || c.Inject("ffff", "no-one") {
		t.Error("a task that is over took something")
	}
}

// What is said to all is heard by tasks that begin later as well, and by one that
// goes on after a crash only where it did not hear it before.
func TestInjectLater(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	run := func(says string) agent.Result {
		j, err := journal.Open(name, noon)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		c := newCast(t, says)
		c.Journal = j
		c.Inject("", "Look at the parser too.")
		res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "Where?"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := run("-- Explore --\nDone.\n---\n< Look at the parser too.\n! 401\n"); res.Outcome != agent.Errored {
		t.Fatalf("%+v", res)
	}
	res := run("-- Explore --\nDone.\n---\n< Look at the parser too.\nSeen.\n")
	if res.Outcome != agent.Completed || res.Text != "Seen." || res.Iterations != 2 {
		t.Errorf("%+v", res)
	}
}

// A model that is not the one that was wanted, and the end of work that no one
// waited for, have events of their own.
func TestFallbackAndBackgroundDone(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- Explore --\nSeen.\n")
	provision := c.Provision
	c.Provision = func(ctx context.Context, spec agent.Spec, rec agent.Record) (*agent.Environment, error) {
		env, err := provision(ctx, spec, rec)
		if err == nil {
			env.Fallback = &agent.Fallback{Wanted: "big", Why: "the provider has no such model"}
		}
		return env, err
	}
	res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "Where?", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	c.Drain()
	want := []string{"subagent_start", "fallback", "turn_start", "iteration_start", "assistant_message", "context_usage", "turn_done", "subagent_done", "subagent_background_done"}
	if diff := cmp.Diff(want, c.types(res.ID)); diff != "" {
		t.Errorf("events -want +got\n%s", diff)
	}
	for _, e := range c.events {
		if e.Type == agent.EventFallback && (e.Text != "model big -> script" || e.Reason != "the provider has no such model") {
			t.Errorf("%+v", e)
		}
	}
}
