package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/agent"
)

// lastRow is the last row of the feature list that the loop itself answers for:
// those of its parts A and B, and what a decision is.
const lastRow = 20

var rowsLine = regexp.MustCompile(`^(?:# )?Rows? (\d+(?:, \d+)*)\.\n`)

// rowsOf are the rows that a scenario's first line names.
func rowsOf(t *testing.T, file string) []int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := rowsLine.FindSubmatch(text)
	if m == nil {
		return nil
	}
	var rows []int
	for _, word := range strings.Split(string(m[1]), ", ") {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, n)
	}
	return rows
}

// Each row of the loop has a scenario whose first line names it, here or among the
// scripts that run the whole program, each scenario here names its rows, and the
// table of docs/agent-core.md says just that.
func TestRowsHaveScenarios(t *testing.T) {
	t.Parallel()
	files := map[int][]string{}
	for _, dir := range []string{"testdata", "../cmd/ycbot/testdata/script"} {
		found, err := filepath.Glob(dir + "/*.txtar")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no scenarios: %v", dir, err)
		}
		for _, file := range found {
			rows := rowsOf(t, file)
			if rows == nil && dir == "testdata" {
				t.Errorf("%s: its first line names no row: want \"Row N.\" or \"Rows N, M.\"", file)
			}
			for _, n := range rows {
				files[n] = append(files[n], "`"+strings.TrimSuffix(filepath.Base(file), ".txtar")+"`")
			}
		}
	}
	var want strings.Builder
	for n := 1; n <= lastRow; n++ {
		if files[n] == nil {
			t.Errorf("row %d has no scenario", n)
		}
		slices.Sort(files[n])
		fmt.Fprintf(&want, "| %d | %s |\n", n, strings.Join(files[n], ", "))
	}
	const doc, begin = "../docs/agent-core.md", "| Row | Scenarios |\n|---|---|\n"
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("%s: no table %q", doc, begin)
	}
	end := 0
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		end += len(line)
	}
	if *update {
		if err := os.WriteFile(doc, []byte(before+begin+want.String()+rest[end:]), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), rest[:end]); diff != "" {
		t.Errorf("%s: want-, got+:\n%s\nrun go test ./agent -update", doc, diff)
	}
}

// typeLine is an event in the source of package transcript.
var typeLine = regexp.MustCompile(`(?m)^\t\w+ +Type = "(\w+)"`)

// Each event of an agent that is kept is in what some scenario wants, so that
// none goes missing unseen.
func TestEventsHaveScenarios(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../internal/transcript/event.go")
	if err != nil {
		t.Fatal(err)
	}
	agents, _, ok := strings.Cut(string(source), "// The events of the run itself.")
	types := typeLine.FindAllStringSubmatch(agents, -1)
	if !ok || len(types) < 20 {
		t.Fatalf("found %d types of events", len(types))
	}
	seen := map[string]bool{}
	for _, s := range scenarios(t) {
		for line := range strings.Lines(string(s.want.Data)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			seen[word] = true
		}
	}
	for _, m := range types {
		if !agent.EventType(m[1]).Transient() && !seen[m[1]] {
			t.Errorf("no scenario wants the event %s", m[1])
		}
	}
}
