package report

import (
	"fmt"
	"strings"
)

// mdCommand shows a command as it can be copied, nothing where there is none.
func mdCommand(s string) string {
	ls := commandLines(s)
	if len(ls) == 0 {
		return ""
	}
	return mdFence("sh", ls)
}

// mdOutput shows the beginning and the end of an output; from names the file with
// the rest. Nothing where there is no output.
func mdOutput(s, from string, e ends) string {
	ls := outputLines(s)
	if len(ls) == 0 {
		return ""
	}
	return mdFence("text", e.excerpt(ls, from))
}

func mdMore(left int) string { return fmt.Sprintf("… and %d more (`report.json`)\n", left) }

// mdSentences folds a list of sentences, nil where there are none.
func mdSentences(rank int, name string, items []string) *section {
	if len(items) == 0 {
		return nil
	}
	var b strings.Builder
	for _, s := range items[:min(len(items), mdList)] {
		b.WriteString("- " + mdText(s, mdLong) + "\n")
	}
	if left := len(items) - mdList; left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return &section{rank: rank, folded: fmt.Sprintf("%s (%d)", name, len(items)), body: b.String()}
}

func (r *Report) mdFindings() *section {
	fs := r.otherFindings()
	if len(fs) == 0 {
		return nil
	}
	var b strings.Builder
	for i, f := range fs[:min(len(fs), mdFound)] {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(r.mdFinding(f))
	}
	if left := len(fs) - mdFound; left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return &section{rank: rankFindings, folded: fmt.Sprintf("Findings (%d)", len(fs)), body: b.String()}
}

func (r *Report) mdFinding(f Finding) string {
	evidence := ""
	if len(f.Evidence) > 0 {
		evidence = r.mdIDs(f.Evidence)
	}
	s := "**" + mdText(string(f.Severity), 20) + "** " + dotted(mdText(f.Title, mdLong), mdCode(f.place(), mdLong), evidence) + "\n"
	for _, block := range []string{mdCommand(f.Repro), mdOutput(f.Detail, "report.json", detailEnds)} {
		if block != "" {
			s += "\n" + block
		}
	}
	return s
}

func (r *Report) mdTests() *section {
	if r.Tests == nil {
		return nil
	}
	var b strings.Builder
	for _, g := range r.unshown() {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "**%s** (%d)\n\n", mdText(g.name, mdLine), len(g.tests))
		for _, name := range g.tests[:min(len(g.tests), mdList)] {
			b.WriteString("- " + mdCode(orUnknown(plain(name)), mdLong) + "\n")
		}
		if left := len(g.tests) - mdList; left > 0 {
			b.WriteString("\n" + mdMore(left))
		}
	}
	if b.Len() == 0 && len(r.Tests.groups()) == 0 {
		b.WriteString("Both sides agree.\n")
	} else if b.Len() == 0 {
		b.WriteString("What differs stands above.\n")
	}
	return &section{rank: rankTests, folded: "Tests: " + r.Tests.line(), body: b.String()}
}

// mdSandbox folds what the sandbox lacks, nil where the line about the run says it all.
func (r *Report) mdSandbox() *section {
	missing := r.uncontained()
	if len(missing) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString(mdText(r.contained(), mdLong) + "\n\n")
	for _, m := range missing[:min(len(missing), mdList)] {
		b.WriteString("- " + mdText(m, mdLong) + "\n")
	}
	return &section{rank: rankSandbox, folded: fmt.Sprintf("Sandbox: %s, %d missing", r.tier(), len(missing)), body: b.String()}
}

func (r *Report) mdAgents() *section {
	if len(r.Subagents) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("| Agent | Status | Outcome | Verdict | Model | Turns | Calls | Tokens | Cost | Time | Isolation | Transcript |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Subagents[:min(len(r.Subagents), mdList)] {
		cells := []string{
			s.Agent, s.Status, s.Outcome, s.Verdict, s.Model, fmt.Sprint(s.Iterations), fmt.Sprint(s.ToolCalls),
			tokens(s.Tokens), dollars(s.CostUSD), duration(s.DurationMS), s.Isolation, s.Transcript,
		}
		for _, c := range cells {
			b.WriteString("| " + mdText(c, mdLine) + " ")
		}
		b.WriteString("|\n")
	}
	if left := len(r.Subagents) - mdList; left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return &section{rank: rankAgents, folded: fmt.Sprintf("Agents (%d)", len(r.Subagents)), body: b.String()}
}

// mdRun says what was verified, by what, and what that took.
func (r *Report) mdRun() *section {
	var b strings.Builder
	for _, s := range []string{
		dotted(r.subject(), r.Subject), dotted(r.compared(), r.size()), r.origin(), "sandbox: " + r.contained(),
		"used: " + r.used(), "time: " + r.took(), "with: " + r.provenance(), "run: " + r.RunID,
	} {
		b.WriteString("- " + mdText(s, mdLong) + "\n")
	}
	return &section{rank: rankRun, folded: "What was verified, by what, at what cost", body: b.String()}
}
