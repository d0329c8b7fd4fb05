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

func coordinatorPrompt(brief string, r *gate.Result, notes string) string {
	return "Plan the verification of the following change. Another agent will run it; you cannot.\n\n" + brief + gateNotes(r) + notes
}

func verificationPrompt(c change.Change, brief string, r *gate.Result, p *reproduce.Previous, notes string) string {
	return "Verify the following change.\n\n" + brief + gateNotes(r) + previousNotes(p) + notes + strategyNotes(c.Files, brief)
}

// briefing is brief.md.
func (a *Agents) briefing() string {
	data, err := os.ReadFile(filepath.Join(a.dir.Path, "brief.md"))
	if err != nil {
		return fmt.Sprintf("(the brief cannot be read: %v)\n", err)
	}
	return string(data)
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
		b.WriteString("\nWhat came since then; look at this first, and do not repeat checks that still hold:\n\n" + evidence.Fence(p.Diff))
	}
	return b.String()
}
