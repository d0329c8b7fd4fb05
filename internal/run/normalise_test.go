package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// What differs from run to run makes no difference; what a program says does.
func TestComparable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, a, b string
		same       bool
	}{
		{"durations", "took 1.5s, 20ms and 3µs", "took 9s, 4ms and 1ns", true},
		{"durations in words", "finished in 0.12 seconds", "finished in 3 seconds", true},
		{"long durations", "up 1h2m3.5s", "up 2m9s", true},
		{"times", "2026-01-02T03:04:05.678Z start at 03:04:05", "2026-11-20 23:59:59 start at 23:59:59", true},
		{"dates in words", "Date: Mon, 02 Jan 2006 15:04:05 GMT", "Date: Fri, 20 Nov 2026 14:00:00 GMT", true},
		{"addresses", "panic at 0xc000012345", "panic at 0xC0000ABCDE", true},
		{"temporary files", "wrote /tmp/TestX123/001/out.txt", "wrote /tmp/TestX999/001/out.txt", true},
		{"temporary files of macOS", "wrote /var/folders/ab/T/x", "wrote /private/var/folders/cd/T/y", true},
		{"worktrees", "at /home/a/.ycbot/projects/p/worktrees/r/head/x.go:3", "at /w/worktrees/q/base/x.go:3", true},
		{"ports", "listening on 127.0.0.1:43211, [::]:80, localhost:1", "listening on 127.0.0.1:9, [::]:9999, localhost:22", true},
		{"port in words", "on port 4312", "on port 9", true},
		{"processes", "pid 12 (PID=7), pid: 9", "pid 99999 (PID=8), pid: 1", true},
		{"goroutines", "goroutine 7 [running]:", "goroutine 42 [running]:", true},
		{"order of tests", "--- PASS: TestA (0.01s)\n--- FAIL: TestB (0.20s)\nPASS\n", "--- FAIL: TestB (0.00s)\n--- PASS: TestA (0.00s)\nPASS\n", true},
		{"order of TAP", "1..2\nok 1 - a\nnot ok 2 - b\n", "1..2\nnot ok 2 - b\nok 1 - a\n", true},
		{
			"order of go test -json", `{"Time":"x","Action":"output","Package":"p","Test":"TestA","Output":"hi\n"}` + "\n" +
				`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0.1}` + "\n",
			`{"Time":"y","Action":"pass","Package":"p","Test":"TestB","Elapsed":7}` + "\n" +
				`{"Action":"output","Package":"p","Test":"TestA","Output":"hi\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.2}` + "\n", true,
		},

		{"a number", "sum 5", "sum 6", false},
		{"a result of a test", "--- PASS: TestA (0.01s)\n", "--- FAIL: TestA (0.01s)\n", false},
		{"how often a test ran", "--- PASS: TestA (0.01s)\n--- PASS: TestA (0.01s)\n", "--- PASS: TestA (0.01s)\n", false},
		{"a result in go test -json", `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n", `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n", false},
		{"an output in go test -json", `{"Action":"output","Package":"p","Test":"TestA","Output":"2"}` + "\n", `{"Action":"output","Package":"p","Test":"TestA","Output":"3"}` + "\n", false},
		{"order of what is no test", "first\nsecond\n", "second\nfirst\n", false},
		{"a file beside a folder", "/tmp/a: denied", "/tmp/a: allowed", false},
		{"an exit", "exit status 1", "exit status 2", false},
	} {
		if got := comparable(tc.a) == comparable(tc.b); got != tc.same {
			t.Errorf("%s: same is %t\n%q\n%q", tc.name, got, comparable(tc.a), comparable(tc.b))
		}
	}
}

// A recorded command is the one that is given where only what the gate derives
// from time, folders and settings are others.
func TestSameText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		recorded, given string
		same            bool
	}{
		{"go test -json -timeout=1m10s ./...", "go test -json -timeout=2m0s ./...", true},
		{"go test -json ./...", "go test -json -timeout=2m0s ./...", true},
		{"GOWORK=off go build ./...", "go build ./...", true},
		{"sh /a/worktrees/x/probe.sh", "sh /b/worktrees/y/probe.sh", true},
		{"go test ./...", "go test ./a", false},
		{"echo go build ./...", "go build ./...", false},
		{"sh a.sh", "sh b.sh", false},
	} {
		if got := sameText(tc.recorded, tc.given); got != tc.same {
			t.Errorf("%q and %q: %t", tc.recorded, tc.given, got)
		}
	}
}

// A printing sandbox says what it is told to.
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
		return gate.Step{Side: side, Stage: gate.StageTest, Evidence: rec.ID, PerTest: true}
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

// A commit that is not here is named with what brings it.
func TestLost(t *testing.T) {
	t.Parallel()
	c := change.Change{BaseSHA: "b", HeadSHA: "h", PR: 7}
	for _, tc := range []struct {
		oid   string
		dirty bool
		want  string
	}{
		{"h", false, `git fetch origin pull/7/head`},
		{"b", false, `git fetch origin b`},
		{"h", true, "which no repository keeps"},
	} {
		c.Dirty = tc.dirty
		if err := lost("/repo", tc.oid, c); !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "no commit "+tc.oid) {
			t.Errorf("%s: %v", tc.oid, err)
		}
	}
}

// A reply is held against what the log had when it was judged: what was run again
// afterwards carries no claim.
func TestAuditAgain(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), clock)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append("turn", "a", map[string]string{"system": "The base, prepared in the same way and read-only, is at /trees/prepared base.\n"}); err != nil {
		t.Fatal(err)
	}
	first, again := evidence.Record{ID: "E1", Task: "head/test", Tree: "t"}, evidence.Record{ID: "E2", Agent: hostAgent, Task: rerunHead}
	h := &host{session: &session{journal: j, read: []evidence.Record{first, again}}}
	a := h.auditAgain(agent.Result{ID: "a"}, [][]evidence.Record{{again}})
	if len(a.Log) != 1 || a.Tree != "t" || !slices.Contains(a.Elsewhere, "/trees/prepared base") {
		t.Errorf("%+v", a)
	}
	if a := h.auditAgain(agent.Result{ID: "a"}, nil); len(a.Log) != 2 {
		t.Errorf("nothing was run again: %+v", a)
	}
}
