package recheck

import (
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
)

// On a machine whose caches have what was compiled then, the ids of the gate are others, and
// what it ran is the same.
func TestNumbersOfAnotherMachine(t *testing.T) {
	t.Parallel()
	gateRan := func(id, task string) evidence.Record {
		return evidence.Record{ID: id, Agent: gate.Agent, Task: task, Executed: true}
	}
	cold := []evidence.Record{
		gateRan("E1", "base/list"), gateRan("E2", "base/warm"), gateRan("E3", "base/test"),
		{ID: "E4", Agent: "verification", Task: "ab12", Executed: true},
		gateRan("E5", "head/test"),
	}
	warm := []evidence.Record{gateRan("E1", "base/test"), gateRan("E2", "head/test"), {ID: "E3", Agent: "verification", Task: "ab12", Executed: true}}
	n := numbers{}
	n.pairDeciding(cold, warm, gate.Agent)
	n.pair(cold, warm, "ab12", "ab12")
	if got, want := n.replace("E3 and E5, not E4, E2 of E50"), "E1 and E2, not E3, E2 of E50"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := deciding(cold); len(got) != 3 || got[0].ID != "E3" || got[1].ID != "E4" || got[2].ID != "E5" {
		t.Errorf("what decides: %+v", got)
	}
}
