package gate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A TestCommand is a test command of a change's head that others than the gate can run,
// with the runner and the collector that the gate uses.
type TestCommand struct {
	Unit    string // folder in the repository, "." for its top
	Text    string // for people, without what asks the runner for its results
	PerTest bool   // its output has results of single tests

	c ecosystem.Command
}

// TestCommands finds the test commands of the head as the gate does. in needs the trees,
// the change and the commands of the configuration.
func (g *Gate) TestCommands(ctx context.Context, in Input) ([]TestCommand, error) {
	quiet := *g
	quiet.Progress, quiet.First = nil, nil
	r := newRunner(&quiet, in, task{})
	if err := r.detect(ctx); err != nil {
		return nil, fmt.Errorf("test commands: %w", err)
	}
	all := r.sides.Plans[Head].Test
	if in.Commands.Test == nil {
		for _, p := range r.sides.Plans[Head].Left {
			all = append(all, p.Test...)
		}
	}
	var out []TestCommand
	for _, c := range all {
		if c.Unit == "" {
			c.Unit = "."
		}
		out = append(out, TestCommand{Unit: c.Unit, Text: c.Typed(), PerTest: c.Results != nil, c: c})
	}
	return out, nil
}

// Only is t for some of its tests: those of the named files, folders, packages or classes
// (nil: all) and of these, where the runner can choose them, the named ones (nil: all). It
// says which of both its runner was given; the rest is left to who reads the results.
func (t TestCommand) Only(places, names []string) (some TestCommand, byPlace, byName bool) {
	if t.c.Results == nil || t.c.Results.Narrow == nil {
		return t, false, false
	}
	p := ecosystem.Part{Packages: places}
	if pkgs := languages.PackagesOf(t.c.Eco); pkgs != nil {
		p.Packages = pkgs.At(places, t.Unit)
		if len(names) > 0 {
			p.Tests = map[string]bool{}
			for _, n := range names {
				top, _, _ := strings.Cut(n, "/")
				p.Tests[top] = true
			}
		}
	}
	if len(p.Packages) == 0 {
		return t, false, false
	}
	c, ok := t.c.Results.Narrow(t.c, p)
	if !ok {
		return t, false, false
	}
	t.c, t.Text = c, c.Typed()
	return t, len(places) > 0, p.Tests != nil
}

// Script is the text with which bash runs t in its folder.
func (t TestCommand) Script() string {
	lines := []string{"set +o pipefail"} // which the gate's commands do without
	for _, kv := range t.c.Env {
		name, value, _ := strings.Cut(kv, "=")
		lines = append(lines, "export "+name+"="+ecosystem.ShellWords(ecosystem.Command{Argv: []string{value}}))
	}
	return strings.Join(append(lines, cmp.Or(ecosystem.ShellWords(t.c), t.c.Text)), "\n")
}

// A ResultStream takes what a test command writes to standard output, all of it, and makes
// results of it.
type ResultStream struct {
	io.Writer
	t TestCommand
	c results.Collector // nil: the output has no results of single tests
}

// Stream is where the standard output of a run of t goes.
func (t TestCommand) Stream() *ResultStream {
	s := &ResultStream{t: t, Writer: io.Discard}
	if t.c.Results != nil {
		s.c = t.c.Results.Collect(t.Unit)
		s.Writer = s.c
	}
	return s
}

// Results are those of the tests that ran in the worktree dir. rest is what of the output
// was no result, and gap says why results are missing.
func (s *ResultStream) Results(exit int, dir string) (suite Suite, rest, gap string) {
	if s.c == nil {
		return nil, "", ""
	}
	suite = s.c.Suite("", dir)
	gap, _ = s.c.Gap()
	if refused := s.t.c.Results.Refused; refused != nil && refused(exit) {
		clear(suite)
	}
	return suite, s.c.Rest(), gap
}
