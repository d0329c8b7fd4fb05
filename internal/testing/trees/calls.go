package trees

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Calls are those of the functions of one source, for both sides of a change.
type Calls struct {
	behave.Planned
	program, file string
	dirs          [2]string
}

// PlanCalls plans the calls of a source's functions, of which each side has another word for VAR,
// and lays what makes them into the trees. The test is skipped where the program that runs it is missing.
func PlanCalls(t *testing.T, program string, by *ecosystem.Behaviour, name, text string, words [2]string) *Calls {
	t.Helper()
	program, err := exec.LookPath(program)
	if err != nil {
		t.Skip(err)
	}
	c := &Calls{program: program, file: by.File("TestCalls"), dirs: [2]string{t.TempDir(), t.TempDir()}}
	for i, dir := range c.dirs {
		Lay(t, dir, map[string]string{name: strings.ReplaceAll(text, "VAR", words[i])})
	}
	plan, ok := by.Plan(os.DirFS(c.dirs[0]), os.DirFS(c.dirs[1]), ecosystem.Calling{Dir: ".", Files: []string{name}})
	if !ok {
		t.Fatal("nothing is called")
	}
	c.Planned = plan
	for _, dir := range c.dirs {
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(plan.File("TestCalls")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Made is what making the calls of a side prints, with more variables in the environment.
func (c *Calls) Made(t *testing.T, side int, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, c.file)
	cmd.Dir, cmd.Env = c.dirs[side], append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
