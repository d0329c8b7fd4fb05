package publish

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// TestAnnotations: what has a place in the change is shown there, at the level that
// it has; GitHub would refuse anything else.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	files := []change.File{
		{Path: "calc/div.go", Status: change.Modified},
		{Path: "calc/div_test.go", Status: change.Added},
		{Path: "gone.go", Status: change.Deleted},
		{Path: "../out.go", Status: change.Added},
	}
	fail := func(title, out string, r report.Reproduction) report.Check {
		return report.Check{Title: title, Kind: report.KindTest, Result: report.ResultFail, Support: report.Supported, Reproduction: r, Actual: out, Command: "go test ./calc"}
	}
	rep := &report.Report{
		Checks: []report.Check{
			{Title: "lint", Kind: report.KindLint, Result: report.ResultFail, Reproduction: report.Introduced, Support: report.Supported, Actual: "calc/div.go:7:2: x"},
			fail("TestDiv", "--- FAIL: TestDiv\n    div_test.go:12: got 3", report.Introduced),
			fail("old", "div_test.go:13: old", report.PreExisting),
			fail("nowhere", "something broke", report.Introduced),
			fail("elsewhere", "/usr/lib/go/src/fmt/print.go:12: x", report.Introduced),
			{Title: "passes", Result: report.ResultPass, Actual: "div_test.go:1: x"},
		},
		Findings: []report.Finding{
			{Severity: report.SeverityInfo, Title: "survivor", Path: "calc/div.go", Line: 3, Detail: "-a\n+b"},
			{Severity: report.SeverityError, Title: "whole file s3cr3tvalue", Path: "calc/div.go"},
			{Severity: report.SeverityWarning, Title: "odd line", Path: "calc/div.go", Line: -4},
			{Severity: report.SeverityWarning, Title: "deleted", Path: "gone.go", Line: 1},
			{Severity: report.SeverityWarning, Title: "outside", Path: "../out.go", Line: 1},
			{Severity: report.SeverityWarning, Title: "not of the change", Path: "other.go", Line: 1},
			{Severity: report.SeverityWarning, Title: "twice", Path: "calc/div.go", Line: 5},
			{Severity: report.SeverityWarning, Title: "twice", Path: "calc/div.go", Line: 5},
		},
	}
	at := func(path string, line int, level, title, message, raw string) github.Annotation {
		return github.Annotation{Path: path, StartLine: line, EndLine: line, Level: level, Title: title, Message: message, RawDetails: raw}
	}
	got := annotations(rep, files, redact.New(map[string]string{"KEY": "s3cr3tvalue"}))
	want := []github.Annotation{
		at("calc/div_test.go", 12, "failure", "TestDiv", "--- FAIL: TestDiv\n    div_test.go:12: got 3", "go test ./calc"),
		at("calc/div.go", 1, "failure", "whole file [redacted:KEY]", "whole file [redacted:KEY]", ""),
		at("calc/div.go", 7, "warning", "lint", "calc/div.go:7:2: x", ""),
		at("calc/div.go", 5, "warning", "twice", "twice", ""),
		at("calc/div.go", 3, "notice", "survivor", "-a\n+b", ""),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for range 300 {
		rep.Findings = append(rep.Findings, report.Finding{Severity: report.SeverityError, Title: fmt.Sprint("n", len(rep.Findings)), Path: "calc/div.go", Line: 1})
	}
	if n := len(annotations(rep, files, nil)); n != annotationMost {
		t.Errorf("%d annotations", n)
	}
}

// TestPlaceIsSure: the end of a path names a file only where one changed file ends so.
func TestPlaceIsSure(t *testing.T) {
	t.Parallel()
	changed := map[string]bool{"a/x.go": true, "b/x.go": true, "b/y.go": true}
	for in, want := range map[string]string{
		"x.go:1: m": " 0", "y.go:2: m": "b/y.go 2", "  b/x.go:3:4: m": "b/x.go 3", "/tmp/b/y.go:2": " 0", "y.go:0": " 0", "y.go:99999999999": " 0",
		"hey.go:5": " 0", "./b/y.go:6: m": "b/y.go 6", "y.go: m": " 0", strings.Repeat("y.go:1 ", 1000): " 0",
	} {
		path, line := remark{output: in}.place(changed)
		if got := fmt.Sprint(path, " ", line); got != want {
			t.Errorf("%.40q: %s, want %s", in, got, want)
		}
	}
}

// TestAssertionPlace: an ordinary regression is annotated where its assertion stands,
// whatever the runner prints, also in a test file that the change does not touch; in the
// log of a step where nothing can be written.
func TestAssertionPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, output string
		line         int
	}{
		"go":         {"calc/div_test.go", "failed 5 of 5 on head, 0 of 5 on base\n    div_test.go:9: Div(-7, 2) = -4, want -3\n--- FAIL: TestDiv", 9},
		"node":       {"test/calc.test.js", "-4 !== -3\n    at TestContext.<anonymous> (file://test/calc.test.js:7:10)\n    at Test.run (node:internal/test_runner/test:796:25)", 7},
		"jest":       {"src/a.test.tsx", "    at Object.<anonymous> (src/a.test.tsx:6:45)", 6},
		"stack":      {"test/b.spec.js", "    at add (lib/b.js:3:9)\n    at Context.<anonymous> (test/b.spec.js:12:5)", 12},
		"unittest":   {"tests/test_calc.py", "Traceback (most recent call last):\n  File \"tests/test_calc.py\", line 10, in test_zero\n", 10},
		"pytest":     {"tests/test_calc.py", "    assert div(1, 2) == 1\nE   assert 0 == 1\n\ntests/test_calc.py:14: AssertionError", 14},
		"rust":       {"src/lib.rs", "thread 'tests::div' panicked at src/lib.rs:21:9:\nassertion `left == right` failed", 21},
		"java":       {"src/test/java/org/x/CalcTest.java", "org.opentest4j.AssertionFailedError\n\tat org.x.CalcTest.div(CalcTest.java:31)", 31},
		"php":        {"tests/CalcTest.php", "Failed asserting that 1 is 2.\n\ntests/CalcTest.php:17", 17},
		"dotnet":     {"tests/CalcTests.cs", "   at Tests.CalcTests.Div() in tests/CalcTests.cs:line 19", 19},
		"ruby":       {"test/calc_test.rb", "Expected: 1\n  Actual: 2\n    test/calc_test.rb:8:in 'test_div'", 8},
		"googletest": {"tests/calc_test.cc", "tests/calc_test.cc:23: Failure", 23},
		"no line":    {"t/basic.t", "not ok 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep := &report.Report{
				Checks: []report.Check{{
					Title: "T: regressed", Test: "T", Kind: report.KindTest, Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Actual: tt.output,
				}},
				Expectations: &report.Expectations{Regressed: []report.Expectation{{Test: "T", Path: tt.file}}},
			}
			got := annotations(rep, []change.File{{Path: "lib/other.go", Status: change.Modified}}, nil)
			if len(got) != 1 || got[0].Path != tt.file || got[0].StartLine != tt.line || got[0].Level != "failure" {
				t.Errorf("%+v, want %s:%d", got, tt.file, tt.line)
			}
			if c := WorkflowCommands(rep, nil); len(c) != 1 || c[0].File != tt.file || c[0].Line != tt.line || c[0].Level != "error" {
				t.Errorf("in the log %+v, want %s:%d", c, tt.file, tt.line)
			}
		})
	}
}

// TestWorkflowCommands: ten of a level at most, the worst first, places only inside.
func TestWorkflowCommands(t *testing.T) {
	t.Parallel()
	rep := &report.Report{Findings: []report.Finding{{Severity: report.SeverityInfo, Title: "i", Path: "/etc/passwd", Line: 3}}}
	for i := range 30 {
		rep.Findings = append(rep.Findings, report.Finding{Severity: report.SeverityError, Title: fmt.Sprint("e", i), Path: "a.go", Line: i})
	}
	got := WorkflowCommands(rep, nil)
	if len(got) != 11 || got[0] != (Command{Level: "error", File: "a.go", Title: "e0", Message: "e0"}) || got[1].Line != 1 {
		t.Errorf("%d: %+v", len(got), got)
	}
	if last := got[len(got)-1]; last != (Command{Level: "notice", Title: "i", Message: "i"}) {
		t.Errorf("last %+v", last)
	}
	if WorkflowCommands(nil, nil) != nil {
		t.Error("commands of nothing")
	}
}

// TestSummary: what was left out is said, also where there is no report.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := Summary(Target{HeadSHA: strings.Repeat("ab", 20)}, nil, Ending{Kind: Stopped}, Posted{Left: []string{"check run: not permitted: 403"}}, nil)
	for _, want := range []string{"**Stopped**", "ycbot: stopped", "`abababababab`", "**Not posted**", "- check run: not permitted: 403"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

// TestLinksAreAddresses: only what is an address becomes a link.
func TestLinksAreAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "javascript:alert(1)", "/x", "https:///x", "https://e.example/a b", "https://e.example/)[x](y", "https://e.example/\n", "https://e.example/<x>"} {
		if got := report.Link("x", s); got != "" {
			t.Errorf("%q: %s", s, got)
		}
	}
	if got := report.Link("x", "https://e.example/a?b=c#d"); got != "[x](https://e.example/a?b=c#d)" {
		t.Error(got)
	}
}

// What fails is annotated once: a suite whose tests have annotations of their own has none, and one
// whose tests have none has. The command stands with what has to be there first.
func TestRemarks(t *testing.T) {
	t.Parallel()
	check := func(title, test string, kind report.Kind, reproduction report.Reproduction) report.Check {
		return report.Check{Title: title, Test: test, Kind: kind, Result: report.ResultFail, Reproduction: reproduction, Support: report.Supported, Command: "run " + title}
	}
	suite, one := check("suite", "", report.KindTest, report.NotRun), check("one", "one", report.KindTest, report.Introduced)
	agent := check("agent", "", report.KindAgent, report.Introduced)
	agent.Before = "serve &"
	for _, tt := range []struct {
		checks []report.Check
		want   string
	}{
		{[]report.Check{suite, one}, "failure one: run one"},
		{[]report.Check{suite}, "warning suite: run suite"},
		{[]report.Check{check("build", "", report.KindBuild, report.Introduced), suite, check("package", "package", report.KindTest, report.NotRun)}, "failure build: run build"},
		{[]report.Check{suite, agent}, "failure agent: serve &\nrun agent, warning suite: run suite"},
		{[]report.Check{suite, check("flaky", "flaky", report.KindTest, report.Unclear)}, "warning suite: run suite, warning flaky: run flaky"},
	} {
		var got []string
		for _, r := range remarks(&report.Report{Checks: tt.checks}) {
			got = append(got, r.level+" "+r.title+": "+r.details)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%q, want %q", s, tt.want)
		}
	}
}
