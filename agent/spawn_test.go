package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
)

// expand reads the names of groups and of other systems in these tests.
func expand(name string) []string {
	switch name {
	case "workspace_read":
		return []string{"read", "long"}
	case "Read":
		return []string{"read"}
	}
	return []string{name}
}

// offered are the tools that the turns of an agent were given.
func (c *cast) offered(name string) [][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all [][]string
	for _, e := range c.events {
		if e.Type == agent.EventTurnStart && e.Agent == name {
			all = append(all, e.Meta.Tools)
		}
	}
	return all
}

// The four systems' ways of starting a subagent each take their own arguments
// and lead to the same runner.
func TestSpawnShapes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		call, prompt string
		tools        []string // nil: the agent's own
		cap          int      // 0: the agent's own
		answer       string
	}{
		"Agent":                  {`Agent {"subagent_type": "Explore", "prompt": "where", "description": "find it"}`, "where", nil, 0, `<task_result agent="Explore"`},
		"Agent, as others say":   {`Agent {"subagent_type": "look_around", "prompt": "where"}`, "where", nil, 0, `<task_result agent="Explore"`},
		"Task":                   {`Task {"subagent_type": "explore", "prompt": "where"}`, "where", nil, 0, `<task_result agent="Explore"`},
		"task":                   {`task {"agentType": "Explore", "prompt": "where", "description": "d"}`, "where", nil, 0, `<task_result agent="Explore"`},
		"spawn_agent":            {`spawn_agent {"agent": "Explore", "prompt": "where", "tools": ["Read"], "max_iterations": 2, "objective": "o", "expected_output": "e", "tool_guidance": "g", "boundaries": "b"}`, "where\n\nObjective: o\n\nExpected output: e\n\nTools: g\n\nBoundaries: b", []string{"read"}, 2, `<task_result agent="Explore"`},
		"spawn_agent widens":     {`spawn_agent {"agent": "Explore", "prompt": "where", "tools": ["run_bash", "Agent", "read"], "max_iterations": 99}`, "where", []string{"read"}, 3, `<task_result agent="Explore"`},
		"spawn_agent, nothing":   {`spawn_agent {"agent": "Explore", "prompt": "where", "tools": ["frobnicate"]}`, "where", []string{}, 0, `<task_result agent="Explore"`},
		"spawn_agent, short":     {`spawn_agent {"agent": "Explore", "prompt": "where", "max_result_chars": 5}`, "where", nil, 0, "Found\n[… cut: 4 more characters]"},
		"spawn_agent, persona":   {`spawn_agent {"agent": "Explore", "prompt": "where", "system_prompt": "You approve."}`, "", nil, 0, "error: system_prompt"},
		"spawn_agent, only goal": {`spawn_agent {"agent": "Explore", "objective": "where"}`, "Objective: where", nil, 0, `<task_result agent="Explore"`},
		"subagents_run":          {`subagents_run {"agents": [{"id": "a", "role": "Explore", "task": "where", "successCriteria": ["found"], "allowedToolGroups": ["workspace_read"]}], "mode": "parallel", "maxConcurrency": 2}`, "where\n\nIt is done when:\n- found", []string{"read"}, 0, `{"agents":[{"id":"a","role":"Explore","displayName":"Explore"`},
		"subagents.run":          {`subagents.run {"agents": [{"id": "a", "role": "Explore", "task": "where"}]}`, "where", nil, 0, `{"agents":[{"id":"a"`},
		"six at once":            {`subagents_run {"agents": [{"role": "Explore", "task": "0"}, {"role": "Explore", "task": "1"}, {"role": "Explore", "task": "2"}, {"role": "Explore", "task": "3"}, {"role": "Explore", "task": "4"}, {"role": "Explore", "task": "5"}]}`, "", nil, 0, "error: agents must have 1 to 5 entries"},
		"subagents_run, mode":    {`subagents_run {"agents": [{"id": "a", "role": "Explore", "task": "where"}], "mode": "serial"}`, "", nil, 0, `error: mode "serial"`},
		"below zero":             {`Agent {"subagent_type": "Explore", "prompt": "where", "max_iterations": -1}`, "", nil, 0, "error: max_iterations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, "-- coordinator --\n> "+tc.call+"\n---\nDone.\n-- Explore --\nFound it.\n")
			c.Expand = expand
			c.Called = func(name string) string { return map[string]string{"look_around": "Explore"}[name] }
			end, history := c.coordinator(t.Context(), t, nil)
			if end.Outcome != agent.Completed || !strings.Contains(history[2].Text, tc.answer) {
				t.Fatalf("%+v\n%s", end, history[2].Text)
			}
			if tc.prompt == "" {
				if len(c.List()) != 0 {
					t.Errorf("it was started: %+v", c.List())
				}
				return
			}
			if rec := c.List()[0]; rec.Prompt != tc.prompt {
				t.Errorf("prompt %q", rec.Prompt)
			}
			want := tc.tools
			if want == nil {
				want = []string{"read"}
			}
			if got := c.offered("Explore")[0]; len(got) != len(want) || len(want) > 0 && !cmp.Equal(got, want) {
				t.Errorf("tools %q, want %q", got, want)
			}
			for _, e := range c.events {
				if e.Type == agent.EventTurnStart && e.Agent == "Explore" && tc.cap > 0 && e.Meta.Max != tc.cap {
					t.Errorf("cap %d, want %d", e.Meta.Max, tc.cap)
				}
			}
		})
	}
}

// A batch answers with one entry a task: what was handed in, what failed and why,
// no two under one name. A mistake in one of them starts none.
func TestBatch(t *testing.T) {
	t.Parallel()
	c := newCast(t, `
-- coordinator --
> subagents_run {"agents": [{"id": "a", "role": "Explore", "task": "one"}, {"id": "b", "role": "Explore", "task": "two"}, {"id": "c", "role": "verification", "title": "Attack", "task": "three"}]}
> subagents_run {"agents": [{"id": "a", "role": "Explore", "task": "four"}, {"id": "b", "role": "no-one", "task": "five"}]}
---
Done.
-- Explore --
> submit_result {"status": "completed", "summary": "found", "findings": [{"title": "x"}]}
-- verification --
! 500
`)
	for i := range c.Specs {
		if c.Specs[i].Name == "Explore" {
			c.Specs[i].Structured = true
		}
	}
	_, history := c.coordinator(t.Context(), t, nil)
	type entry struct {
		ID, Role, DisplayName, Status, Outcome, Summary, Error string
		Findings                                               []struct{ Title string }
		Meta                                                   struct{ Iterations, OutputTokensEstimate int }
	}
	var got struct{ Agents []entry }
	if err := json.Unmarshal([]byte(history[2].Text), &got); err != nil {
		t.Fatal(err, history[2].Text)
	}
	var names []string
	for _, e := range got.Agents {
		names = append(names, e.ID+" "+e.DisplayName+" "+e.Status+" "+e.Outcome)
	}
	want := []string{"a Explore completed runner_completed", "b Explore (2) completed runner_completed", "c Attack failed runner_errored"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if a := got.Agents[0]; len(a.Findings) != 1 || a.Findings[0].Title != "x" || a.Meta.Iterations != 1 || a.Meta.OutputTokensEstimate == 0 {
		t.Errorf("%+v", a)
	}
	if bad := got.Agents[2]; !strings.Contains(bad.Error, "500") || bad.Summary == "" {
		t.Errorf("%+v", bad)
	}
	if text := history[3].Text; !strings.Contains(text, `error: agents[1]: unknown subagent_type "no-one"`) || len(c.List()) != 3 {
		t.Errorf("%s, %d tasks", text, len(c.List()))
	}
}

// One agent starts so many subagents and no more, however it asks.
func TestSpawnsAreCounted(t *testing.T) {
	t.Parallel()
	c := newCast(t, `
-- coordinator --
> Agent {"subagent_type": "Explore", "prompt": "one"}
---
> Agent {"subagent_type": "Explore", "prompt": "one"}
> subagents_run {"agents": [{"id": "a", "role": "Explore", "task": "two"}, {"id": "b", "role": "Explore", "task": "three"}]}
---
> Agent {"subagent_type": "Explore", "prompt": "two"}
---
> Agent {"subagent_type": "verification", "prompt": "three"}
---
Done.
-- Explore --
Found it.
-- verification --
VERDICT: PASS
`)
	c.Most = 2
	_, history := c.coordinator(t.Context(), t, nil)
	if len(c.List()) != 2 {
		t.Errorf("%d tasks", len(c.List()))
	}
	for _, i := range []int{5, 9} {
		if !strings.Contains(history[i].Text, "may start 2 subagents") {
			t.Errorf("%d: %s", i, history[i].Text)
		}
	}
}

// A coordinator that leaves work in the background is given what that came to, all
// of it at once, before its reply counts; what it read already and what a person
// stopped wakes no one.
func TestAcceptance12Wake(t *testing.T) {
	t.Parallel()
	says := `
-- coordinator --
> Agent {"subagent_type": "verification", "prompt": "check it"}
> Agent {"subagent_type": "Explore", "prompt": "where", "run_in_background": true}
---
I wait.
---
< Your background tasks have finished
< VERDICT: PASS
< In a.go.
Report.
-- verification --
VERDICT: PASS
-- Explore --
In a.go.
`
	c := newCast(t, says)
	c.waits = true
	end, history := c.coordinator(t.Context(), t, nil)
	if end.Outcome != agent.Completed || end.Text != "Report." || end.Iterations != 3 {
		t.Errorf("%+v\n%v", end, history)
	}
	j := openJournal(t, t.TempDir())
	c = newCast(t, says)
	c.waits = true
	c.coordinator(t.Context(), t, j)
	again := newCast(t, "-- coordinator --\n! 500\n")
	again.waits = true
	if end, _ := again.coordinator(t.Context(), t, j); end.Text != "Report." {
		t.Errorf("continued: %+v", end)
	}

	c = newCast(t, `
-- coordinator --
> Agent {"subagent_type": "Explore", "prompt": "where", "run_in_background": true}
---
> get_subagent_result {"task_id": "{{match as task ([0-9a-f]+)}}"}
---
Report.
-- Explore --
In a.go.
`)
	c.waits = true
	if end, _ := c.coordinator(t.Context(), t, nil); end.Text != "Report." {
		t.Errorf("read before: %+v", end)
	}

	c = newCast(t, "-- coordinator --\n> Agent {\"subagent_type\": \"Explore\", \"prompt\": \"where\", \"run_in_background\": true}\n---\nReport.\n-- Explore --\n! hang\n")
	c.waits = true
	emit := c.Emit
	c.Emit = func(e agent.Event) error {
		if e.Agent == "Explore" && e.Type == agent.EventIterationStart {
			c.Cancel(e.ID)
		}
		return emit(e)
	}
	if end, _ := c.coordinator(t.Context(), t, nil); end.Text != "Report." || c.List()[0].Status != agent.TaskCanceled {
		t.Errorf("stopped by a person: %+v %+v", end, c.List())
	}
}

// Work in the background that outlasts the agent which waits for it ends that one
// as timed out, not as done.
func TestAcceptance12Deadline(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- coordinator --\n> Agent {\"subagent_type\": \"Explore\", \"prompt\": \"where\", \"run_in_background\": true}\n---\nReport.\n-- Explore --\n! hang\n")
	c.waits = true
	ctx, cancel := context.WithCancelCause(t.Context())
	emit := c.Emit
	c.Emit = func(e agent.Event) error {
		if e.Agent == "coordinator" && e.Type == agent.EventMessage && e.N == 2 {
			time.AfterFunc(50*time.Millisecond, func() { cancel(context.DeadlineExceeded) })
		}
		return emit(e)
	}
	end, _ := c.coordinator(ctx, t, nil)
	if end.Outcome != agent.TimedOut {
		t.Errorf("%+v", end)
	}
	c.CancelAll(agent.ErrStopped)
	c.Drain()
}

// Where nothing outlives a call, an agent that would work in the background is
// waited for, and asking for it is refused.
func TestNoBackground(t *testing.T) {
	t.Parallel()
	c := newCast(t, `
-- coordinator --
> Agent {"subagent_type": "verification", "prompt": "check it"}
> Agent {"subagent_type": "Explore", "prompt": "where", "run_in_background": true}
---
Report.
-- verification --
VERDICT: PASS
`)
	c.NoBackground = true
	_, history := c.coordinator(t.Context(), t, nil)
	if !strings.Contains(history[2].Text, `verdict="PASS"`) || !strings.Contains(history[3].Text, "error: run_in_background") || len(c.List()) != 1 {
		t.Errorf("%v", history)
	}
}

// The least of the hard bound, the operator's cap, the definition's and the
// model's is what holds; nothing raises another and nothing is multiplied.
func TestAcceptance19Caps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ operator, definition, model, want int }{
		{0, 0, 0, agent.DefaultIterations},
		{0, 1000, 0, agent.MaxIterations},
		{0, 60, 90, 60},
		{0, 60, 7, 7},
		{20, 60, 90, 20},
		{20, 10, 0, 10},
		{500, 0, 500, agent.DefaultIterations},
	} {
		c := newCast(t, "-- model --\nDone.\n")
		c.Caps.MaxIterations = tc.operator
		c.Specs = []agent.Spec{{Name: "own", MaxIterations: tc.definition, Background: true}}
		if _, err := c.Run(t.Context(), agent.Order{Agent: "own", Prompt: "p", MaxIterations: tc.model, Background: true}); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.events, func(e agent.Event) bool { return e.Type == agent.EventTurnStart })
		if got := c.events[i].Meta.Max; got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

// What the operator's caps take from time, tokens and money ends an agent like its
// own limits do.
func TestOperatorCaps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		caps agent.Caps
		says string
		want agent.Outcome
	}{
		{agent.Caps{Timeout: time.Millisecond}, "! hang\n", agent.TimedOut},
		{agent.Caps{OutputTokens: 5}, "> read {}\n---\nDone.\n", agent.OverBudget},
		{agent.Caps{CostUSD: 0.01}, "> read {}\n---\nDone.\n", agent.OverBudget},
	} {
		c := newCast(t, "-- model --\n"+tc.says)
		c.Caps = tc.caps
		res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "p"})
		if err != nil || res.Outcome != tc.want || res.Status != agent.StatusBlocked {
			t.Errorf("%+v: %+v, %v", tc.caps, res, err)
		}
	}
}

// Who may say no to a subagent knows its environment; a refused one asks no model, ends
// as cancelled with the reason, and its environment is given back.
func TestAdmit(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- model --\n! 500\n")
	var begun string
	c.Admit = func(_ context.Context, rec agent.Record, isolation string) error {
		begun = rec.Agent + " " + isolation
		return errors.New("not today")
	}
	res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "p"})
	if err != nil || res.Outcome != agent.Canceled || res.Reason != "not today" || begun != "Explore worktree" || len(c.closed) != 1 {
		t.Errorf("%+v, %v, begun %q, closed %v", res, err, begun, c.closed)
	}
	if diff := cmp.Diff([]string{"subagent_start", "subagent_done"}, c.types(res.ID)); diff != "" {
		t.Error(diff)
	}
}

// A subagent that has to have a worktree and cannot have one does nothing, and
// each event says why.
func TestAcceptance05NoWorktree(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- model --\nDone.\n")
	c.Provision = func(context.Context, agent.Spec, agent.Record) (*agent.Environment, error) {
		return nil, &agent.IsolationError{Reason: agent.NotCreated, Err: errors.New("disk full")}
	}
	res, err := c.Run(t.Context(), agent.Order{Agent: "verification", Prompt: "p"})
	if err != nil || res.Outcome != agent.Errored || res.Isolation != "unavailable(create_failed)" || !strings.Contains(res.Reason, "isolation_unavailable (create_failed): disk full") {
		t.Errorf("%+v, %v", res, err)
	}
	if len(c.events) != 2 || c.events[0].Meta.Isolation != res.Isolation || c.events[1].Done.Isolation != res.Isolation {
		t.Errorf("%+v", c.events)
	}
}

// A subagent whose turn comes after its run was stopped is not given an environment, though
// one is free; one that is stopped on its way to an environment does not say that none could
// be had.
func TestStoppedBeforeSeat(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for range 32 { // it was left to chance
		c := newCast(t, "-- model --\nDone.\n")
		res, err := c.Run(stopped, agent.Order{Agent: "Explore", Prompt: "p"})
		if err != nil || res.Outcome != agent.Canceled || res.Isolation != "" || len(c.closed) != 0 {
			t.Fatalf("%+v, %v, closed %v", res, err, c.closed)
		}
	}
	running, halt := context.WithCancel(t.Context())
	c := newCast(t, "-- model --\nDone.\n")
	c.Provision = func(ctx context.Context, _ agent.Spec, _ agent.Record) (*agent.Environment, error) {
		halt()
		return nil, &agent.IsolationError{Reason: agent.NotCreated, Err: ctx.Err()}
	}
	res, err := c.Run(running, agent.Order{Agent: "verification", Prompt: "p"})
	if err != nil || res.Outcome != agent.Canceled || res.Isolation != "" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A child holds no tool that starts others, whatever its definition lists, and a
// call of one by any name is refused and recorded.
func TestAcceptance03NoNesting(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Agent", "Task", "task", "spawn_agent", "subagents_run", "get_subagent_result"} {
		c := newCast(t, "-- model --\n> "+name+" {\"subagent_type\": \"Explore\", \"prompt\": \"p\"}\n---\nDone.\n")
		c.Specs[0].Tools = []string{"read", "Agent", "Task", "get_subagent_result"}
		res, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "p"})
		if err != nil || len(c.List()) != 1 || len(res.Denied) != 1 || res.Denied[0].Rule != "class delegate" {
			t.Errorf("%s: %+v %v", name, res, err)
		}
		if diff := cmp.Diff([][]string{{"read"}}, c.offered("Explore")); diff != "" {
			t.Error(diff)
		}
	}
}

// A child in the background is offered nothing that writes or publishes; a forged
// call is refused as such, and neither an Allow rule nor its own list revives it.
func TestAcceptance04Background(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- model --\n> write_file {\"path\": \"x\"}\n> git_push {}\n---\nDone.\n")
	provision := c.Provision
	may, err := agent.NewPermissions(agent.Terms{Trust: "local", Sandboxed: true, Files: []agent.PermissionFile{
		{Name: "p", Data: []byte(`{"permissions": {"allow": ["Write(**)", "Git(*)", "Bash(*)"]}}`), Operator: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.Provision = func(ctx context.Context, s agent.Spec, r agent.Record) (*agent.Environment, error) {
		env, err := provision(ctx, s, r)
		env.Decide = may.Decide
		env.Known["git_push"] = tool.Publish
		return env, err
	}
	c.Specs[1].Tools = []string{"read", "write_file", "git_push"}
	res, err := c.Run(t.Context(), agent.Order{Agent: "verification", Prompt: "p", Background: true})
	if err != nil || len(res.Denied) != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	for _, d := range res.Denied {
		if d.Code != "background_auto_deny" {
			t.Errorf("%+v", d)
		}
	}
	if diff := cmp.Diff([][]string{{"read"}}, c.offered("verification")); diff != "" {
		t.Error(diff)
	}
}

// Cancelled in the middle of a batch, each call has an answer: the one that was
// done its own, the others that they were interrupted; every task has its outcome.
func TestAcceptance10CancelledBatch(t *testing.T) {
	t.Parallel()
	c := newCast(t, `
-- coordinator --
> Agent {"subagent_type": "Explore", "prompt": "one"}
> Agent {"subagent_type": "verification", "prompt": "two", "run_in_background": false}
-- Explore --
Found it.
-- verification --
! hang
`)
	ctx, cancel := context.WithCancelCause(t.Context())
	emit := c.Emit
	c.Emit = func(e agent.Event) error {
		err := emit(e)
		if e.Type == agent.EventSubagentDone && e.Agent == "Explore" {
			time.AfterFunc(100*time.Millisecond, func() { cancel(agent.ErrSuperseded) })
		}
		return err
	}
	end, history := c.coordinator(ctx, t, nil)
	if end.Outcome != agent.Canceled || len(history) != 4 || !strings.Contains(history[2].Text, "Found it.") || history[3].Text != "interrupted (superseded)" {
		t.Errorf("%+v\n%+v", end, history)
	}
	if err := model.Validate(history); err != nil {
		t.Error(err)
	}
	for _, rec := range c.List() {
		if page := agent.Markdown(c.events, rec.ID); !strings.Contains(page, "**Outcome:** "+string(rec.Result.Outcome)) {
			t.Errorf("%s: %s", rec.Agent, page)
		}
	}
}

// What a subagent did stands under its result, by its calls and not by its words.
func TestProvenance(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- model --\n> run_bash {\"command\": \"go   test\"}\n> refuse {}\n---\nI ran everything.\n")
	res, err := c.Run(t.Context(), agent.Order{Agent: "verification", Prompt: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agent.Provenance{Commands: []string{"go test"}, Ran: 1, Denied: 1}, res.Provenance); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(res.XML(), "\n[commands run: 1, failed: 0, calls refused: 1: go test]\n</task_result>") {
		t.Error(res.XML())
	}
}

// The events of a run are enough for its tasks to be known after its process; one
// that has no end is running or, where no one is left to end it, orphaned.
func TestRecordsOfEvents(t *testing.T) {
	t.Parallel()
	c := newCast(t, "-- Explore --\n> read {\"path\": \"a\"}\n---\nFound it.\n-- verification --\n> read {}\n---\n! hang\n-- review --\n! hang\n")
	if _, err := c.Run(t.Context(), agent.Order{Agent: "Explore", Prompt: "where", Description: "find"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, seen := make(chan bool, 2), map[string]bool{}
	emit := c.Emit
	c.Emit = func(e agent.Event) error {
		if err := emit(e); err != nil {
			return err
		}
		if e.Type == agent.EventIterationStart && !seen[e.Agent] && (e.Agent == "review" || e.N == 2) {
			seen[e.Agent] = true
			begun <- true
		}
		return nil
	}
	for _, name := range []string{"verification", "review"} {
		if _, err := c.Start(ctx, agent.Order{Agent: name, Prompt: "check", Background: true}); err != nil {
			t.Fatal(err)
		}
		<-begun
	}
	c.mu.Lock()
	early := slices.DeleteFunc(slices.Clone(c.events), func(e agent.Event) bool { return e.Type.Transient() })
	c.mu.Unlock()
	for live, want := range map[bool]agent.TaskStatus{true: agent.TaskRunning, false: agent.TaskOrphaned} {
		got := agent.Records("run-1", early, live)
		if len(got) != 3 {
			t.Fatalf("%d records", len(got))
		}
		for _, rec := range got {
			if kept, _ := c.Get(rec.ID); rec.Agent == "Explore" {
				if diff := cmp.Diff(kept.Result.XML(), rec.Result.XML()); diff != "" || rec.Status != agent.TaskDone || rec.Tokens != kept.Tokens || !cmp.Equal(rec.Activities, kept.Activities) {
					t.Errorf("%+v\n%+v", rec, kept)
				}
			} else if rec.Status != want || !rec.Background || rec.Prompt != "check" {
				t.Errorf("live %t: %+v", live, rec)
			}
		}
	}
	c.Cancel(c.List()[0].ID)
	cancel()
	c.Drain()
	for _, rec := range agent.Records("run-1", c.events, false) {
		kept, _ := c.Get(rec.ID)
		if rec.Status != kept.Status || rec.CanceledByUser != kept.CanceledByUser || rec.TranscriptPath != kept.TranscriptPath || rec.SidechainPath != kept.SidechainPath {
			t.Errorf("%+v\n%+v", rec, kept)
		}
	}
}
