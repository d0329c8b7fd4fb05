package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
)

// judge holds what agents claim against the log, runs what they say fails again,
// and collects what the report says of them. Helpers count where they were asked
// for and could not work. Without rerun nothing is run again.
func (h *host) judge(ctx context.Context, owing, helpers []agent.Result, noRerun bool) (*judgement, error) {
	j := &judgement{}
	h.rerunUntil = h.shareOf(ctx, rerunShare)
	for _, res := range helpers {
		switch {
		case res.Outcome == agent.Completed:
		case h.asked(res.Agent):
			j.Agents = append(j.Agents, report.AgentOutcome{Agent: res.Agent, Outcome: string(res.Outcome), Cause: reason(res)})
		default:
			j.NotCovered = append(j.NotCovered, fmt.Sprintf("what agent %s would have found: it did not complete: %s", res.Agent, reason(res)))
		}
	}
	for _, res := range owing {
		outcome, err := h.outcome(ctx, res, noRerun)
		if err != nil {
			return nil, err
		}
		j.Agents = append(j.Agents, outcome)
	}
	for _, rec := range inOrder(h.runner.List()) {
		j.add(rec.Result)
	}
	if h.planner != nil {
		j.add(*h.planner)
	}
	j.Usage, j.CostUSD, j.CostOK = h.runner.Budget.Used()
	return j, nil
}

// spoiled are the helpers whose commands changed what no agent may change, in the
// order of their results. They owe no verdict; this counts all the same.
func (h *host) spoiled(results []agent.Result) []report.AgentOutcome {
	var out []report.AgentOutcome
	for _, res := range results {
		a := report.AgentOutcome{Agent: res.Agent, Outcome: report.RunnerCompleted, Helper: true, Tripwire: h.changed(res.ID), Moved: h.moved(res.ID)}
		if helps(res.Agent) && len(a.Tripwire)+len(a.Moved) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// inOrder puts records in the order in which their work began. Those that a
// coordinator started side by side are sorted by what they are, so that the same
// run tells of them in the same order each time.
func inOrder(newest []agent.Record) []agent.Record {
	all := slices.Clone(newest)
	slices.Reverse(all)
	var added []agent.Record
	for _, rec := range all {
		if rec.Parent != "" {
			added = append(added, rec)
		}
	}
	slices.SortStableFunc(added, func(a, b agent.Record) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(a.Prompt, b.Prompt))
	})
	for i, rec := range all {
		if rec.Parent != "" {
			all[i], added = added[0], added[1:]
		}
	}
	return all
}

// add takes over what an agent came to and what it was refused.
func (j *judgement) add(res agent.Result) {
	j.Results = append(j.Results, res)
	for _, d := range res.Denied {
		j.Denied = append(j.Denied, report.Denial{Agent: res.Agent, Tool: d.Tool, Target: d.Target, Code: d.Code, Rule: d.Rule, Source: d.Source, Hint: d.Hint})
	}
}

// reason words why an agent did not complete.
func reason(res agent.Result) string {
	if res.Err != nil {
		return cause(res.Err)
	}
	return res.Reason
}

// outcome is what one agent's reply comes to.
func (h *host) outcome(ctx context.Context, res agent.Result, noRerun bool) (report.AgentOutcome, error) {
	said := report.ParseAgentReport(res.Text)
	out := report.AgentOutcome{
		Agent: res.Agent, Outcome: string(res.Outcome), Cause: reason(res), Verdict: said.Verdict, Form: said.Form, Denied: len(res.Denied),
	}
	out.Tripwire, out.Moved = h.changed(res.ID), h.moved(res.ID)
	records := h.log.Records()
	for _, r := range records {
		if r.Task == res.ID && r.Executed && r.Exit != 0 {
			out.Failed++
		}
	}
	audited, err := h.auditor(res, records).Audit(said.Checks)
	if err != nil {
		return out, err
	}
	for i, c := range said.Checks {
		k := judged(c, audited[i])
		if k.Result == report.ResultFail && k.Support == report.Supported && !noRerun && !h.rerunOver() {
			if k.Reproduction, err = h.reproduce(ctx, res, c, audited[i]); err != nil {
				return out, fmt.Errorf("run check %q again: %w", c.Title, err)
			}
		}
		out.Checks = append(out.Checks, k)
	}
	if noRerun {
		return out, nil
	}
	return out, h.sample(ctx, res, audited, out.Checks)
}

// auditor matches the claims of one agent.
func (h *host) auditor(res agent.Result, records []evidence.Record) evidence.Auditor {
	return evidence.Auditor{
		Log: records, Agent: res.Agent, Task: res.ID, Tree: h.head.OID,
		Elsewhere: []string{h.base.Dir, "$YCBOT_BASE", "${YCBOT_BASE}"},
		Output: func(r evidence.Record) (stdout, stderr []byte, err error) {
			if stdout, err = evidence.ReadOutput(h.dir, r.Stdout); err != nil {
				return nil, nil, err
			}
			stderr, err = evidence.ReadOutput(h.dir, r.Stderr)
			return stdout, stderr, err
		},
	}
}

// judged is a check as the report has it.
func judged(c report.AgentCheck, a evidence.Audited) report.JudgedCheck {
	k := report.JudgedCheck{Adversarial: c.Adversarial, Reason: a.Reason}
	k.Check = report.Check{
		Title: c.Title, Kind: report.KindAgent, Result: c.Result, Command: strings.Join(c.Commands, "\n"),
		Evidence: a.Records, Support: a.Support, Reproduction: report.NotRun, Expected: c.Expected, Actual: c.Output,
	}
	if a.Support == report.Absent {
		k.Actual = "" // what is not in the log is struck out
	}
	if a.Reason != "" {
		k.Actual = joinLines("ycbot: "+a.Reason, k.Actual)
	}
	return k
}
