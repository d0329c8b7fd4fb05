package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A Repeat is a recorded run that is done again, with the same range and the same
// settings, in a directory that goes when it is closed.
type Repeat struct {
	Dir    *rundir.Dir
	Layout rundir.Layout

	prepared *prepared
	sides    snapshots
}

// RepeatOptions say how a recorded run is done again.
type RepeatOptions struct {
	Repo     string // a folder in a repository that has the commits
	Models   *orchestrator.ModelConfig
	Previous *Previous // the last run, as the recorded run kept it; nil: it had none
}

// Repeat opens a recorded run to be done again. Its trees lie where those would lie
// that the same run had here.
func (r *Runner) Repeat(ctx context.Context, from *rundir.Recorded, o RepeatOptions) (_ *Repeat, err error) {
	like := *r
	like.Network = from.Begun.Settings.Network
	if from.Begun.Settings.NoRace != "" {
		like.Tools = r.Tools.WithoutRace(from.Begun.Settings.NoRace)
	}
	temp := filepath.Join(r.Home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp(temp, "again-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(out))
		}
	}()
	job, err := jobOf(from, o)
	if err != nil {
		return nil, err
	}
	job.Out = out
	b, err := like.begin(ctx, job, from)
	if err != nil {
		return nil, err
	}
	p, err := like.prepareRepeat(ctx, b)
	if err != nil {
		b.close(&like)
		return nil, err
	}
	return &Repeat{Dir: b.dir, Layout: b.layout, prepared: p}, nil
}

// prepareRepeat does what prepare does, with the recorded source.
func (r *Runner) prepareRepeat(ctx context.Context, b *begun) (*prepared, error) {
	h, err := r.openMirror(ctx, b)
	if err != nil {
		return nil, err
	}
	src := b.repeats.Begun.Source
	if err := bring(ctx, h.mirror, b.repo, src); err != nil {
		h.close(r.Log)
		return nil, err
	}
	return r.ready(ctx, b, h, src)
}

// jobOf is what the recorded run was asked.
func jobOf(from *rundir.Recorded, o RepeatOptions) (Job, error) {
	s, c := from.Begun.Settings, from.Begun.Source.Change
	job := Job{
		ID: from.Begun.ID, Dir: o.Repo, Base: c.BaseSHA, Head: c.HeadSHA, Models: o.Models, Previous: o.Previous,
		Timeout: s.Timeout, Trigger: s.Trigger, Actor: s.Actor, Trust: s.Trust, Require: s.Require,
		Machine: s.Machine, Accepted: s.Accepted, UntilFirst: s.First,
	}
	if s.Agents != nil {
		job.Mode = s.Agents.Mode
	}
	if rundir.Digest(c.Task) == from.Begun.Identity.Task {
		job.Task = c.Task
	}
	if s.Config == "" {
		return job, nil
	}
	data, err := regular.Read(s.Config)
	if err == nil && rundir.Digest(string(data)) != from.Begun.Identity.Config {
		err = errors.New("it is not what it was")
	}
	if err != nil {
		return job, fmt.Errorf("the run used the configuration %s: %w", s.Config, err)
	}
	job.Config = &ConfigFile{Name: s.Config, Data: data}
	return job, nil
}

// bring makes sure that the mirror has the commits of a recorded source.
func bring(ctx context.Context, m *workspace.Mirror, repo *repository.Repository, src rundir.Source) error {
	c := src.Change
	if src.Lacks == rundir.EmptyRepo {
		if _, err := m.Nothing(ctx); err != nil {
			return err
		}
	}
	var missing []string
	for _, oid := range []string{c.BaseSHA, c.MergeBase, c.HeadSHA} {
		if _, err := m.Describe(ctx, oid); err == nil {
			continue
		}
		if _, err := repo.Resolve(ctx, oid); err != nil {
			return lost(repo.Root, oid, c)
		}
		missing = append(missing, oid)
	}
	if len(missing) == 0 {
		return nil
	}
	return m.Import(ctx, repo, missing...)
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

// Refused says why nothing of the change may be executed here; "" where it may be.
func (p *Repeat) Refused() string { return p.prepared.begun.settings.Refused() }

// Verify goes through all stages after the checkout.
func (p *Repeat) Verify(ctx context.Context) (*report.Report, error) { return p.prepared.verify(ctx) }

// Gate goes through the gate alone, and keeps the prepared trees.
func (p *Repeat) Gate(ctx context.Context) error {
	_, err := p.prepared.gate(ctx, &p.sides)
	return err
}

// Sides are both sides as the gate prepared them; false where it did not get to that.
func (p *Repeat) Sides() (*reproduce.Sides, bool) {
	if p.sides.base == nil || p.sides.head == nil {
		return nil, false
	}
	return p.prepared.sidesOf(&p.sides), true
}

// Close removes the trees and the directory.
func (p *Repeat) Close() error {
	p.prepared.close()
	p.prepared.begun.close(p.prepared.runner)
	return os.RemoveAll(p.Dir.Path)
}
