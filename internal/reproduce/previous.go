package reproduce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// PreviousTask begins the names of the tasks under which commands of the last run
// stand in the log. It is stored: do not change it.
const PreviousTask = "again/"

// previousMost bounds how many checks of the last run are run again.
const previousMost = 30

// Previous is what became of the last run's checks (stage "previous"): its commands
// were run again on this head and, where they fail, on the base, without a model. The
// names of the fields are stored: do not change them.
type Previous struct {
	RunID   string           `json:"run_id"`
	Head    string           `json:"head"`
	Verdict report.Verdict   `json:"verdict"`
	Checks  []report.Revisit `json:"checks"`
	Diff    string           `json:"diff"`  // from that head to this one, cut
	Notes   []string         `json:"notes"` // why it is less than all
	// Missing is, by the ids of records on the head, what their commands name and an agent
	// had built of the last head: it was not there.
	Missing map[string][]string `json:"missing,omitempty"`
}

// A Last is the last run on the same change, as this one keeps it.
type Last struct {
	Dir     string
	Report  *report.Report
	journal *journal.Journal
	records map[string]evidence.Record
}

// ReadLast reads the last run, of which dir is the directory.
func ReadLast(dir string) (*Last, error) {
	rep, err := rundir.ReadReport(dir)
	if err != nil {
		return nil, err
	}
	records, err := evidence.ReadVerified(dir, rep.RunID)
	if err != nil {
		return nil, err
	}
	recorded, err := rundir.Read(dir, records)
	if err != nil {
		return nil, err
	}
	l := &Last{Dir: dir, Report: rep, journal: recorded.Journal, records: map[string]evidence.Record{}}
	for _, r := range records {
		l.records[r.ID] = r
	}
	return l, nil
}

// Record is what a check of the last run rests on, where it can be run again.
func (l *Last) Record(c report.Check) (evidence.Record, bool) {
	if c.Kind != report.KindAgent || c.Result == report.ResultSkip || len(c.Evidence) == 0 {
		return evidence.Record{}, false
	}
	was, ok := l.records[c.Evidence[len(c.Evidence)-1]]
	return was, ok && was.Executed
}

// Symbolic is the command of a record of the last run, with symbols in the place of
// the folders of the agent that ran it.
func (l *Last) Symbolic(was evidence.Record) string {
	return rundir.RootsOf(l.journal, was).Symbolic(CommandOf(was))
}

// CommandOf is the command of a record as a text.
func CommandOf(r evidence.Record) string {
	if r.Command == "" {
		return strings.Join(r.Argv, " ")
	}
	return r.Command
}

// Again runs the checks of the last run again. It ends when now is after until, where
// that is not zero; the checks that are left are listed as not run again. missing is that
// of [Previous].
func (l *Last) Again(ctx context.Context, s *Sides, j Judge, until time.Time, now func() time.Time) (out []report.Revisit, missing map[string][]string, err error) {
	missing = map[string][]string{}
	ran := 0
	for _, c := range l.Report.Checks {
		was, ok := l.Record(c)
		if !ok {
			continue
		}
		v := report.Revisit{Title: c.Title, Command: c.Command, Was: c.Result, Evidence: []string{}}
		if ran >= previousMost || !until.IsZero() && now().After(until) {
			v.Now = report.NotRevisited
			out = append(out, v)
			continue
		}
		ran++
		files := l.Added(was)
		on := func(side *workspace.Tree, name string) (evidence.Record, error) {
			task := PreviousTask + c.ID + "/" + name
			at := s.Layout.Copy(copyName(ran, task))
			rec, left, err := s.repeat(ctx, execution{record: was, roots: rundir.RootsOf(l.journal, was), at: at, task: task}, side, files)
			if err == nil {
				v.Evidence = append(v.Evidence, rec.ID)
			}
			if named := namedIn(scriptOf(rec), left); len(named) > 0 && side == s.Head {
				missing[rec.ID] = named
			}
			return rec, err
		}
		head, err := on(s.Head, "head")
		if err == nil {
			v.Now, v.Reproduction, err = l.Became(j, Revisited{
				Check: c, Was: was, Head: head, Missing: missing[head.ID],
				OnBase: func() (evidence.Record, error) { return on(s.Base, "base") },
				More: func(n int) (Pair, bool, error) {
					head, err := on(s.Head, Round("head", n))
					if err != nil {
						return Pair{}, false, err
					}
					base, err := on(s.Base, Round("base", n))
					return Pair{head, base}, true, err
				},
			})
		}
		if err != nil {
			return out, missing, err
		}
		out = append(out, v)
	}
	return out, missing, nil
}

// A Revisited is a check of the last run whose command was run again.
type Revisited struct {
	Check   report.Check
	Was     evidence.Record                 // in the last run
	Head    evidence.Record                 // now
	Missing []string                        // that of [Previous] for it
	OnBase  func() (evidence.Record, error) // and on the base, where it came to something else than it should
	More    func(n int) (Pair, bool, error) // as in [Trial]
}

// Became says what the command of a check of the last run does now. What came to something
// else counts only where the base, for which OnBase gives the record, does not come to that,
// too, and where the check counted before. One of what only the head has counts where it is
// new, or counted before.
func (l *Last) Became(j Judge, v Revisited) (report.Became, report.Reproduction, error) {
	c, was, head := v.Check, v.Was, v.Head
	same := l.sameAs(j, was, head)
	now := report.StillFails
	refused := was.Status() != 0 && c.Result == report.ResultPass // it is meant to fail
	switch {
	case len(v.Missing) > 0, lacking(wrote(j.Dir, head), l.recorded(was), nil), slices.Contains(unrunnable, head.Exit):
		return report.CannotRun, "", nil
	case c.Result == report.ResultPass && same:
		return report.Holds, "", nil
	case c.Result == report.ResultFail && !same:
		return report.Fixed, "", nil
	case c.Result == report.ResultPass && head.Status() == 0 && !refused:
		return report.Differs, "", nil // it ends well and prints something else: for people to look at
	case c.Result == report.ResultPass:
		now = report.Broke
	}
	if c.Result == report.ResultPass && (c.Support != report.Supported || c.Reproduction == report.NotReproduced) {
		return now, report.Unclear, nil // it did not count when it passed
	}
	base, err := v.OnBase()
	counted := c.Result == report.ResultPass || c.Blames()
	badly := func(r evidence.Record) bool { return r.Stopped() || r.Status() != 0 }
	well := func(r evidence.Record) bool { return !badly(r) }
	fails, passes := badly, well
	if refused {
		fails, passes = well, func(r evidence.Record) bool { return !r.Stopped() && r.Status() == was.Status() }
	}
	holds := func(base evidence.Record) bool { return passes(base) && !j.idle(base, head, c.Expected) }
	switch {
	case err != nil:
		return now, "", err
	case lacking(wrote(j.Dir, base), wrote(j.Dir, head), added(j.Source.Change.Files)), c.Reproduction == report.HeadOnly && !j.sameWay(head, base):
		if !counted {
			return now, report.Unclear, nil
		}
		return now, report.HeadOnly, nil
	case refused && fails(base):
		return report.Differs, "", nil // it is not refused on the base either
	case j.sameWay(head, base):
		return now, report.PreExisting, nil
	case holds(base) && (counted || fails(head)):
		if !fails(head) { // it fails by what it prints
			return now, report.Introduced, nil
		}
		found, err := again(Pair{head, base}, v.More, fails, holds)
		return now, found, err
	}
	return now, report.Unclear, nil
}

// An Added is what an agent had added to its tree at the end of the last run.
type Added struct {
	Texts  map[string]string // by their paths: a test beside the code is such
	Others []string          // whose contents are not kept
}

// Added is what the agent of a record had added.
func (l *Last) Added(was evidence.Record) Added {
	name := strings.TrimSuffix(rundir.TranscriptPath(was.Agent, was.Task), ".md") + ".diff"
	data, err := os.ReadFile(filepath.Join(l.Dir, filepath.FromSlash(name)))
	if err != nil {
		return Added{}
	}
	return addedIn(string(data))
}

// addedIn are the files that a difference adds as a whole, or does not show.
func addedIn(patch string) Added {
	out := Added{Texts: map[string]string{}}
	name, text := "", ""
	end := func() {
		if name != "" && filepath.IsLocal(filepath.FromSlash(name)) {
			out.Texts[name] = text
		}
		name, text = "", ""
	}
	for line := range strings.Lines(patch) {
		to, names := strings.CutPrefix(line, "+++ b/")
		more, adds := strings.CutPrefix(line, "+")
		other, _, hidden := strings.Cut(strings.TrimPrefix(line, "--- "), ": not shown: ")
		switch {
		case strings.HasPrefix(line, "diff "):
			end()
		case names && name == "" && text == "":
			name = strings.TrimSuffix(to, "\n")
		case strings.HasPrefix(line, "@@ ") && !strings.HasPrefix(line, "@@ -0,0 +1,"):
			name = "" // it changes a file
		case hidden && strings.HasPrefix(line, "--- "):
			end()
			if filepath.IsLocal(filepath.FromSlash(other)) {
				out.Others = append(out.Others, other)
			}
		case strings.HasPrefix(line, "\\"):
			text = strings.TrimSuffix(text, "\n")
		case adds && name != "":
			text += more
		}
	}
	end()
	return out
}

// sameAs compares a record with one of the last run.
func (l *Last) sameAs(j Judge, was, now evidence.Record) bool {
	if was.Stopped() || now.Stopped() {
		return was.EndedLike(now)
	}
	if was.Status() != 0 {
		return now.Status() != 0
	}
	out, err := evidence.ReadOutput(l.Dir, was.Stdout)
	return err == nil && now.Status() == 0 && evidence.Comparable(string(out)) == printed(j.Dir, now)
}

// recorded is all that a command of the last run wrote.
func (l *Last) recorded(was evidence.Record) string {
	var b strings.Builder
	for _, o := range []evidence.Output{was.Stdout, was.Stderr} {
		if out, err := evidence.ReadOutput(l.Dir, o); err == nil {
			b.Write(out)
		}
	}
	return b.String()
}

// Numbers counts the checks of the last run whose commands are among records, in the
// order in which they were run again. The key is the task without its side.
func Numbers(records []evidence.Record) map[string]int {
	out := map[string]int{}
	for _, r := range records {
		if check, ok := previousCheck(r); ok && out[check] == 0 {
			out[check] = len(out) + 1
		}
	}
	return out
}

// CopyOf are the folders in which the command of a record of the last run's checks
// was run again, by the numbers that [Numbers] gives.
func CopyOf(j *journal.Journal, r evidence.Record, numbers map[string]int) evidence.Roots {
	check, _ := previousCheck(r)
	return rundir.CopyRoots(j, r, copyName(numbers[check], r.Task))
}

// previousCheck is the check of the last run that a record is of.
func previousCheck(r evidence.Record) (string, bool) {
	if r.Agent != Host || !r.Executed || !strings.HasPrefix(r.Task, PreviousTask) {
		return "", false
	}
	return r.Task[:strings.LastIndexByte(r.Task, '/')], true
}

// copyName is the name of the folder in which the command of the n-th check of the
// last run is run again, for the side that its task ends with.
func copyName(n int, task string) string {
	return strconv.Itoa(n) + "-" + task[strings.LastIndexByte(task, '/')+1:]
}
