package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
)

// concludeAgents brings what the agents came to into the report. The verdict
// becomes the worst of the gate's and theirs; nothing raises it.
func (s *session) concludeAgents(rep *report.Report, result *gate.Result, j *judgement, failure error) {
	if !s.around.Model || rep.Outcome == report.Refused {
		return
	}
	if rep.Model = s.modelName; rep.Model == "" {
		s.lookup("run", "model", &rep.Model)
	}
	rep.Notes = append(rep.Notes, s.agentNotes()...)
	if j != nil {
		s.addAgents(rep, j)
	}
	if rep.Outcome == report.Cancelled || rep.Verdict == report.Error {
		return
	}
	var outcomes []report.AgentOutcome
	switch {
	case j != nil:
		outcomes = j.Agents
	case failure != nil && rep.Outcome == report.Errored:
		outcomes = []report.AgentOutcome{{Agent: verificationAgent, Outcome: string(agent.Errored), Cause: cause(failure)}}
		rep.Outcome = report.Completed // the gate did conclude: the reason says what is missing
	case failure != nil:
		outcomes = []report.AgentOutcome{{Agent: verificationAgent, Outcome: string(agent.TimedOut), Cause: failure.Error()}}
	}
	if len(outcomes) == 0 {
		outcomes = []report.AgentOutcome{{Agent: verificationAgent, Cause: "no agent looked at the change"}}
	}
	accepted, _ := heed(result, rep.Expectations, s.around.Accepted)
	gateVerdict := report.Verdict(accepted.Verdict)
	verdict, reasons := report.Combine(gateVerdict, rep.Reasons, outcomes...)
	rep.Verdict, rep.Reasons = report.Worst(rep.Verdict, verdict), reasons
}

// cause words why no agent could work.
func cause(err error) string {
	switch {
	case errors.Is(err, errUnasked):
		return errUnasked.Error() + ": " + strings.TrimPrefix(err.Error(), "preflight: "+errUnasked.Error()+": ")
	case errors.Is(err, model.ErrAuth), errors.Is(err, model.ErrDown), errors.Is(err, model.ErrRequest), errors.Is(err, model.ErrOverflow):
		return "the model could not be asked: " + err.Error()
	default:
		return err.Error()
	}
}

func (s *session) addAgents(rep *report.Report, j *judgement) {
	rep.Notes = append(rep.Notes, j.Notes...)
	for _, a := range j.Agents {
		for _, k := range a.Checks {
			c := k.Check
			c.ID = "C" + strconv.Itoa(len(rep.Checks)+1)
			if c.Support == report.Absent {
				c.Result = report.ResultSkip // it counts for nothing, whatever it says of itself
			}
			if k.Adversarial {
				c.Title += " [adversarial]"
			}
			rep.Checks = append(rep.Checks, c)
		}
		for _, path := range a.Tripwire {
			rep.Findings = append(rep.Findings, report.Finding{
				Severity: report.SeverityWarning, Title: "a command of agent " + a.Agent + " changed a tracked file, which was put back", Path: path,
			})
		}
		for _, name := range a.Moved {
			rep.Findings = append(rep.Findings, report.Finding{
				Severity: report.SeverityWarning, Title: "a command of agent " + a.Agent + " changed git's " + name + ", which was put back",
			})
		}
	}
	for _, r := range j.Results {
		if rep.Model == "" {
			rep.Model = r.Model // of a stage that was finished before the run was continued
		}
		rep.Subagents = append(rep.Subagents, report.Subagent{
			ID: r.ID, Agent: r.Agent, Model: r.Model, Status: string(r.Status), Outcome: string(r.Outcome), Verdict: r.Verdict,
			Iterations: r.Iterations, ToolCalls: r.ToolCalls, Tokens: r.Usage.Input + r.Usage.Output, CostUSD: r.CostUSD,
			DurationMS: r.DurationMS, Isolation: r.Isolation, Transcript: transcriptPath(r.Agent, r.ID),
		})
	}
	rep.Findings = append(rep.Findings, j.disputed()...)
	rep.Denied = append(rep.Denied, j.Denied...)
	rep.NotCovered = append(rep.NotCovered, j.NotCovered...)
	rep.Usage.InputTokens, rep.Usage.OutputTokens, rep.Usage.CachedTokens = j.Usage.Input, j.Usage.Output, j.Usage.Cached
	rep.Usage.Estimated = j.Usage.Estimated
	rep.Usage.CostUSD = nil
	if j.CostOK {
		rep.Usage.CostUSD = &j.CostUSD
	}
}

func transcriptPath(name, id string) string { return "subagents/" + name + "-" + id + ".md" }

// untold names the agents whose transcripts cannot be whole, because events of them
// are missing. Those of an earlier run lie with that.
func untold(events []agent.Event, all []report.Subagent) []string {
	begun, ended := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		begun[e.ID] = true
		switch e.Type {
		case agent.EventSubagentDone, agent.EventTurnDone, agent.EventTurnInterrupted:
			ended[e.ID] = true
		}
	}
	var out []string
	for _, a := range all {
		switch {
		case a.Transcript != transcriptPath(a.Agent, a.ID), ended[a.ID]:
		case begun[a.ID]:
			out = append(out, fmt.Sprintf("the transcript of agent %s (%s) is partial: how it ended was not recorded", a.Agent, a.ID))
		default:
			out = append(out, fmt.Sprintf("the transcript of agent %s (%s) is missing: nothing of it was recorded", a.Agent, a.ID))
		}
	}
	return out
}

// writeTranscripts renders the transcript and the sidechain of each agent from
// the events. What cannot be rendered is said in the report, which is worth more.
func (s *session) writeTranscripts(rep *report.Report) error {
	file, err := os.Open(filepath.Join(s.dir, "events.jsonl"))
	if err != nil {
		return err
	}
	defer file.Close()
	events, err := agent.ReadEvents(file)
	if err != nil {
		rep.Notes = append(rep.Notes, fmt.Sprintf("the transcripts are missing: %v", err))
		return nil
	}
	rep.Notes = append(rep.Notes, untold(events, rep.Subagents)...)
	names := map[string]string{}
	for _, e := range events {
		if e.ID != "" && names[e.ID] == "" {
			names[e.ID] = e.Agent
		}
	}
	sidechains := filepath.Join("sessions", s.id, "sidechains")
	for _, id := range agent.EventIDs(events) {
		if id == "" {
			continue
		}
		if err := s.write(transcriptPath(names[id], id), []byte(agent.Markdown(events, id))); err != nil {
			return err
		}
		chain, err := agent.Sidechain(events, id)
		if err != nil {
			rep.Notes = append(rep.Notes, fmt.Sprintf("the sidechain of %s is missing: %v", id, err))
			continue
		}
		if err := s.write(filepath.Join(sidechains, id+".jsonl"), chain); err != nil {
			return err
		}
	}
	return nil
}
