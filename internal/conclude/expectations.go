package conclude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/report"
)

// expectations are the kept expectations as a report has them, nil where the gate
// did not get to them.
func (b *builder) expectations() *report.Expectations {
	e := b.result.Expectations
	if e == nil {
		return nil
	}
	out := &report.Expectations{Policy: string(e.Policy), Held: e.Held}
	for _, x := range e.Changed {
		// Every class of the gate has a list in the report, which a test holds.
		if err := out.Add(string(x.Class), report.Expectation{
			Test: x.ID.String(), Path: x.Path, Line: x.Line, Old: x.Old, New: x.New, Evidence: x.Evidence,
		}); err != nil {
			b.result.Notes = append(b.result.Notes, err.Error())
		}
	}
	return out
}

// kept makes a check of the base's tests over the head's sources, and a finding of
// each expectation that does not hold.
func (b *builder) kept() {
	e := b.result.Expectations
	if e == nil {
		return
	}
	c := report.Check{
		Title: "base's tests over the change", Kind: report.KindKept, Result: report.ResultPass,
		Expected: "what passes on the base still passes, with the tests as the base has them", Actual: e.Note,
	}
	var failed []string
	seen := map[string]bool{}
	for _, x := range e.Changed {
		for _, id := range x.Evidence {
			if !seen[id] && len(c.Evidence) < maxCases {
				seen[id] = true
				c.Evidence = append(c.Evidence, id)
			}
		}
		if x.Effect == compare.Fail {
			failed = append(failed, x.ID.String()+": "+string(x.Class))
		}
	}
	for _, s := range b.result.Steps {
		if s.Stage == gate.StageKept && !seen[s.Evidence] {
			seen[s.Evidence] = true
			c.Evidence = append(c.Evidence, s.Evidence)
			c.Command = s.Label()
		}
	}
	if len(failed) > 0 {
		c.Result, c.Reproduction = report.ResultFail, report.Introduced
		c.Actual = joinLines(append([]string{e.Note}, failed[:min(len(failed), maxCases)]...)...)
	}
	if len(c.Evidence) > 0 { // else the head's own tests are the base's, and have a check
		b.add(c)
	}
	for i, x := range e.Changed {
		if i == maxCases {
			break
		}
		if x.Class == compare.Regressed && slices.ContainsFunc(b.result.Tests.Regressed, func(k gate.Case) bool { return k.ID == x.ID }) {
			continue // it has a check
		}
		b.findings = append(b.findings, expectationFinding(x))
	}
}

// maxLost is how many checks are named that a test has no more.
const maxLost = 3

// expectationFinding words one expectation that does not hold.
func expectationFinding(x gate.Expectation) report.Finding {
	severity := report.SeverityInfo
	switch {
	case x.Effect == compare.Fail:
		severity = report.SeverityError
	case x.Effect == compare.Partial, x.Class == compare.Weakened, x.Class == compare.SupportMade, x.Class == compare.Dropped && x.SubjectStands:
		severity = report.SeverityWarning
	}
	return report.Finding{
		Severity: severity, Title: x.ID.String() + " " + expectationWords(x), Path: x.Path, Line: x.Line, Evidence: x.Evidence,
		Detail: joinLines(diffOf(x.Old, x.New), x.Message),
	}
}

// expectationWords says what became of an expectation.
func expectationWords(x gate.Expectation) string {
	switch x.Class {
	case compare.Regressed:
		return "passes on the base and fails with the change, in both versions of the test"
	case compare.Silenced:
		if x.Beside {
			return "fails with the change, and passes only where files of tests that the change adds or edits run in the same process, although it stands in none of them"
		}
		return "fails with the change, and the change keeps it from being reported although it still stands"
	case compare.Silent:
		return "passes on the base, still stands, and did not run over the change"
	case compare.SteeringMade:
		return "fails over the change, and passes only with the changed configuration of the test command"
	case compare.Weakened:
		if x.Skipped {
			return "is weakened: as the base has it, it fails; the change skips it"
		}
		if x.Lenient {
			return "is weakened: as the base has it, it fails; as the change has it, it may fail, or is tried again"
		}
		if len(x.Lost) > 0 {
			return "is weakened: as the base has it, it fails; as the change has it, it no longer checks " + strings.Join(x.Lost[:min(len(x.Lost), maxLost)], ", ")
		}
		return "is weakened: as the base has it, it fails; as the change has it, it also passes without the change"
	case compare.SupportMade:
		return "fails over the change, and passes only with the changed support files of the tests"
	case compare.Dropped:
		if x.SubjectStands {
			return "is dropped: it fails over the change, the test was removed, and what it tested still stands"
		}
		return "is dropped: it fails over the change, and the test was removed"
	case compare.CannotApply:
		return "cannot be run over the changed sources as the base has it"
	case compare.NeedsOldAPI:
		return "needs, as the base has it, what the change removes or renames"
	case compare.Rewritten:
		if x.Wraps {
			return "is rewritten: as the base has it, it fails; as the change has it, it takes another form of the same, and passes without the change as well"
		}
		return "is rewritten: as the base has it, it fails; as the change has it, it needs the change"
	case compare.DataChanged:
		return "fails with the data of the base, and passes with the changed data"
	case compare.Holds:
	}
	return fmt.Sprintf("is %s", x.Class)
}

// diffOf shows what was taken away and what was brought.
func diffOf(old, now string) string {
	var out []string
	for _, side := range []struct{ mark, text string }{{"-", old}, {"+", now}} {
		if side.text == "" {
			continue
		}
		for line := range strings.Lines(side.text) {
			out = append(out, side.mark+strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

// statistics are the tests that did not end the same each time.
func (b *builder) statistics() []report.Statistic {
	var out []report.Statistic
	for _, s := range b.result.Statistics {
		x := report.Statistic{Test: s.ID.String(), Head: s.Head.String(), Base: s.Base.String(), P: s.P}
		if s.Flips.Flips > 0 {
			x.Flips = fmt.Sprintf("%d/%d", s.Flips.Flips, s.Flips.Runs)
		}
		out = append(out, x)
	}
	return out
}

// executed says which changed lines tests ran.
func (b *builder) executed() *report.Executed {
	x := b.result.Executed
	if x == nil {
		return nil
	}
	return &report.Executed{Lines: x.Lines, Ran: x.Ran, OwnOnly: x.OwnOnly, Evidence: x.Evidence}
}

// belief says which suites were seen to hide a failing test.
func (b *builder) belief() report.Belief {
	if b.result.Believed == nil {
		return report.Belief{OK: true}
	}
	return report.Belief{OK: len(b.result.Believed.Missed) == 0, Suites: b.result.Believed.Missed}
}
