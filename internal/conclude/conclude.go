// Package conclude makes the report of a run out of what its stages found: the
// gate's result, what the agents came to after the audit of their claims, and what
// became of the checks of the last run. It is pure: the same values give the same
// report, so that a finished run is checked by concluding it once more.
package conclude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

// An Input is what the stages of a run found.
type Input struct {
	Header   *report.Report // what does not depend on what was found; it is not changed
	Outcome  report.Outcome // how the run ended
	Gate     *gate.Result   // nil: the gate came to no result
	Accepted []report.Acceptance
	Hidden   []report.Finding // characters of the change that a reviewer does not see
	Cause    error            // why the run was ended from outside or by its time limit; nil: it was not
	Failure  error            // why the gate came to no result; nil: it did
	Agents   *Agents          // nil: no agents were asked for
	Previous *Previous        // nil: there was no last run to look at
}

// Agents is what the agents of a run came to.
type Agents struct {
	Model   string // that was asked; empty: that of the first subagent
	Notes   []string
	Judged  *Judged // nil: they came to nothing
	Failure string  // why they could not work, for people; empty: they could
}

// Judged is what agents replied, after audit and reproduction.
type Judged struct {
	Outcomes   []report.AgentOutcome // of those that owe a verdict, and of helpers that count
	Subagents  []report.Subagent
	Findings   []report.Finding
	Denied     []report.Denial
	NotCovered []string
	Notes      []string
	Usage      report.Usage // without Commands
}

// Previous is what became of the checks of the last run.
type Previous struct {
	Notes []string         // why it is less than all
	Last  *report.Previous // nil: the last run was not looked at
}

// verifier is the agent that owes a verdict in each run with a model.
const verifier = "verification"

// Report concludes a run. Its verdict is the worst of gate and agents after audit,
// and nothing raises it.
func Report(in Input) *report.Report {
	rep := *in.Header
	rep.Notes, rep.NotCovered = slices.Clone(rep.Notes), slices.Clone(rep.NotCovered)
	rep.Outcome = in.Outcome
	concluded := byGate(&rep, in)
	if in.Agents != nil && rep.Outcome != report.Refused {
		byAgents(&rep, *in.Agents, report.Verdict(concluded.Verdict))
	}
	if in.Previous != nil {
		byPrevious(&rep, *in.Previous)
	}
	rep.Title = rep.MakeTitle()
	return &rep
}

// byGate fills in verdict and reasons, checks and findings of the gate. It returns
// the gate's result with what people accepted.
func byGate(rep *report.Report, in Input) *gate.Result {
	result := in.Gate
	if result == nil {
		result = &gate.Result{}
	}
	own := *result // the builder adds notes
	b := &builder{result: &own}
	b.build()
	rep.Expectations, rep.Statistics, rep.Believed = b.expectations(), b.statistics(), b.belief()
	rep.Executed, rep.Behaviour, rep.API = b.executed(), differences(b.result), interfaces(b.result.Behaviour)
	result, rep.Accepted = accept(b.result, rep.Expectations, in.Accepted)
	rep.Verdict, rep.Reasons = report.Verdict(result.Verdict), result.Reasons
	rep.Unprobed = rep.Verdict == report.Pass && result.Facts.Runnable && result.Facts.Probes == 0
	switch rep.Outcome {
	case report.Cancelled:
		rep.Verdict = report.Error
		rep.Reasons = append([]string{cancelled(result) + ": " + cancelWord(in.Cause)}, withoutIncomplete(result)...)
	case report.TimedOut:
		stopped := []string{"not finished: " + in.Cause.Error()}
		if rest := withoutIncomplete(result); result.Verdict == gate.Fail {
			rep.Reasons = append(rest, stopped...)
		} else { // it is why the rest is missing
			rep.Reasons = append(stopped, rest...)
		}
		rep.Verdict = report.Worst(rep.Verdict, report.Partial)
		if len(result.Steps) == 0 {
			rep.Verdict = report.Error
		}
	case report.Errored:
		if in.Failure != nil {
			rep.Verdict, rep.Reasons = report.Error, []string{"could not verify: " + in.Failure.Error()}
		}
	case report.Completed, report.Refused:
	}
	rep.Checks, rep.Findings, rep.Tests = b.checks, b.findings, b.tests()
	rep.Findings = append(rep.Findings, in.Hidden...)
	rep.NotCovered = append(rep.NotCovered, result.NotCovered...)
	rep.Notes = append(rep.Notes, result.Notes...)
	rep.Versions.Toolchains = result.Toolchains
	if k := result.Cached; k != nil {
		what := "base test results"
		if k.Tests == 1 {
			what = "base test result"
		}
		rep.Timings.Cached = []string{fmt.Sprintf("%d %s from %s, saving %s", k.Tests, what, k.When.Format(time.DateTime), k.Saved.Round(100*time.Millisecond))}
	}
	return result
}

// withoutIncomplete are the reasons of a gate's result without those that say that the
// gate did not finish: the report says why the run did not.
func withoutIncomplete(result *gate.Result) []string {
	finished := result.Facts
	finished.Incomplete = ""
	_, with := gate.Decide(result.Facts)
	_, without := gate.Decide(finished)
	return slices.DeleteFunc(slices.Clone(result.Reasons), func(r string) bool {
		return slices.Contains(with, r) && !slices.Contains(without, r)
	})
}

// cancelled says how far a cancelled run had come: what the decisive part came to was shown
// to people already.
func cancelled(result *gate.Result) string {
	if result.First == "" {
		return "cancelled before there was a verdict"
	}
	return "cancelled after the first verdict, which was " + string(result.First)
}

func cancelWord(cause error) string {
	if cause == nil || errors.Is(cause, context.Canceled) {
		return "it was stopped from outside"
	}
	return cause.Error()
}

// byAgents brings what the agents came to into the report. The verdict becomes the
// worst of the gate's and theirs.
func byAgents(rep *report.Report, a Agents, gateVerdict report.Verdict) {
	rep.Model = a.Model
	rep.Notes = append(rep.Notes, a.Notes...)
	if a.Judged != nil {
		addJudged(rep, a.Judged)
	}
	if rep.Outcome == report.Cancelled || rep.Verdict == report.Error {
		return
	}
	var outcomes []report.AgentOutcome
	switch {
	case a.Judged != nil:
		outcomes = failingFirst(a.Judged.Outcomes)
	case a.Failure != "" && rep.Outcome == report.Errored:
		outcomes = []report.AgentOutcome{{Agent: verifier, Outcome: report.RunnerErrored, Cause: a.Failure}}
		rep.Outcome = report.Completed // the gate did conclude: the reason says what is missing
	case a.Failure != "":
		outcomes = []report.AgentOutcome{{Agent: verifier, Outcome: report.RunnerTimedOut, Cause: a.Failure}}
	}
	if len(outcomes) == 0 {
		outcomes = []report.AgentOutcome{{Agent: verifier, Cause: "no agent looked at the change"}}
	}
	verdict, reasons := report.Combine(gateVerdict, rep.Reasons, outcomes...)
	if verdict != report.Pass || rep.Verdict == report.Pass { // else what the run did not come to is why
		rep.Reasons = reasons
	}
	rep.Verdict = report.Worst(rep.Verdict, verdict)
}

// failingFirst puts the outcomes before the others whose checks make the verdict, so that
// people read their reasons first.
func failingFirst(all []report.AgentOutcome) []report.AgentOutcome {
	stands := func(a report.AgentOutcome) int {
		if slices.ContainsFunc(a.Checks, report.JudgedCheck.Stands) {
			return 0
		}
		return 1
	}
	out := slices.Clone(all)
	sorted.By(out, func(a, b report.AgentOutcome) int { return stands(a) - stands(b) })
	return out
}

// addJudged adds the agents' checks, and what their commands changed.
func addJudged(rep *report.Report, j *Judged) {
	rep.Notes = append(rep.Notes, j.Notes...)
	for _, a := range j.Outcomes {
		for _, k := range a.Checks {
			if (a.Helper || k.Aside) && !k.Stands() {
				continue // a finding says what became of it
			}
			if k.Stands() && slices.ContainsFunc(rep.Checks, func(c report.Check) bool {
				return c.Kind == report.KindAgent && c.Result == k.Result && c.Command == k.Command && c.Reproduction == k.Reproduction
			}) {
				continue // another agent found the same
			}
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
	for _, a := range j.Subagents {
		rep.Model = cmp.Or(rep.Model, a.Model) // of a stage that was finished before the run was continued
		rep.Subagents = append(rep.Subagents, a)
	}
	rep.Findings = append(rep.Findings, j.Findings...)
	rep.Denied = append(rep.Denied, j.Denied...)
	rep.NotCovered = append(rep.NotCovered, j.NotCovered...)
	commands := rep.Usage.Commands
	rep.Usage = j.Usage
	rep.Usage.Commands = commands
}

// byPrevious brings what became of the last run's checks into the report. One that failed and
// still fails here, and not on the base, is a failure, no matter who looks. One that held may
// fail because the change now means something else: a person has to say that.
func byPrevious(rep *report.Report, p Previous) {
	rep.Notes = append(rep.Notes, p.Notes...)
	if p.Last == nil {
		return
	}
	rep.Previous = p.Last
	for _, c := range p.Last.Checks {
		if c.Reproduction != report.Introduced && c.Reproduction != report.HeadOnly || rep.Outcome == report.Cancelled || rep.Verdict == report.Error {
			continue
		}
		if c.Now == report.Broke {
			broke(rep, c)
			continue
		}
		rep.Checks = append(rep.Checks, report.Check{
			ID: "C" + strconv.Itoa(len(rep.Checks)+1), Title: c.Title + " (check of the last run)", Kind: report.KindProbe, Result: report.ResultFail,
			Command: c.Command, Evidence: c.Evidence, Support: report.Supported, Reproduction: c.Reproduction,
		})
		if rep.Verdict != report.Fail {
			rep.Verdict, rep.Reasons = report.Fail, append([]string{fmt.Sprintf("check %q of the last run %s (%s)", c.Title, c.Now.Words(), c.Reproduction)}, rep.Reasons...)
		}
	}
}

// broke says that a check of the last run held then and fails now.
func broke(rep *report.Report, c report.Revisit) {
	rep.Findings = append(rep.Findings, report.Finding{
		Severity: report.SeverityWarning, Title: fmt.Sprintf("check %q of the last run held then and fails now (%s)", c.Title, c.Reproduction),
		Detail: "If the change intends that, the check is out of date.", Repro: c.Command, Evidence: c.Evidence,
	})
	rep.Verdict = report.Worst(rep.Verdict, report.Partial)
	rep.Reasons = append(rep.Reasons, fmt.Sprintf("check %q of the last run held then and fails now (%s): a person has to decide whether that is intended", c.Title, c.Reproduction))
}
