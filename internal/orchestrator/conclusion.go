package orchestrator

import (
	"github.com/ycbot/ycbot/internal/conclude"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Conclusion is what the agents of a run came to, for its report. judged is nil where
// they came to nothing, and failure says why, for people.
func Conclusion(j *journal.Journal, judged *Judgement, failure string) *conclude.Agents {
	name, _ := rundir.Lookup[string](j, "run", "model")
	out := &conclude.Agents{Model: name, Notes: Notes(j), Failure: failure}
	if judged != nil {
		out.Judged = judged.concluded()
	}
	return out
}

func (j *Judgement) concluded() *conclude.Judged {
	out := &conclude.Judged{
		Outcomes: j.Agents, Findings: append(distinct(j.Findings), j.disputed()...), Denied: j.Denied, NotCovered: j.NotCovered, Notes: j.Notes,
		Usage: report.Usage{InputTokens: j.Usage.Input, OutputTokens: j.Usage.Output, CachedTokens: j.Usage.Cached, Estimated: j.Usage.Estimated},
	}
	if j.CostOK {
		out.Usage.CostUSD = &j.CostUSD
	}
	for _, r := range j.Results {
		out.Subagents = append(out.Subagents, report.Subagent{
			ID: r.ID, Agent: r.Agent, Model: r.Model, Status: string(r.Status), Outcome: string(r.Outcome), Verdict: r.Verdict,
			Iterations: r.Iterations, ToolCalls: r.ToolCalls, Tokens: r.Usage.Input + r.Usage.Output, CostUSD: r.CostUSD,
			DurationMS: r.DurationMS, Isolation: r.Isolation, Transcript: rundir.TranscriptPath(r.Agent, r.ID),
		})
	}
	return out
}
