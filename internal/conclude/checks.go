package conclude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// A builder turns what the gate found out into checks and findings.
type builder struct {
	result   *gate.Result
	checks   []report.Check
	findings []report.Finding
}

func (b *builder) build() {
	for _, stage := range []gate.Stage{gate.StageSetup, gate.StageBuild, gate.StageTest} {
		b.stage(stage)
	}
	b.cases()
	b.kept()
	b.failToPass()
	for _, p := range b.result.Probes {
		b.probe(p)
	}
	b.merge()
	b.behaviour()
	b.mutation()
	b.unrun()
	b.stage(gate.StageLint)
	b.lint()
	b.observations()
}

func (b *builder) add(c report.Check) {
	c.ID = "C" + strconv.Itoa(len(b.checks)+1)
	if len(c.Evidence) > 0 {
		c.Support = report.Supported
	}
	if c.Reproduction == "" {
		c.Reproduction = report.NotRun
	}
	b.checks = append(b.checks, c)
}

// kinds are the checks that stages of the gate become.
var kinds = map[gate.Stage]report.Kind{
	gate.StageSetup: report.KindBuild, gate.StageBuild: report.KindBuild,
	gate.StageTest: report.KindTest, gate.StageLint: report.KindLint,
}

// stage makes a check of each command of a stage at the head. A setup that
// worked is no news.
func (b *builder) stage(stage gate.Stage) {
	for i, head := range b.result.Steps {
		if head.Side != gate.Head || head.Stage != stage || stage == gate.StageSetup && !head.Failed() || b.repeated(i) {
			continue
		}
		base, onBase := b.other(head)
		c := report.Check{
			Title: titled(head), Kind: kinds[stage], Result: report.ResultPass, Command: head.Label(),
			Evidence: []string{head.Evidence}, Expected: "exit 0", Actual: fmt.Sprintf("exit %d", head.Exit),
		}
		if onBase {
			c.Evidence = append(c.Evidence, base.Evidence)
		}
		switch {
		case !head.Failed():
		case head.Aside != "":
			c.Result, c.Actual = report.ResultSkip, head.Aside
		case b.result.Facts.Unprepared != "" && (stage == gate.StageBuild || stage == gate.StageTest): // it says nothing of the change
			c.Result, c.Actual = report.ResultSkip, "environment: "+b.result.Facts.Unprepared
		case stage == gate.StageTest && head.PerTest && head.NoTests && head.Environment == "":
			c.Result, c.Actual = report.ResultFail, because("it ran no test", head.Output)
			c.Reproduction = against(base, onBase)
		case stage == gate.StageTest && head.PerTest && !head.NoTests:
			c.Expected = "what passes on base passes with the change"
			b.tested(&c, head)
		case stage == gate.StageLint && head.Lacks != "" && head.Lacks == base.Lacks:
			c.Result, c.Actual = report.ResultSkip, "environment: no "+head.Lacks+" on this machine"
		case stage == gate.StageLint && onBase && base.Failed() && len(b.result.Lint) == 0 && !gate.HasPlace(head.Output):
			c.Result, c.Actual = report.ResultSkip, because("it checks nothing, with and without the change", head.Output)
		case stage == gate.StageLint:
			c.Result, c.Actual = report.ResultPass, "no complaint that base does not have"
			if len(b.result.Lint) > 0 {
				c.Result, c.Reproduction = report.ResultFail, report.Introduced
				c.Actual = fmt.Sprintf("%d new complaints; lint changes no verdict", len(b.result.Lint))
			}
		case head.Environment != "" && (stage == gate.StageSetup || onBase && base.Failed()):
			c.Result, c.Actual = report.ResultSkip, "environment: "+head.Environment
		case stage == gate.StageTest:
			c.Result, c.Actual = report.ResultFail, because(fmt.Sprintf("exit %d", head.Exit), head.Output)
			c.Reproduction = against(base, onBase)
			if said := b.saidByTests(head); said != "" && c.Reproduction != report.PreExisting {
				c.Actual, c.Reproduction = said, report.NotRun
			}
		case stage == gate.StageSetup:
			c.Result, c.Actual = report.ResultFail, because(fmt.Sprintf("exit %d", head.Exit), head.Output)
			c.Reproduction = against(base, onBase)
		default:
			c.Result, c.Actual = report.ResultFail, head.Output
			c.Reproduction = against(base, onBase)
		}
		if head.NoTests && !head.Failed() {
			c.Result, c.Actual = report.ResultSkip, "it ran no test"
		}
		switch {
		case head.TimedOut:
			c.Actual = joinLines("did not end within its time limit", c.Actual)
		case head.Limit != "" && c.Result != report.ResultSkip:
			c.Actual = joinLines("ended by ycbot: limit of "+head.Limit, c.Actual)
		}
		b.add(c)
	}
}

// because says first why a command ended badly, in its own words, and then all that it
// wrote, where that is more.
func because(what, output string) string {
	text := strings.TrimSpace(output)
	what += ": " + gate.FailureLine(text)
	if !strings.Contains(text, "\n") {
		return what
	}
	return what + "\n" + text
}

// repeated says whether the head has the same command of a stage once more behind
// this one, as in projects that the change does not touch, which are looked at
// again where they fail, and in setups that the network failed: the last one counts.
func (b *builder) repeated(at int) bool {
	s := b.result.Steps[at]
	return slices.ContainsFunc(b.result.Steps[at+1:], func(t gate.Step) bool {
		return t.Side == s.Side && t.Stage == s.Stage && t.Unit == s.Unit && sameCommand(t.Command, s.Command)
	})
}

// against says what a failure on the head is, given the same command at base.
func against(base gate.Step, onBase bool) report.Reproduction {
	switch {
	case !onBase:
		return report.HeadOnly
	case base.Failed():
		return report.PreExisting
	default:
		return report.Introduced
	}
}

// other finds the same command at base.
func (b *builder) other(head gate.Step) (gate.Step, bool) {
	for _, s := range b.result.Steps {
		if s.Side == gate.Base && s.Stage == head.Stage && s.Unit == head.Unit && sameCommand(s.Command, head.Command) {
			return s, true
		}
	}
	for _, s := range b.result.Steps { // the results of base's tests were known, and what differed was run again
		if s.Side == gate.Base && s.Stage == gate.StageRerun && head.Stage == gate.StageTest && s.Unit == head.Unit && s.Command == head.Command {
			return s, true
		}
	}
	return gate.Step{}, false
}

// sameCommand compares two commands of the gate, which may have other time limits.
func sameCommand(a, b string) bool { return evidence.Untimed(a) == evidence.Untimed(b) }

func titled(s gate.Step) string {
	title := string(s.Stage) + ": " + evidence.Untimed(s.Label())
	if s.Unit != "." {
		title += " in " + s.Unit
	}
	return title
}

func (b *builder) failToPass() {
	f := b.result.FailToPass
	c := report.Check{
		Title: "the change's tests fail without the change", Kind: report.KindFailToPass, Result: report.ResultSkip,
		Evidence: f.Evidence, Expected: "at least one of them fails over the base's sources and passes on the head", Actual: f.Note,
	}
	c.Command = b.stepCommand(f.Evidence)
	if f.State == gate.ReproProven {
		c.Result = report.ResultPass
	}
	if f.State != "" {
		b.add(c)
	}
	for _, k := range f.PassOnBase {
		if f.State == gate.ReproProven {
			break // others of its tests show what the change is for
		}
		if m := b.result.Mutation; m != nil && slices.ContainsFunc(m.Vacuous, func(v gate.Vacuous) bool { return v.ID == k.ID }) {
			continue // more is said of it
		}
		b.findings = append(b.findings, report.Finding{
			Severity: report.SeverityInfo, Title: k.ID.String() + " also passes without the change", Evidence: k.Evidence,
		})
	}
}

func (b *builder) stepCommand(ids []string) string {
	for _, s := range b.result.Steps {
		if len(ids) > 0 && s.Evidence == ids[0] {
			return s.Label()
		}
	}
	return ""
}

func (b *builder) probe(p gate.Probe) {
	c := report.Check{
		Title: "probe: tests of what changed, " + p.Title, Kind: report.KindProbe, Result: report.ResultPass,
		Command: p.Command, Evidence: p.Evidence, Expected: "nothing fails that passes on base", Actual: p.Note,
	}
	if p.Target != "" {
		c.Title = "probe: " + p.Title
		c.Expected = "no input fails that passes on base"
	}
	switch {
	case !p.Ran:
		c.Result = report.ResultSkip
	case len(p.Regressed)+len(p.NewFlaky) > 0:
		c.Result, c.Reproduction = report.ResultFail, report.Introduced
		c.Actual = p.Note
		if len(p.Regressed) == 0 {
			c.Reproduction = report.HeadOnly
		}
		for _, k := range append(p.Regressed, p.NewFlaky...) {
			c.Actual = joinLines(c.Actual, strings.TrimSpace(k.ID.String()+" "+b.counts(k.ID)), k.Output)
		}
	}
	b.add(c)
	if p.Input != "" {
		b.fuzzed(p, c.Reproduction)
		return
	}
	b.unheld(p.Flaky)
}

// unheld is one finding of all tests that a probe alone fails: many have one cause.
func (b *builder) unheld(tests []gate.Case) {
	tests = gate.Leaves(tests)
	if len(tests) == 0 {
		return
	}
	const verb = " when repeated, shuffled or raced; that does not count against the change"
	f := report.Finding{Severity: report.SeverityInfo, Title: tests[0].ID.String() + " fails" + verb}
	var outputs []string
	if len(tests) > 1 {
		f.Title = strconv.Itoa(len(tests)) + " tests fail" + verb
		f.Detail = strings.Join(names(tests), "\n")
	}
	seen := map[string]bool{}
	for _, k := range tests {
		for _, id := range k.Evidence {
			if !seen[id] {
				f.Evidence = append(f.Evidence, id)
			}
			seen[id] = true
		}
		outputs = append(outputs, b.counts(k.ID), k.Output)
	}
	f.Detail = joinLines(append([]string{f.Detail}, outputs...)...)
	b.findings = append(b.findings, f)
}

// fuzzed makes a finding of an input that fuzzing found, with the command that
// tries it.
func (b *builder) fuzzed(p gate.Probe, reproduction report.Reproduction) {
	f := report.Finding{Severity: report.SeverityError, Title: p.Target + ": " + p.Note, Evidence: p.Evidence, Repro: p.Command, Detail: p.Input}
	switch reproduction {
	case report.Introduced:
	case report.HeadOnly:
		f.Severity = report.SeverityWarning
	default:
		f.Severity = report.SeverityInfo
	}
	for _, k := range p.Flaky { // the check has the others
		f.Detail = joinLines(f.Detail, k.Output)
	}
	b.findings = append(b.findings, f)
}

// linted is the place that a linter's complaint begins with.
var linted = pattern.New(`^(?:\./)?([^\s:]+):(\d+)(?::\d+)?:\s*(.*)$`)

func (b *builder) lint() {
	for _, k := range b.result.Lint {
		if b.saidByBuild(k.Output) {
			continue
		}
		f := report.Finding{Severity: report.SeverityWarning, Title: k.Output, Evidence: k.Evidence}
		if m := linted.FindStringSubmatch(k.Output); m != nil {
			f.Path, f.Title = m[1], m[3]
			f.Line, _ = strconv.Atoi(m[2])
			if k.ID.Unit != "." {
				f.Path = k.ID.Unit + "/" + f.Path
			}
		}
		b.findings = append(b.findings, f)
	}
}

// observations are findings that change no verdict and that a maintainer would
// want to know of.
func (b *builder) observations() {
	for _, m := range b.result.Marks {
		b.findings = append(b.findings, report.Finding{
			Severity: report.SeverityWarning, Title: "the change " + m.Says(), Path: m.Path, Line: m.Line, Detail: m.Text, Mark: true,
		})
	}
	for _, m := range b.result.Remarks {
		b.findings = append(b.findings, report.Finding{
			Severity: report.SeverityInfo, Title: m.Title, Path: m.Path, Line: m.Line, Detail: m.Note, Evidence: m.Evidence,
		})
	}
	t := b.result.Tests
	for _, g := range []struct {
		cases    []gate.Case
		severity report.Severity
		text     string
	}{
		{t.Unknown, report.SeverityWarning, "fails with the change, and could not be compared with base or seen again"},
		{t.FlakyNew, report.SeverityWarning, "is new and flaky: it passed and failed on the same code"},
		{t.NewFlakiness, report.SeverityWarning, "fails at random with the change and never on base"},
		{t.Unsettled, report.SeverityWarning, "fails with the change; the runs do not decide whether by chance"},
		{t.Flaky, report.SeverityInfo, "is flaky: it passed and failed on the same code"},
		{t.Skipped, report.SeverityWarning, "passes on base and is skipped with the change"},
	} {
		for i, k := range gate.Leaves(g.cases) {
			if i == maxCases {
				break
			}
			b.findings = append(b.findings, report.Finding{
				Severity: g.severity, Title: k.ID.String() + " " + g.text, Evidence: k.Evidence, Detail: joinLines(b.counts(k.ID), k.Output),
			})
		}
	}
}

// joinLines joins what is not empty, a line each.
func joinLines(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}
