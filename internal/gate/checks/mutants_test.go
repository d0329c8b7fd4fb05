package checks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestJudgeMutant holds that a mutant survives only where a test ran that could have
// noticed it.
func TestJudgeMutant(t *testing.T) {
	t.Parallel()
	one := func(s results.Status) Suite {
		return Suite{{Unit: ".", Package: "m", Test: "TestA"}: {Status: s, Leaf: true}}
	}
	each := languages.ShellCommand(StageTest, "go test ./...")
	for _, tt := range []struct {
		what  string
		group ecosystem.Command
		suite Suite
		exit  int
		want  trialResult
	}{
		{"tests pass", each, one(Passed), 0, survived},
		{"a test fails", each, one(Failed), 1, killed},
		{"no test ran", each, Suite{}, 0, discarded},
		{"all are skipped", each, one(Skipped), 0, discarded},
		{"results of single tests are not known", ecosystem.Command{}, Suite{}, 0, survived},
	} {
		trial := &trial{group: &testGroup{command: tt.group, baseline: one(Passed)}, suite: tt.suite, step: Step{Exit: tt.exit}}
		if got := judgeMutant(trial); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
}

// TestMutantsOfManySuites: the tests of many folders are not all run before a mutant is
// tried: they take half of the time at most, and mutants of those that ran are tried.
func TestMutantsOfManySuites(t *testing.T) {
	t.Parallel()
	var files []changedFile
	s := &Subject{Tests: map[Side][]ecosystem.Command{}, Steps: func() []Step { return nil }}
	for i := range 10 {
		unit := fmt.Sprintf("p%d", i)
		s.Tests[Head] = append(s.Tests[Head], ecosystem.Command{Stage: StageTest, Unit: unit, Text: "make test"})
		files = append(files, changedFile{unit + "/a.py", []byte("def f(a):\n    return a + 1\n"), map[int]bool{2: true}})
	}
	ran := 0
	s.RunFresh = func(context.Context, Side, ecosystem.Command) (Suite, Step, error) {
		ran++
		return Suite{}, Step{Duration: 10 * time.Second}, nil
	}
	m := &mutator{check: &check{in: s}, in: s, budget: time.Minute, out: &Mutation{}}
	trials, err := m.otherTrials(t.Context(), files)
	units := map[string]bool{}
	for _, one := range trials {
		units[one.group.command.Unit] = true
	}
	if err != nil || ran != 4 || len(units) != 4 || m.out.Left == 0 || m.budget != 20*time.Second {
		t.Errorf("%v, %d runs, mutants of %v, %d left, %s", err, ran, units, m.out.Left, m.budget)
	}
}

// A suite of which a part ran on the head is as slow as it was on the base.
func TestMutantsOfAPart(t *testing.T) {
	t.Parallel()
	said := ""
	s := &Subject{
		Steps: func() []Step {
			return []Step{{Stage: StageTest, Side: Base, Unit: ".", Command: "pytest", Duration: time.Minute}, {Stage: StageTest, Side: Head, Unit: ".", Command: "pytest a.py", Duration: time.Second}}
		},
		NotCovered: func(format string, args ...any) { said = fmt.Sprintf(format, args...) },
	}
	m := &mutator{check: &check{in: s}, in: s, out: &Mutation{}}
	if g, err := m.otherGroup(t.Context(), ecosystem.Command{Unit: ".", Text: "pytest"}); g != nil || err != nil || said == "" {
		t.Errorf("%+v, %v, %q", g, err, said)
	}
}

// TestAll holds that each check has a name of its own and can be made, and that a change
// with nothing to run is left alone by all of them.
func TestAll(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range All() {
		if c.Name == "" || names[c.Name] || c.Run == nil {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
		found, err := c.Run(t.Context(), &Subject{})
		if err != nil || len(found.Probes) > 0 || found.Mutation != nil || found.Believed != nil {
			t.Errorf("%s of nothing: %+v, %v", c.Name, found, err)
		}
	}
}

// TestOfTools holds which programs no test is asked to run.
func TestOfTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"noxfile.py": true, ".eslintrc.cjs": true, "vitest.config.ts": true, "karma.conf.js": true,
		"vite.config.ts": false, "Gruntfile.js": false, "setup.py": false, "app.config.ts": false, "config.js": false, "tasks.py": false, "nox.py": false, "releases.config.js": false,
	} {
		if ofTools.MatchString(name) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
}
