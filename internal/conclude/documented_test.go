package conclude

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/report"
)

// remarked is the row of a check that has remarks alone.
var remarked = regexp.MustCompile("\\| none \\| finding: `[^`]+` \\|$")

// TestChecksAreDocumented: docs/checks.md has a row for each check in its order, with a
// line as it stands in a report, or with a finding of one that has remarks alone.
func TestChecksAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]gate.Result{
		"probes": {Probes: []gate.Probe{{Title: "repeated and shuffled", Ran: true, Note: "nothing failed"}}},
		"fuzzing": {Probes: []gate.Probe{{
			Title: "fuzzing FuzzFirst", Target: "p FuzzFirst", Ran: true, Note: "fuzzing found an input that fails with the change and passes without it",
			Regressed: []gate.Case{{}},
		}}},
		"planted test": {Believed: &gate.Believed{Planted: 1, Missed: []string{"m/p"}}},
		"mutants":      {Mutation: &gate.Mutation{Killed: 9, Survivors: make([]gate.Survivor, 2), Note: "of 11 mutants of the changed lines the tests noticed 9"}},
		"behaviour": {Behaviour: &gate.Behaviour{
			Functions: 2, Inputs: 412, Differences: []gate.Difference{{Expected: true}},
			Note: "of 2 functions whose body changed 1 returns the same for 412 inputs",
		}},
		"programs": {Programs: &gate.Programs{
			Lines: 7, Differences: []gate.LineDifference{{Expected: true}}, Note: "of 7 command lines of tool 6 behave the same",
		}},
	}
	rows := strings.Split(string(text), "\n")
	for len(rows) > 0 && !strings.HasPrefix(rows[0], "|---") {
		rows = rows[1:]
	}
	for i, c := range checks.All() {
		if i+1 >= len(rows) || !strings.HasPrefix(rows[i+1], "| "+c.Name+" |") {
			t.Fatalf("docs/checks.md has no row of %s in its place", c.Name)
		}
		result, ok := examples[c.Name]
		if !ok {
			if !remarked.MatchString(rows[i+1]) {
				t.Errorf("%s: no example here, and its row of docs/checks.md does not end as one of a check that has remarks alone: | none | finding: `…` |", c.Name)
			}
			continue
		}
		b := &builder{result: &result}
		b.build()
		line := (&report.Report{Believed: b.belief()}).MakeTitle()
		for _, k := range b.checks {
			if k.Kind != report.KindFailToPass {
				actual, _, _ := strings.Cut(k.Actual, "\n")
				line = string(k.Result) + " " + k.Title + ": " + actual
			}
		}
		line = strings.TrimPrefix(line, " · ")
		if row := rows[i+1]; !strings.HasSuffix(row, "| `"+line+"` |") {
			t.Errorf("docs/checks.md has\n%s\nand %q appears as\n`%s`", row, c.Name, line)
		}
	}
}

// A test that does not fail with the change is not called one that does.
func TestShows(t *testing.T) {
	t.Parallel()
	for says, d := range map[string]gate.Difference{
		"This test passes on base and fails with the change:":   {Test: "func TestXAsBefore"},
		"This test makes the call. It passes on both sides, as": {Test: "func TestXAsBefore", Unheld: true},
		"It was called with what TestY calls it with":           {Recorded: "TestY"},
	} {
		if got := shows(d); !strings.HasPrefix(got, says) {
			t.Errorf("%q, want %q", got, says)
		}
	}
}
