package tool

import (
	"context"
	"fmt"
	"strings"
)

// A Suite is a test command that the harness detected or was configured with.
type Suite struct {
	Name    string // such as the folder that it belongs to; unique
	Command string
}

// Suites are the test commands of a project, run as a [Shell] runs commands:
// whoever may run none of its own may run none of these.
type Suites struct {
	Shell *Shell
	List  []Suite
	// Refuse says why a command is not run, nil to run it; nil is the Shell's.
	Refuse func(command string) *Denied
}

type testArgs struct {
	Suite          string `json:"suite,omitempty" jsonschema:"Which of the project's test commands; may be left out where there is one."`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"Limit, 1 to 900; default 120."`
}

// RunTests makes the tool run_tests.
func RunTests(s Suites) Tool {
	return define("run_tests", Exec, false, func(ctx context.Context, in testArgs) (Result, error) {
		suite, err := s.pick(in.Suite)
		if err != nil {
			return Result{}, err
		}
		refuse := s.Refuse
		if refuse == nil {
			refuse = s.Shell.Refuse
		}
		res, err := s.Shell.execute(ctx, "run_tests", suite.Command, in.TimeoutSeconds, refuse)
		if err != nil || res.Denied != nil {
			return res, err
		}
		// The header line is the harness's own: a report may quote it or not.
		header, rest, _ := strings.Cut(res.Text, "\n")
		res.Text = header + " command=" + inline(suite.Command) + "\n" + rest
		return res, nil
	})
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
