package tool

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A Suite is a test command that the harness detected or was configured with.
type Suite struct {
	Name    string // such as the folder that it belongs to; unique
	Dir     string // relative to the worktree, where it runs
	Command string // for people
	Script  string // what bash is given; empty: Command

	// Only is the suite for some of its tests, and whether its runner was given the places
	// and the names; nil: it cannot be narrowed.
	Only func(places, names []string) (some Suite, byPlace, byName bool)
	// Collect returns where the standard output of one run goes, and what makes results of
	// it; nil: the output has no results of single tests.
	Collect func() (stdout io.Writer, results func(exit int, dir string) TestResults)
}

// TestResults are those of one run of a suite.
type TestResults struct {
	Tests []TestResult
	Rest  string // what of the output was no result
	Gap   string // why results are missing; empty: none are
}

// A TestResult is how one test ended.
type TestResult struct {
	Place  string // package, file or class
	Name   string
	Status string // pass, fail, skip or what else its runner said
	Took   time.Duration
	Output string // of one that failed
}

// Suites are the test commands of a project, run as a [Shell] runs commands:
// an agent that may run none of its own may run none of these.
type Suites struct {
	Shell *Shell
	List  []Suite
	// Refuse says why a command is not run, nil to run it; nil is the Shell's.
	Refuse func(command string) *Denied
}

type testArgs struct {
	Suite          string   `json:"suite,omitempty" jsonschema:"Which of the project's test commands; may be left out where there is one."`
	Tests          []string `json:"tests,omitempty" jsonschema:"Names of tests, or parts of them, to run or show alone."`
	Paths          []string `json:"paths,omitempty" jsonschema:"Files, folders, packages or classes whose tests to run or show alone."`
	TimeoutSeconds int      `json:"timeout_seconds,omitempty" jsonschema:"Limit, 1 to 900; default 120."`
}

// What an answer of run_tests holds.
const (
	testsShown      = 200
	testOutputBytes = 4000
	testsBytes      = 40_000
)

// RunTests makes the tool run_tests.
func RunTests(s Suites) Tool {
	return define("run_tests", Exec, false, s.run)
}

func (s Suites) run(ctx context.Context, in testArgs) (Result, error) {
	suite, err := s.pick(in.Suite)
	if err != nil {
		return Result{}, err
	}
	timeout, err := timeLimit("run_tests", in.TimeoutSeconds)
	if err != nil {
		return Result{}, err
	}
	pick := chosen{names: in.Tests}
	for _, p := range in.Paths {
		pick.places = append(pick.places, path.Clean(p))
	}
	if suite.Only != nil && (len(in.Paths) > 0 || len(in.Tests) > 0) {
		suite, _, _ = suite.Only(pick.places, pick.names)
	}
	x := s.Shell.execution(suite.Command)
	x.Script, x.Cwd, x.Run.Timeout = suite.Script, suite.Dir, timeout
	x.Run.Argv[len(x.Run.Argv)-1] = cmp.Or(suite.Script, suite.Command)
	refuse := s.Refuse
	if refuse == nil {
		refuse = s.Shell.Refuse
	}
	if refuse != nil {
		if d := refuse(suite.Command); d != nil {
			return s.Shell.refused(x, "run_tests", *d)
		}
	}
	if s.Shell.Argv != nil {
		if argv := s.Shell.Argv(suite.Command); argv != nil {
			x.Script, x.Run.Argv = "", argv
		}
	}
	var found *TestResults
	if suite.Collect != nil {
		stdout, results := suite.Collect()
		x.Run.Stdout = stdout
		x.Results = func(res sandbox.Result) []byte {
			r := results(res.Exit, s.Shell.Root)
			found = &r
			return []byte(r.text(chosen{}, len(r.Tests), evidenceBytes))
		}
	}
	rec, res, changed, err := s.Shell.record(ctx, "run_tests", x)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: testAnswer(rec, res, changed, suite, found, pick), Evidence: []string{rec.ID}}, nil
}

// evidenceBytes bounds the results in the log, which has all of the output besides.
const evidenceBytes = 1 << 20

// testAnswer is what the model reads. Where no test is known by name that is what the
// command printed.
func testAnswer(rec evidence.Record, res sandbox.Result, changed []string, suite Suite, found *TestResults, pick chosen) string {
	header, rest, _ := strings.Cut(bashAnswer(rec, res, changed), "\n")
	header += " command=" + inline(suite.Command)
	if suite.Dir != "" && suite.Dir != "." {
		header += " in=" + inline(suite.Dir)
	}
	switch {
	case found == nil:
		return header + "\nnote: the output has no results of single tests\n" + rest
	case len(found.Tests) == 0:
		return header + "\nnote: no test reported a result" + because(found.Gap) + "\n" + rest
	}
	var b strings.Builder
	b.WriteString(header + "\n")
	if len(changed) > 0 {
		note, _, _ := strings.Cut(rest, "\n")
		b.WriteString(note + "\n")
	}
	b.WriteString(found.text(pick, testsShown, testsBytes))
	if found.Gap != "" || res.TimedOut {
		b.WriteString("note: results are missing" + because(cmp.Or(found.Gap, "the time was over")) + "\n")
	}
	if res.Exit != 0 && !slices.ContainsFunc(found.Tests, TestResult.failed) {
		said := evidence.Visible(found.Rest + string(res.Stderr.Bytes))
		section(&b, "output", cut(said, limit{bashBytes / 4, bashLines / 4}, "spill:"+rec.ID+".stderr"))
	}
	return b.String()
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + inline(why)
}

func (s Suites) pick(name string) (Suite, error) {
	var names []string
	for _, suite := range s.List {
		if suite.Name == name || name == "" && len(s.List) == 1 {
			return suite, nil
		}
		names = append(names, fmt.Sprintf("%s (%s)", inline(suite.Name), inline(suite.Command)))
	}
	if len(names) == 0 {
		return Suite{}, Badf("run_tests: no test command is known here; find out how the project is tested and use run_bash")
	}
	return Suite{}, Badf("run_tests: which suite? There are: %s", strings.Join(names, ", "))
}
