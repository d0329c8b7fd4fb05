package recheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
)

// claims audits the replies of the agents once more, as the run did, and
// compares: what counts for the verdict follows from the replies, the evidence
// and what was run again, and not from what the journal says of it.
func (c *Checked) claims(r *rundir.Recorded, judged *orchestrator.Judgement) {
	if judged == nil {
		return
	}
	tries := reproduce.Tried(whole(r))
	expected := 0
	for _, a := range judged.Agents {
		expected += attempts(a)
	}
	if len(tries) < expected || len(tries) > expected && !r.Resumed() {
		c.problem("journal.jsonl: %d failing checks were run again, and the log has %d", expected, len(tries))
	}
	tries = tries[max(0, len(tries)-expected):]
	owed := map[string]bool{}
	for _, res := range judged.Results {
		c.result(r, res)
		owed[res.Agent] = true
		c.leftOut(r, judged, res, tries)
	}
	var findings []report.Finding
	for _, out := range judged.Agents {
		if !out.Helper && orchestrator.Helps(out.Agent) {
			continue // it was asked for and could not work
		}
		at := slices.IndexFunc(judged.Results, func(r agent.Result) bool { return belongs(out, r) })
		if at < 0 {
			c.problem("journal.jsonl: agent %s has a verdict and no result", out.Agent)
			continue
		}
		tries = c.outcome(r, out, judged.Results[at], tries)
	}
	if !owed[orchestrator.Verification] {
		c.problem("journal.jsonl: no agent %s looked at the change", orchestrator.Verification)
	}
	for _, owes := range []bool{true, false} {
		for _, res := range judged.Results {
			if orchestrator.Helps(res.Agent) == owes {
				continue
			}
			out := report.AgentOutcome{Helper: !owes}
			if at := slices.IndexFunc(judged.Agents, func(a report.AgentOutcome) bool { return a.Helper == !owes && belongs(a, res) }); at >= 0 {
				out = judged.Agents[at]
			}
			findings = append(findings, orchestrator.Audit{}.Findings(res, out)...)
		}
	}
	if !reflect.DeepEqual(through(findings), through(judged.Findings)) {
		c.problem("journal.jsonl: the findings of the agents are not those of their replies")
	}
	c.refusals(r, judged)
}

// belongs says whether an outcome is that of a result.
func belongs(out report.AgentOutcome, res agent.Result) bool {
	return out.Agent == res.Agent && (out.Task == res.ID || out.Task == "")
}

// leftOut looks for what an agent concluded among what counts.
func (c *Checked) leftOut(r *rundir.Recorded, judged *orchestrator.Judgement, res agent.Result, tries [][]evidence.Record) {
	helps := orchestrator.Helps(res.Agent)
	if slices.ContainsFunc(judged.Agents, func(a report.AgentOutcome) bool { return a.Helper == helps && belongs(a, res) }) {
		return
	}
	if helps {
		out, _, err := auditOf(r, tries).Outcome(res)
		if err != nil || !orchestrator.Counts(out) {
			return // an output that cannot be read is a problem of its own
		}
	}
	c.problem("journal.jsonl: what agent %s concluded is left out", res.Agent)
}

// attempts counts the checks that were run again.
func attempts(a report.AgentOutcome) int {
	n := 0
	for _, k := range a.Checks {
		if k.Result == report.ResultFail && k.Support == report.Supported && k.Reproduction != report.NotRun {
			n++
		}
	}
	return n
}

// outcome makes what one agent's reply comes to once more. It returns the tries that
// are left.
func (c *Checked) outcome(r *rundir.Recorded, have report.AgentOutcome, res agent.Result, tries [][]evidence.Record) [][]evidence.Record {
	want, claims, err := auditOf(r, tries).Outcome(res)
	if err != nil {
		c.problem("agent %s: %v", res.Agent, err)
		return tries
	}
	want.Cause = have.Cause
	if have.Task == "" {
		want.Task = "" // of a run before there were several of an agent
	}
	judge := reproduce.Judge{Dir: r.Begun.Dir, Source: r.Begun.Source}
	for i, claim := range claims {
		k := &want.Checks[i]
		if k.Support != report.Supported || len(claim.Audited.Records) == 0 {
			continue
		}
		again := i < len(have.Checks) && have.Checks[i].Reproduction != report.NotRun
		if again && k.Result == report.ResultFail {
			var found reproduce.Finding
			found, tries = c.reproduced(r, judge, failing{res, claim}, tries)
			k.Reproduction, k.Oracle = found.Reproduction, found.Oracle
		}
		if k.Result == report.ResultPass {
			k.Reproduction = resampled(r, judge, k.Evidence[len(k.Evidence)-1])
		}
	}
	if len(want.Checks) != len(have.Checks) {
		c.problem("agent %s: its reply has %d checks, the journal %d", res.Agent, len(want.Checks), len(have.Checks))
		return tries
	}
	for i := range want.Checks {
		w, g := through(want.Checks[i]), through(have.Checks[i])
		class := g.Reproduction
		g.Reproduction = w.Reproduction
		switch {
		case w.Support != g.Support:
			c.problem("agent %s: check %q is %s by the log, not %s", res.Agent, w.Title, w.Support, g.Support)
		case !reflect.DeepEqual(w, g):
			c.problem("agent %s: check %q is not what its reply says", res.Agent, w.Title)
		case w.Reproduction != class:
			c.problem("agent %s: check %q is %s by what was run again, not %s", res.Agent, w.Title, w.Reproduction, class)
		}
	}
	want.Checks, have.Checks = nil, nil
	if w, g := through(want), through(have); !reflect.DeepEqual(w, g) {
		c.problem("agent %s: what it concluded is not what follows from its reply", res.Agent)
	}
	return tries
}

// through is a value as it is after it was stored.
func through[T any](v T) T {
	var out T
	js, err := json.Marshal(v)
	if err != nil || json.Unmarshal(js, &out) != nil {
		return v
	}
	return out
}

// auditOf is the audit that the run made, from what is recorded. It knew no
// record of what was run again afterwards.
func auditOf(r *rundir.Recorded, tries [][]evidence.Record) orchestrator.Audit {
	records := r.Records
	if len(tries) > 0 {
		at := slices.IndexFunc(records, func(r evidence.Record) bool { return r.ID == tries[0][0].ID })
		records = records[:max(at, 0)]
	} else if at := slices.IndexFunc(records, func(r evidence.Record) bool { return r.Task == reproduce.Sample }); at >= 0 {
		records = records[:at]
	}
	a := orchestrator.Audit{Dir: r.Begun.Dir, Journal: r.Journal, Records: records}
	for _, rec := range r.Records {
		if strings.HasPrefix(rec.Task, string(gate.Head)+"/") {
			a.Tree = rec.Tree
			break
		}
	}
	return a
}

// failing is a check of an agent that says that something fails.
type failing struct {
	result agent.Result
	claim  orchestrator.Claim
}

// reproduced classifies a failing check by the records of what was run again.
func (c *Checked) reproduced(r *rundir.Recorded, judge reproduce.Judge, f failing, tries [][]evidence.Record) (reproduce.Finding, [][]evidence.Record) {
	first, ok := recordOf(r.Records, f.claim.Audited.Records[len(f.claim.Audited.Records)-1])
	if !ok || !first.Executed || f.result.Isolation != agents.Worktree || len(tries) == 0 {
		return reproduce.Finding{Reproduction: report.NotRun}, tries
	}
	now := tries[0]
	if !evidence.SameCommand(first.Command, now[0].Command) {
		c.problem("%s ran another command again than %s", now[0].ID, first.ID)
	}
	found, err := judge.Classify(reproduce.Trial{
		Claim: f.claim.AgentCheck, First: first, Head: now[0],
		OnBase: func() (evidence.Record, error) {
			if len(now) < 2 {
				return evidence.Record{}, errors.New("it was not run on the base")
			}
			return now[1], nil
		},
		More: func(n int) (reproduce.Pair, bool, error) {
			pair, ok := reproduce.PairOf(now, n)
			if _, cut := r.Journal.Lookup(orchestrator.KindCut, reproduce.Round(now[0].ID, n)); ok || cut {
				return pair, ok, nil
			}
			return pair, false, errors.New("it was not run again as often as it should")
		},
		Grounds: func(evidence.Record) (reproduce.Grounds, error) {
			g, ok := rundir.Lookup[reproduce.Grounds](r.Journal, orchestrator.KindGrounds, now[0].ID)
			if !ok {
				return g, errors.New("what the trees say of it is not recorded")
			}
			return g, nil
		},
	})
	if err != nil {
		c.problem("check %q: %v", f.claim.Title, err)
	}
	return found, tries[1:]
}

// resampled is what running a passing check again showed, by the records of it.
func resampled(r *rundir.Recorded, judge reproduce.Judge, id string) report.Reproduction {
	first, ok := recordOf(r.Records, id)
	if !ok {
		return report.NotRun
	}
	if now, ok := reproduce.SampleOf(whole(r), first); ok {
		return judge.Sampled(first, now)
	}
	return report.NotRun
}

// result holds what an agent came to against what the journal has of its way.
func (c *Checked) result(r *rundir.Recorded, res agent.Result) {
	if done, ok := rundir.Lookup[agent.Result](r.Journal, "subagent_done", res.ID); ok && !reflect.DeepEqual(through(done), through(res)) {
		c.problem("journal.jsonl: agent %s has two results that are not the same", res.Agent)
	}
	text := ""
	for n := 1; ; n++ {
		said, ok := rundir.Lookup[model.Response](r.Journal, "model", fmt.Sprintf("%s/%d", res.ID, n))
		if !ok {
			break
		}
		text += said.Message.Text
		if res.Submitted == nil {
			continue
		}
		for _, call := range said.Message.Calls {
			text += c.submitted(call)
		}
	}
	// What broke off in the middle of an answer has a part of one that is not kept.
	whole := res.Outcome == agent.Completed || res.Outcome == agent.IterCapped || res.Outcome == agent.OverBudget || res.Outcome == agent.NoProgress
	if whole && !strings.Contains(text, res.Text) {
		c.problem("journal.jsonl: the reply of agent %s is not what its model answered", res.Agent)
	}
}

// submitted are the results that a call may have handed in.
func (c *Checked) submitted(call model.Call) string {
	if tool.Canonical(call.Name) != orchestrator.SubmitTool {
		return ""
	}
	args, err := agent.Arguments(call.Args, tool.SubmitResult(&tool.Submission{}).Schema)
	if err != nil {
		return "" // the tool was not called
	}
	replies, err := tool.Submitted(args)
	if err != nil {
		c.problem("%v", err)
	}
	return strings.Join(replies, "")
}

// refusals looks for each refused command of the log among the refused calls.
func (c *Checked) refusals(r *rundir.Recorded, judged *orchestrator.Judgement) {
	if r.Resumed() {
		return // a call that a crash cut off was made, and refused, twice
	}
	listed := map[string]int{}
	for _, d := range judged.Denied {
		listed[d.Agent+" "+d.Code]++
	}
	for _, rec := range r.Records {
		if rec.Denied == nil {
			continue
		}
		key := rec.Agent + " " + rec.Denied.Code
		if listed[key]--; listed[key] < 0 {
			c.problem("%s was refused (%s), and the journal does not say so", rec.ID, rec.Denied.Code)
		}
	}
	all := orchestrator.Denials(judged.Results)
	if len(all) != len(judged.Denied) || len(all) > 0 && !reflect.DeepEqual(through(all), through(judged.Denied)) {
		c.problem("journal.jsonl: the refused calls are not those of the agents")
	}
}

// answers holds the answers in the journal against those of model.jsonl.
func (c *Checked) answers(r *rundir.Recorded) {
	said := map[string]model.Response{}
	err := exchanges(filepath.Join(r.Begun.Dir, "model.jsonl"), func(e model.Exchange) {
		if e.Response != nil {
			said[fmt.Sprintf("%s/%d", e.ID, e.N)] = *e.Response
		}
	})
	if err != nil {
		c.problem("model.jsonl: %v", err)
		return
	}
	for _, e := range r.Journal.Entries("model") {
		var answer model.Response
		if err := json.Unmarshal(e.Data, &answer); err != nil {
			c.problem("journal.jsonl: answer %s: %v", e.Key, err)
			continue
		}
		got, ok := said[e.Key]
		hidden := strings.Contains(answer.Message.Text, redact.Mark) // in each of the two in its own way
		if !ok || !hidden && strings.TrimSpace(got.Message.Text) != strings.TrimSpace(answer.Message.Text) || len(got.Message.Calls) != len(answer.Message.Calls) {
			c.problem("model.jsonl: answer %s is not the one of the journal", e.Key)
		}
	}
}

// exchanges reads a model.jsonl; none is an empty one.
func exchanges(name string, fn func(model.Exchange)) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return model.ReadExchanges(file, func(e model.Exchange) error {
		fn(e)
		return nil
	})
}
