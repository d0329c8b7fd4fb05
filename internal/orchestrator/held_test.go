package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/tool"
)

// What an agent held is what its last call that was answered left: the last state of each
// process, in the order in which they were started. What came of a call that was not answered
// comes again with that call, and what another agent holds is not its own.
func TestHeldBefore(t *testing.T) {
	t.Parallel()
	w := &work{dir: testDir(t)}
	hold := func(agent string, h tool.Holding) {
		t.Helper()
		if err := w.keepHeld(agent)(h); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(key string) {
		t.Helper()
		if err := w.dir.Journal.Append("tool", key, "answered"); err != nil {
			t.Fatal(err)
		}
	}
	given := evidence.Beside{Command: "serve", Port: 8080, Inputs: []evidence.Input{{Text: "5\n"}}}
	hold("a", tool.Holding{ID: "p1", Beside: evidence.Beside{Command: "serve", Port: 8080}})
	if got := w.heldBefore("a"); len(got) != 0 {
		t.Errorf("before any answer: %+v", got)
	}
	answer("a/1/1")
	hold("ab", tool.Holding{ID: "p1", Beside: evidence.Beside{Command: "another"}})
	hold("a", tool.Holding{ID: "p2", Beside: evidence.Beside{Command: "watch", Port: 8081}})
	hold("a", tool.Holding{ID: "p1", Beside: given})
	answer("a/2/1")
	hold("a", tool.Holding{ID: "p2", Beside: evidence.Beside{Command: "watch", Port: 8081}, Stopped: true})
	hold("a", tool.Holding{ID: "p3", Beside: evidence.Beside{Command: "late"}})
	answer("ab/1/1")
	var got []string
	for _, h := range w.heldBefore("a") {
		state := h.ID + " " + h.Beside.Command
		for _, in := range h.Beside.Inputs {
			state += " " + strings.TrimSpace(in.Text)
		}
		if h.Stopped {
			state += " stopped"
		}
		got = append(got, state)
	}
	if want := []string{"p1 serve 5", "p2 watch"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
