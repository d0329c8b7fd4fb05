package conclude

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// mostSurprising is how many differences are warnings: what is not read helps no one.
const mostSurprising = 3

// behaviour makes a check of the changed functions that were called on both sides, and a
// finding of each that does something else. It is FAIL where one ends for an input of the
// base's tree for which the base returns.
func (b *builder) behaviour() {
	o := b.result.Behaviour
	if o == nil {
		return
	}
	c := report.Check{
		Title: "behaviour: changed functions called on both sides with the same inputs", Kind: report.KindBehaviour, Result: report.ResultPass,
		Command: o.Command, Evidence: o.Evidence, Expected: "for an input that stands in the base's tree a function returns where it does on base", Actual: o.Note,
	}
	if o.Functions == 0 {
		c.Result = report.ResultSkip
	}
	warnings := 0
	for _, d := range o.Differences {
		f := report.Finding{
			Severity: report.SeverityInfo, Title: fmt.Sprintf("%s %s; on base it %s", d.Example, d.Is, d.Was), Path: d.Path, Line: d.Line,
			Evidence: d.Evidence, Repro: d.Command,
			Detail: fmt.Sprintf("%s differs for %d of %d inputs. This test passes on base and fails with the change:\n\n%s", d.Function, d.Differing, d.Inputs, d.Test),
		}
		switch {
		case d.Breaks:
			f.Severity = report.SeverityError
			c.Result, c.Reproduction, c.Command = report.ResultFail, report.Introduced, d.Command
			c.Evidence = slices.Concat(c.Evidence, d.Evidence)
			c.Actual = joinLines(c.Actual, fmt.Sprintf("%s, which stands in the base's tree: %s; on base it %s", d.Example, d.Is, d.Was))
		case d.Expected:
			f.Title = "expected, since tests that fail without the change reach it: " + f.Title
		case warnings < mostSurprising:
			f.Severity = report.SeverityWarning
			warnings++
		}
		b.findings = append(b.findings, f)
	}
	b.add(c)
}

// programs makes a check of the command lines that were run on both sides, and a finding
// of each that does something else. It is FAIL where one that stands in the base's tree
// crashes or hangs, and ends well on the base.
func (b *builder) programs() {
	o := b.result.Programs
	if o == nil {
		return
	}
	c := report.Check{
		Title: "behaviour: command lines of programs run on both sides", Kind: report.KindBehaviour, Result: report.ResultPass,
		Command: o.Command, Evidence: o.Evidence, Expected: "a command line that stands in the base's tree does not crash or hang where it exits with 0 on base", Actual: o.Note,
	}
	if o.Lines == 0 {
		c.Result = report.ResultSkip
	}
	warnings := 0
	for _, d := range o.Differences {
		f := report.Finding{
			Severity: report.SeverityInfo, Title: fmt.Sprintf("%s %s; on base it %s", d.Line, d.Is, d.Was), Path: d.Path, Line: d.At,
			Evidence: d.Evidence, Repro: d.Command,
			Detail: "The command line was run on both sides, each time in the tree as it was prepared. What differs between runs of one side is no difference.",
		}
		switch {
		case d.Breaks:
			f.Severity = report.SeverityError
			c.Result, c.Reproduction, c.Command = report.ResultFail, report.Introduced, d.Command
			c.Evidence = slices.Concat(c.Evidence, d.Evidence)
			c.Actual = joinLines(c.Actual, fmt.Sprintf("%s, which stands in %s of the base, %s; on base it %s", d.Line, d.Path, d.Is, d.Was))
		case d.Expected:
			f.Title = "expected, since the change alters the text around it: " + f.Title
		case warnings < mostSurprising:
			f.Severity = report.SeverityWarning
			warnings++
		}
		b.findings = append(b.findings, f)
	}
	b.add(c)
}

// differences are those of the report: of functions, and of command lines.
func differences(r *gate.Result) []report.Difference {
	out := ofFunctions(r.Behaviour)
	if r.Programs == nil {
		return out
	}
	for _, d := range r.Programs.Differences {
		out = append(out, report.Difference{
			Path: d.Path, Line: d.At, Inputs: 1, Differing: 1, Example: d.Line, CommandLine: true,
			Was: d.Was, Is: d.Is, Expected: d.Expected, Reproducer: d.Command, Evidence: d.Evidence,
		})
	}
	return out
}

func ofFunctions(o *gate.Behaviour) []report.Difference {
	if o == nil {
		return nil
	}
	var out []report.Difference
	for _, d := range o.Differences {
		out = append(out, report.Difference{
			Function: d.Function, Path: d.Path, Line: d.Line, Inputs: d.Inputs, Differing: d.Differing, Example: d.Example,
			Was: d.Was, Is: d.Is, Expected: d.Expected, Reproducer: d.Test, Evidence: d.Evidence,
		})
	}
	return out
}
