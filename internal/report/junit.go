package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// JUnit renders r as JUnit XML: the suite "ycbot checks" with the verdict and the
// checks, and, where the gate compared test results, "ycbot tests" with the tests
// that it names. Tests that pass on both sides are only counted, in its properties.
//
// The case "verdict" fails for FAIL, has an error for ERROR and is skipped for
// PARTIAL, so that a run that came to nothing is never an empty success. Checks and
// tests that the change is not blamed for are skipped, and say why. It is the same
// bytes for the same report. A report that [Parse] would not take is an error.
func (r *Report) JUnit() ([]byte, error) {
	n := r.normalised()
	if err := n.validate(); err != nil {
		return nil, fmt.Errorf("JUnit of report %s: %w", r.RunID, err)
	}
	all := junit.Testsuites{Name: "ycbot", Time: seconds(n.Timings.DurationMS)}
	all.AddSuite(n.junitChecks())
	if n.Tests != nil {
		suite := n.junitTests()
		suite.ID = len(all.Suites)
		all.AddSuite(suite)
	}
	b := bytes.NewBufferString(xml.Header)
	if err := all.WriteXML(b); err != nil {
		return nil, fmt.Errorf("JUnit of report %s: %w", r.RunID, err)
	}
	return b.Bytes(), nil
}

func (r *Report) junitChecks() junit.Testsuite {
	suite := r.junitSuite("ycbot checks")
	suite.Time = seconds(r.Timings.DurationMS)
	suite.AddTestcase(r.junitVerdict())
	names := map[string]bool{}
	for _, c := range r.Checks {
		name := headline(c.Title)
		if names[name] {
			name = fmt.Sprintf("%s (%s)", name, plain(c.ID))
		}
		names[name] = true
		suite.AddTestcase(c.junit(name))
	}
	return suite
}

// junitVerdict makes a case of the verdict.
func (r *Report) junitVerdict() junit.Testcase {
	tc := junit.Testcase{Classname: "ycbot", Name: "verdict", Time: seconds(0)}
	res := junitResult(r.Headline(outputLine), string(r.Outcome), mapped(r.Reasons, plain)...)
	switch r.Verdict {
	case Pass:
	case Fail:
		tc.Failure = res
	case Partial:
		tc.Skipped = res
	default:
		tc.Error = res
	}
	return tc
}

func (c Check) junit(name string) junit.Testcase {
	tc := junit.Testcase{Classname: "ycbot." + string(c.Kind), Name: name, Time: seconds(0)}
	switch c.standing() {
	case failed:
		tc.Failure = junitResult(c.reproduced(), string(c.Reproduction), c.account()...)
	case warned:
		tc.Skipped = junitResult(c.caveat(), string(c.Reproduction), c.account()...)
	case skipped:
		tc.Skipped = junitResult(c.skipReason(), "skipped", c.account()...)
	case passed:
		tc.SystemOut = &junit.Output{Data: strings.Join(c.account(), "\n")}
	}
	return tc
}

// account says all of a check that fits in a text.
func (c Check) account() []string {
	var out []string
	if c.Expected != "" {
		out = append(out, "expected: "+headline(c.Expected))
	}
	if ls := outputEnds.excerpt(outputLines(c.Actual), c.spill()); len(ls) > 0 {
		out = append(append(out, "actual:"), indented(ls)...)
	}
	if ls := commandLines(c.Whole()); len(ls) > 0 {
		out = append(append(out, "command:"), indented(ls)...)
	}
	return append(out, "evidence: "+orNone(ids(c.Evidence))+" ("+c.support()+")")
}

func indented(ls []string) []string {
	return mapped(ls, func(l string) string { return strings.TrimRight("  "+l, " ") })
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (r *Report) junitTests() junit.Testsuite {
	suite := r.junitSuite("ycbot tests")
	suite.Time = seconds(0)
	t := r.Tests
	for _, p := range []struct {
		name string
		n    int
	}{
		{"base_passed", t.BasePassed},
		{"base_failed", t.BaseFailed},
		{"base_skipped", t.BaseSkipped},
		{"head_passed", t.HeadPassed},
		{"head_failed", t.HeadFailed},
		{"head_skipped", t.HeadSkipped},
	} {
		suite.AddProperty(p.name, strconv.Itoa(p.n))
	}
	named := map[string]bool{}
	for _, g := range []struct {
		tests []string
		is    standing
		what  string
	}{
		{t.Regressed, failed, "regressed: passes on base, fails on head"},
		{t.NewFailing, failed, "new failing: only on head, fails there"},
		{t.NotRun, warned, "did not run on head: something before it ended the program"},
		{t.PreExisting, warned, "pre-existing: fails on base too"},
		{t.Flaky, warned, "flaky: gave both results when it was run again"},
		{t.Removed, skipped, "only on base"},
		{t.FailToPass, passed, "fail to pass: fails without the change, passes with it"},
		{t.Fixed, passed, "fixed: fails on base, passes on head"},
		{t.PassOnBase, passed, "of the change, and passes without it too"},
	} {
		for _, name := range g.tests {
			if named[name] {
				continue // the worst that is known of it was said
			}
			named[name] = true
			suite.AddTestcase(r.junitTest(name, g.what, g.is))
		}
	}
	return suite
}

// junitTest makes a case of a test that the comparison names.
func (r *Report) junitTest(id, what string, is standing) junit.Testcase {
	class, name := className(headline(id))
	tc := junit.Testcase{Classname: class, Name: name, Time: seconds(0)}
	typ, _, _ := strings.Cut(what, ":")
	switch is {
	case failed:
		tc.Failure = junitResult(what, typ, r.accountOf(id)...)
	case warned, skipped:
		tc.Skipped = junitResult(what, typ)
	case passed:
		tc.SystemOut = &junit.Output{Data: what}
	}
	return tc
}

// accountOf is that of the failing check about a test, where there is one.
func (r *Report) accountOf(test string) []string {
	i := slices.IndexFunc(r.Checks, func(c Check) bool {
		return c.Kind == KindTest && c.Result == ResultFail && (c.Title == test || strings.HasPrefix(c.Title, test+": "))
	})
	if i < 0 {
		return nil
	}
	return r.Checks[i].account()
}

// className parts a test's package from its name, as in "example.com/m/calc TestDiv".
// What has no package is of the class "tests".
func className(id string) (class, name string) {
	class, name, found := strings.Cut(id, " ")
	if !found || name == "" || !strings.ContainsAny(class, "./") || strings.HasSuffix(class, ":") {
		return "tests", id
	}
	return class, name
}

// junitSuite makes an empty suite that says what was verified and how it ended.
func (r *Report) junitSuite(name string) junit.Testsuite {
	suite := junit.Testsuite{Name: name}
	if at := r.Timings.Started; !at.IsZero() {
		suite.Timestamp = at.UTC().Format("2006-01-02T15:04:05") // the form that schemas of JUnit have, without a zone
	}
	for _, p := range [][2]string{
		{"verdict", string(r.Verdict)},
		{"outcome", string(r.Outcome)},
		{"run_id", r.RunID},
		{"repo", r.subject()},
		{"head_sha", r.HeadSHA},
		{"base_sha", r.BaseSHA},
		{"merge_base", r.MergeBase},
		{"sandbox", r.tier()},
		{"model", r.modelWords()},
		{"ycbot", r.Versions.Ycbot},
	} {
		suite.AddProperty(p[0], plain(p[1]))
	}
	return suite
}

func junitResult(message, typ string, lines ...string) *junit.Result {
	return &junit.Result{Message: clip(message, outputLine), Type: typ, Data: strings.Join(lines, "\n")}
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
