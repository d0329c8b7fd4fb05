package conclude

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// maxSurvivors bounds how many mutants that no test noticed become findings.
const maxSurvivors = 20

// mutation makes a check of the mutants of the changed lines, and a finding of
// each that no test noticed. They change no verdict.
func (b *builder) mutation() {
	m := b.result.Mutation
	if m == nil {
		return
	}
	c := report.Check{
		Title: "mutation of the changed lines", Kind: report.KindMutation, Result: report.ResultPass,
		Command: m.Command, Evidence: m.Evidence, Expected: "a test fails with each mutant", Actual: m.Note,
	}
	switch {
	case len(m.Survivors) > 0:
		c.Result, c.Actual = report.ResultFail, m.Note+"; mutation changes no verdict"
	case m.Killed == 0:
		c.Result = report.ResultSkip
	}
	b.add(c)
	for i, s := range m.Survivors {
		if i == maxSurvivors {
			break
		}
		b.findings = append(b.findings, survivor(s))
	}
	for _, v := range m.Vacuous {
		b.findings = append(b.findings, vacuous(v))
	}
	for i, name := range slices.Sorted(maps.Keys(m.Unrun)) {
		if i == maxSurvivors {
			break
		}
		b.findings = append(b.findings, report.Finding{
			Severity: report.SeverityInfo, Path: name, Line: m.Unrun[name][0], Evidence: m.Evidence[:1],
			Title: "no test runs these changed lines: " + strings.Join(report.LineRanges(m.Unrun[name]), ", "),
		})
	}
}

// survivor is the finding of a mutant. What may well make no difference that
// matters is for information.
func survivor(s gate.Survivor) report.Finding {
	f := report.Finding{
		Severity: report.SeverityWarning, Title: "no test notices this change: " + s.Title, Path: s.Path, Line: s.Line,
		Evidence: s.Evidence, Detail: s.Diff, Repro: "apply the diff and run: " + s.Command,
	}
	if s.Weak {
		f.Severity = report.SeverityInfo
	}
	return f
}

// vacuous is the finding of a test that nothing makes fail. What could not be tried without
// the change is for information.
func vacuous(v gate.Vacuous) report.Finding {
	f := report.Finding{
		Severity: report.SeverityWarning, Path: v.Path, Line: v.Line, Evidence: v.Evidence,
		Title: fmt.Sprintf("nothing makes %s fail: it passes without the change, and with each of %d mutants of changed lines that it runs", v.ID, v.Mutants),
	}
	if !v.OnBase {
		f.Severity = report.SeverityInfo
		f.Title = fmt.Sprintf("nothing makes %s fail: it passes with each of %d mutants of changed lines that it runs, and could not be tried without the change", v.ID, v.Mutants)
	}
	return f
}
