package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// gateOnly is how every rendering says that no model took part.
const gateOnly = "no model: gate only"

// Summary says on one line how r ended, for logs.
func Summary(r *Report) string {
	parts := []string{r.tally().String(), plural(r.Usage.Commands, "command"), duration(r.Timings.DurationMS), r.modelWords()}
	why, _ := r.why()
	return fmt.Sprintf("%s@%s %s: %s (%s)", plain(r.subject()), plain(change.Short(r.HeadSHA)), plain(string(r.Verdict)),
		clip(plain(why), 300), strings.Join(parts, "; "))
}

// subject names what was verified: "owner/name#7".
func (r *Report) subject() string {
	if r.PR == 0 {
		return r.Repo
	}
	return fmt.Sprintf("%s#%d", r.Repo, r.PR)
}

func (r *Report) modelWords() string {
	if r.Model == "" {
		return gateOnly
	}
	return "model " + plain(r.Model)
}

// A tally counts checks by result.
type tally struct{ passed, failed, known, advised, skipped int }

func (r *Report) tally() tally {
	var t tally
	for _, c := range r.Checks {
		switch {
		case c.Result == ResultPass && r.Reserved(c) != "":
			t.advised++
		case c.Result == ResultPass:
			t.passed++
		case c.Result == ResultSkip:
			t.skipped++
		case c.Reproduction == PreExisting:
			t.known++
		case c.Informs():
			t.advised++
		default:
			t.failed++
		}
	}
	return t
}

func (t tally) String() string {
	total := t.passed + t.failed + t.known + t.advised + t.skipped
	if total == 0 {
		return "no checks"
	}
	parts := []string{fmt.Sprintf("%d passed", t.passed), fmt.Sprintf("%d failed", t.failed)}
	if t.known > 0 {
		parts = append(parts, plural(t.known, "pre-existing failure"))
	}
	if t.advised > 0 {
		parts = append(parts, fmt.Sprintf("%d for information", t.advised))
	}
	if t.skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", t.skipped))
	}
	return plural(total, "check") + ": " + strings.Join(parts, ", ")
}

// Advises says whether a check found something which is no fault of the change: tests
// that notice too little. What it found stands among the findings.
func (c Check) Advises() bool { return c.Kind == KindMutation && c.Result == ResultFail }

// Informs says whether a check that failed changes no verdict: it advises, or a linter
// complains. Each complaint is a finding.
func (c Check) Informs() bool { return c.Advises() || c.Kind == KindLint && c.Result == ResultFail }

// failures returns the failing checks that say something about this change, those
// that can move the verdict first.
func (r *Report) failures() []Check {
	var out []Check
	for _, c := range r.Checks {
		if c.Result == ResultFail && c.Reproduction != PreExisting && !c.Informs() {
			out = append(out, c)
		}
	}
	sorted.By(out, func(a, b Check) int { return cmp.Compare(a.weight(), b.weight()) })
	return out
}

// weight orders failures for a reader: what is proven against the change comes
// first.
func (c Check) weight() int {
	if c.Reproduction == NotReproduced || c.Support == Absent {
		return 1
	}
	return 0
}

// others returns the checks that failures leaves out: passed, failing before
// too, skipped.
func (r *Report) others() []Check {
	var out []Check
	for _, c := range r.Checks {
		if c.Result != ResultFail || c.Reproduction == PreExisting || c.Informs() {
			out = append(out, c)
		}
	}
	sorted.By(out, func(a, b Check) int { return cmp.Compare(a.order(), b.order()) })
	return out
}

func (c Check) order() int {
	return slices.Index([]Result{ResultPass, ResultFail, ResultSkip}, c.Result)
}

// reproduced says what running a failing check again showed.
func (c Check) reproduced() string {
	switch c.Reproduction {
	case Introduced:
		return "introduced: fails on head, passes on base"
	case PreExisting:
		return "pre-existing: fails on base too"
	case Unfulfilled:
		return "unfulfilled: still fails, though the change says that it fixes it"
	case NotReproduced:
		return "not reproduced: passed on head when run again"
	case HeadOnly:
		if c.Test != "" {
			return "head only: fails on head; the base does not have it, or has a different version of it"
		}
		if c.Oracle != "" {
			return "head only: the base does not have it; " + c.Oracle
		}
		return "head only: the base does not have it"
	case Unclear:
		return "unclear: fails on both, in different ways, or does not run on the base"
	}
	return "not run again"
}

// support says how well the log carries a check.
func (c Check) support() string {
	switch c.Support {
	case Supported:
		return "supported"
	case Related:
		return "related: only partly supported by the log"
	}
	return "absent from the log"
}

// skipReason is the line that says why a check did not run.
func (c Check) skipReason() string {
	if ls := outputLines(c.Actual); len(ls) > 0 {
		return ls[0]
	}
	return "not run"
}

var evidenceID = pattern.New(`^E[1-9][0-9]*$`)

// spill names the file of the run directory that has the whole output of c,
// empty where c has no recorded execution.
func (c Check) spill() string {
	for _, id := range c.Evidence {
		if evidenceID.MatchString(id) {
			return "spill/" + id + ".stdout"
		}
	}
	return ""
}

// ends says how many lines of an output are shown. The end of an output says
// more than its beginning.
type ends struct{ head, tail int }

// What is shown of the output of a failing check and of a finding's detail, and
// of each line in characters.
var (
	outputEnds = ends{14, 26}
	detailEnds = ends{8, 8}
)

const outputLine = 400

// excerpt cuts ls to what a reader looks at; from names the file with the rest.
func (e ends) excerpt(ls []string, from string) []string {
	left := len(ls) - e.head - e.tail
	var out []string
	for i, l := range ls {
		switch {
		case left <= 1, i < e.head, i >= e.head+left:
			out = append(out, clip(l, outputLine))
		case i == e.head:
			mark := fmt.Sprintf("… %d lines left out", left)
			if from != "" {
				mark += ": " + from
			}
			out = append(out, mark)
		}
	}
	return out
}

// A group is a list of tests with what they have in common.
type group struct {
	name  string
	tests []string
}

// groups returns what the comparison names, what concerns the change first.
func (t *Tests) groups() []group {
	all := []group{
		{"regressed (passed on base)", t.Regressed},
		{"fail, new or edited in the change", t.NewFailing},
		{"not run on head", t.NotRun},
		{"fail-to-pass (fail without the change, pass with it)", t.FailToPass},
		{"of the change, pass on base too", t.PassOnBase},
		{"fixed", t.OtherFixed()},
		{"pre-existing failures (not counted)", t.PreExisting},
		{"flaky (not counted)", t.Flaky},
		{"gone with the change", t.Removed},
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.tests) == 0 })
}

// OtherFixed are the fixed tests that are no fail-to-pass tests: those are said once.
func (t *Tests) OtherFixed() []string {
	return slices.DeleteFunc(slices.Clone(t.Fixed), func(name string) bool { return slices.Contains(t.FailToPass, name) })
}

// named are the tests that the failing checks name.
func (r *Report) named() map[string]bool {
	named := map[string]bool{}
	for _, c := range r.blamed() {
		named[c.Test] = c.Test != ""
	}
	return named
}

// unshown returns the groups of the comparison whose tests are not named by the failing
// checks.
func (r *Report) unshown() []group {
	named := r.named()
	return slices.DeleteFunc(r.Tests.groups(), func(g group) bool {
		return !slices.ContainsFunc(g.tests, func(name string) bool { return !named[name] })
	})
}

// line is the comparison in numbers. What speaks for or against the change is
// always said, the rest where there is some.
func (t *Tests) line() string {
	parts := []string{
		fmt.Sprintf("%d passed on head (base %d)", t.HeadPassed, t.BasePassed),
		fmt.Sprintf("%d regressed", len(t.Regressed)),
		fmt.Sprintf("%d new failing", len(t.NewFailing)),
		fmt.Sprintf("%d pre-existing", len(t.PreExisting)),
		fmt.Sprintf("%d flaky", len(t.Flaky)),
	}
	for _, g := range []struct {
		n    int
		name string
	}{
		{len(t.FailToPass), "fail-to-pass"},
		{len(t.OtherFixed()), "fixed"},
		{len(t.NotRun), "not run"},
		{len(t.Removed), "only on base"},
		{t.HeadSkipped, "skipped"},
	} {
		if g.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", g.n, g.name))
		}
	}
	return strings.Join(parts, " · ")
}

func plural(n int, word string) string {
	return fmt.Sprintf("%d %s", n, verb(n, word, word+"s"))
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// duration is ms for people: 400ms, 12.3s, 2m5s.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Second {
		return fmt.Sprintf("%dms", ms)
	}
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// tokens is n for people: 950, 45.2k, 1.3M.
func tokens(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// dollars has no dollar sign: on GitHub two of them begin a formula.
func dollars(usd float64) string {
	if usd != 0 && usd < 0.1 {
		return fmt.Sprintf("%.4f USD", usd)
	}
	return fmt.Sprintf("%.2f USD", usd)
}
