package ecosystem_test

import (
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// The name of planted tests is that of the recorded run where a run is played back: on a
// machine that has what caches lacked, and with commands side by side that end in another order.
func TestUnforeseen(t *testing.T) {
	base := ecosystem.Step{Stage: results.StageTest, Side: results.Base, Evidence: "E3", Duration: 90 * time.Millisecond}
	head := ecosystem.Step{Stage: results.StageTest, Side: results.Head, Evidence: "E4", Duration: 70 * time.Millisecond}
	warm := ecosystem.Step{Stage: results.StageWarm, Side: results.Base, Evidence: "E1", Duration: 9 * time.Second}
	list := ecosystem.Step{Stage: results.StageList, Side: results.Base, Evidence: "E2", Duration: time.Second}
	recorded := ecosystem.Steps{warm, list, base, head}.Unforeseen()
	base.Evidence, head.Evidence = "E1", "E2"
	if again := (ecosystem.Steps{head, base}).Unforeseen(); again != recorded {
		t.Errorf("played back: %s, recorded: %s", again, recorded)
	}
	head.Duration++
	if same := (ecosystem.Steps{head, base}).Unforeseen(); same != recorded {
		t.Error("the log has milliseconds")
	}
	head.Duration += time.Millisecond
	if other := (ecosystem.Steps{head, base}).Unforeseen(); other == recorded {
		t.Error("the name does not depend on how long the commands took")
	}
}
