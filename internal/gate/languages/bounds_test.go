package languages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/spent"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestCommandsAreBounded holds that what the files of a change say of its tests is taken apart in
// a bounded time and size, however often parts of it name each other.
func TestCommandsAreBounded(t *testing.T) {
	t.Parallel()
	calls := func(name string) string { return strings.Repeat("$("+name+") ", 200) }
	var scripts []string
	for i := range 3000 {
		scripts = append(scripts, fmt.Sprintf(`"s%d": "npm run s1 s2 s3 s4 s5 s6 s7 s8 s9"`, i))
	}
	for what, files := range map[string]map[string]string{
		"variables of variables":       {"Makefile": "A = " + calls("B") + "\nB = " + calls("C") + "\nC = " + calls("D") + "\nD = " + strings.Repeat("x", 1000) + "\ntest:\n\tgo test $(A)\n"},
		"levels in a recipe":           {"Makefile": "test:\n\tgo test " + strings.Repeat("$$(", 1<<15) + "\n"},
		"levels in a script":           {"Makefile": "test:\n\tgo test ./...\n", "test.sh": "#!/bin/sh\ngo test " + strings.Repeat("(", 1<<18)},
		"levels in a workflow":         {".github/workflows/a.yml": "on: push\njobs: {a: {runs-on: x, steps: [{run: 'go test " + strings.Repeat("$(", 1<<18) + "'}]}}"},
		"shells in shells":             {"Makefile": "test:\n\tgo test; " + strings.Repeat("sh -c $$(", 100) + strings.Repeat(")", 100) + "\n"},
		"scripts that call themselves": {"package.json": `{"scripts": {"test": "npm test` + strings.Repeat(" && npm test", 2000) + `", ` + strings.Join(scripts, ", ") + `}}`},
	} {
		files["go.mod"], files["a.go"], files["a_test.go"] = "module m\n", "package m\n", "package m\nfunc TestA(t *testing.T) {}\n"
		s := trees.Survey(t, files, nil, "go", "make", "node", "npm")
		took := spent.On(t, func() {
			for _, p := range FindProjects(s) {
				OwnCalls(s, p)
				Makings(s, p)
				newWays(s, p)
			}
		})
		if took > time.Minute {
			t.Errorf("%s: %v", what, took)
		} else {
			t.Logf("%s: %v", what, took)
		}
	}
	grows := strings.Repeat("A += "+strings.Repeat("x", 100)+"\n", 30000)
	var got string
	took := spent.On(t, func() { got = expanded(grows, "go test $(A)") })
	if len(got) > maxExpanded || took > 20*time.Second {
		t.Errorf("a variable that grows: %d bytes after %v", len(got), took)
	}
	if got := expanded("A = $(B)\nB = x\n", "go test $(A)"); got != "go test x" {
		t.Errorf("%q", got)
	}
	if got := ecosystem.CalledIn(`sh -c 'sh -c "sh -c ./a"'`); len(got) == 0 || got[len(got)-1] != "./a" {
		t.Errorf("%q", got)
	}
}
