package run

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// revisited concludes once more what became of the last run's checks: from the
// run that is kept, and from what the log has of their commands on this head.
func (c *Checked) revisited(s *session, t *takeover, records []evidence.Record) {
	if filepath.Base(c.dir) == previousDir && !isRun(filepath.Join(c.dir, previousDir)) {
		return // it is kept itself, without the one before it
	}
	if t.Digest != "" && !c.kept(t) {
		return
	}
	mine := map[string]evidence.Record{}
	for _, r := range records {
		if r.Agent == hostAgent && r.Executed && strings.HasPrefix(r.Task, revisitTask) {
			mine[r.ID] = r
		}
	}
	if s.last == nil || s.last.RunID == "" {
		if len(mine) > 0 && s.last != nil {
			c.problem("journal.jsonl: the log has commands of the last run, and nothing is said of it")
		}
		return
	}
	if t.Digest == "" {
		c.problem("journal.jsonl: it tells of a last run, and none is kept")
		return
	}
	r, err := s.revisitor()
	if err != nil {
		c.problem("%s: %v", previousDir, err)
		return
	}
	if s.last.RunID != r.out.RunID || s.last.Head != r.out.Head || s.last.Verdict != r.out.Verdict {
		c.problem("journal.jsonl: what it says of the last run is not what is in %s", previousDir)
	}
	told := s.last.Checks
	for _, check := range r.report.Checks {
		was, ok := r.recordOf(check)
		if !ok {
			continue
		}
		if len(told) == 0 {
			if c.Report.Outcome == report.Completed {
				c.problem("journal.jsonl: check %q of the last run is left out", check.Title)
			}
			continue
		}
		c.became(r, check, was, told[0], mine)
		told = told[1:]
	}
	if len(told) > 0 {
		c.problem("journal.jsonl: the last run had no check %q", told[0].Title)
	}
	for _, rec := range records {
		if _, left := mine[rec.ID]; left && !s.resumed() {
			c.problem("%s (%s: %s) is left out of what became of the last run", rec.ID, rec.Task, rec.Command)
		}
	}
}

// became holds one check of the last run against what the log has of it. What it
// finds it takes out of mine.
func (c *Checked) became(r *revisitor, check report.Check, was evidence.Record, told report.Revisit, mine map[string]evidence.Record) {
	wrong := func(what string) { c.problem("journal.jsonl: check %q of the last run: %s", check.Title, what) }
	if told.Title != check.Title || told.Command != check.Command || told.Was != check.Result {
		wrong("it is not told as the last run has it")
		return
	}
	if len(told.Evidence) == 0 {
		if told.Now != report.NotRevisited {
			wrong("nothing shows that it is " + told.Now.Words())
		}
		return
	}
	ran := make([]evidence.Record, 0, 2)
	for i, id := range told.Evidence {
		rec, ok := mine[id]
		side := []string{"/head", "/base", ""}[min(i, 2)]
		if !ok || rec.Task != revisitTask+check.ID+side || placeless(rec.Command) != placeless(spokenBefore(was)) || rec.Cwd != was.Cwd {
			wrong(id + " is not of its command")
			return
		}
		delete(mine, id)
		ran = append(ran, rec)
	}
	missing := errors.New("the base was not asked")
	now, reproduction, err := r.judge(check.Result, was, ran[0], func() (evidence.Record, error) {
		if len(ran) < 2 {
			return evidence.Record{}, missing
		}
		return ran[1], nil
	})
	if err != nil || now != told.Now || reproduction != told.Reproduction {
		wrong("what is told of it is not what its evidence shows")
	}
}

// inTrees are the folders of a run's trees.
var inTrees = pattern.New(`/\S*/worktrees/[^/\s]+/(again|agents)/[^/\s"']+`)

// placeless is a command without the tree that it names, which is another each
// time.
func placeless(command string) string { return inTrees.ReplaceAllLiteralString(command, "TREE") }
