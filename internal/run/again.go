package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// RerunOptions say what is run again.
type RerunOptions struct {
	Repo  string            // a folder in a repository that has the commits
	Check string            // id of a check; empty: every command
	Tell  func(RerunResult) // is given each command as it is done
}

// A RerunResult is what came of one recorded command.
type RerunResult struct {
	Record evidence.Record
	Why    string // it was not run again; empty: it was
	Exit   int
	What   string // what differs, one line; empty: nothing
	Diff   string // of the outputs without what differs each time; may be empty
}

// A Rerun counts what came of the commands of a run.
type Rerun struct{ Same, Different, NotRun int }

// Rerun runs the commands of the finished run in dir again, in worktrees of the
// commits that it verified. The gate's run where they ran, after the same
// preparation and with the same environment; those of an agent one after the
// other in a copy of the prepared head, because later ones need what earlier
// ones wrote; those that tried a failing check again in copies of both sides.
// An error means that nothing could be run.
func (r *Runner) Rerun(ctx context.Context, dir string, o RerunOptions) (Rerun, error) {
	p, err := openPast(dir)
	if err != nil {
		return Rerun{}, err
	}
	a := &rerunner{past: p, tell: o.Tell, done: map[string]bool{}, box: r.Sandbox}
	if a.wanted, err = p.wanted(o.Check); err != nil {
		return Rerun{}, err
	}
	s, err := r.again(ctx, p, o.Repo, nil)
	if err != nil {
		return Rerun{}, err
	}
	defer s.close()
	if why := s.around.refused(); why != "" {
		return Rerun{}, errors.New(why)
	}
	a.session, a.moved = s, p.moved(s)
	s.job.Cast = &Cast{} // so that snapshots are taken
	if err := a.gate(ctx); err != nil {
		return a.count, err
	}
	if err := a.agents(ctx); err != nil {
		return a.count, err
	}
	for _, rec := range p.read {
		if a.wanted[rec.ID] && !a.done[rec.ID] {
			a.conclude(RerunResult{Record: rec, Why: cmp.Or(a.stopped, "nothing led to it this time")})
		}
	}
	return a.count, nil
}

// wanted are the commands to run: all of them, or those of a check with what
// was tried again for it.
func (p *past) wanted(check string) (map[string]bool, error) {
	out := map[string]bool{}
	if check == "" {
		for _, r := range p.read {
			out[r.ID] = r.Executed
		}
		if len(executed(p.read)) == 0 {
			return nil, errors.New("no command was executed in this run")
		}
		return out, nil
	}
	at := slices.IndexFunc(p.rep.Checks, func(c report.Check) bool { return strings.EqualFold(c.ID, check) })
	if at < 0 {
		return nil, fmt.Errorf("the report has no check %s; it has %s", check, ids(p.rep.Checks))
	}
	for _, r := range p.read {
		out[r.ID] = r.Executed && slices.Contains(p.rep.Checks[at].Evidence, r.ID)
	}
	for _, t := range p.tries() {
		if out[t.first.ID] {
			for _, r := range t.records {
				out[r.ID] = true
			}
		}
	}
	if !anyWanted(out) {
		return nil, fmt.Errorf("check %s names no command that was executed", p.rep.Checks[at].ID)
	}
	return out, nil
}

func anyWanted(wanted map[string]bool) bool {
	for _, w := range wanted {
		if w {
			return true
		}
	}
	return false
}

// executed lists what was executed at all.
func executed(records []evidence.Record) []evidence.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r evidence.Record) bool { return !r.Executed })
}

func ids(checks []report.Check) string {
	if len(checks) == 0 {
		return "none"
	}
	return checks[0].ID + " to " + checks[len(checks)-1].ID
}

// A try is a failing check that the host ran again, with its records: on the
// head, and on the base where it failed on the head.
type try struct {
	first   evidence.Record // the agent's own
	records []evidence.Record
}

// tries finds them. Those of an attempt that was broken off come first and are
// left out.
func (p *past) tries() []try {
	var out []try
	if p.kept.judged == nil {
		return nil
	}
	for _, a := range p.kept.judged.Agents {
		for _, c := range a.Checks {
			if c.Result != report.ResultFail || c.Support != report.Supported || c.Reproduction == report.NotRun || len(c.Evidence) == 0 {
				continue
			}
			at := slices.IndexFunc(p.read, func(r evidence.Record) bool { return r.ID == c.Evidence[len(c.Evidence)-1] })
			if at >= 0 {
				out = append(out, try{first: p.read[at]})
			}
		}
	}
	groups := tried(p.read)
	for i := range out {
		if at := len(groups) - len(out) + i; at >= 0 {
			out[i].records = groups[at]
		}
	}
	return out
}

// tried groups the host's own records: one on the head, and what followed on
// the base.
func tried(records []evidence.Record) [][]evidence.Record {
	var groups [][]evidence.Record
	for _, r := range records {
		switch {
		case r.Agent != hostAgent || !r.Executed:
		case r.Task == rerunHead:
			groups = append(groups, []evidence.Record{r})
		case r.Task == rerunBase && len(groups) > 0:
			groups[len(groups)-1] = append(groups[len(groups)-1], r)
		}
	}
	return groups
}

// A rerunner runs the commands of a past run again.
type rerunner struct {
	*session
	past    *past
	wanted  map[string]bool
	done    map[string]bool
	moved   *strings.Replacer
	box     sandbox.Sandbox
	tell    func(RerunResult)
	count   Rerun
	stopped string // why not all commands came up again
}

// gate drives the gate along the record: it comes by each of its commands with
// the program, the environment and the trees that it had.
func (a *rerunner) gate(ctx context.Context) error {
	t := &tape{past: a.past, moved: a.moved, real: a.box, used: map[string]bool{}, seen: a.seen}
	t.execute = func(r evidence.Record) bool { return a.wanted[r.ID] || prepares(r) }
	a.Sandbox = t
	_, err := a.session.gate(ctx)
	a.Sandbox = a.box
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.stopped = "the gate would do something else here: " + err.Error()
	}
	return nil
}

// prepares tells the commands on whose work the others rest.
func prepares(r evidence.Record) bool {
	return strings.HasSuffix(r.Task, "/"+string(gate.StageSetup)) || strings.HasSuffix(r.Task, "/"+string(gate.StageBuild))
}

// seen holds what a command of the gate did against its record.
func (a *rerunner) seen(ctx context.Context, rec evidence.Record, res sandbox.Result, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !a.wanted[rec.ID] && err == nil && res.Exit == rec.Exit {
		return nil
	}
	return a.compare(rec, res, err)
}

// compare concludes about one command.
func (a *rerunner) compare(rec evidence.Record, res sandbox.Result, runErr error) error {
	if runErr != nil && res.Exit < 0 {
		a.conclude(RerunResult{Record: rec, Why: runErr.Error()})
		return nil
	}
	stdout, stderr, err := a.past.output(rec)
	if err != nil {
		return err
	}
	out := RerunResult{Record: rec, Exit: res.Exit}
	var what []string
	if res.Exit != rec.Exit {
		what = append(what, fmt.Sprintf("exit %d was %d", res.Exit, rec.Exit))
	}
	if res.TimedOut != rec.TimedOut {
		what = append(what, map[bool]string{true: "it does not end in its time", false: "it ends in its time"}[res.TimedOut])
	}
	for _, s := range []struct {
		name     string
		was, now []byte
	}{{"stdout", stdout, res.Stdout.Bytes}, {"stderr", stderr, res.Stderr.Bytes}} {
		d := unified(s.name, a.moved.Replace(string(s.was)), string(a.redact(s.now)))
		if d != "" {
			what = append(what, s.name+" differs")
		}
		out.Diff += d
	}
	out.What = strings.Join(what, ", ")
	a.conclude(out)
	return nil
}

// diffLines bounds a diff that is shown.
const diffLines = 40

// unified is a short diff of two outputs without what differs each time, ""
// where there is none.
func unified(name, was, now string) string {
	was, now = comparable(was), comparable(now)
	if was == now {
		return ""
	}
	lines := strings.Split(string(diff.Diff(name+" recorded", []byte(was), name+" now", []byte(now))), "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "diff ") {
		lines = lines[1:]
	}
	if len(lines) > diffLines {
		lines = append(lines[:diffLines], fmt.Sprintf("… %d lines more", len(lines)-diffLines), "")
	}
	return strings.Join(lines, "\n")
}

// conclude counts a command and tells of it.
func (a *rerunner) conclude(r RerunResult) {
	a.done[r.Record.ID] = true
	switch {
	case r.Why != "":
		a.count.NotRun++
	case r.What != "":
		a.count.Different++
	default:
		a.count.Same++
	}
	if a.tell != nil {
		a.tell(r)
	}
}

// revisitDir is the copy of a side that such a command names.
var revisitDir = pattern.New(`/\S*/worktrees/[^/\s]+/again/[^/\s"']+`)
