package checks

import (
	"testing"

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
