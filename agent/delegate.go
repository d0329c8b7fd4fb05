package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	"Task": AgentTool, "task": AgentTool, "spawn_agent": AgentTool, "subagents_run": AgentTool, "subagents.run": AgentTool,
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

// spawnMost is how many subagents one agent starts in all, where its Runner does
// not say.
const spawnMost = 16

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
	d := &delegation{r: r, run: run, parent: parent, offered: names, begun: map[string]bool{}}
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

	mu    sync.Mutex
	begun map[string]bool // ids of the tasks that the agent has started
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
	if err := d.room(o); err != nil {
		return tool.Result{}, err
	}
	if o.Background {
		return d.background(o)
	}
	res, err := d.wait(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: res.xml(a.limit()), Errored: res.Outcome != Completed}, nil
}

// room refuses what would start more tasks than one parent may.
func (d *delegation) room(orders ...Order) error {
	most := d.r.Most
	if most <= 0 {
		most = spawnMost
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := maps.Clone(d.begun)
	for _, rec := range d.r.List() { // also those of a process before this one
		if rec.Parent == d.parent {
			ids[rec.ID] = true
		}
	}
	for _, o := range orders {
		ids[d.r.id(o)] = true
	}
	if len(ids) > most {
		return tool.Badf("error: one agent may start %d subagents, and this would be more; work with what they found", most)
	}
	d.begun = ids
	return nil
}

// wait runs o in the foreground. When ctx ends, so does the task, and the call has no answer.
func (d *delegation) wait(ctx context.Context, o Order) (Result, error) {
	res, err := d.r.Run(ctx, o)
	if err == nil && ctx.Err() != nil && res.Outcome == Canceled {
		return res, context.Cause(ctx)
	}
	return res, err
}

// background starts o. The same order given twice is one task; another order to the same
// agent is a task of its own.
func (d *delegation) background(o Order) (tool.Result, error) {
	id, fresh, err := d.r.start(d.run, o)
	if err != nil {
		return tool.Result{}, err
	}
	if !fresh {
		return tool.Result{Text: fmt.Sprintf("This task was started before: it is already running as task %s. Read its result with %s instead of starting another one.", id, ResultTool)}, nil
	}
	return tool.Result{Text: fmt.Sprintf("%s is running in the background as task %s. Read its result with %s.", o.Agent, id, ResultTool)}, nil
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
	if rec.Status != TaskRunning {
		d.r.seen(rec.ID)
	}
	return tool.Result{Text: rec.Describe(d.r.Now())}, nil
}

func (d *delegation) ids() []string {
	var ids []string
	for _, rec := range d.r.List() {
		ids = append(ids, rec.ID)
	}
	return ids
}

// Describe is what get_subagent_result answers, and what people are shown of a task:
// what it took, and its result or what it did last.
func (rec Record) Describe(now time.Time) string {
	return rec.heading(now) + rec.body()
}

// heading is what a task has taken so far.
func (rec Record) heading(now time.Time) string {
	end := rec.Finished
	if end.IsZero() {
		end = now
	}
	return fmt.Sprintf("task %s (%s): %s after %s, %d tool calls, %d tokens\ntranscript: %s\n",
		rec.ID, rec.Agent, rec.Status, end.Sub(rec.Started).Round(time.Second), rec.ToolCalls, rec.Tokens, rec.TranscriptPath)
}

// body is the result of a task, or what it did last.
func (rec Record) body() string {
	var b strings.Builder
	switch rec.Status {
	case TaskDone, TaskErrored, TaskCanceled, TaskIterCap:
		return rec.Result.XML()
	case TaskOrphaned:
		b.WriteString("Its process ended before it did. What it did last:")
	case TaskRunning:
		b.WriteString("It is not done. What it did last:")
	}
	for _, line := range rec.Activities {
		b.WriteString("\n- " + line)
	}
	if len(rec.Activities) == 0 {
		b.WriteString(" nothing yet.")
	}
	return b.String()
}
