package conclude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// maxCases bounds how many failing tests get a check of their own; all of them
// stand in report.json's "tests".
const maxCases = 50

// tested says what a test command came to that ended badly and reported each of its tests. It
// did not pass; where all that fails fails on base too, that is no fault of the change.
func (b *builder) tested(c *report.Check, s gate.Step) {
	c.Result, c.Actual, c.Reproduction = b.testsResult(s), b.testsLine(s), report.NotRun
	switch {
	case c.Result != report.ResultPass:
	case of(s, b.result.Tests.PreExisting) > 0:
		c.Result, c.Reproduction = report.ResultFail, report.PreExisting
	default:
		c.Result, c.Actual = report.ResultSkip, joinLines(fmt.Sprintf("exit %d, and nothing that it reports differs from base", s.Exit), c.Actual, s.Output)
	}
}

// testsResult is that of a command as a whole: tests that fail on both sides are no
// fault of the change.
func (b *builder) testsResult(s gate.Step) report.Result {
	t := b.result.Tests
	if of(s, t.Regressed)+of(s, t.NewFailing) > 0 {
		return report.ResultFail
	}
	if of(s, t.Unknown)+of(s, t.Unsettled)+of(s, t.NewFlakiness) > 0 {
		return report.ResultSkip
	}
	return report.ResultPass
}

// saidByTests is what is left to say of a failing command that reports no tests, where what
// fails in it has checks of its own: it is a test itself, or the gate found that it fails for
// those that a runner of its folder reports. Empty: nothing else says that it fails.
func (b *builder) saidByTests(s gate.Step) string {
	blamed := slices.Concat(b.result.Tests.Regressed, b.result.Tests.NewFailing)
	if of(s, blamed) > 0 {
		return b.testsLine(s)
	}
	if slices.ContainsFunc(blamed, func(k gate.Case) bool { return k.ID.Unit == s.Unit }) {
		return fmt.Sprintf("exit %d: the tests that fail in its folder have checks of their own", s.Exit)
	}
	return ""
}

// testsLine counts what of a command's tests is not as on base, or fails there as well.
func (b *builder) testsLine(s gate.Step) string {
	t := b.result.Tests
	var parts []string
	for _, g := range []struct {
		n    int
		what string
	}{
		{of(s, t.Regressed), "regressed"},
		{of(s, t.NewFailing), "new or edited and failing"},
		{of(s, t.PreExisting), "failing on both sides"},
		{of(s, t.NewFlakiness), "failing at random with the change alone"},
		{of(s, t.Unsettled), "failing, undecided by the runs"},
		{of(s, t.Flaky) + of(s, t.FlakyNew), "flaky"},
		{of(s, t.Unknown), "failing with no base to compare"},
	} {
		if g.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", g.n, g.what))
		}
	}
	return strings.Join(parts, ", ")
}

// of counts the tests that a command's run reported, without those that only contain others.
func of(s gate.Step, cases []gate.Case) int {
	n := 0
	for _, k := range gate.Leaves(cases) {
		if slices.Contains(k.Evidence, s.Evidence) {
			n++
		}
	}
	return n
}

// cases makes a check of each test that fails because of the change.
func (b *builder) cases() {
	t := b.result.Tests
	for _, g := range []struct {
		cases []gate.Case
		what  string
		repro report.Reproduction
		want  string
	}{
		{t.Regressed, "regressed", report.Introduced, "passes, as it does on base"},
		{t.NewFailing, "is new or edited, and fails", report.HeadOnly, "passes, as the change has it"},
	} {
		for i, k := range g.cases {
			if i == maxCases {
				break
			}
			what := g.what
			if k.Broken {
				what = "does not compile any more"
				if g.repro == report.HeadOnly {
					what = "does not compile"
				}
			}
			c := report.Check{
				Title: b.named(k) + ": " + what, Test: k.ID.String(), Kind: report.KindTest, Result: report.ResultFail,
				Command: b.commandOf(k.Evidence), Evidence: k.Evidence, Reproduction: g.repro,
				Expected: g.want, Actual: joinLines(b.counts(k.ID), k.Output),
			}
			if b.saidByBuild(k.Output) {
				c.Actual, c.Reproduction = "its package does not compile: the check of the build says why", report.NotRun
			}
			b.add(c)
		}
	}
}

// saidByBuild says whether an output has a line with a place of a build that only the head
// fails: one cause, which is said once.
func (b *builder) saidByBuild(output string) bool {
	for _, s := range b.result.Steps {
		if s.Side != gate.Head || s.Stage != gate.StageBuild || !s.Failed() {
			continue
		}
		if base, onBase := b.other(s); onBase && base.Failed() {
			continue
		}
		for line := range strings.Lines(s.Output) {
			if line = strings.TrimSpace(line); gate.HasPlace(line) && strings.Contains(output, line) {
				return true
			}
		}
	}
	return false
}

// named is a test for people. A command is as they would type it.
func (b *builder) named(k gate.Case) string {
	for _, s := range b.result.Steps {
		if k.ID.Command != "" && s.Unit == k.ID.Unit && s.Command == k.ID.Command {
			k.ID.Command = evidence.Untimed(s.Label())
		}
	}
	return k.ID.String()
}

// counts says how often a test failed in how many runs; nothing where it was not run
// again.
func (b *builder) counts(id gate.ID) string {
	for _, s := range b.result.Statistics {
		if s.ID == id {
			return s.Line()
		}
	}
	return ""
}

// commandOf is the command behind the last of a case's runs on the head.
func (b *builder) commandOf(ids []string) string { return b.ranOn(gate.Head, ids) }

// ranOn is the last command of those runs on a side.
func (b *builder) ranOn(side gate.Side, ids []string) string {
	cmd := ""
	for _, id := range ids {
		for _, s := range b.result.Steps {
			if s.Evidence == id && s.Side == side {
				cmd = s.Label()
			}
		}
	}
	return cmd
}

// names are those of the tests that stand for cases.
func names(cases []gate.Case) []string {
	var out []string
	for _, k := range gate.Leaves(cases) {
		out = append(out, k.ID.String())
	}
	return out
}

// tests fills in the comparison.
func (b *builder) tests() *report.Tests {
	t := b.result.Tests
	if t.Head == nil {
		return nil
	}
	return &report.Tests{
		BasePassed: t.Base[gate.Passed], BaseFailed: t.Base[gate.Failed], BaseSkipped: t.Base[gate.Skipped],
		HeadPassed: t.Head[gate.Passed], HeadFailed: t.Head[gate.Failed], HeadSkipped: t.Head[gate.Skipped],
		Regressed: names(t.Regressed), NewFailing: names(t.NewFailing), Fixed: names(t.Fixed),
		PreExisting: names(t.PreExisting), Flaky: names(slices.Concat(t.Flaky, t.FlakyNew, t.NewFlakiness, t.Unsettled)), Removed: names(t.Removed),
		NotRun: names(t.NotRun), FailToPass: names(b.result.FailToPass.Proven), PassOnBase: names(b.result.FailToPass.PassOnBase),
	}
}
