package run

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
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// claims audits the replies of the agents once more, as the run did, and
// compares: what counts for the verdict follows from the replies, the evidence
// and what was run again, and not from what the journal says of it.
func (c *Checked) claims(s *session, k kept) {
	if k.judged == nil {
		return
	}
	h := &host{session: s}
	tries := tried(s.read)
	expected := 0
	for _, a := range k.judged.Agents {
		expected += attempts(a)
	}
	if len(tries) < expected || len(tries) > expected && !s.resumed() {
		c.problem("journal.jsonl: %d failing checks were run again, and the log has %d", expected, len(tries))
	}
	tries = tries[max(0, len(tries)-expected):]
	owed := map[string]bool{}
	for _, res := range k.judged.Results {
		c.result(s, res)
		if helps(res.Agent) {
			continue
		}
		owed[res.Agent] = true
		at := slices.IndexFunc(k.judged.Agents, func(a report.AgentOutcome) bool { return a.Agent == res.Agent })
		if at < 0 {
			c.problem("journal.jsonl: what agent %s concluded is left out", res.Agent)
		}
	}
	for _, out := range k.judged.Agents {
		if helps(out.Agent) {
			continue
		}
		at := slices.IndexFunc(k.judged.Results, func(r agent.Result) bool { return r.Agent == out.Agent })
		if at < 0 {
			c.problem("journal.jsonl: agent %s has a verdict and no result", out.Agent)
			continue
		}
		tries = c.outcome(h, out, k.judged.Results[at], tries)
	}
	if !owed[verificationAgent] {
		c.problem("journal.jsonl: no agent %s looked at the change", verificationAgent)
	}
	var spoiled []report.AgentOutcome
	for _, out := range k.judged.Agents {
		if out.Helper {
			spoiled = append(spoiled, out)
		}
	}
	if !reflect.DeepEqual(through(spoiled), through(h.spoiled(k.judged.Results))) {
		c.problem("journal.jsonl: what commands of helpers changed is not what is concluded of them")
	}
	c.refusals(s, k.judged)
}

// redacted begins what stands for a secret.
const redacted = "[redacted:"

// resumed says whether the run was broken off and gone on with, so that the log
// has commands that nothing refers to.
func (s *session) resumed() bool {
	file, err := os.Open(filepath.Join(s.dir, "events.jsonl"))
	if err != nil {
		return false
	}
	defer file.Close()
	events, err := agent.ReadEvents(file)
	return err == nil && slices.ContainsFunc(events, func(e agent.Event) bool { return e.Type == agent.EventRunResumed })
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

// outcome makes what one agent's reply comes to anew. It returns the tries that
// are left.
func (c *Checked) outcome(h *host, have report.AgentOutcome, res agent.Result, tries [][]evidence.Record) [][]evidence.Record {
	said := report.ParseAgentReport(res.Text)
	want := report.AgentOutcome{
		Agent: res.Agent, Outcome: string(res.Outcome), Cause: have.Cause, Verdict: said.Verdict, Form: said.Form,
		Denied: len(res.Denied), Tripwire: h.changed(res.ID), Moved: h.moved(res.ID),
	}
	for _, r := range h.read {
		if r.Task == res.ID && r.Executed && r.Exit != 0 {
			want.Failed++
		}
	}
	audited, err := h.auditAgain(res, tries).Audit(said.Checks)
	if err != nil {
		c.problem("agent %s: %v", res.Agent, err)
		return tries
	}
	for i, claim := range said.Checks {
		k := judged(claim, audited[i])
		tried := i < len(have.Checks) && have.Checks[i].Reproduction != report.NotRun
		if tried && k.Result == report.ResultFail && k.Support == report.Supported && len(audited[i].Records) > 0 {
			k.Reproduction, tries = c.reproduced(h, res, claim, audited[i], tries)
		}
		if k.Result == report.ResultPass && k.Support == report.Supported && len(audited[i].Records) > 0 {
			k.Reproduction = h.resampled(lastOf(audited[i].Records))
		}
		want.Checks = append(want.Checks, k)
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

// baseDir is what the contract of an agent says of the base.
var baseDir = pattern.New(`prepared in the same way and read-only, is at (/.*)\.\n`)

// auditAgain is the auditor that the run had, from what is recorded. It knew no
// record of what was run again afterwards.
func (h *host) auditAgain(res agent.Result, tries [][]evidence.Record) evidence.Auditor {
	records := h.read
	if len(tries) > 0 {
		at := slices.IndexFunc(records, func(r evidence.Record) bool { return r.ID == tries[0][0].ID })
		records = records[:max(at, 0)]
	} else if at := slices.IndexFunc(records, func(r evidence.Record) bool { return r.Task == sampleHead }); at >= 0 {
		records = records[:at]
	}
	h.head, h.base = &workspace.Tree{}, &workspace.Tree{Dir: "/nowhere"}
	for _, r := range h.read {
		if strings.HasPrefix(r.Task, "head/") {
			h.head.OID = r.Tree
			break
		}
	}
	for _, e := range h.journal.Entries("turn") {
		var o struct{ System string }
		if json.Unmarshal(e.Data, &o) != nil {
			continue
		}
		if m := baseDir.FindStringSubmatch(o.System); m != nil {
			h.base.Dir = m[1]
		}
	}
	return h.auditor(res, records)
}

// reproduced classifies a failing check by the records of what was run again.
func (c *Checked) reproduced(h *host, res agent.Result, claim report.AgentCheck, a evidence.Audited, tries [][]evidence.Record) (report.Reproduction, [][]evidence.Record) {
	at := slices.IndexFunc(h.read, func(r evidence.Record) bool { return r.ID == a.Records[len(a.Records)-1] })
	if at < 0 || !h.read[at].Executed || res.Isolation != agents.Worktree || len(tries) == 0 {
		return report.NotRun, tries
	}
	first, now := h.read[at], tries[0]
	if typed(first.Command) != typed(now[0].Command) {
		c.problem("%s ran another command again than %s", now[0].ID, first.ID)
	}
	class, err := h.classify(claim, first, now[0], func() (evidence.Record, error) {
		if len(now) < 2 {
			return evidence.Record{}, errors.New("it was not run on the base")
		}
		return now[1], nil
	})
	if err != nil {
		c.problem("check %q: %v", claim.Title, err)
	}
	return class, tries[1:]
}

// resampled is what running a passing check again showed, by the records of it.
func (h *host) resampled(id string) report.Reproduction {
	at := slices.IndexFunc(h.read, func(r evidence.Record) bool { return r.ID == id })
	if at < 0 {
		return report.NotRun
	}
	if now, ok := sampleOf(h.read, h.read[at]); ok {
		return h.sampled(h.read[at], now)
	}
	return report.NotRun
}

// result holds what an agent came to against what the journal has of its way.
func (c *Checked) result(s *session, res agent.Result) {
	var done agent.Result
	if s.lookup("subagent_done", res.ID, &done) && !reflect.DeepEqual(through(done), through(res)) {
		c.problem("journal.jsonl: agent %s has two results that are not the same", res.Agent)
	}
	text := ""
	for n := 1; ; n++ {
		var said model.Response
		if !s.lookup("model", fmt.Sprintf("%s/%d", res.ID, n), &said) {
			break
		}
		text += said.Message.Text
		for _, call := range said.Message.Calls {
			if handed, err := tool.Submitted(json.RawMessage(call.Args)); res.Submitted != nil && err == nil && tool.Canonical(call.Name) == submitTool {
				text += handed
			}
		}
	}
	if res.Outcome == agent.Completed && !strings.HasSuffix(text, res.Text) {
		c.problem("journal.jsonl: the reply of agent %s is not what its model answered", res.Agent)
	}
}

// refusals looks for each refused command of the log among the refused calls.
func (c *Checked) refusals(s *session, j *judgement) {
	if s.resumed() {
		return // a call that a crash cut off was made, and refused, twice
	}
	told := map[string]int{}
	for _, d := range j.Denied {
		told[d.Agent+" "+d.Code]++
	}
	for _, r := range s.read {
		if r.Denied == nil {
			continue
		}
		key := r.Agent + " " + r.Denied.Code
		if told[key]--; told[key] < 0 {
			c.problem("%s was refused (%s), and the journal does not say so", r.ID, r.Denied.Code)
		}
	}
	var all []report.Denial
	for _, res := range j.Results {
		one := &judgement{}
		one.add(res)
		all = append(all, one.Denied...)
	}
	if len(all) != len(j.Denied) || len(all) > 0 && !reflect.DeepEqual(through(all), through(j.Denied)) {
		c.problem("journal.jsonl: the refused calls are not those of the agents")
	}
}

// answers holds the answers in the journal against those of model.jsonl.
func (c *Checked) answers(dir string, s *session) {
	said := map[string]model.Response{}
	err := exchanges(filepath.Join(dir, "model.jsonl"), func(e model.Exchange) {
		if e.Response != nil {
			said[fmt.Sprintf("%s/%d", e.ID, e.N)] = *e.Response
		}
	})
	if err != nil {
		c.problem("model.jsonl: %v", err)
		return
	}
	for _, e := range s.journal.Entries("model") {
		var answer model.Response
		if err := json.Unmarshal(e.Data, &answer); err != nil {
			c.problem("journal.jsonl: answer %s: %v", e.Key, err)
			continue
		}
		got, ok := said[e.Key]
		hidden := strings.Contains(answer.Message.Text, redacted) // in each of the two in its own way
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
