package agent

import (
	"cmp"
	"path"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/transcript"
)

// TaskOrphaned is the status of a task whose process ended before it did. A run
// that is continued takes it up again.
const TaskOrphaned TaskStatus = "orphaned"

// Records rebuilds the records of the agents of a run from its events, the newest
// first: what a Runner knew of its tasks is there after its process as well. An
// agent that has not ended is running where the run is live, else orphaned.
func Records(runID string, events []Event, live bool) []Record {
	var out []Record
	for _, id := range transcript.Agents(events) {
		if id != "" {
			out = append(out, rebuilt(runID, id, transcript.Of(events, id), live))
		}
	}
	sorted.By(out, func(a, b Record) int { return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID)) })
	return out
}

// rebuilt is the record of one agent.
func rebuilt(runID, id string, events []Event, live bool) Record {
	first := events[0]
	t := &task{done: make(chan struct{}), rec: Record{
		Order: Order{Agent: first.Agent, Parent: first.Parent}, ID: id, Status: TaskRunning, Started: first.Time,
		TranscriptPath: path.Join("subagents", first.Agent+"-"+id+".md"),
		SidechainPath:  path.Join("sessions", runID, "sidechains", id+".jsonl"),
	}}
	var end *transcript.Done
	var ended time.Time
	for _, e := range events {
		t.note(e)
		if e.Done == nil {
			end = nil // it went on, because the run was continued
			if e.Type == transcript.SubagentStart || e.Type == transcript.TurnStart {
				t.start(e)
			}
			continue
		}
		end, ended = e.Done, e.Time
		t.rec.CanceledByUser = e.Done.ByUser
		t.rec.Result.Reason = cmp.Or(e.Done.Error, e.Reason)
	}
	switch {
	case end != nil:
		t.finish(resultOf(t.rec, end), ended)
	case !live:
		t.rec.Status = TaskOrphaned
	}
	return t.rec
}

// start takes over what an agent was started with.
func (t *task) start(e Event) {
	t.rec.Prompt = cmp.Or(t.rec.Prompt, e.Text)
	if m := e.Meta; m != nil {
		t.rec.Model = cmp.Or(m.Model, t.rec.Model)
		t.rec.Isolation = cmp.Or(m.Isolation, t.rec.Isolation)
		t.rec.Description = cmp.Or(t.rec.Description, m.Description)
		t.rec.Background = t.rec.Background || m.Background
	}
}

// resultOf is a result as far as the last event reports it.
func resultOf(rec Record, d *transcript.Done) Result {
	res := Result{
		ID: rec.ID, Agent: rec.Agent, Status: Status(d.Status), Verdict: d.Verdict, Model: rec.Model, DurationMS: d.DurationMS,
		Isolation: cmp.Or(d.Isolation, rec.Isolation), Transcript: rec.TranscriptPath, Sidechain: rec.SidechainPath,
		Provenance: Provenance{Ran: d.Ran, Failed: d.Failed, Denied: d.Denied},
	}
	res.Outcome, res.Text, res.Reason = Outcome(d.Outcome), d.Text, rec.Result.Reason
	res.Iterations, res.ToolCalls = d.Iterations, d.ToolCalls
	res.Usage = model.Usage{Input: d.Usage.Input, Output: d.Usage.Output, Cached: d.Usage.Cached, Written: d.Usage.Written, Estimated: d.Usage.Estimated}
	if d.CostUSD != nil {
		res.CostUSD, res.CostKnown = *d.CostUSD, true
	}
	if res.Status == "" {
		res.Status = res.Outcome.Status()
	}
	return res
}
