package tester

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/testing/suites"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestAsCommand holds what a run without whole results comes to: more output than is
// kept is one test, and a run without a test is no result of any.
func TestAsCommand(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		data    string
		exit    int
		want    string
		noTests bool
		limit   string
	}{
		"success, no test":         {"", 0, "jest not_run!", true, ""},
		"failure, no test":         {"", 127, "jest fail!", true, ""},
		"too much, with success":   {strings.Repeat("x", results.MaxDocument+1), 0, "jest pass!", false, ""},
		"too much, with a failure": {strings.Repeat("x", results.MaxDocument+1), 1, "jest fail!", false, ""},
		"too much, and it ended":   {strings.Repeat("x", results.MaxDocument+1), 137, "jest fail!", false, "output"},
		"whole":                    {`{"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"passed"}]}]}`, 0, "a pass; a t pass", false, ""},
		"whole, and it failed":     {`{"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"passed"}]}]}`, 1, "a pass; a t pass; jest fail!", false, ""},
		"a limit, no test":         {"", 137, "jest not_run!", true, "memory"},
		"a limit, and a failure":   {`{"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"failed"}]}]}`, 137, "a pass; a t fail; jest not_run!", false, "disk"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			tests, said := tester()
			d := results.Documented(results.ParseJest)(".")
			if _, err := d.Write([]byte(tt.data)); err != nil {
				t.Fatal(err)
			}
			s := d.Suite("E1", "")
			step := tests.asCommand(results.Base, s, ecosystem.Command{Unit: ".", Text: "jest"}, d, ecosystem.Step{Evidence: "E1", Exit: tt.exit, Limit: tt.limit}, "")
			if got := suites.Statuses(s); got != tt.want || step.NoTests != tt.noTests {
				t.Errorf("%s, no tests %v; want %s, %v", got, step.NoTests, tt.want, tt.noTests)
			}
			if much := len(tt.data) > results.MaxDocument; much != (len(*said) == 1) {
				t.Errorf("not covered: %q", *said)
			}
		})
	}
}

// TestAsCommandUntested: that a project which the change brings finds no test is no failure where its runner says so.
// What does not compile, crashes or is no document of results ran none either, and fails.
func TestAsCommandUntested(t *testing.T) {
	t.Parallel()
	const none, failed = "", "tests fail!"
	for what, tt := range map[string]struct {
		eco, output string
		exit        int
		src, want   string
	}{
		"pytest":                      {"Python", "collected 0 items\n\n============ no tests ran in 0.01s ============\n", 5, "", none},
		"unittest":                    {"Python", "\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", 5, "", none},
		"pytest without its folder":   {"Python", "ERROR: file or directory not found: tests\n\nno tests ran in 0.00s\n", 4, "", none},
		"jest":                        {"Node.js", "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\nnpm error code 1\n", 1, "", none},
		"mocha":                       {"Node.js", "Error: No test files found: \"test\"\n", 1, "", none},
		"node --test":                 {"Node.js", "Could not find 'test/*.test.js'\n", 1, "", none},
		"unittest without its folder": {"Python", "ImportError: Start directory is not importable: 'tests'\n", 1, "", none},
		"django":                      {"Python", "Found 0 test(s).\n\nNO TESTS RAN\n", 5, "", none},
		"vitest":                      {"Node.js", "No test files found, exiting with code 1\n", 1, "", none},
		"a bundle that is not there":  {"Ruby", "Could not find 'bundler' (2.1.4) required by your Gemfile.lock\n", 1, "", failed},
		"phpunit":                     {"PHP", "PHPUnit 10.5 by Sebastian Bergmann and contributors.\n\nNo tests executed!\n", 1, "", none},
		"none, with success":          {"Rust", "running 0 tests\n", 0, "fn main() {}\n", none},
		"none of those in a source":   {"Rust", "running 0 tests\n", 0, "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n", "tests not_run!"},
		"tests that do not compile":   {"Rust", "error[E0425]: cannot find function `twice` in this scope\nerror: could not compile `gen`\n", 101, "fn main() {}\n", failed},
		"a test that ends the run":    {"Rust", "running 1 test\nerror: test failed, to rerun pass `--bin gen`\n", 101, "fn main() {}\n", failed},
		"a conftest that is broken":   {"Python", "ImportError while loading conftest 'conftest.py'.\nE   ModuleNotFoundError: No module named 'x'\n", 4, "", failed},
		"an internal error":           {"Python", "INTERNALERROR> ValueError: x\n\n======== no tests ran in 0.01s ========\n", 3, "", failed},
		"settings that are broken":    {"Node.js", "Error: Cannot find module 'ts-jest'\nNo tests found\n", 1, "", failed},
		"a program that is not there": {"Node.js", "sh: 1: jest: not found\n", 127, "", failed},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			tests, said := tester()
			tests.Sides.Head = &workspace.Tree{Dir: t.TempDir()}
			if err := os.WriteFile(filepath.Join(tests.Sides.Head.Dir, "main.rs"), []byte(tt.src), 0o600); err != nil {
				t.Fatal(err)
			}
			tests.Sides.Plans = map[results.Side]*sides.Plan{results.Base: {}, results.Head: {Files: []string{"main.rs"}}}
			d := results.Documented(results.ParseJest)(".")
			s := d.Suite("E1", "")
			tests.asCommand(results.Head, s, ecosystem.Command{Eco: tt.eco, Unit: ".", Text: "tests"}, d, ecosystem.Step{Evidence: "E1", Exit: tt.exit, Output: tt.output}, "")
			if got := suites.Statuses(s); got != tt.want || (len(*said) == 1) != (tt.want == none) {
				t.Errorf("%q, %q; want %q", got, *said, tt.want)
			}
		})
	}
}

// tester is one with nothing to run, and what it says.
func tester() (*Tester, *[]string) {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	base, head := &workspace.Tree{OID: "t1"}, &workspace.Tree{OID: "t2"}
	return &Tester{
		Executor: execution.New(execution.Machine{}, execution.Job{Base: base, Head: head}),
		Sides:    &sides.Reader{Base: base, Head: head, Suites: map[results.Side]results.Suite{}},
		Limits:   Limits{}.WithDefaults(), Flakes: &runs.Ledger{Flipped: map[string]bool{}},
		Note: say, NotCoveredOnce: say,
	}, &said
}
