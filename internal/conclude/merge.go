package conclude

import (
	"fmt"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// merge makes checks of the change merged into the current base: one of the
// whole, and one of each test that only the merge fails.
func (b *builder) merge() {
	m := b.result.Merge
	if m == nil {
		return
	}
	c := report.Check{
		Title: "after merging into the current base", Kind: report.KindTest, Result: report.ResultPass, Command: m.Command, Evidence: m.Evidence,
		Expected: "builds, and nothing fails that passes on the current base and with the change alone", Actual: m.Note,
	}
	failing := append(gate.Leaves(m.Tests.Regressed), gate.Leaves(m.Tests.NewFailing)...)
	switch {
	case len(m.Conflicts) > 0:
		c.Result = report.ResultSkip
		for _, name := range m.Conflicts {
			b.findings = append(b.findings, report.Finding{
				Severity: report.SeverityWarning, Path: name, Title: "conflicts with the current base",
				Repro: fmt.Sprintf("git merge-tree --write-tree %s HEAD", m.Tip),
			})
		}
	case len(m.Broken)+len(failing) > 0:
		c.Result, c.Reproduction = report.ResultFail, report.Introduced
	case len(m.Evidence) == 0:
		c.Result = report.ResultSkip
	}
	b.add(c)
	for i, k := range failing {
		if i == maxCases {
			break
		}
		b.add(report.Check{
			Title: k.ID.String() + ": fails after merge", Test: k.ID.String(), Kind: report.KindTest, Result: report.ResultFail, Command: b.ranOn(gate.Merged, k.Evidence),
			Evidence: k.Evidence, Reproduction: report.Introduced, Expected: "passes, as it does on the current base", Actual: k.Output,
		})
	}
}
