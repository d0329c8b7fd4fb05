package conclude

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
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
		Command: m.Command, Evidence: m.Evidence, Expected: "a test fails with each mutant", Actual: m.Note + killers(m.Kills),
	}
	switch {
	case len(m.Survivors) > 0:
		c.Result, c.Actual = report.ResultFail, c.Actual+"; mutation changes no verdict"
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
}

// unrun are findings of changed lines that no test runs, and of changed files that nothing
// compiled or loaded.
func (b *builder) unrun() {
	lines, evidence := map[string][]int{}, map[string][]string{}
	if x := b.result.Executed; x != nil {
		for _, u := range x.Unloaded[:min(len(x.Unloaded), maxSurvivors)] {
			b.findings = append(b.findings, report.Finding{
				Severity: report.SeverityInfo, Path: u.Path, Line: u.Line, Evidence: x.Evidence,
				Title: "no command compiled or loaded this changed file: " + u.Why,
			})
		}
		for name, n := range x.Unrun {
			lines[name], evidence[name] = n, x.Evidence
		}
	}
	if m := b.result.Mutation; m != nil {
		for name, n := range m.Unrun {
			lines[name], evidence[name] = n, m.Evidence[:1]
		}
	}
	for i, name := range slices.Sorted(maps.Keys(lines)) {
		if i == maxSurvivors {
			break
		}
		b.findings = append(b.findings, report.Finding{
			Severity: report.SeverityInfo, Path: name, Line: lines[name][0], Evidence: evidence[name],
			Title: "no test runs these changed lines: " + strings.Join(report.LineRanges(lines[name]), ", "),
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

// namedKillers are as many tests as are named that noticed mutants.
const namedKillers = 3

// killers says which tests noticed most mutants.
func killers(kills []gate.Kill) string {
	count := map[string]int{}
	for _, k := range kills {
		if len(k.Tests) > 0 {
			count[k.Tests[0]]++
		}
	}
	names := sorted.Keys(count, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	var out []string
	for _, n := range names[:min(len(names), namedKillers)] {
		out = append(out, fmt.Sprintf("%s (%d)", n, count[n]))
	}
	if len(out) == 0 {
		return ""
	}
	if more := len(names) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return ", first by " + strings.Join(out, ", ")
}
