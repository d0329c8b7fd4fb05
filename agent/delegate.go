package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/tool"
)

// The tools with which a coordinator uses the Runner.
const (
	AgentTool  = "Agent"
	ResultTool = "get_subagent_result"
)

// spawnAliases are the other spellings of AgentTool, which its arguments fit as well.
var spawnAliases = map[string]string{
	"Task": AgentTool, "task": AgentTool, "spawn_agent": AgentTool, "subagents_run": AgentTool,
}

// SpawnAliases returns the spellings of AgentTool that are taken at dispatch and
// never offered, for Config.Aliases.
func SpawnAliases() map[string]string {
	all := make(map[string]string, len(spawnAliases))
	for k, v := range spawnAliases {
		all[k] = v
	}
	return all
}

// batchMost is how many subagents one call may start.
const batchMost = 5

// How long get_subagent_result waits.
const (
	waitDefault = 60 * time.Second
	waitMost    = 600 * time.Second
)

// Tools returns Agent and get_subagent_result for the agent with id parent.
// offered are the names of the specs that its model may pick, run bounds the
// tasks in the background.
func (r *Runner) Tools(run context.Context, parent string, offered []string) ([]tool.Tool, error) {
	var names []string
	var lines strings.Builder
	for _, name := range slices.Sorted(slices.Values(offered)) {
		spec, ok := r.Find(name)
		if !ok {
			return nil, fmt.Errorf("agent %q may be offered, but there is none (available: %s)", name, strings.Join(r.names(), ", "))
		}
		names = append(names, spec.Name)
		fmt.Fprintf(&lines, "\n- %s: %s", spec.Name, spec.Description)
	}
	if len(names) == 0 {
		return nil, nil
	}
	schema, err := agentSchema(names)
	if err != nil {
		return nil, err
	}
	results, err := resultSchema()
	if err != nil {
		return nil, err
	}
	d := &delegation{r: r, run: run, parent: parent, offered: names}
	return []tool.Tool{
		{
			Name: AgentTool, Class: tool.Delegate, Parallel: true, Schema: schema, Run: d.spawn,
			Description: "Gives a task to a subagent that works on its own and sees nothing of this conversation: put everything it needs into the prompt. " +
				"Its final reply is the answer. With run_in_background the call returns at once with a task id; read the result with " + ResultTool + ". " +
				"Several independent tasks go into one message, or into agents (at most 5). Do not do a subagent's work a second time.\nAgents:" + lines.String(),
		},
		{
			Name: ResultTool, Class: tool.Delegate, Parallel: true, Schema: results, Run: d.result,
			Description: "Waits for a subagent's task and returns its result, or what it is doing if it is not done when the wait is over.",
		},
	}, nil
}

// A delegation is the Runner in the hands of one agent.
type delegation struct {
	r       *Runner
	run     context.Context // of the run: tasks in the background outlive the turn, never the run
	parent  string
	offered []string

	mu sync.Mutex // one background start at a time, so that two of a kind cannot slip through
}

// spawnArgs takes the arguments of Agent and of its aliases.
type spawnArgs struct {
	SubagentType  string   `json:"subagent_type"`
	AgentType     string   `json:"agentType"`
	Agent         string   `json:"agent"`
	Role          string   `json:"role"`
	Prompt        string   `json:"prompt"`
	Task          string   `json:"task"`
	Description   string   `json:"description"`
	Title         string   `json:"title"`
	ID            string   `json:"id"`
	Background    *bool    `json:"run_in_background"`
	MaxIterations int      `json:"max_iterations"`
	Tools         []string `json:"tools"`
	Groups        []string `json:"allowedToolGroups"`
	Criteria      []string `json:"successCriteria"`
	Objective     string   `json:"objective"`
	Expected      string   `json:"expected_output"`
	Guidance      string   `json:"tool_guidance"`
	Boundaries    string   `json:"boundaries"`

	Agents         []spawnArgs `json:"agents"`
	MaxConcurrency int         `json:"maxConcurrency"`
}

func first(of ...string) string {
	for _, s := range of {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// order folds the spellings of a task into one Order.
func (d *delegation) order(a spawnArgs) (Order, error) {
	name := first(a.SubagentType, a.AgentType, a.Agent, a.Role)
	spec, ok := d.r.Find(name)
	switch {
	case name == "":
		return Order{}, tool.Badf("error: subagent_type is missing (available: %s)", strings.Join(d.offered, ", "))
	case !ok || !slices.Contains(d.offered, spec.Name):
		return Order{}, tool.Badf("error: unknown subagent_type %q (available: %s)", name, strings.Join(d.offered, ", "))
	}
	var b strings.Builder
	b.WriteString(first(a.Prompt, a.Task))
	for _, part := range [][2]string{{"Objective", a.Objective}, {"Expected output", a.Expected}, {"Tools", a.Guidance}, {"Boundaries", a.Boundaries}} {
		if part[1] != "" {
			fmt.Fprintf(&b, "\n\n%s: %s", part[0], part[1])
		}
	}
	if strings.TrimSpace(b.String()) == "" {
		return Order{}, tool.Badf("error: prompt is missing")
	}
	for i, c := range a.Criteria {
		if i == 0 {
			b.WriteString("\n\nIt is done when:")
		}
		b.WriteString("\n- " + c)
	}
	o := Order{
		Agent: spec.Name, Prompt: b.String(), Description: first(a.Description, a.Title), Parent: d.parent,
		MaxIterations: a.MaxIterations, Tools: a.Tools, Background: spec.Background,
	}
	if o.Tools == nil {
		o.Tools = a.Groups
	}
	if a.Background != nil {
		o.Background = *a.Background
	}
	return o, nil
}

func (d *delegation) spawn(ctx context.Context, raw json.RawMessage) (tool.Result, error) {
	var a spawnArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return tool.Result{}, tool.Badf("error: %v", err)
	}
	if a.Agents != nil {
		return d.batch(ctx, a)
	}
	o, err := d.order(a)
	if err != nil {
		return tool.Result{}, err
	}
	if o.Background {
		return d.background(o)
	}
	res, err := d.wait(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: res.XML(), Errored: res.Outcome != Completed}, nil
}

// wait runs o in the foreground. When ctx ends, so does the task, and the call has no answer.
func (d *delegation) wait(ctx context.Context, o Order) (Result, error) {
	res, err := d.r.Run(ctx, o)
	if err == nil && ctx.Err() != nil && res.Outcome == Canceled {
		return res, context.Cause(ctx)
	}
	return res, err
}

// background starts o, unless a task of the same agent is under way there.
func (d *delegation) background(o Order) (tool.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, rec := range d.r.List() {
		if rec.Agent == o.Agent && rec.Background && rec.Status == TaskRunning {
			return tool.Result{Text: fmt.Sprintf("%s is already at work as task %s. Read its result with %s instead of starting another one.", o.Agent, rec.ID, ResultTool)}, nil
		}
	}
	id, err := d.r.Start(d.run, o)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: fmt.Sprintf("%s works in the background as task %s. Read its result with %s.", o.Agent, id, ResultTool)}, nil
}

// batchEntry is one subagent in the answer to a batch.
type batchEntry struct {
	ID      string  `json:"id"`
	Agent   string  `json:"role"`
	Title   string  `json:"displayName,omitempty"`
	Task    string  `json:"task"`
	Status  Status  `json:"status"`
	Outcome Outcome `json:"outcome"`
	Verdict string  `json:"verdict,omitempty"`
	Text    string  `json:"summary"`
}

// batch runs several tasks in the foreground and answers {"agents": […]} in their order.
func (d *delegation) batch(ctx context.Context, a spawnArgs) (tool.Result, error) {
	if n := len(a.Agents); n == 0 || n > batchMost {
		return tool.Result{}, tool.Badf("error: agents must have 1 to %d entries, not %d", batchMost, n)
	}
	orders := make([]Order, len(a.Agents))
	for i, one := range a.Agents {
		o, err := d.order(one)
		if err != nil {
			return tool.Result{}, err
		}
		o.Background, o.Batch = false, "batch-"+d.r.id(Order{Parent: d.parent, Prompt: a.Agents[0].Task})
		orders[i] = o
	}
	entries, errs := make([]batchEntry, len(orders)), make([]error, len(orders))
	wide := a.MaxConcurrency
	if wide <= 0 {
		wide = limitDefault
	}
	slots := make(chan struct{}, min(wide, batchMost))
	var wg sync.WaitGroup
	for i, o := range orders {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var res Result
			res, errs[i] = d.wait(ctx, o)
			entries[i] = batchEntry{
				ID: first(a.Agents[i].ID, res.ID), Agent: o.Agent, Title: a.Agents[i].Title, Task: res.ID,
				Status: res.Status, Outcome: res.Outcome, Verdict: res.Verdict, Text: Cut(res.Text, resultRunes),
			}
			if res.Outcome != Completed && res.Text == "" {
				entries[i].Text = res.Reason
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return tool.Result{}, err
	}
	text, err := json.Marshal(map[string]any{"agents": entries})
	if err != nil {
		return tool.Result{}, fmt.Errorf("subagents: %w", err)
	}
	return tool.Result{Text: string(text)}, nil
}

func (d *delegation) result(ctx context.Context, raw json.RawMessage) (tool.Result, error) {
	var a resultArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return tool.Result{}, tool.Badf("error: %v", err)
	}
	rec, ok := d.r.Get(a.TaskID)
	if !ok {
		return tool.Result{}, tool.Badf("error: no task, or more than one, begins with %q (tasks: %s)", a.TaskID, strings.Join(d.ids(), ", "))
	}
	wait := waitDefault
	if a.Wait > 0 {
		wait = min(time.Duration(a.Wait)*time.Second, waitMost)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-d.r.WaitFor(rec.ID):
	case <-timer.C:
	case <-ctx.Done():
		return tool.Result{}, context.Cause(ctx)
	}
	rec, _ = d.r.Get(rec.ID)
	return tool.Result{Text: rec.describe(d.r.Now())}, nil
}

func (d *delegation) ids() []string {
	var ids []string
	for _, rec := range d.r.List() {
		ids = append(ids, rec.ID)
	}
	return ids
}

// describe is what get_subagent_result answers.
func (rec Record) describe(now time.Time) string {
	end := rec.Finished
	if end.IsZero() {
		end = now
	}
	var b strings.Builder
	fmt.Fprintf(&b, "task %s (%s): %s after %s, %d tool calls, %d tokens\ntranscript: %s\n",
		rec.ID, rec.Agent, rec.Status, end.Sub(rec.Started).Round(time.Second), rec.ToolCalls, rec.Tokens, rec.TranscriptPath)
	if rec.Status != TaskRunning {
		b.WriteString(rec.Result.XML())
		return b.String()
	}
	b.WriteString("It is not done. What it did last:")
	for _, line := range rec.Activities {
		b.WriteString("\n- " + line)
	}
	if len(rec.Activities) == 0 {
		b.WriteString(" nothing yet.")
	}
	return b.String()
}
