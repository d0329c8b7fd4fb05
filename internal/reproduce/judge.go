package reproduce

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Names under which commands that are run again stand in the log, and what for. They
// are stored: do not change them.
const (
	Host   = "host"        // the agent of such records
	OnHead = "rerun/head"  // task of a failing check on the head
	OnBase = "rerun/base"  // the same on the base
	Sample = "sample/head" // task of a passing check on the head
	Beside = "rerun/held"  // task of a process that is held while one of these runs
)

// A Judge classifies what running the command of a check again showed, from the
// records alone.
type Judge struct {
	Dir    string        // run directory with the outputs of the records
	Source rundir.Source // the change
}

// Classify says what a failing check is whose command was run again on the head,
// and, where it failed there, on the base: onBase gives that record.
func (j Judge) Classify(c report.AgentCheck, first, head evidence.Record, onBase func() (evidence.Record, error)) (report.Reproduction, error) {
	if !j.alike(first, head) || j.lacks(head, first, nil) {
		return report.NotReproduced, nil
	}
	base, err := onBase()
	switch {
	case err != nil:
		return report.NotRun, err
	case j.lacks(base, head, added(j.Source.Change.Files)):
		return report.HeadOnly, nil
	case !j.alike(first, base):
		return report.Introduced, nil
	case j.promised(c):
		return report.Unfulfilled, nil
	default:
		return report.PreExisting, nil
	}
}

// Sampled says what running a passing check again shows. What it prints may differ
// from time to time; how it ends may not.
func (j Judge) Sampled(first, now evidence.Record) report.Reproduction {
	if (now.Exit != first.Exit || now.TimedOut != first.TimedOut) && !j.lacks(now, first, nil) {
		return report.NotReproduced
	}
	return report.NotRun
}

// alike says whether two runs of a command came to the same: both failed, or both
// printed the same.
func (j Judge) alike(a, b evidence.Record) bool {
	if a.TimedOut || b.TimedOut {
		return a.TimedOut == b.TimedOut
	}
	if a.Exit != 0 {
		return b.Exit != 0
	}
	return b.Exit == 0 && printed(j.Dir, a) == printed(j.Dir, b)
}

func printed(dir string, r evidence.Record) string {
	out, err := evidence.ReadOutput(dir, r.Stdout)
	if err != nil {
		return r.Stdout.SHA256
	}
	return evidence.Comparable(string(out))
}

// wrote is all that a command wrote, as far as it can be read.
func wrote(dir string, r evidence.Record) string {
	var all strings.Builder
	for _, out := range []evidence.Output{r.Stdout, r.Stderr} {
		if text, err := evidence.ReadOutput(dir, out); err == nil {
			all.Write(append(text, '\n'))
		}
	}
	return all.String()
}

// promised says whether a check quotes a sentence of the task, so that what fails on
// both sides is what the change was to repair.
func (j Judge) promised(c report.AgentCheck) bool {
	task := fold(j.Source.Change.Task)
	for _, k := range j.Source.Commits {
		task += " " + fold(k.Subject+" "+k.Body)
	}
	text := fold(c.Expected + " " + c.Remark + " " + c.Title)
	for _, q := range quotedText.FindAllStringSubmatch(text, -1) {
		if quote := strings.TrimRight(strings.TrimSpace(q[1]+q[2]), ".,;:!?…"); len(strings.Fields(quote)) >= 3 && strings.Contains(task, quote) {
			return true
		}
	}
	return false
}

var quotedText = pattern.New("\"([^\"]+)\"|“([^”]+)”")

// fold makes a text comparable: one case, single spaces.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// Tried groups the records of failing checks that were run again: one on the head,
// and what followed on the base.
func Tried(records []evidence.Record) [][]evidence.Record {
	var groups [][]evidence.Record
	for _, r := range records {
		switch {
		case r.Agent != Host || !r.Executed:
		case r.Task == OnHead:
			groups = append(groups, []evidence.Record{r})
		case r.Task == OnBase && len(groups) > 0:
			groups[len(groups)-1] = append(groups[len(groups)-1], r)
		}
	}
	return groups
}

// SampleOf finds the record of running the command of a passing check again.
func SampleOf(records []evidence.Record, first evidence.Record) (evidence.Record, bool) {
	at := slices.IndexFunc(records, func(r evidence.Record) bool {
		return r.Agent == Host && r.Task == Sample && r.Executed && evidence.SameCommand(r.Command, first.Command)
	})
	if at < 0 {
		return evidence.Record{}, false
	}
	return records[at], true
}
