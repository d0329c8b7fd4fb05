package recheck

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
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// RerunOptions say what is run again.
type RerunOptions struct {
	Repo  string            // a folder in a repository that has the commits
	Check string            // id of a check; empty: every command
	Each  func(RerunResult) // is given each command as it is done; may be nil
}

// A RerunResult is what came of one recorded command.
type RerunResult struct {
	Record evidence.Record
	Why    string // it was not run again; empty: it was
	Exit   int
	What   string // what differs, one line; empty: nothing
	Diff   string // of the outputs without what differs each time; may be empty
}

// Reran counts what came of the commands of a run.
type Reran struct{ Same, Different, NotRun int }

// Rerun runs the commands of the finished run in dir again, in worktrees of the
// commits that it verified. The gate's run where they ran, after the same
// preparation and with the same environment; those of an agent one after the
// other in a copy of the prepared head, because later ones need what earlier
// ones wrote; those that tried a failing check again in copies of both sides.
// An error means that nothing could be run.
func Rerun(ctx context.Context, r *run.Runner, dir string, o RerunOptions) (_ Reran, err error) {
	p, err := openPast(dir, r.Version)
	if err != nil {
		return Reran{}, err
	}
	a := &rerunner{past: p, each: o.Each, done: map[string]bool{}, box: r.Sandbox, redact: r.Redact}
	if a.wanted, err = p.wanted(o.Check); err != nil {
		return Reran{}, err
	}
	a.playback = &playback{past: p, moved: strings.NewReplacer(), real: r.Sandbox, used: map[string]bool{}, seen: a.seen}
	a.playback.execute = func(rec evidence.Record) bool { return a.wanted[rec.ID] || prepares(rec) }
	like := *r
	like.Sandbox = a.playback
	repeat, err := like.Repeat(ctx, p.run, run.RepeatOptions{
		Repo: o.Repo, Models: &orchestrator.ModelConfig{}, Previous: p.kept(), // agents are not asked: the trees are prepared for them
	})
	if err != nil {
		return Reran{}, err
	}
	defer func() { err = errors.Join(err, repeat.Close()) }()
	if why := repeat.Refused(); why != "" {
		return Reran{}, errors.New(why)
	}
	a.moved = p.moved(repeat.Layout)
	a.playback.moved = a.moved
	if err := a.gate(ctx, repeat); err != nil {
		return a.count, err
	}
	if err := a.agents(ctx, repeat); err != nil {
		return a.count, err
	}
	for _, rec := range p.run.Records {
		if a.wanted[rec.ID] && !a.done[rec.ID] && (a.stopped != "" || rec.Agent != gate.Agent || !fillsCaches(rec)) {
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
		for _, r := range p.run.Records {
			out[r.ID] = r.Executed && !r.Held
		}
		if !anyWanted(out) {
			return nil, errors.New("no command was executed in this run")
		}
		return out, nil
	}
	checks := p.report.Checks
	at := slices.IndexFunc(checks, func(c report.Check) bool { return strings.EqualFold(c.ID, check) })
	if at < 0 {
		return nil, fmt.Errorf("the report has no check %s; it has %s", check, ids(checks))
	}
	for _, r := range p.run.Records {
		out[r.ID] = r.Executed && !r.Held && slices.Contains(checks[at].Evidence, r.ID)
	}
	for _, t := range p.tries() {
		if out[t.first.ID] {
			for _, r := range t.records {
				out[r.ID] = true
			}
		}
	}
	if !anyWanted(out) {
		return nil, fmt.Errorf("check %s names no command that was executed", checks[at].ID)
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

func ids(checks []report.Check) string {
	if len(checks) == 0 {
		return "none"
	}
	return checks[0].ID + " to " + checks[len(checks)-1].ID
}

// A rerunner runs the commands of a past run again.
type rerunner struct {
	past     *past
	wanted   map[string]bool
	done     map[string]bool
	moved    *strings.Replacer
	playback *playback
	box      sandbox.Sandbox
	redact   func([]byte) []byte // may be nil
	each     func(RerunResult)
	count    Reran
	stopped  string // why not all commands came up again
}

// gate drives the gate along the record: it comes by each of its commands with
// the program, the environment and the trees that it had.
func (a *rerunner) gate(ctx context.Context, repeat *run.Repeat) error {
	err := repeat.Gate(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.stopped = "the gate would do something else here: " + err.Error()
	}
	return nil
}

// prepares says whether a command is one on whose work the others rest.
func prepares(r evidence.Record) bool {
	return strings.HasSuffix(r.Task, "/"+string(gate.StageSetup)) || strings.HasSuffix(r.Task, "/"+string(gate.StageBuild))
}

// fillsCaches says whether a command is only run where the machine's caches lack something.
func fillsCaches(r evidence.Record) bool {
	_, stage, _ := strings.Cut(r.Task, "/")
	return gate.Stage(stage).FillsCaches()
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
	stdout, stderr, err := a.past.run.Output(rec)
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
	if res.Limit != rec.Limit {
		what = append(what, fmt.Sprintf("limit %q was %q", res.Limit, rec.Limit))
	}
	for _, s := range []struct {
		name     string
		was, now []byte
	}{{"stdout", stdout, res.Stdout.Bytes}, {"stderr", stderr, res.Stderr.Bytes}} {
		if rec.Results != nil && s.name == "stdout" {
			continue // for a machine to read, with times that differ each time
		}
		d := unified(s.name, a.moved.Replace(string(s.was)), string(a.clean(s.now)))
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
	was, now = evidence.Comparable(was), evidence.Comparable(now)
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

// conclude counts a command and reports it.
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
	if a.each != nil {
		a.each(r)
	}
}

// clean takes secrets out of what a command printed.
func (a *rerunner) clean(b []byte) []byte {
	if a.redact == nil {
		return b
	}
	return a.redact(b)
}
