// Package recheck looks at finished runs: check recomputes the report from what is
// recorded, rerun executes the recorded commands again, and replay drives the same
// stages with the recorded answers of the model. None of them needs a network.
package recheck

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
)

// A NotIntactError is a run directory that is not as its run left it. Nothing is
// executed for it.
type NotIntactError struct{ Problems []string }

func (e *NotIntactError) Error() string { return "not intact: " + strings.Join(e.Problems, "; ") }

// A past run is a finished run, as its directory has it.
type past struct {
	run    *rundir.Recorded
	found  run.Found
	report *report.Report
}

// openPast reads the directory of a finished run that is intact, as [Audit] says for this
// version of the program.
func openPast(dir, version string) (*past, error) {
	checked, err := Audit(dir, "", version)
	if err != nil {
		return nil, err
	}
	if len(checked.Problems) > 0 {
		return nil, &NotIntactError{checked.Problems}
	}
	records, err := evidence.ReadVerified(dir, checked.Report.RunID)
	if err != nil {
		return nil, err
	}
	recorded, err := rundir.Read(dir, records)
	if err != nil {
		return nil, err
	}
	return &past{run: recorded, found: run.FoundIn(recorded.Journal), report: checked.Report}, nil
}

// Previous is the last run, of which dir is the directory, for a run that looks back
// at it. An empty name is none.
func Previous(dir string) *run.Previous {
	if dir == "" {
		return nil
	}
	p := &run.Previous{Name: dir, Dir: rundir.Origin(dir)}
	checked, err := Check(p.Dir, "")
	p.Digest, p.Report, p.Err = checked.Digest, checked.Report, err
	if len(checked.Problems) > 0 {
		p.Problem = checked.Problems[0]
	}
	return p
}

// kept is the last run that p kept; nil: it has none.
func (p *past) kept() *run.Previous {
	if _, ok := p.run.Journal.Lookup("stage", "takeover"); !ok {
		return nil
	}
	return Previous(filepath.Join(p.run.Begun.Dir, rundir.Previous))
}

// moved puts the folders of a run that is done again in the place of those that the
// record names.
func (p *past) moved(to rundir.Layout) *strings.Replacer {
	return to.Relocate(rundir.Layouts(p.run.Journal))
}

// gateRecords are the records among all that the gate's result names. Those of an
// attempt that was broken off before it are left out.
func gateRecords(all []evidence.Record, result *gate.Result) []evidence.Record {
	mine := map[string]bool{}
	if result != nil {
		for _, s := range result.Steps {
			mine[s.Evidence] = true
		}
	}
	var out []evidence.Record
	for _, r := range all {
		if r.Agent == gate.Agent && r.Executed && (mine[r.ID] || result == nil) {
			out = append(out, r)
		}
	}
	return out
}

// whole are the records of a run without those of commands that were run again when the time
// for that ended.
func whole(r *rundir.Recorded) []evidence.Record {
	return slices.DeleteFunc(slices.Clone(r.Records), func(rec evidence.Record) bool {
		_, cut := r.Journal.Lookup(orchestrator.KindCut, rec.ID)
		return cut && rec.Agent == reproduce.Host
	})
}

// of lists the executed records of one agent's task.
func of(records []evidence.Record, task string) []evidence.Record {
	var out []evidence.Record
	for _, r := range records {
		if r.Task == task && r.Executed {
			out = append(out, r)
		}
	}
	return out
}

// A try is a check whose command was run again, with its records: on the head, and
// on the base where it failed on the head.
type try struct {
	first   evidence.Record // the agent's own
	records []evidence.Record
}

// tries finds the failing checks that were run again. Those of an attempt that was
// broken off come first and are left out.
func (p *past) tries() []try {
	var out []try
	if p.found.Judged == nil {
		return nil
	}
	for _, a := range p.found.Judged.Agents {
		for _, c := range a.Checks {
			if c.Result != report.ResultFail || c.Support != report.Supported || c.Reproduction == report.NotRun || len(c.Evidence) == 0 {
				continue
			}
			if rec, ok := p.lastRecord(c.Check); ok {
				out = append(out, try{first: rec})
			}
		}
	}
	groups := reproduce.Tried(whole(p.run))
	for i := range out {
		if at := len(groups) - len(out) + i; at >= 0 {
			out[i].records = groups[at]
		}
	}
	return out
}

// samples are the passing checks that were run again.
func (p *past) samples() []try {
	var out []try
	if p.found.Judged == nil {
		return nil
	}
	for _, a := range p.found.Judged.Agents {
		for _, c := range a.Checks {
			if c.Result != report.ResultPass || len(c.Evidence) == 0 {
				continue
			}
			first, ok := p.lastRecord(c.Check)
			if !ok {
				continue
			}
			if rec, ok := reproduce.SampleOf(whole(p.run), first); ok {
				out = append(out, try{first: first, records: []evidence.Record{rec}})
			}
		}
	}
	return out
}

// lastRecord is the last of the records that a check rests on.
func (p *past) lastRecord(c report.Check) (evidence.Record, bool) {
	return recordOf(p.run.Records, c.Evidence[len(c.Evidence)-1])
}

func recordOf(records []evidence.Record, id string) (evidence.Record, bool) {
	at := slices.IndexFunc(records, func(r evidence.Record) bool { return r.ID == id })
	if at < 0 {
		return evidence.Record{}, false
	}
	return records[at], true
}
