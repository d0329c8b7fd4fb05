package recheck

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/conclude"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A Checked is what a finished run directory was found to be.
type Checked struct {
	Report   *report.Report // as it stands in the directory; nil where it cannot be read
	Digest   string         // of SHA256SUMS, hex
	Records  int            // of the evidence log
	Problems []string       // what is not as the run left it, or does not follow from its log; none: intact

	dir string
}

// Check looks whether a finished run directory is what a run left there, and
// whether its report follows from what is recorded. It needs neither model nor
// network and writes nothing. expect is the digest that is known from elsewhere,
// "" for none: without it, a directory that was made up as a whole passes. The error is a
// [rundir.FormatError] where another version of ycbot recorded what this one does not read.
func Check(dir, expect string) (Checked, error) {
	if _, err := os.Lstat(filepath.Join(dir, "SHA256SUMS")); err == nil { // else it is no run's
		problems, err := rundir.Bounded(dir)
		if err != nil {
			return Checked{}, err
		}
		if len(problems) > 0 { // nothing of it is read
			return Checked{Problems: problems, dir: dir}, nil
		}
	}
	digest, problems, err := rundir.Verify(dir)
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Digest: digest, dir: dir}
	if expect != "" && !strings.EqualFold(expect, c.Digest) {
		c.problem("SHA256SUMS has the digest %s, and %s is expected", c.Digest, expect)
	}
	c.Problems = append(c.Problems, problems...)
	slices.Sort(c.Problems)
	if len(c.Problems) == 0 { // else the journal may not be what the run wrote
		if r, err := rundir.Read(dir, nil); err == nil {
			if err := r.Begun.Readable(); err != nil {
				return Checked{}, err
			}
		}
	}
	if c.Report, err = rundir.ReadReport(dir); err != nil {
		c.problem("report.json: %v", err)
		return c, nil
	}
	records, err := evidence.ReadVerified(dir, c.Report.RunID)
	if err != nil {
		c.problem("%v", err)
		return c, nil // nothing follows from a log that is not the run's
	}
	c.Records = len(records)
	c.follows(records)
	return c, nil
}

// Audit is Check, and holds the forms of the report against it, too, where this version of
// the program made them: another one may write the same in another way.
func Audit(dir, expect, version string) (Checked, error) {
	c, err := Check(dir, expect)
	if err == nil && c.Report != nil && c.Report.Versions.Ycbot == version {
		c.Rendered(dir)
	}
	return c, err
}

func (c *Checked) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// Rendered holds the forms of the report, the statement and the transcripts against what they are made of.
// They are as this very version of the program writes them.
func (c *Checked) Rendered(dir string) {
	made, err := rundir.Forms(c.Report)
	if err != nil { // it is none that Parse takes
		made = map[string][]byte{"report.md": []byte(c.Report.Markdown())}
	}
	if made[rundir.StatementFile], err = rundir.Restate(dir, c.Report); errors.Is(err, report.ErrNoHead) || c.Report.HeadSHA == "" {
		delete(made, rundir.StatementFile)
	}
	cut := map[string][]byte{} // transcripts of versions that kept long answers as the model had them
	events, err := rundir.ReadEvents(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.problem("events.jsonl: %v", err)
	}
	if err == nil {
		for _, flaw := range rundir.MissingTranscripts(events, c.Report.Subagents) {
			c.problem("events.jsonl: %s", flaw)
		}
		whole := rundir.Whole(dir, events)
		for _, a := range c.Report.Subagents {
			if strings.HasPrefix(a.Transcript, rundir.Previous+"/") {
				continue // of the run that the verdict is from
			}
			name := rundir.TranscriptPath(a.Agent, a.ID)
			made[name], cut[name] = []byte(transcript.Markdown(whole, a.ID)), []byte(transcript.Markdown(events, a.ID))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		text := name + " does not match report.json"
		if _, ok := cut[name]; ok {
			text = name + " does not match events.jsonl"
		}
		same := bytes.Equal(data, made[name]) || cut[name] != nil && bytes.Equal(data, cut[name])
		if (err != nil || !same) && !slices.Contains(c.Problems, text) {
			c.Problems = append(c.Problems, text)
		}
	}
}

// follows makes the report once more from the journal and the evidence and compares.
func (c *Checked) follows(records []evidence.Record) {
	r, err := rundir.Read(c.dir, records)
	if r != nil {
		for i, e := range r.Journal.Entries("") {
			if e.Seq != i+1 {
				c.problem("journal.jsonl: entry %d is not in its order", i+1)
				break
			}
		}
	}
	if err != nil {
		c.problem("%v", err)
		return
	}
	if r.Begun.ID != c.Report.RunID {
		c.problem("report.json is of run %s, the journal of run %s", c.Report.RunID, r.Begun.ID)
	}
	reuse, _ := rundir.Lookup[*rundir.Reuse](r.Journal, "stage", "takeover")
	if reuse.Reused() {
		c.reused(r.Begun, reuse)
		return
	}
	f := run.FoundIn(r.Journal)
	c.previous(r, reuse, f.Previous)
	c.carried(r, f.Gate)
	c.answers(r)
	c.claims(r, f.Judged)
	recorded, concluded := rundir.Lookup[*report.Report](r.Journal, "stage", "report")
	if concluded {
		c.compare("the report in the journal", recorded, true)
	}
	finished := f.Gate != nil && (f.Judged != nil || !r.Begun.Settings.Model || c.Report.Outcome == report.Refused)
	if !finished && c.Report.Verdict == report.Pass {
		c.problem("verdict %s: the journal has no finished run", report.Pass)
	}
	if o := c.Report.Outcome; !finished || o != report.Completed && o != report.Refused {
		c.same("what the journal has", c.stated(r.Begun.Header(records)))
		c.brokenOff(finished && concluded)
		return
	}
	c.compare("what follows from the log", conclude.Report(f.Input(r.Begun, r.Journal, records, c.Report.Outcome, nil)), false)
}

// reused holds a report that was taken from the last run against that run.
func (c *Checked) reused(b rundir.Begun, reuse *rundir.Reuse) {
	if !c.kept(reuse) {
		return
	}
	conclude := run.Reused
	if reuse.Accepted {
		conclude = run.Accepted
	}
	again, err := conclude(b)
	if err != nil {
		c.problem("%v", err)
		return
	}
	c.compare("what follows from the run that it is from", again, false)
}

// kept checks the last run, which this one keeps.
func (c *Checked) kept(reuse *rundir.Reuse) bool {
	was, err := Check(filepath.Join(c.dir, rundir.Previous), reuse.Digest)
	if err != nil {
		c.problem("%v", err)
		return false
	}
	for _, p := range was.Problems {
		c.problem("%s: %s", rundir.Previous, p)
	}
	return was.Report != nil
}

// brokenOff looks at a run that has no verdict to recompute: it never has a good
// one, and its journal never has all.
func (c *Checked) brokenOff(whole bool) {
	v, o := c.Report.Verdict, c.Report.Outcome
	switch {
	case whole && o != report.Completed:
		c.problem("report.json: outcome %s, and the journal has the whole run", o)
	case (o == report.Cancelled || o == report.Errored) && v != report.Error, o == report.TimedOut && v == report.Pass:
		c.problem("report.json: verdict %s beside outcome %s", v, o)
	}
}

// carried looks for each step of the gate in the evidence, and the other way round.
func (c *Checked) carried(r *rundir.Recorded, result *gate.Result) {
	records := r.Records
	for _, rec := range records {
		if tier := r.Begun.Settings.Sandbox.Tier; rec.Executed && rec.Sandbox != string(tier) {
			c.problem("%s ran in sandbox tier %s, and the journal says %s", rec.ID, rec.Sandbox, tier)
		}
	}
	if result == nil {
		return
	}
	byID := map[string]evidence.Record{}
	for _, r := range records {
		byID[r.ID] = r
	}
	steps := map[string]bool{}
	for _, step := range result.Steps {
		if step.Evidence == "" {
			continue
		}
		steps[step.Evidence] = true
		switch r, ok := byID[step.Evidence]; {
		case !ok:
			c.problem("%s %s: its evidence %s is not in the log", step.Side, step.Command, step.Evidence)
		case r.Exit != step.Exit || r.TimedOut != step.TimedOut || r.Limit != step.Limit || !r.Executed:
			c.problem("%s %s: the log says exit %d, the journal exit %d", step.Side, step.Command, r.Exit, step.Exit)
		case r.Agent != gate.Agent || r.Task != string(step.Side)+"/"+string(step.Stage) || r.Command != step.Command || r.Cwd != step.Unit:
			c.problem("%s is %s: %s by the log, and %s/%s: %s by the journal", r.ID, r.Task, r.Command, step.Side, step.Stage, step.Command)
		}
	}
	begun := !r.Resumed() // else what an attempt left that was broken off comes first
	for _, r := range records {
		begun = begun || steps[r.ID]
		if begun && r.Agent == gate.Agent && r.Executed && !steps[r.ID] {
			c.problem("%s (%s: %s) is left out of what the gate found", r.ID, r.Task, r.Command)
		}
	}
	c.found(result, byID)
}

// A part is a field of the report as it is and as it should be.
type part struct {
	name        string
	have, again any
}

// stated are the fields that do not depend on how the run ended.
func (c *Checked) stated(again *report.Report) []part {
	have := c.Report
	return []part{
		{"schema", have.Schema, again.Schema},
		{"repo", have.Repo, again.Repo},
		{"pr", have.PR, again.PR},
		{"base_sha", have.BaseSHA, again.BaseSHA},
		{"head_sha", have.HeadSHA, again.HeadSHA},
		{"merge_base", have.MergeBase, again.MergeBase},
		{"dirty", have.Dirty, again.Dirty},
		{"subject", have.Subject, again.Subject},
		{"trigger", have.Trigger, again.Trigger},
		{"actor", have.Actor, again.Actor},
		{"trust", have.Trust, again.Trust},
		{"changes", have.Changes, again.Changes},
		{"reproduce", have.Reproduce, again.Reproduce},
	}
}

// compare names what the report says otherwise than another one that was made.
// Both have been through JSON, which fills in what was left open. Whole ones
// are also compared in what is not recomputed, such as how long it took.
func (c *Checked) compare(with string, made *report.Report, whole bool) {
	js, err := made.JSON()
	if err != nil {
		c.problem("%v", err)
		return
	}
	again, err := report.Parse(js)
	if err != nil {
		c.problem("%v", err)
		return
	}
	have := c.Report
	parts := append([]part{
		{"verdict", have.Verdict, again.Verdict},
		{"outcome", have.Outcome, again.Outcome},
		{"reasons", have.Reasons, again.Reasons},
		{"title", have.Title, again.Title},
		{"phase", have.Phase, again.Phase},
		{"expectations", have.Expectations, again.Expectations},
		{"accepted", have.Accepted, again.Accepted},
		{"statistics", have.Statistics, again.Statistics},
		{"believed", have.Believed, again.Believed},
		{"executed", have.Executed, again.Executed},
		{"behaviour", have.Behaviour, again.Behaviour},
		{"api", have.API, again.API},
		{"checks", have.Checks, again.Checks},
		{"findings", have.Findings, again.Findings},
		{"not_covered", have.NotCovered, again.NotCovered},
		{"denied", have.Denied, again.Denied},
		{"tests", have.Tests, again.Tests},
		{"subagents", have.Subagents, again.Subagents},
		{"sandbox", have.Sandbox, again.Sandbox},
		{"usage", have.Usage, again.Usage},
		{"versions", have.Versions, again.Versions},
		{"previous", have.Previous, again.Previous},
	}, c.stated(again)...)
	if again.Model != "" {
		parts = append(parts, part{"model", have.Model, again.Model})
	}
	if whole {
		parts = append(parts, part{"model", have.Model, again.Model}, part{"timings", have.Timings, again.Timings}, part{"notes", have.Notes, again.Notes})
	}
	c.same(with, parts)
}

// same names the parts that are not the same.
func (c *Checked) same(with string, parts []part) {
	for _, p := range parts {
		text := fmt.Sprintf("report.json: %s differs from %s", p.name, with)
		if !reflect.DeepEqual(p.have, p.again) && !slices.Contains(c.Problems, text) {
			c.Problems = append(c.Problems, text)
		}
	}
}
