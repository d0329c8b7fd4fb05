package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/reproduce"
)

// The prompts below are ycbot's own words around the brief. What comes from the change
// stands in the brief, fenced there.

func explorePrompt(brief string) string {
	return "Look around in the code that the following change touches, so that another agent can test it: what it is part of, who uses it, how it is built, run and tested, and what nothing tests.\n\n" +
		brief
}

// adviserPrompt is for agents whose own text says what their reply is: it is a
// hint for the verification.
func adviserPrompt(brief string, r *gate.Result) string {
	return "Do with the following change what your instructions above say. Another agent runs and judges it after you, and reads your reply.\n\n" +
		brief + gateNotes(r)
}

func coordinatorPrompt(brief, notes string) string {
	return "Plan the verification of the following change. Another agent will run it; you cannot.\n\n" + brief + notes
}

func verificationPrompt(brief string, r *gate.Result, p *reproduce.Previous, notes string) string {
	return "Verify the following change.\n\n" + brief + gateNotes(r) + previousNotes(p) + notes
}

// briefing is brief.md.
func (a *Agents) briefing() string {
	data, err := os.ReadFile(filepath.Join(a.dir.Path, "brief.md"))
	if err != nil {
		return fmt.Sprintf("(the brief cannot be read: %v)\n", err)
	}
	return string(data)
}

// gateNotes say what the gate found, so that no agent repeats it.
func gateNotes(r *gate.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## What the gate found\n\nIts verdict: %s.\n", r.Verdict)
	for _, reason := range r.Reasons {
		b.WriteString("- " + reason + "\n")
	}
	b.WriteString("\nIts commands, which are in the log:\n\n")
	var steps strings.Builder
	for _, s := range r.Steps {
		if s.Stage != gate.StageList && s.Stage != gate.StageWarm {
			fmt.Fprintf(&steps, "[%s] exit=%d %s: %s\n", s.Evidence, s.Exit, s.Side, s.Command)
		}
	}
	b.WriteString(evidence.Fence(steps.String()))
	var cases strings.Builder
	for _, g := range []struct {
		title string
		cases []gate.Case
	}{
		{"passes on base, fails on head", r.Tests.Regressed},
		{"new, fails on head", r.Tests.NewFailing},
		{"fails on both", r.Tests.PreExisting},
		{"flaky", r.Tests.Flaky},
		{"fails without the change, passes with it", r.FailToPass.Proven},
		{"passes without the change as well", r.FailToPass.PassOnBase},
	} {
		for i, k := range gate.Leaves(g.cases) {
			if i == 20 {
				fmt.Fprintf(&cases, "%s: and %d more\n", g.title, len(g.cases)-i)
				break
			}
			fmt.Fprintf(&cases, "%s: %s\n", g.title, k.ID)
		}
	}
	if cases.Len() > 0 {
		b.WriteString("\nTests worth knowing:\n\n" + evidence.Fence(cases.String()))
	}
	if len(r.NotCovered) > 0 {
		b.WriteString("\nIt did not cover:\n\n")
		for _, n := range r.NotCovered {
			b.WriteString("- " + n + "\n")
		}
	}
	return b.String()
}

// previousNotes say what the last run found and what came since.
func previousNotes(p *reproduce.Previous) string {
	if p == nil || p.RunID == "" {
		return ""
	}
	var b, checks strings.Builder
	fmt.Fprintf(&b, "\n## The last run\n\nIt verified %s and said %s. Its checks were run again on this head, by their commands:\n\n", change.Short(p.Head), p.Verdict)
	for _, c := range p.Checks {
		fmt.Fprintf(&checks, "%s: was %s, now %s %s\n", c.Title, c.Was, c.Now.Words(), strings.Join(c.Evidence, " "))
	}
	b.WriteString(evidence.Fence(checks.String()))
	if p.Diff != "" {
		b.WriteString("\nWhat came since then; look at this first, and do not repeat what holds:\n\n" + evidence.Fence(p.Diff))
	}
	return b.String()
}
