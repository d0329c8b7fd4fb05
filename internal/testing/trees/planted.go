package trees

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A Planting is a test that must fail, called qz, beside one that passes.
type Planting struct {
	Command ecosystem.Command
	Passing string // as in ID.Package
	At, Pkg string // the file that is planted, and the package of its results; empty: there is none
	Has     string // a part of it
	Run     string // a part of the command that runs it
}

// Plant holds that such a test is planted where its runner finds it and under the name by which
// that reports it: in a copy, or at the end of the file itself.
func Plant(t *testing.T, eco *ecosystem.Ecosystem, files map[string]string, plantings []Planting) {
	t.Helper()
	tree := t.TempDir()
	Lay(t, tree, files)
	for _, c := range plantings {
		run, planted := c.Command.Results.Plant(c.Command, ecosystem.Planting{
			Tree: tree, Passing: []string{c.Passing}, Name: "qz",
			IsTest: eco.IsTest, Near: func(string) bool { return false },
		})
		if c.At == "" {
			if len(planted) > 0 {
				t.Errorf("%s: %+v", c.Passing, planted)
			}
			continue
		}
		if len(planted) != 1 || planted[0].Path != c.At || planted[0].Package != c.Pkg || !strings.Contains(planted[0].Text, c.Has) {
			t.Errorf("%s: %+v", c.Passing, planted)
		}
		if text := ecosystem.ShellWords(run); !strings.Contains(text, c.Run) {
			t.Errorf("%s: is run by %q", c.Passing, text)
		}
	}
}
