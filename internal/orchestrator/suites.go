package orchestrator

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/tool"
)

// suites are the test commands of the head, for the tool that runs them.
func suites(commands []gate.TestCommand) []tool.Suite {
	var out []tool.Suite
	for _, c := range commands {
		s := suite(c)
		if slices.ContainsFunc(out, func(o tool.Suite) bool { return o.Dir == s.Dir && o.Command == s.Command }) {
			continue
		}
		s.Name = c.Unit
		for n := 2; slices.ContainsFunc(out, func(o tool.Suite) bool { return o.Name == s.Name }); n++ {
			s.Name = fmt.Sprintf("%s#%d", c.Unit, n)
		}
		out = append(out, s)
	}
	return out
}

func suite(c gate.TestCommand) tool.Suite {
	s := tool.Suite{Dir: c.Unit, Command: c.Text, Script: c.Script()}
	s.Only = func(places, names []string) (tool.Suite, bool, bool) {
		some, byPlace, byName := c.Only(places, names)
		narrowed := suite(some)
		narrowed.Name = s.Name
		return narrowed, byPlace, byName
	}
	if !c.PerTest {
		return s
	}
	s.Collect = func() (io.Writer, func(int, string) tool.TestResults) {
		stream := c.Stream()
		return stream, func(exit int, dir string) tool.TestResults {
			found, rest, gap := stream.Results(exit, dir)
			return tool.TestResults{Tests: results(found), Rest: rest, Gap: gap}
		}
	}
	return s
}

// results lists the tests of a suite, and the packages that failed as a whole.
func results(s gate.Suite) []tool.TestResult {
	var out []tool.TestResult
	for id, t := range s {
		if id.Test == "" && t.Status != gate.Failed && t.Status != gate.NotRun {
			continue
		}
		out = append(out, tool.TestResult{
			Place: id.Package, Name: cmp.Or(id.Test, id.Command), Status: string(t.Status), Took: t.Elapsed, Output: t.Output,
		})
	}
	sorted.By(out, func(a, b tool.TestResult) int {
		return cmp.Or(strings.Compare(a.Place, b.Place), strings.Compare(a.Name, b.Name))
	})
	return out
}
