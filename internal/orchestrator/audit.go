package orchestrator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
)

// An Audit holds what agents claim against the log. It needs what is recorded and
// nothing else, so that a finished run is audited in the same way.
type Audit struct {
	Dir     string // run directory, for the outputs
	Journal *journal.Journal
	Tree    string            // oid of the head's prepared tree
	Records []evidence.Record // as they were when the agents had ended
}

// A Claim is a check that an agent claims, and what was found in the log for it.
type Claim struct {
	report.AgentCheck

	Audited evidence.Audited
}

// Outcome is what one agent's reply comes to before anything is run again, and the claims
// behind its checks, in their order. Of a helper, which owes no verdict, the checks are
// what it says fails: its failing checks and the commands of its findings. Those of the
// verification are followed by the commands of what it calls an error.
func (a Audit) Outcome(res agent.Result) (report.AgentOutcome, []Claim, error) {
	reply := report.ParseAgentReport(res.Text)
	out := report.AgentOutcome{
		Agent: res.Agent, Task: res.ID, Outcome: string(res.Outcome), Cause: reason(res), Verdict: reply.Verdict, Form: reply.Form, Denied: len(res.Denied),
		Tripwire: tripped(a.Journal, kindChanged, res.ID), Moved: tripped(a.Journal, kindMoved, res.ID),
	}
	for _, r := range a.Records {
		if r.Task == res.ID && r.Executed && r.Status() != 0 {
			out.Failed++
		}
	}
	checks := reply.Checks
	if Helps(res.Agent) {
		out.Helper, out.Outcome, out.Cause, out.Verdict, out.Form = true, report.RunnerCompleted, "", "", ""
		checks = failing(res)
	}
	own := len(checks)
	if !out.Helper {
		checks = append(checks, aside(res.Text, checks)...)
	}
	audited, err := a.auditor(res).Audit(checks)
	if err != nil {
		return out, nil, err
	}
	claims := make([]Claim, len(checks))
	for i, c := range checks {
		claims[i] = Claim{c, audited[i]}
		k := audit(c, audited[i])
		k.Aside, k.Before = i >= own, a.before(audited[i], c.Commands)
		out.Checks = append(out.Checks, k)
	}
	return out, claims, nil
}

// auditor matches the claims of one agent.
func (a Audit) auditor(res agent.Result) evidence.Auditor {
	return evidence.Auditor{
		Log: a.Records, Agent: res.Agent, Task: res.ID, Host: reproduce.Host, Tree: a.Tree, Trees: rundir.TreesOf(a.Journal, res.ID),
		Elsewhere: append(rundir.Bases(a.Journal, res.ID), "$YCBOT_BASE", "${YCBOT_BASE}", "$YCBOT_SCRATCH", "${YCBOT_SCRATCH}"),
		Output:    func(r evidence.Record) (stdout, stderr []byte, err error) { return evidence.Shown(a.Dir, r) },
	}
}

// audit is a check as the report has it.
func audit(c report.AgentCheck, a evidence.Audited) report.JudgedCheck {
	k := report.JudgedCheck{Adversarial: c.Adversarial, Borrowed: len(a.Records) > 0 && !a.Own, Reason: a.Reason}
	k.Check = report.Check{
		Title: c.Title, Kind: report.KindAgent, Result: c.Result, Command: strings.Join(c.Commands, "\n"),
		Evidence: a.Records, Support: a.Support, Reproduction: report.NotRun, Expected: c.Expected, Actual: c.Output,
	}
	if a.Printed != "" {
		k.Actual = a.Printed
	}
	if a.Support == report.Absent {
		k.Actual = "" // what is not in the log is struck out
	}
	if a.Reason != "" {
		note := "ycbot: " + a.Reason
		if k.Actual != "" {
			note += "\n" + k.Actual
		}
		k.Actual = note
	}
	return k
}

// kindChanged entries of the journal, with an agent's id as key, are tracked
// files that a command of the agent changed and that were put back: what was
// seen once counts, also after a crash. It is stored: do not change it.
const kindChanged = "changed"

// kindMoved entries are what git keeps of an agent's tree and was moved by one of
// its commands, in the same way: HEAD, the index, refs. It is stored as well.
const kindMoved = "moved"

func tripped(j *journal.Journal, kind, id string) []string {
	var all []string
	for _, e := range j.Entries(kind) {
		var paths []string
		if e.Key == id && json.Unmarshal(e.Data, &paths) == nil {
			all = append(all, paths...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Helps says whether an agent's reply owes no verdict: that of all but the verification.
func Helps(name string) bool { return name != Verification }

// Denials are the refused calls of agents, in the order of their results.
func Denials(results []agent.Result) []report.Denial {
	var out []report.Denial
	for _, res := range results {
		for _, d := range res.Denied {
			out = append(out, report.Denial{Agent: res.Agent, Tool: d.Tool, Target: d.Target, Code: d.Code, Rule: d.Rule, Source: d.Source, Hint: d.Hint})
		}
	}
	return out
}
