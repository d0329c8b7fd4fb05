package recheck

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A printing sandbox prints what it is given.
type printing struct{ text string }

func (p *printing) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }

func (p *printing) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{Stdout: sandbox.Output{Bytes: []byte(p.text)}}, nil
}

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// What the gate is said to have found is held against what its tests printed.
func TestFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := evidence.Open(dir, "r", evidence.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	box := &printing{}
	records := map[string]evidence.Record{}
	step := func(side gate.Side, tests ...string) gate.Step {
		box.text = ""
		for _, name := range tests {
			box.text += `{"Action":"output","Package":"p","Test":"` + name + `","Output":"--- FAIL: ` + name + ` (0.00s)\n"}` + "\n" +
				`{"Action":"fail","Package":"p","Test":"` + name + `"}` + "\n"
		}
		rec, _, err := log.Run(t.Context(), box, evidence.Execution{Agent: gate.Agent, Task: string(side) + "/test", Command: "go test -json ./...", Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		records[rec.ID] = rec
		return gate.Step{Side: side, Stage: gate.StageTest, Unit: ".", Evidence: rec.ID, PerTest: true}
	}
	base, head, good := step(gate.Base, "TestOld"), step(gate.Head, "TestOld", "TestNew"), step(gate.Head)
	cases := func(names ...string) (out []gate.Case) {
		for _, n := range names {
			out = append(out, gate.Case{ID: gate.ID{Unit: ".", Package: "p", Test: n}})
		}
		return out
	}
	for _, tc := range []struct {
		name string
		gate gate.Result
		want string // of one problem; "" for none
	}{
		{"all of it", gate.Result{Verdict: gate.Fail, Steps: []gate.Step{base, head}, Tests: gate.Comparison{PreExisting: cases("TestOld"), Regressed: cases("TestNew")}}, ""},
		{"nothing fails", gate.Result{Verdict: gate.Pass, Steps: []gate.Step{base, good}}, ""},
		{"a failure is left out", gate.Result{Verdict: gate.Pass, Steps: []gate.Step{base, head}, Tests: gate.Comparison{PreExisting: cases("TestOld")}}, "failure of p TestNew, which the gate's result does not list"},
		{"a failure is called old", gate.Result{Verdict: gate.Pass, Steps: []gate.Step{base, head}, Tests: gate.Comparison{PreExisting: cases("TestNew", "TestOld")}}, "p TestNew is said to fail on the base"},
		{"a pass beside a regression", gate.Result{Verdict: gate.Pass, Steps: []gate.Step{base, head}, Tests: gate.Comparison{PreExisting: cases("TestOld"), Regressed: cases("TestNew")}}, "PASS beside 1 failures"},
		{"a pass beside a broken build", gate.Result{Verdict: gate.Pass, Broken: []string{"p"}}, "PASS beside 1 failures"},
		{"a pass beside a broken base", gate.Result{Verdict: gate.Pass, BrokenBoth: []string{"p"}}, "beside what it could not judge"},
		{"a pass with reasons", gate.Result{Verdict: gate.Pass, Reasons: []string{"x"}}, "for reasons against it"},
		{"a command that fails", gate.Result{Verdict: gate.Pass, Steps: []gate.Step{{Side: gate.Head, Stage: gate.StageTest, Exit: 1, Evidence: good.Evidence}}}, "fails on the head, which"},
	} {
		c := &Checked{dir: dir}
		c.found(&tc.gate, records)
		all := strings.Join(c.Problems, "\n")
		if tc.want == "" && all != "" || !strings.Contains(all, tc.want) {
			t.Errorf("%s: %q", tc.name, c.Problems)
		}
	}
}

// A reply is held against what the log had when it was judged: what was run again
// afterwards carries no claim.
func TestAuditOf(t *testing.T) {
	t.Parallel()
	first, again := evidence.Record{ID: "E1", Task: "head/test", Tree: "t"}, evidence.Record{ID: "E2", Agent: reproduce.Host, Task: reproduce.OnHead}
	r := &rundir.Recorded{Records: []evidence.Record{first, again}}
	if a := auditOf(r, [][]evidence.Record{{again}}); len(a.Records) != 1 || a.Tree != "t" {
		t.Errorf("%+v", a)
	}
	if a := auditOf(r, nil); len(a.Records) != 2 {
		t.Errorf("nothing was run again: %+v", a)
	}
}

// What was run again when the time for that ended is none of what was run again.
func TestCutIsNotCounted(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), clock)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(orchestrator.KindCut, "E2", true); err != nil {
		t.Fatal(err)
	}
	again := func(id, task string) evidence.Record {
		return evidence.Record{ID: id, Agent: reproduce.Host, Task: task, Executed: true, Command: "sh probe"}
	}
	r := &rundir.Recorded{Journal: j, Records: []evidence.Record{again("E1", reproduce.OnHead), again("E2", reproduce.OnHead), again("E3", reproduce.OnHead), again("E4", reproduce.OnBase), again("E5", reproduce.Round(reproduce.OnHead, 2))}}
	tries := reproduce.Tried(whole(r))
	if len(tries) != 2 || tries[0][0].ID != "E1" || len(tries[1]) != 3 || tries[1][2].ID != "E5" {
		t.Errorf("%+v", tries)
	}
	if _, ok := reproduce.PairOf(tries[1], 2); ok {
		t.Error("a round without the base is a pair")
	}
	if p, ok := reproduce.PairOf(tries[1], 1); !ok || p.Head.ID != "E3" || p.Base.ID != "E4" {
		t.Errorf("%+v %t", p, ok)
	}
}
