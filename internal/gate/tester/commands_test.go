package tester

import (
	"fmt"
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
