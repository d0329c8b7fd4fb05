package recheck

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// found holds what the gate is said to have found against the outputs of its
// tests, as far as that can be seen without doing its work again: the verdict is
// no better than its lists, and, of the tests of Go, none that fails on the head is
// missing from them and none is called old that did not fail on the base.
func (c *Checked) found(r *gate.Result, records map[string]evidence.Record) {
	t := r.Tests
	bad := len(t.Regressed) + len(t.NewFailing) + len(r.Broken)
	for _, p := range r.Probes {
		bad += len(p.Regressed)
	}
	if b := r.Behaviour; b != nil {
		for _, d := range b.Differences {
			if d.Breaks {
				bad++
			}
		}
	}
	if p := r.Programs; p != nil {
		for _, d := range p.Differences {
			if d.Breaks {
				bad++
			}
		}
	}
	if m := r.Merge; m != nil {
		bad += len(m.Broken) + len(m.Tests.Regressed) + len(m.Tests.NewFailing)
	}
	if bad > 0 && r.Verdict != gate.Fail {
		c.problem("journal.jsonl: the gate's verdict is %s beside %d failures of the change", r.Verdict, bad)
	}
	if r.Verdict == gate.Pass && len(r.BrokenBoth)+len(gate.Leaves(t.Unknown))+len(gate.Leaves(t.FlakyNew))+len(t.NewFlakiness)+len(t.Unsettled) > 0 {
		c.problem("journal.jsonl: the gate's verdict is %s beside what it could not judge", r.Verdict)
	}
	if report.Verdict(r.Verdict) == report.Pass && len(r.Reasons) > 0 {
		c.problem("journal.jsonl: the gate's verdict is %s for reasons against it", r.Verdict)
	}
	listed := map[string]bool{}
	for _, list := range [][]gate.Case{t.Regressed, t.NewFailing, t.PreExisting, t.Flaky, t.FlakyNew, t.NewFlakiness, t.Unsettled, t.NotRun, t.Unknown, t.Fixed, r.Phantoms} {
		for _, k := range list {
			listed[k.ID.Package+" "+k.ID.Test] = true
		}
	}
	onBase, read, whole := map[string]bool{}, map[string]bool{}, true
	for _, s := range r.Steps {
		rec := records[s.Evidence]
		whole = whole && rec.Stdout.Bytes < sandbox.KeepLimit
		read[s.Unit] = read[s.Unit] || s.Side == gate.Base && listsTests(rec)
		for _, f := range c.failures(rec) {
			onBase[f.test] = onBase[f.test] || s.Side == gate.Base
			if id := f.pkg + " " + f.test; s.Side == gate.Head && s.Stage == gate.StageTest && f.said && !listed[id] {
				c.problem("%s has a failure of %s, which the gate's result does not list", s.Evidence, id)
			}
		}
		if s.Side == gate.Head && s.Stage == gate.StageTest && !s.PerTest && s.Failed() && r.Verdict == gate.Pass && !listed[" "] {
			c.problem("%s fails on the head, which the gate's result does not list", s.Evidence)
		}
	}
	old := t.PreExisting
	if r.Cached == nil {
		old = append(slices.Clone(old), r.Phantoms...)
	}
	for _, k := range old {
		if whole && read[k.ID.Unit] && k.ID.Test != "" && !onBase[k.ID.Test] { // its package may have another name there
			c.problem("journal.jsonl: %s is said to fail on the base, and the log has no such failure", k.ID)
		}
	}
}

// A failure is a test that "go test -json" reports as failed; said where the
// test itself printed so.
type failure struct {
	pkg, test string
	said      bool
}

// listsTests reports whether the output of a command is read here: other runners report
// their tests in forms of their own.
func listsTests(r evidence.Record) bool { return strings.Contains(r.Command, "go test -json") }

// failures lists those of one record.
func (c *Checked) failures(r evidence.Record) []failure {
	if !listsTests(r) {
		return nil
	}
	out, err := evidence.ReadOutput(c.dir, r.Stdout)
	if err != nil {
		return nil
	}
	said := map[string]bool{}
	var all []failure
	for line := range strings.Lines(string(out)) {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal([]byte(line), &e) != nil || e.Test == "" {
			continue
		}
		id := e.Package + " " + e.Test
		switch {
		case e.Action == "output" && strings.HasPrefix(strings.TrimSpace(e.Output), "--- FAIL: "+e.Test+" "):
			said[id] = true
		case e.Action == "fail":
			all = append(all, failure{e.Package, e.Test, said[id]})
		}
	}
	return all
}
