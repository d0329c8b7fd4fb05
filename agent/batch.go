package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/tool"
)

// batchMost is how many subagents one call may start.
const batchMost = 5

// batchEntry is one subagent in the answer to a batch. What it handed in is
// there as it was handed in.
type batchEntry struct {
	ID      string  `json:"id"`
	Agent   string  `json:"role"`
	Title   string  `json:"displayName"`
	Task    string  `json:"task,omitempty"` // id of the task; none where it did not begin
	Status  Status  `json:"status"`
	Outcome Outcome `json:"outcome"`
	Verdict string  `json:"verdict,omitempty"`
	Text    string  `json:"summary"`
	Error   string  `json:"error,omitempty"` // why it did not complete

	Steps     json.RawMessage `json:"steps,omitempty"`
	Findings  json.RawMessage `json:"findings,omitempty"`
	Artifacts json.RawMessage `json:"artifacts,omitempty"`
	Next      json.RawMessage `json:"recommendedNextActions,omitempty"`

	Provenance string    `json:"provenance,omitempty"`
	Meta       batchMeta `json:"meta"`
}

// batchMeta is what a task of a batch took.
type batchMeta struct {
	Iterations int `json:"iterations"`
	Output     int `json:"outputTokensEstimate"`
}

// batch runs several tasks in the foreground and answers {"agents": […]} in their
// order. A mistake in one of them starts none; one that fails is an entry of its own.
func (d *delegation) batch(ctx context.Context, a spawnArgs) (tool.Result, error) {
	orders, err := d.orders(a)
	if err != nil {
		return tool.Result{}, err
	}
	titles := a.titles(orders)
	entries := make([]batchEntry, len(orders))
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
			res, err := d.wait(ctx, o)
			if err != nil {
				res.Status, res.Outcome, res.Reason = StatusFailed, Errored, err.Error()
			}
			entries[i] = entry(res, first(a.Agents[i].ID, res.ID, o.Agent), titles[i], a.Agents[i].limit())
			entries[i].Agent = o.Agent
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	text, err := json.Marshal(map[string]any{"agents": entries})
	if err != nil {
		return tool.Result{}, fmt.Errorf("subagents: %w", err)
	}
	return tool.Result{Text: string(text)}, nil
}

// orders makes the orders of a batch, all of them or none.
func (d *delegation) orders(a spawnArgs) ([]Order, error) {
	if n := len(a.Agents); n == 0 || n > batchMost {
		return nil, tool.Badf("error: agents must have 1 to %d entries, not %d", batchMost, n)
	}
	if a.Mode != "" && a.Mode != "parallel" {
		return nil, tool.Badf("error: mode %q: there is only parallel", a.Mode)
	}
	batch := "batch-" + d.r.id(Order{Parent: d.parent, Prompt: a.Agents[0].brief()})
	orders := make([]Order, len(a.Agents))
	for i, one := range a.Agents {
		one.Background = nil // the answer is all of theirs
		o, err := d.order(one)
		if err != nil {
			return nil, tool.Badf("error: agents[%d]: %s", i, strings.TrimPrefix(err.Error(), "error: "))
		}
		o.Background, o.Batch = false, batch
		orders[i] = o
	}
	return orders, d.room(orders...)
}

// titles are how people see the tasks of a batch: no two alike.
func (a spawnArgs) titles(orders []Order) []string {
	out, seen := make([]string, len(orders)), map[string]int{}
	for i, o := range orders {
		out[i] = first(a.Agents[i].Title, a.Agents[i].Description, o.Agent)
		if seen[out[i]]++; seen[out[i]] > 1 {
			out[i] = fmt.Sprintf("%s (%d)", out[i], seen[out[i]])
		}
	}
	return out
}

// limit is how much of a result the caller wants to read; it only lowers.
func (a spawnArgs) limit() int {
	if a.MaxResult <= 0 {
		return resultRunes
	}
	return min(a.MaxResult, resultRunes)
}

func entry(res Result, id, title string, runes int) batchEntry {
	e := batchEntry{
		ID: id, Title: title, Task: res.ID, Status: res.Status, Outcome: res.Outcome, Verdict: res.Verdict, Text: Cut(res.Text, runes),
		Provenance: res.Provenance.String(), Meta: batchMeta{Iterations: res.Iterations, Output: outputOf(res)},
	}
	if res.Outcome != Completed {
		e.Error = res.Reason
		if e.Text == "" {
			e.Text = res.Reason
		}
	}
	if res.Submitted != nil {
		var in struct {
			Steps, Findings, Artifacts json.RawMessage
			Next                       json.RawMessage `json:"recommendedNextActions"`
		}
		if json.Unmarshal(res.Submitted, &in) == nil {
			e.Steps, e.Findings, e.Artifacts, e.Next = in.Steps, in.Findings, in.Artifacts, in.Next
		}
	}
	return e
}

// outputOf is what a subagent's model wrote, in tokens: counted by its provider,
// else a fourth of the characters.
func outputOf(res Result) int {
	if res.Usage.Output > 0 {
		return res.Usage.Output
	}
	return utf8.RuneCountInString(res.Text) / 4
}
