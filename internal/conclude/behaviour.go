package conclude

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// mostSurprising is how many differences are warnings: what is not read helps no one.
const mostSurprising = 3

// behaviour makes a check of the changed functions that were called on both sides, and one
// of the command lines and requests that were run, with a finding of each that does something else. It
// is FAIL where one that stands in the base's tree ends well there and not on the head.
func (b *builder) behaviour() {
	warnings := 0
	if o := b.result.Behaviour; o != nil {
		c := report.Check{
			Title: report.TitleFunctions, Kind: report.KindBehaviour, Result: ranAny(o.Functions + o.Callers),
			Command: o.Command, Evidence: o.Evidence, Expected: "for an input that stands in the base's tree a function returns where it does on base", Actual: o.Note,
		}
		for _, d := range o.Differences {
			b.differs(&c, &warnings, differing{
				says: says(d), path: d.Path, line: d.Line, command: d.Command, evidence: d.Evidence,
				detail: detail(d),
				breaks: d.Breaks, stands: fmt.Sprintf("%s, which stands in the base's tree: %s; on base it %s", d.Example, d.Is, d.Was),
				expected: d.Expected, since: "tests that fail without the change reach it",
			})
		}
		b.add(c)
	}
	if o := b.result.Programs; o != nil {
		c := report.Check{
			Title: report.TitleCommandLines, Kind: report.KindBehaviour, Result: ranAny(o.Lines + o.Requests),
			Command: o.Command, Evidence: o.Evidence, Expected: "a command line or request that stands in the base's tree does not crash or hang where it ends well on base", Actual: o.Note,
		}
		for _, d := range o.Differences {
			b.differs(&c, &warnings, differing{
				says: fmt.Sprintf("%s %s; on base it %s", d.Line, d.Is, d.Was), path: d.Path, line: d.At, command: d.Command, evidence: d.Evidence,
				detail: "It was run on both sides, each time in the tree as it was prepared. What differs between runs of one side is no difference.",
				breaks: d.Breaks, stands: fmt.Sprintf("%s, which stands in %s of the base, %s; on base it %s", d.Line, d.Path, d.Is, d.Was),
				expected: d.Expected, since: "the change alters the text around it",
			})
		}
		b.add(c)
	}
}

// says is the title of a difference.
func says(d gate.Difference) string {
	if d.Gone {
		return d.Example + " " + d.Is
	}
	return fmt.Sprintf("%s %s; on base it %s", d.Example, d.Is, d.Was)
}

// detail says how a difference was seen, and how it is seen again.
func detail(d gate.Difference) string {
	if d.Gone {
		return "This uses what is gone. It compiles on base and does not with the change:\n\n" + d.Test
	}
	return fmt.Sprintf("%s differs for %d of %d inputs. %s%s", d.Function, d.Differing, d.Inputs, through(d), shows(d))
}

// through says why a function is called that the change leaves as it is.
func through(d gate.Difference) string {
	if d.Through == "" {
		return ""
	}
	return "Its body is as it was; it calls " + d.Through + ", which the change alters or removes. "
}

// shows is how the author sees a difference again.
func shows(d gate.Difference) string {
	if d.Test != "" {
		text := "This test passes on base and fails with the change:\n\n" + d.Test
		if d.Unheld {
			text = "This test makes the call. It passes on both sides, as it cannot hold what differs, which its last line says:\n\n" + d.Test
		}
		if d.Recorded != "" {
			text = d.Recorded + " calls it so. " + text
		}
		return text
	}
	how := "It was called with what " + cmp.Or(d.Recorded, "a test of the base") + " calls it with"
	if d.Recorded == "" {
		how += ", or with one value of that changed"
	}
	return how + ". The example has the beginning: no literal of the language has all of it."
}

func ranAny(n int) report.Result {
	if n == 0 {
		return report.ResultSkip
	}
	return report.ResultPass
}

// A differing is a function or a command line that does something else on the head.
type differing struct {
	says, detail, path, command string
	line                        int
	evidence                    []string
	breaks                      bool
	stands                      string // what the check says where it breaks
	expected                    bool
	since                       string // why it is expected
}

// differs adds a finding, and to the check what breaks.
func (b *builder) differs(c *report.Check, warnings *int, d differing) {
	f := report.Finding{Severity: report.SeverityInfo, Title: d.says, Path: d.path, Line: d.line, Evidence: d.evidence, Repro: d.command, Detail: d.detail}
	switch {
	case d.breaks:
		f.Severity = report.SeverityError
		c.Result, c.Reproduction, c.Command = report.ResultFail, report.Introduced, d.command
		c.Evidence = slices.Concat(c.Evidence, d.evidence)
		c.Actual = joinLines(c.Actual, d.stands)
	case d.expected:
		f.Title = "expected, since " + d.since + ": " + f.Title
	case *warnings < mostSurprising:
		f.Severity = report.SeverityWarning
		*warnings++
	}
	b.findings = append(b.findings, f)
}

// differences are those of the report: of functions, and of command lines.
func differences(r *gate.Result) []report.Difference {
	out := ofFunctions(r.Behaviour)
	if r.Programs == nil {
		return out
	}
	for _, d := range r.Programs.Differences {
		out = append(out, report.Difference{
			Path: d.Path, Line: d.At, Inputs: 1, Differing: 1, Example: d.Line, CommandLine: true, Request: d.Request,
			Was: d.Was, Is: d.Is, Expected: d.Expected, Reproducer: d.Command, Evidence: d.Evidence,
		})
	}
	return out
}

// interfaces are what other modules could use and cannot any more, each with a use.
func interfaces(o *gate.Behaviour) []report.Interface {
	if o == nil {
		return nil
	}
	var out []report.Interface
	for _, d := range o.Differences {
		for _, name := range d.Symbols {
			out = append(out, report.Interface{Symbol: name, Change: report.Removed, Witness: d.Test, Evidence: d.Evidence})
		}
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
			Was: d.Was, Is: d.Is, Expected: d.Expected, Reproducer: cmp.Or(d.Test, d.Command), Evidence: d.Evidence,
		})
	}
	return out
}
