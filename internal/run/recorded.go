package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// A NotIntactError is a run directory that is not as its run left it. Nothing is
// executed for it.
type NotIntactError struct{ Problems []string }

func (e *NotIntactError) Error() string { return "not intact: " + strings.Join(e.Problems, "; ") }

// A past is a finished run, as its directory tells of it.
type past struct {
	*session // only its directory, journal, records, source and circumstances
	kept     kept
	rep      *report.Report
	identity identity
	home     string // where its trees and temporary folders lay; "" where nothing names them
	trees    string
}

// openPast reads the directory of a finished run that is intact.
func openPast(dir string) (*past, error) {
	checked, err := Check(dir, "")
	if err != nil {
		return nil, err
	}
	if len(checked.Problems) > 0 {
		return nil, &NotIntactError{checked.Problems}
	}
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	p := &past{session: &session{Runner: &Runner{}, dir: dir, journal: j}, rep: checked.Report}
	if p.read, err = evidence.ReadVerified(dir, p.rep.RunID); err != nil {
		return nil, err
	}
	if p.kept, err = p.recall(); err != nil {
		return nil, err
	}
	p.lookup("run", "identity", &p.identity)
	p.place()
	return p, nil
}

// lodged is what an agent that executes is told of its tree, after its task.
var lodged = pattern.New(`Your commands start in ((/.*)/projects/[^/\n]+/worktrees/[^/\n]+)/` + agentTrees + `/`)

// place finds out where the run's trees lay: what its agents were told names them, and
// of a run without agents what it began with.
func (p *past) place() {
	if filepath.IsAbs(p.identity.Trees) {
		p.trees, p.home = p.identity.Trees, filepath.Join(p.identity.Trees, "..", "..", "..", "..")
	}
	for _, e := range p.journal.Entries("turn") {
		var opening struct {
			Messages []model.Message `json:"messages"`
		}
		if !p.lookup(e.Kind, e.Key, &opening) || len(opening.Messages) == 0 {
			continue
		}
		// What comes before the last may be quoted of the change.
		if all := lodged.FindAllStringSubmatch(opening.Messages[0].Text, -1); all != nil {
			m := all[len(all)-1]
			p.trees, p.home = m[1], m[2]
			return
		}
	}
}

// moved puts the folders of a run that is driven again in the place of those
// that the record names.
func (p *past) moved(s *session) *strings.Replacer {
	if p.trees == "" {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(p.trees, s.trees, filepath.Join(p.home, "tmp", "y-"+first8(p.id)), s.temps())
}

// output is what a recorded command wrote to its two streams.
func (p *past) output(r evidence.Record) (stdout, stderr []byte, err error) {
	if stdout, err = evidence.ReadOutput(p.dir, r.Stdout); err != nil {
		return nil, nil, err
	}
	stderr, err = evidence.ReadOutput(p.dir, r.Stderr)
	return stdout, stderr, err
}

// steps are the records of the gate's result. Those of an attempt that was
// broken off before it are left out.
func (p *past) steps() []evidence.Record {
	mine := map[string]bool{}
	if p.kept.gate != nil {
		for _, s := range p.kept.gate.Steps {
			mine[s.Evidence] = true
		}
	}
	var out []evidence.Record
	for _, r := range p.read {
		if r.Agent == gate.Agent && r.Executed && (mine[r.ID] || p.kept.gate == nil) {
			out = append(out, r)
		}
	}
	return out
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

// job is what the run was asked, with the repository in dir in place of
// whatever it was verified in, and out as its directory.
func (p *past) job(dir, out string) (Job, error) {
	a := p.around
	job := Job{
		ID: p.id, Dir: dir, Out: out, Base: p.src.Change.BaseSHA, Head: p.src.Change.HeadSHA,
		Timeout: a.Timeout, Trigger: a.Trigger, Actor: a.Actor, Trust: a.Trust, Require: a.Require,
	}
	if _, ok := p.journal.Lookup("stage", "takeover"); ok {
		job.Previous = filepath.Join(p.dir, previousDir)
	}
	if digest(p.src.Change.Task) == p.identity.Task {
		job.Task = p.src.Change.Task
	}
	if a.Config == "" {
		return job, nil
	}
	data, err := os.ReadFile(a.Config)
	if err == nil && digest(string(data)) != p.identity.Config {
		err = errors.New("it is not what it was")
	}
	if err != nil {
		return job, fmt.Errorf("the run used the configuration %s: %w", a.Config, err)
	}
	job.Config = &ConfigFile{Name: a.Config, Data: data}
	return job, nil
}

// again opens a session in a scratch directory that verifies the same range with
// the same settings. It is for doing over what the past run did; its trees lie
// where those would lie that the same run had here.
func (r *Runner) again(ctx context.Context, p *past, dir string, cast *Cast) (*session, error) {
	like := *r
	like.Network = p.around.Network
	if p.around.NoRace != "" {
		like.Tools = r.Tools.WithoutRace(p.around.NoRace)
	}
	temp := filepath.Join(r.Home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp(temp, "again-")
	if err != nil {
		return nil, err
	}
	job, err := p.job(dir, out)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(out))
	}
	job.Cast = cast
	if k := p.around.Cast; k != nil {
		job.Mode = k.Mode
	}
	s, err := like.open(ctx, job)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(out))
	}
	s.driven = true
	s.past = p
	s.closers = append(s.closers, scratchDir(out))
	if err := s.bring(ctx, p.src); err != nil {
		s.close()
		return nil, err
	}
	if err := s.ready(ctx, p.src); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// A scratchDir goes when it is closed.
type scratchDir string

func (d scratchDir) Close() error { return os.RemoveAll(string(d)) }

// bring makes sure that the mirror has the commits of a recorded source.
func (s *session) bring(ctx context.Context, src source) error {
	if err := s.openMirror(ctx); err != nil {
		return err
	}
	c := src.Change
	if src.Lacks == emptyRepo {
		if _, err := s.mirror.Nothing(ctx); err != nil {
			return err
		}
	}
	var missing []string
	for _, oid := range []string{c.BaseSHA, c.MergeBase, c.HeadSHA} {
		if _, err := s.mirror.Describe(ctx, oid); err == nil {
			continue
		}
		if _, err := s.repo.Resolve(ctx, oid); err != nil {
			return lost(s.repo.Root, oid, c)
		}
		missing = append(missing, oid)
	}
	if len(missing) == 0 {
		return nil
	}
	return s.mirror.Import(ctx, s.repo, missing...)
}

// lost says which commit is not there, and what would bring it.
func lost(root, oid string, c change.Change) error {
	hint := "git fetch origin " + oid
	switch {
	case oid == c.HeadSHA && c.Dirty:
		return fmt.Errorf("%s has no commit %s: the run verified a working tree, which no repository keeps", root, oid)
	case oid == c.HeadSHA && c.PR != 0:
		hint = fmt.Sprintf("git fetch origin pull/%d/head", c.PR)
	}
	return fmt.Errorf("%s has no commit %s: bring it with %q", root, oid, hint)
}
