package gate

import (
	"maps"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestFlipped holds whose flips excuse a test later: those of the base, and those of
// tests that the change cannot reach. What only the change makes flaky does not excuse
// it in its next run.
func TestFlipped(t *testing.T) {
	t.Parallel()
	run := func(status Status) Suite {
		out := Suite{}
		for _, name := range []string{"m TestA", "far TestB"} {
			out[suites.ID(name)] = Test{Status: status, Eco: "Go"}
		}
		return out
	}
	r := newRunner(&Gate{}, Input{}, task{})
	r.affected = map[string]bool{"m": true}
	r.flipped(runs.History{Base: {run(Passed), run(Passed)}, Head: {run(Failed), run(Passed)}})
	if want := map[string]bool{runs.FlakeKey(suites.ID("far TestB")): true}; !maps.Equal(r.flakes.Flipped, want) || r.doubted {
		t.Errorf("flips of the head: %v", r.flakes.Flipped)
	}
	r.suites[Base] = run(Failed) // known from an earlier run
	r.flipped(runs.History{Base: {run(Passed)}, Head: {run(Passed)}})
	if len(r.flakes.Flipped) != 2 || !r.doubted {
		t.Errorf("flips of the base: %v", r.flakes.Flipped)
	}
}
