package checks

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestUncounted: a function that differed at first, and not again, is none of those that do what
// they did; what calls one that differs is said with that, or with another that calls it.
func TestUncounted(t *testing.T) {
	t.Parallel()
	function := func(name, through string, differing int) behave.Compared {
		return behave.Compared{Function: behave.Function{Name: name, Through: through}, Key: name, Inputs: 10, Differing: differing}
	}
	b := &behaviour{out: &Behaviour{Functions: 4, Callers: 4, Inputs: 80}}
	one := []behave.Candidate{{}}
	b.uncount(
		[]behave.Compared{function("Same", "", 0), function("Differs", "", 1), function("Clock", "", 2), function("Late", "", 3), function("Calls", "Differs", 1), function("Waits", "Clock", 1), function("First", "Gone", 1), function("Second", "Gone", 1)},
		map[string][]behave.Candidate{"Differs": one, "Clock": one, "Late": one, "First": one},
		map[string]string{"Differs": "", "Clock": behave.NotSteady, "First": ""},
	)
	left := map[string][]string{}
	for _, l := range b.out.LeftOut {
		left[l.Why] = l.Functions
	}
	if b.out.Functions != 2 || b.out.Callers != 1 || b.out.Inputs != 30 || len(left) != 2 || !slices.Equal(left[behave.NotSteady], []string{"Clock"}) || !slices.Equal(left[behave.NotAgain], []string{"Late", "Waits"}) {
		t.Errorf("%+v", b.out)
	}
}

// TestSidesShareTime: the base's calls leave as much time for those of the head, and both sides
// are given the same bound.
func TestSidesShareTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var envs [][]string
	s := &Subject{
		Base: &workspace.Tree{Dir: t.TempDir()}, Head: &workspace.Tree{Dir: t.TempDir()}, StepLimit: time.Hour,
		Now:        func() time.Time { return now },
		NotCovered: func(string, ...any) {},
	}
	s.Reset = func(context.Context, Side) error { return nil }
	s.Exec = func(_ context.Context, _ Side, c ecosystem.Command, out io.Writer) (Step, error) {
		now = now.Add(25 * time.Second)
		envs = append(envs, c.Env)
		_, err := io.WriteString(out, "calls: {\"Name\":\"f\"}\n")
		return Step{Evidence: "E1"}, err
	}
	b := &behaviour{check: &check{in: s}, out: &Behaviour{}, until: now.Add(time.Minute)}
	c := called{plan: behave.Script{}, commands: map[Side]ecosystem.Command{}, by: &ecosystem.Behaviour{
		File:  func(string) string { return "calls" },
		Calls: func(c ecosystem.Command, _, _, _ string) ecosystem.Command { return c },
	}}
	if err := b.call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{behave.TimeVar + "=24s"}
	if len(envs) != 2 || !slices.Equal(envs[0], want) || !slices.Equal(envs[1], want) {
		t.Errorf("%q, want %q twice", envs, want)
	}
}
