package recheck

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
)

// previous concludes once more what became of the last run's checks: from the
// run that is kept, and from what the log has of their commands on this head.
func (c *Checked) previous(r *rundir.Recorded, reuse *rundir.Reuse, found *reproduce.Previous) {
	if filepath.Base(c.dir) == rundir.Previous && !rundir.IsFinished(filepath.Join(c.dir, rundir.Previous)) {
		return // it is kept itself, without the one before it
	}
	kept := reuse != nil && reuse.Digest != ""
	if kept && !c.kept(reuse) {
		return
	}
	mine := map[string]evidence.Record{}
	for _, rec := range r.Records {
		if rec.Agent == reproduce.Host && rec.Executed && strings.HasPrefix(rec.Task, reproduce.PreviousTask) {
			mine[rec.ID] = rec
		}
	}
	if found == nil || found.RunID == "" {
		if len(mine) > 0 && found != nil {
			c.problem("journal.jsonl: the log has commands of the last run, and nothing is said of it")
		}
		return
	}
	if !kept {
		c.problem("journal.jsonl: it names a last run, and none is kept")
		return
	}
	last, err := reproduce.ReadLast(filepath.Join(c.dir, rundir.Previous))
	if err != nil {
		c.problem("%s: %v", rundir.Previous, err)
		return
	}
	if found.RunID != last.Report.RunID || found.Head != last.Report.HeadSHA || found.Verdict != last.Report.Verdict {
		c.problem("journal.jsonl: what it says of the last run is not what is in %s", rundir.Previous)
	}
	p := &previous{
		recorded: r, last: last, judge: reproduce.Judge{Dir: r.Begun.Dir, Source: r.Begun.Source}, numbers: reproduce.Numbers(r.Records), mine: mine,
		missing: found.Missing,
	}
	c.revisits(p, found.Checks)
	for _, rec := range r.Records {
		if _, left := mine[rec.ID]; left && !r.Resumed() {
			c.problem("%s (%s: %s) is left out of what became of the last run", rec.ID, rec.Task, rec.Command)
		}
	}
}

// previous is what the checks of the last run are compared with.
type previous struct {
	recorded *rundir.Recorded
	last     *reproduce.Last
	judge    reproduce.Judge
	numbers  map[string]int             // see reproduce.Numbers
	mine     map[string]evidence.Record // records of this run that no check was found for yet
	missing  map[string][]string        // as the run has it
}

// revisits holds each check of the last run against what the report says of it.
func (c *Checked) revisits(p *previous, reported []report.Revisit) {
	for _, check := range p.last.Report.Checks {
		was, ok := p.last.Record(check)
		if !ok {
			continue
		}
		if len(reported) == 0 {
			if c.Report.Outcome == report.Completed {
				c.problem("journal.jsonl: check %q of the last run is left out", check.Title)
			}
			continue
		}
		c.became(p, check, was, reported[0])
		reported = reported[1:]
	}
	if len(reported) > 0 {
		c.problem("journal.jsonl: the last run had no check %q", reported[0].Title)
	}
}

// became holds one check of the last run against what the log has of it. What it
// finds it takes out of p.mine.
func (c *Checked) became(p *previous, check report.Check, was evidence.Record, reported report.Revisit) {
	wrong := func(what string) { c.problem("journal.jsonl: check %q of the last run: %s", check.Title, what) }
	if reported.Title != check.Title || reported.Command != check.Command || reported.Was != check.Result {
		wrong("it does not stand there as the last run has it")
		return
	}
	if len(reported.Evidence) == 0 {
		if reported.Now != report.NotRevisited {
			wrong("nothing shows that it is " + reported.Now.Words())
		}
		return
	}
	command := p.last.Symbolic(was)
	ran := make([]evidence.Record, 0, 2)
	for i, id := range reported.Evidence {
		rec, ok := p.mine[id]
		task := reproduce.PreviousTask + check.ID + []string{"/head", "/base"}[i%2]
		if i > 1 {
			task = reproduce.Round(task, i/2+1)
		}
		if !ok || rec.Task != task || rec.Cwd != was.Cwd ||
			reproduce.CopyOf(p.recorded.Journal, rec, p.numbers).Symbolic(rec.Command) != command {
			wrong(id + " is not of its command")
			return
		}
		delete(p.mine, id)
		ran = append(ran, rec)
	}
	now, reproduction, err := p.last.Became(p.judge, reproduce.Revisited{
		Check: check, Was: was, Head: ran[0], Missing: p.missing[ran[0].ID],
		OnBase: func() (evidence.Record, error) {
			if len(ran) < 2 {
				return evidence.Record{}, errors.New("it was not run on the base")
			}
			return ran[1], nil
		},
		More: func(n int) (reproduce.Pair, bool, error) {
			pair, ok := reproduce.PairOf(ran, n)
			if !ok {
				return pair, false, errors.New("it was not run again as often as it should")
			}
			return pair, true, nil
		},
	})
	if err != nil || now != reported.Now || reproduction != reported.Reproduction {
		wrong("what is said of it is not what its evidence shows")
	}
}
