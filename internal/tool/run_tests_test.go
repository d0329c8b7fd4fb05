package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

// The project's tests run as a command of run_bash would: recorded, refused and
// restored in the same way.
func TestRunTests(t *testing.T) {
	t.Parallel()
	s, box, _ := shell(t)
	one := Suites{Shell: s, List: []Suite{{Name: "root", Command: "echo tested | cat"}}}
	got := call(t, RunTests(one), m{"timeout_seconds": 5})
	if got != "[E1] exit=0 duration=1.5s command=echo tested | cat\nnote: the output has no results of single tests\n--- stdout ---\ntested\n--- stderr ---\n" || box.last.Timeout.Seconds() != 5 {
		t.Errorf("%s, timeout %s", got, box.last.Timeout)
	}
	if r := s.Log.Records()[0]; r.Command != "echo tested | cat" || r.Exit != 0 {
		t.Errorf("record %+v", r)
	}
	two := Suites{Shell: s, List: []Suite{{Name: "a", Command: "echo a"}, {Name: "b", Command: "echo b"}}}
	if got := call(t, RunTests(two), m{"suite": "b"}); !strings.Contains(got, "command=echo b\nnote: the output has no results of single tests\n--- stdout ---\nb\n") {
		t.Errorf("b: %s", got)
	}
	for _, args := range []string{`{}`, `{"suite":"c"}`, `{"suite":"a","timeout_seconds":-1}`, `{"command":"rm"}`} {
		if _, err := RunTests(two).Run(t.Context(), json.RawMessage(args)); !isBad(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := RunTests(Suites{Shell: s}).Run(t.Context(), json.RawMessage(`{}`)); !isBad(err) {
		t.Errorf("without a suite: %v", err)
	}
	s.Refuse = func(string) *Denied { return &Denied{Code: "policy_deny", Rule: "Tests(*)", Source: "f:1"} }
	res, err := RunTests(one).Run(t.Context(), json.RawMessage(`{}`))
	if err != nil || res.Denied == nil || res.Denied.Tool != "run_tests" || res.Denied.Target != "echo tested | cat" || s.Log.Records()[2].Executed {
		t.Errorf("refused: %+v %v", res, err)
	}
}

// Without a shell the words are given to the program as they are.
func TestInspectedCommand(t *testing.T) {
	t.Parallel()
	s, box, _ := shell(t)
	s.Argv = func(command string) []string { return strings.Fields(command) }
	if got := call(t, Bash(s), m{"command": "echo $HOME ; x"}); !strings.Contains(got, "$HOME ; x\n") || box.last.Argv[0] != "echo" {
		t.Errorf("%s %q", got, box.last.Argv)
	}
}
