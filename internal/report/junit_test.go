package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// TestJUnitArchives puts the reports of testdata to the questions of checkJUnit.
func TestJUnitArchives(t *testing.T) {
	t.Parallel()
	for _, name := range archives(t) {
		r := archived(t, name)
		checkJUnit(t, r, must(r.JUnit())(t))
	}
}

var (
	moment = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`)
	amount = regexp.MustCompile(`^\d+\.\d{3}$`)
)

// checkJUnit holds b to what the schemas of Jenkins and Ant have in common: names
// everywhere, counts that add up, times in seconds, elements in their order, at most
// one result a case; and that it fails exactly where the verdict does.
func checkJUnit(t *testing.T, r *Report, b []byte) {
	t.Helper()
	checkXML(t, b)
	var all junit.Testsuites
	if err := xml.Unmarshal(b, &all); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	want := 1
	if r.Tests != nil {
		want = 2
	}
	if len(all.Suites) != want {
		t.Fatalf("%d suites, want %d", len(all.Suites), want)
	}
	tests, failures, errs, skips := 0, 0, 0, 0
	for i, s := range all.Suites {
		if s.Name == "" || s.ID != i || !amount.MatchString(s.Time) || s.Timestamp != "" && !moment.MatchString(s.Timestamp) {
			t.Errorf("suite %+v", s)
		}
		for _, p := range *s.Properties {
			if p.Name == "" {
				t.Error("property without a name")
			}
		}
		n, f, e, k := 0, 0, 0, 0
		for _, c := range s.Testcases {
			results := 0
			for _, res := range []*junit.Result{c.Failure, c.Error, c.Skipped} {
				if res != nil {
					results++
				}
			}
			if c.Name == "" || c.Classname == "" || !amount.MatchString(c.Time) || results > 1 {
				t.Errorf("case %+v", c)
			}
			n++
			f += count(c.Failure)
			e += count(c.Error)
			k += count(c.Skipped)
		}
		if s.Tests != n || s.Failures != f || s.Errors != e || s.Skipped != k {
			t.Errorf("suite %s counts %d %d %d %d, has %d %d %d %d", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, n, f, e, k)
		}
		tests, failures, errs, skips = tests+n, failures+f, errs+e, skips+k
	}
	if all.Tests != tests || all.Failures != failures || all.Errors != errs || all.Skipped != skips {
		t.Errorf("all: %d %d %d %d", all.Tests, all.Failures, all.Errors, all.Skipped)
	}
	checkVerdictCase(t, r, all.Suites[0].Testcases[0])
}

func checkVerdictCase(t *testing.T, r *Report, c junit.Testcase) {
	t.Helper()
	if got, want := []bool{c.Failure != nil, c.Error != nil, c.Skipped != nil}, []bool{r.Verdict == Fail, r.Verdict == Error, r.Verdict == Partial}; c.Name != "verdict" || !slices.Equal(got, want) {
		t.Errorf("%s: the verdict's case is %+v", r.Verdict, c)
	}
}

func count(r *junit.Result) int {
	if r == nil {
		return 0
	}
	return 1
}

// checkXML holds that b is well-formed, has no declarations, comments or elements of
// others, and writes properties before cases.
func checkXML(t *testing.T, b []byte) {
	t.Helper()
	allowed := []string{"testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out"}
	d := xml.NewDecoder(bytes.NewReader(b))
	before := ""
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if !slices.Contains(allowed, tok.Name.Local) || tok.Name.Space != "" {
				t.Fatalf("element %v in\n%s", tok.Name, b)
			}
			if tok.Name.Local == "properties" && before != "testsuite" {
				t.Errorf("properties after %s", before)
			}
			before = tok.Name.Local
		case xml.Directive, xml.Comment:
			t.Fatalf("%T in\n%s", tok, b)
		}
	}
}

// TestJUnitSays: who broke what can be read from the cases.
func TestJUnitSays(t *testing.T) {
	t.Parallel()
	var all junit.Testsuites
	if err := xml.Unmarshal(must(archived(t, "testdata/fail-regressed.txtar").JUnit())(t), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all.Suites {
		for _, c := range s.Testcases {
			is := "ok"
			switch {
			case c.Failure != nil:
				is = "failure"
			case c.Error != nil:
				is = "error"
			case c.Skipped != nil:
				is = "skipped"
			}
			got = append(got, is+" "+c.Classname+" "+c.Name)
		}
	}
	want := []string{
		"failure ycbot verdict",
		"ok ycbot.build go build ./...",
		"skipped ycbot.lint staticcheck ./...",
		"failure ycbot.test example.com/m/calc TestDiv: regressed",
		"skipped ycbot.test example.com/m/io TestTimezone",
		"failure ycbot.agent Div keeps its sign [adversarial]",
		"skipped ycbot.agent Div by zero panics as documented [adversarial]",
		"failure example.com/m/calc TestDiv",
		"skipped example.com/m/io TestTimezone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	failure := all.Suites[1].Testcases[0].Failure
	for _, part := range []string{"expected: passes, as on base", "Div(7, 2) = 3, want 4", "evidence: E3, E9, E10", "go test -json"} {
		if !strings.Contains(failure.Data, part) {
			t.Errorf("no %s in\n%s", strconv.Quote(part), failure.Data)
		}
	}
	properties := *all.Suites[0].Properties
	for _, p := range []junit.Property{
		{Name: "verdict", Value: "FAIL"},
		{Name: "head_sha", Value: "fedcba9876543210fedcba9876543210fedcba98"},
		{Name: "base_sha", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Name: "sandbox", Value: "none"},
	} {
		if !slices.Contains(properties, p) {
			t.Errorf("no property %v in %v", p, properties)
		}
	}
}

// TestJUnitText: what XML cannot write is shown, and nothing else is lost.
func TestJUnitText(t *testing.T) {
	t.Parallel()
	r := wordly(filled("x", 1), 1)
	r.Checks = []Check{{
		ID: "a", Title: "t\x00\x1b[31m\xff\ufffe\u202e", Kind: KindTest, Result: ResultFail, Support: Supported, Reproduction: Introduced,
		Command: "printf '\x01]]><x>&amp;'", Actual: "a ]]> b\x1b[31m\uffff\n<failure/>",
	}}
	var all junit.Testsuites
	if err := xml.Unmarshal(must(r.JUnit())(t), &all); err != nil {
		t.Fatal(err)
	}
	c := all.Suites[0].Testcases[1]
	if want := "t<U+0000><U+001B>[31m\ufffd<U+FFFE><U+202E>"; c.Name != want {
		t.Errorf("name %q, want %q", c.Name, want)
	}
	if want := "actual:\n  a ]]> b<U+FFFF>\n  <failure/>\ncommand:\n  printf '<U+0001>]]><x>&amp;'\nevidence: none (supported)"; c.Failure.Data != want {
		t.Errorf("%q, want %q", c.Failure.Data, want)
	}
}
