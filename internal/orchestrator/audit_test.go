package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
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

// A check is shown with the files that its command found. What was run again afterwards by no
// agent is no record that a claim may mean, so that it is not called another agent's command.
func TestOutcomeOfAClaim(t *testing.T) {
	t.Parallel()
	d := testDir(t)
	for _, x := range []evidence.Execution{
		{Agent: Verification, Task: "v1", Tree: "head", Command: "echo 'exit 1' > probe.sh", Root: d.Path},
		{Agent: Verification, Task: "v1", Tree: "head", Command: "sh probe.sh", Root: d.Path},
		{Agent: reproduce.Host, Task: "again", Tree: "head", Command: "sh other.sh", Root: d.Path},
	} {
		if _, _, err := d.Evidence.Run(t.Context(), quick{}, x); err != nil {
			t.Fatal(err)
		}
	}
	a := Audit{Dir: d.Path, Journal: d.Journal, Tree: "head", Records: d.Evidence.Records()}
	text := "### Check: zero\n**Command run:** `sh probe.sh`\n**Evidence:** E2\n**Result: PASS**\n\n### Check: one\n**Command run:** `sh other.sh`\n**Result: PASS**\n\nVERDICT: PASS"
	out, _, err := a.Outcome(agent.Result{Agent: Verification, ID: "v1", End: agent.End{Text: text}})
	if err != nil || len(out.Checks) != 2 {
		t.Fatalf("%+v, %v", out.Checks, err)
	}
	if got := out.Checks[0].Before; got != "echo 'exit 1' > probe.sh" {
		t.Errorf("before it: %q", got)
	}
	if got := out.Checks[1].Reason; !strings.HasSuffix(got, " is not in the log") {
		t.Errorf("what was run again: %q", got)
	}
}
