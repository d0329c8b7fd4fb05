package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
)

// helperMost is how many claims of one helper, or findings of the verification, are held
// against the log.
const helperMost = 10

// failing are the claims of a helper's reply: its failing checks, and the commands that
// it gives for its findings.
func failing(res agent.Result) []report.AgentCheck {
	if res.Agent == refuterAgent {
		return nil // what it says is about a check of another agent's
	}
	var out []report.AgentCheck
	for _, c := range report.ParseAgentReport(res.Text).Checks {
		if c.Result == report.ResultFail {
			out = append(out, c)
		}
	}
	for _, f := range report.ParseAgentFindings(res.Text) {
		if f.Claim != nil {
			out = append(out, *f.Claim)
		}
	}
	return out[:min(len(out), helperMost)]
}

// aside are the commands that a reply which owes a verdict gives for findings that it calls
// errors, unless they are those of a failing check of it.
func aside(text string, checks []report.AgentCheck) []report.AgentCheck {
	var out []report.AgentCheck
	for _, f := range report.ParseAgentFindings(text) {
		if f.Claim == nil || f.Severity != report.SeverityError || slices.ContainsFunc(checks, func(c report.AgentCheck) bool {
			return c.Result == report.ResultFail && slices.Equal(c.Commands, f.Claim.Commands)
		}) {
			continue
		}
		out = append(out, *f.Claim)
	}
	return out[:min(len(out), helperMost)]
}

// Counts says whether a helper's outcome has anything for the report.
func Counts(out report.AgentOutcome) bool {
	return len(out.Checks)+len(out.Tripwire)+len(out.Moved) > 0
}

// Findings are what an agent's reply wants people to see, as the log carries it. out is
// the outcome of the reply, with what was run again. Nothing that was not verified is an
// error, whatever the reply calls it.
func (a Audit) Findings(res agent.Result, out report.AgentOutcome) []report.Finding {
	if res.Agent == refuterAgent {
		return nil
	}
	var all []report.Finding
	at := 0 // of the next claim in out.Checks
	if out.Helper {
		for _, c := range report.ParseAgentReport(res.Text).Checks {
			if c.Result != report.ResultFail || at >= len(out.Checks) {
				continue
			}
			if k := out.Checks[at]; !k.Stands() { // one that stands is a check of the report
				all = append(all, a.finding(res, report.AgentFinding{Severity: report.SeverityWarning, Title: c.Title, Text: c.Expected}, &k))
			}
			at++
		}
	}
	for _, f := range report.ParseAgentFindings(res.Text) {
		var k *report.JudgedCheck
		switch {
		case f.Claim == nil:
		case !out.Helper:
			same := func(k report.JudgedCheck) bool {
				return k.Result == report.ResultFail && k.Command == strings.Join(f.Claim.Commands, "\n")
			}
			if i := slices.IndexFunc(out.Checks, same); i >= 0 {
				k = &out.Checks[i]
			}
		case at < len(out.Checks):
			k = &out.Checks[at]
			at++
		}
		all = append(all, a.finding(res, f, k))
	}
	return all
}

// finding is a finding of a reply as the report has it. k is what became of its claim;
// nil: it has none.
func (a Audit) finding(res agent.Result, f report.AgentFinding, k *report.JudgedCheck) report.Finding {
	out := report.Finding{Severity: f.Severity, Title: f.Title, Path: f.Path, Line: f.Line}
	status := "not verified: no command shows it"
	if f.Claim != nil {
		status = "not verified: its command was not run again"
	}
	if k != nil {
		status = standing(*k)
		if k.Support != report.Absent {
			out.Repro, out.Evidence = k.Command, slices.Clone(k.Evidence)
		}
	}
	if verified := k != nil && k.Stands(); !verified && out.Severity == report.SeverityError {
		out.Severity = report.SeverityWarning
		status += "; the agent calls it an error"
	}
	detail := []string{"reported by agent " + res.Agent + ", " + status}
	if text := firstLines(f.Text, textLines); text != "" {
		detail = append(detail, text)
	}
	if f.Patch != "" {
		detail = append(detail, "patch hint:", firstLines(f.Patch, patchLines))
	}
	out.Detail = evidence.Visible(strings.Join(detail, "\n"))
	return out
}

// distinct leaves out findings that another agent reported before.
func distinct(all []report.Finding) []report.Finding {
	var out []report.Finding
	for _, f := range all {
		if !slices.ContainsFunc(out, func(g report.Finding) bool { return g.Title == f.Title && g.Path == f.Path && g.Line == f.Line }) {
			out = append(out, f)
		}
	}
	return out
}

// What of a finding's text and patch people are shown, in lines.
const (
	textLines  = 6
	patchLines = 80
)

// firstLines are the first lines of a text that are not blank.
func firstLines(text string, most int) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(out) == most {
			out = append(out, "…")
			break
		}
		out = append(out, strings.TrimRight(line, "\n"))
	}
	return strings.Join(out, "\n")
}

// standing says what the log and running it again say of a claim.
func standing(k report.JudgedCheck) string {
	switch {
	case k.Stands():
		return fmt.Sprintf("verified: its command was run again (%s)", k.Reproduction)
	case k.Support != report.Supported && k.Reason != "":
		return "not verified: " + k.Reason
	case k.Support != report.Supported:
		return "not verified: its command is not in the log"
	case k.Reproduction == report.NotRun:
		return "not verified: its command was not run again"
	}
	return fmt.Sprintf("not verified: its command was run again (%s)", k.Reproduction)
}
