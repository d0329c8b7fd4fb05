package report

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// blamed returns the failing checks to show one by one, those that can move the verdict
// first. What only repeats what others say stays in the table of all checks: a suite as a
// whole, a test that only contains the one that failed, a package that the build shows.
func (r *Report) blamed() []Check {
	all := r.failures()
	named := func(c Check) bool { return c.Test != "" && c.Kind == KindTest }
	leaf := func(name string) bool {
		return r.Tests == nil || slices.Contains(r.Tests.Regressed, name) || slices.Contains(r.Tests.NewFailing, name)
	}
	tests := slices.ContainsFunc(all, named)
	leaves := slices.ContainsFunc(all, func(c Check) bool { return named(c) && leaf(c.Test) })
	left := slices.DeleteFunc(slices.Clone(all), func(c Check) bool {
		switch {
		case c.Kind == KindTest && c.Reproduction == NotRun:
			return true
		case named(c):
			return leaves && !leaf(c.Test)
		}
		return c.Kind == KindKept && tests
	})
	if len(left) == 0 {
		return all
	}
	return left
}

// unlisted counts the tests that fail because of the change and have no check of their own:
// only the first of many have.
func (r *Report) unlisted() int {
	if r.Tests == nil {
		return 0
	}
	checked := map[string]bool{}
	for _, c := range r.Checks {
		checked[c.Test] = true
	}
	n := 0
	for _, name := range slices.Concat(r.Tests.Regressed, r.Tests.NewFailing) {
		if !checked[name] {
			n++
		}
	}
	return n
}

// diagnosis is the failure in one sentence that names what fails; "" where the reasons
// of the verdict say it best.
func (r *Report) diagnosis() string {
	if r.Verdict != Fail {
		return ""
	}
	cs := r.blamed()
	if len(cs) == 0 || cs[0].Test == "" {
		return ""
	}
	c := cs[0]
	s := plain(c.Test)
	switch c.Reproduction {
	case Introduced:
		s += " passes without this change and fails with it"
	case HeadOnly:
		s += " is new or edited in this change, and fails"
	default:
		return ""
	}
	more := r.unlisted()
	for _, o := range cs[1:] {
		if o.Blames() && o.weight() == 0 {
			more++
		}
	}
	if more > 0 {
		s += fmt.Sprintf(", and so %s %d more", verb(more, "does", "do"), more)
	}
	return s
}

// mdSides is the table of what fails: each test with and without the change.
func (r *Report) mdSides() string {
	cs := r.blamed()
	if len(cs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| Test | Without this change | With this change |\n|---|---|---|\n")
	for _, c := range cs[:min(len(cs), mdOpen)] {
		name := mdText(c.Title, mdTitle)
		if c.Test != "" {
			name = mdCell(orUnknown(plain(c.Test)), mdTitle)
		}
		without, with := r.sides(c)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, without, with)
	}
	if left := len(cs) + r.unlisted() - min(len(cs), mdOpen); left > 0 {
		b.WriteString("\n" + mdMore(left))
	}
	return b.String()
}

// sides says what a failing check did on either side, in words of our own.
func (r *Report) sides(c Check) (without, with string) {
	with = "❌ fails"
	switch c.Reproduction {
	case Introduced:
		without = "✅ passes"
	case HeadOnly:
		without = "does not run"
	case PreExisting, Unfulfilled:
		without = "❌ fails"
	case NotReproduced:
		without, with = "not run again", "⚠ failed, and passed when run again"
	case Unclear:
		without = "❌ fails differently, or does not run"
	default:
		without = "not run again"
	}
	for _, s := range r.Statistics {
		if c.Test == "" || s.Test != c.Test {
			continue
		}
		if failed, runs := counted(s.Head); runs > 0 {
			with = fmt.Sprintf("❌ fails %d of %d", failed, runs)
		}
		switch failed, runs := counted(s.Base); {
		case runs == 0: // the base does not have it
		case failed == 0:
			without = fmt.Sprintf("✅ passes %d of %d", runs, runs)
		default:
			without = fmt.Sprintf("⚠ fails %d of %d", failed, runs)
		}
	}
	return without, with
}

// counted reads "5/5", failed of runs.
func counted(side string) (failed, runs int) {
	if n, _ := fmt.Sscanf(side, "%d/%d", &failed, &runs); n != 2 {
		return 0, 0
	}
	return failed, runs
}

// A Place is a line of a file, as a command's output names it.
type Place struct {
	Path string // as printed: from the folder of the test, or only the end of a path
	Line int
}

// places matches what test runners print: calc.go:12, file://a/b.js:6:45, File "t.py",
// line 3, Foo.cs:line 7, and Foo.php on line 9.
var places = pattern.New(`File "([^"\n]+)", line (\d{1,7})` +
	`|(?:^|[\s("'\x60\[]|file://|=)((?:[A-Za-z]:)?[\w./\\+@~-]*[\w+@~-]\.[A-Za-z]\w*)(?:"| on line |:line |[:(])(\d{1,7})\b`)

// Places returns the places that an output names, in its order.
func Places(output string) []Place {
	var out []Place
	for _, l := range outputLines(output) {
		if len(l) > 2000 {
			continue
		}
		for _, m := range places.FindAllStringSubmatch(l, 4) {
			name, digits := m[1]+m[3], m[2]+m[4]
			line := 0
			for _, d := range digits {
				line = 10*line + int(d-'0')
			}
			if line > 0 {
				out = append(out, Place{path.Clean(strings.ReplaceAll(name, `\`, "/")), line})
			}
		}
	}
	return out
}

// framing is the lines that ycbot and test runners write around an assertion: how often it
// failed, the names of tests, headings.
var framing = pattern.New(`^(?:failed \d+ of \d+ on head.*|--- (?:FAIL|PASS).*|=== .*|FAIL\b.*|ok\s.*|exit status \d+|Traceback \(most recent call last\):|[-=_~*^ ]*)$`)

// said are the lines of a check's output that say what was expected and what came: the
// beginning of a short message, without the stack below it.
func (c Check) said() []string {
	const most = 8
	ls := slices.DeleteFunc(outputLines(c.Actual), func(l string) bool { return framing.MatchString(strings.TrimSpace(l)) })
	var out []string
	framed := false
	for i, l := range ls {
		if framed && !strings.HasPrefix(l, "Caused by") {
			continue // the first frame is where it failed
		}
		framed = strings.HasPrefix(strings.TrimSpace(l), "at ")
		if len(out) == most {
			if last := len(ls) - 1; i < last && message.MatchString(ls[last]) {
				out = append(out[:most-2], "…", ls[last]) // Python says it at the end
			}
			break
		}
		out = append(out, clip(l, 200))
	}
	return out
}

// message is a line that names an error, as Python writes at the end of a traceback.
var message = pattern.New(`^\w[\w.]*(?:Error|Exception|Failed)\b`)

// pasted is the command of c on one line, as a person runs it: without a time limit of the
// harness. "" where there is none, also in a record of an older program that has what asks a
// runner for results.
func (c Check) pasted() string {
	ls := commandLines(c.Command)
	if len(ls) != 1 || utf8.RuneCountInString(ls[0]) > 300 {
		return ""
	}
	s := ls[0]
	if strings.HasPrefix(s, "go test ") {
		s = strings.Replace(machine.ReplaceAllString(s, ""), " -json", "", 1) // of a record of an older program
	}
	if harness.MatchString(s) {
		return ""
	}
	return strings.TrimSpace(s)
}

// Whole is the shell text of a check with what must be there first.
func (c Check) Whole() string {
	if c.Before == "" || c.Command == "" {
		return c.Command
	}
	return c.Before + "\n" + c.Command
}

// The longest shell text that stands among what to do.
const (
	mdSteps     = 25
	mdStepRunes = 2500
)

// mdSeen says how to see a check fail. What an agent saw, it may have seen beside files and
// processes of its own: a rerun has all of them.
func (c Check) mdSeen() string {
	s := "How it was run stands below."
	ls := commandLines(c.Whole())
	switch cmd := c.pasted(); {
	case c.Before == "" && cmd != "":
		s = "To see it fail: " + mdCode(cmd, 400)
	case c.Before != "" && len(ls) <= mdSteps && utf8.RuneCountInString(strings.Join(ls, "")) <= mdStepRunes:
		fence := strings.TrimSuffix(mdFence("sh", ls), "\n")
		s = "To see it fail:\n\n  " + strings.ReplaceAll(fence, "\n", "\n  ") + "\n"
	}
	if c.Kind != KindAgent || c.ID == "" {
		return s
	}
	again := "With all that the agent had: " + mdCode("ycbot rerun DIR --check "+plain(c.ID), 60) + ", where DIR is the directory of this run."
	if strings.HasSuffix(s, "\n") {
		return s + "\n  " + again
	}
	return strings.TrimSuffix(s, ".") + ". " + again
}

var (
	machine = pattern.New(` -timeout=\S+`)
	harness = pattern.New(`\$\{?(?:RESULTS|RESULTS_DIR|REPORTER|UNITTEST|MINITEST)\b`)
)

// mdDiagnosis is the rest of the first screen of what failed: the table, the assertion,
// what to do and how to see it.
func (r *Report) mdDiagnosis() string {
	cs := r.blamed()
	var b strings.Builder
	if table := r.mdSides(); table != "" && r.Outcome != Cancelled {
		b.WriteString("\n" + table)
		if ls := cs[0].said(); len(ls) > 0 {
			b.WriteString("\n" + mdFence("text", ls))
		}
	}
	if ls := r.todo(cs); len(ls) > 0 && !r.Interim {
		b.WriteString("\n" + strings.Join(ls, "\n") + "\n")
	}
	return b.String()
}

// todo says what a reader can do now, a Markdown item each.
func (r *Report) todo(cs []Check) []string {
	again := ""
	if r.PR != 0 && objectID(r.HeadSHA) {
		again = "`/verify " + change.Short(r.HeadSHA) + "`"
	}
	var out []string
	item := func(format string, args ...any) { out = append(out, "- "+fmt.Sprintf(format, args...)) }
	failing := slices.ContainsFunc(cs, func(c Check) bool { return c.Blames() })
	switch {
	case r.Outcome == Cancelled:
	case r.Verdict == Fail && r.givenUpAlone(cs):
		item("%s", r.acceptance(again != ""))
	case r.Verdict == Fail && failing:
		item("**Fix it.** %s", cs[0].mdSeen())
		if advice := intended(cs); advice != "" {
			item("**Is the new behaviour intended?** %s", advice)
		}
		if again != "" {
			item("**Does it look like chance?** Comment %s to run it again.", again)
		}
	case r.Verdict == Error || r.Outcome == Errored || r.Outcome == TimedOut:
		s := "**Not a fault of the change:** the run did not finish."
		if again != "" {
			s += " Comment " + again + " to run it again."
		}
		item("%s", s)
	case r.Verdict == Partial && r.Expectations.await():
		item("%s", r.acceptance(again != ""))
	}
	if t := r.Tests; r.Verdict != Pass && t != nil && r.Outcome != Cancelled {
		if n := len(t.PreExisting); n > 0 {
			item("**Not because of this change:** %s without it as well.", plural(n, "test")+verb(n, " fails", " fail"))
		}
		if n := len(t.Flaky); n > 0 {
			item("**Not counted:** %s both ways on the same code.", plural(n, "test")+verb(n, " ends", " end"))
		}
	}
	if r.reproduceShown() {
		item("**With ycbot, on your machine:** %s", mdCode(r.Reproduce, 400))
	}
	return out
}

// intended says what states that a change means what fails: a test of the project, where
// one fails or an agent saw it. "" for what no test can allow.
func intended(cs []Check) string {
	blamed := slices.DeleteFunc(slices.Clone(cs), func(c Check) bool { return !c.Blames() || c.Kind == KindBuild })
	switch {
	case len(blamed) == 0:
		return ""
	case slices.ContainsFunc(blamed, func(c Check) bool { return c.Kind != KindAgent }):
		return "Change the test in this pull request, too; what it gives up is then listed and can be accepted."
	}
	return "No test of the project says so: add one that states it."
}

// acceptance says how what is given up is accepted.
func (r *Report) acceptance(pull bool) string {
	const meant = "**Is what the change gives up intended?** "
	if pull {
		return meant + "Someone with write permission can comment `/verify accept " + change.Short(r.HeadSHA) + " REASON`; the list is below."
	}
	return meant + "On its pull request someone with write permission can comment `/verify accept SHA REASON`; a run on your machine accepts nothing. The list is below."
}

// givenUpAlone says whether the failing checks are of expectations that the change gives up
// and a person can accept, and of nothing else.
func (r *Report) givenUpAlone(cs []Check) bool {
	e := r.Expectations
	return e.changed() && len(e.Regressed)+len(e.Silenced) == 0 && len(cs) > 0 && !slices.ContainsFunc(cs, func(c Check) bool { return c.Kind != KindKept })
}

// reproduceShown says whether the command that repeats the run is among what to do.
func (r *Report) reproduceShown() bool {
	return r.Verdict != Pass && r.Outcome != Cancelled && !r.Interim && len(commandLines(r.Reproduce)) == 1
}

// objectID says whether s is the id of a commit, whole.
func objectID(s string) bool { return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == "" }

// A Where says where a reader of the Markdown rendering finds the evidence; the zero value
// links nothing.
type Where struct {
	Evidence string // address; an {id} in it is replaced by that of the execution
}

// mdIDs names evidence, as links where there is a place to link to.
func (r *Report) mdIDs(evidence []string) string {
	if Link("x", r.Where.Evidence) == "" || len(evidence) == 0 {
		return mdText(ids(evidence), 100)
	}
	const most = 6
	var out []string
	for _, id := range evidence[:min(len(evidence), most)] {
		if !evidenceID.MatchString(id) {
			out = append(out, mdText(id, 20))
			continue
		}
		out = append(out, Link(id, strings.ReplaceAll(r.Where.Evidence, "{id}", id)))
	}
	s := strings.Join(out, ", ")
	if left := len(evidence) - most; left > 0 {
		s += fmt.Sprintf(" and %d more", left)
	}
	return s
}
