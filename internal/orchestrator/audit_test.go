package orchestrator

import (
	"slices"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// A claim that names the base by its folder is held against what the journal recorded
// of the agent's workspace, whatever attempt at the run it was.
func TestAuditKnowsTheBase(t *testing.T) {
	t.Parallel()
	d := testDir(t)
	for _, base := range []string{"/trees/prepared base", "/elsewhere/prepared-base"} {
		if err := rundir.RecordWorkspace(d.Journal, "a", evidence.Roots{Tree: "/trees/agents/a", Base: base}); err != nil {
			t.Fatal(err)
		}
	}
	a := Audit{Dir: d.Path, Journal: d.Journal, Tree: "t"}
	known := a.auditor(agent.Result{ID: "a"}).Elsewhere
	for _, base := range []string{"/trees/prepared base", "/elsewhere/prepared-base", "$YCBOT_BASE"} {
		if !slices.Contains(known, base) {
			t.Errorf("the base is known as %q, without %s", known, base)
		}
	}
}

// A check that cites what it describes shows what the log has, and not the description.
func TestAuditShowsTheRecord(t *testing.T) {
	t.Parallel()
	c := report.AgentCheck{Title: "suite", Output: "all 412 tests passed", Result: report.ResultPass}
	if got := audit(c, evidence.Audited{Support: report.Supported, Records: []string{"E1"}, Printed: "2 tests passed"}); got.Actual != "2 tests passed" {
		t.Errorf("%q is shown", got.Actual)
	}
}
