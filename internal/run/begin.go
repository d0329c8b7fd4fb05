package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A begun run has its directory, and knows its job and where its folders lie. Stages
// read it and do not change it.
type begun struct {
	job       Job
	dir       *rundir.Dir
	layout    rundir.Layout
	root      string                 // what stands for the repository
	repo      *repository.Repository // nil for a pull request
	ends      ends
	identity  rundir.Identity
	settings  rundir.Settings
	began     time.Time
	progress  *progress
	estimates *estimates       // how long commands took last time
	repeats   *rundir.Recorded // the run that is done again; nil: none is
}

// ends are the commits that the change lies between, as they were when the run
// began, or why there are none.
type ends struct {
	base, head repository.Ref
	err        error
}

// begin finds the repository, makes or finds the run directory and opens what a
// run writes. repeats is the run that is done again; nil: none is.
func (r *Runner) begin(ctx context.Context, job Job, repeats *rundir.Recorded) (*begun, error) {
	b := &begun{job: job, began: r.Now(), repeats: repeats}
	if b.job.ID == "" {
		b.job.ID = rundir.NewID(b.began)
	}
	if err := r.locate(ctx, b); err != nil {
		return nil, err
	}
	if b.ends.err != nil && repeats == nil { // what is done again names its commits itself
		return nil, fmt.Errorf("checkout: %w", &rundir.UsageError{Err: b.ends.err})
	}
	path, err := r.directory(b)
	if err != nil {
		return nil, err
	}
	b.identity = r.identity(b)
	b.dir, err = rundir.Create(path, b.identity, rundir.Options{
		Redact: r.Redact, Now: r.Now, Kept: job.Kept, Empty: func(answered bool) error { return r.mayEmpty(ctx, b, path, answered) },
	})
	if err != nil {
		return nil, err
	}
	b.layout = rundir.NewLayout(r.Home, b.root, b.dir.ID)
	b.estimates = openEstimates(b.layout.Project())
	b.progress = &progress{dir: b.dir, observe: r.Observe, now: r.Now}
	if err := r.record(b); err != nil {
		b.close(r)
		return nil, fmt.Errorf("run directory %s: %w", b.dir.Path, err)
	}
	return b, nil
}

// mayEmpty says why the run directory at path must stay as it is, though it holds another
// run than this: that one was paid for and can go on, or this one comes to nothing, which is
// tried in a folder that goes again.
func (r *Runner) mayEmpty(ctx context.Context, b *begun, path string, answered bool) error {
	if answered && b.job.Trigger == "cli" { // others name their folders themselves
		return &rundir.UsageError{Err: fmt.Errorf("run directory %s holds another run, which was broken off and has answers of models: \"ycbot check\" says what goes on with it; "+
			"name another folder with --out, or remove this one", path)}
	}
	temp := filepath.Join(r.Home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	out, err := os.MkdirTemp(temp, "first-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	like, job := *r, b.job
	like.Observe = nil
	job.ID, job.Repo, job.Out, job.Kept = "", b.repo, out, nil
	_, done, err := like.open(ctx, job)
	if err != nil {
		return err
	}
	done()
	return nil
}

// record records what the run is begun with, and where its folders lie.
func (r *Runner) record(b *begun) (err error) {
	if !b.dir.Resumed { // first: of a copy of the journal that ends anywhere, it is known whose it is
		if err := b.dir.Journal.Append("run", "identity", b.identity); err != nil {
			return err
		}
	}
	b.settings, err = journal.OnceSoon(b.dir.Journal, "run", "circumstances", func() (rundir.Settings, error) { return r.settings(b), nil })
	if err != nil {
		return err
	}
	if err := b.dir.RecordLayout(b.layout); err != nil {
		return err
	}
	if b.dir.Resumed {
		b.progress.note(agent.Event{Type: agent.EventRunResumed, Text: b.dir.ID})
		return nil
	}
	b.progress.note(agent.Event{Type: agent.EventRunStart, Text: b.dir.ID})
	return nil
}

// locate finds the repository, and what the range stands for now.
func (r *Runner) locate(ctx context.Context, b *begun) (err error) {
	if p := b.job.Pull; p != nil {
		b.root = p.root()
		return nil
	}
	if b.repo = b.job.Repo; b.repo == nil {
		if b.repo, err = repository.Discover(ctx, r.Git, b.job.Dir); err != nil {
			return &rundir.UsageError{Err: err}
		}
	}
	b.root = b.repo.Root
	b.ends.base, b.ends.head, b.ends.err = refs(ctx, b.repo, b.job)
	return nil
}

// directory is the run directory that the job names, or a new one of the project.
func (r *Runner) directory(b *begun) (string, error) {
	path := b.job.Out
	if path == "" {
		path = filepath.Join(rundir.NewLayout(r.Home, b.root, b.job.ID).Project(), "runs", b.job.ID)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(b.root, path); err == nil && filepath.IsLocal(rel) && b.job.Dirty {
		named := "--out " + b.job.Out
		if b.job.Out == "" {
			named = "YCBOT_HOME " + r.Home
		}
		return "", &rundir.UsageError{Err: fmt.Errorf("%s lies in the working tree that --dirty verifies: name a folder outside of it", named)}
	}
	return path, nil
}

func (r *Runner) identity(b *begun) rundir.Identity {
	job := b.job
	i := rundir.Identity{
		Run: job.ID, Root: b.root, Base: job.Base, Head: job.Head, Dirty: job.Dirty, Task: rundir.Digest(job.Task),
		Where: fmt.Sprintf("%s %s", r.Sandbox.Status().Tier, r.Network), Trees: rundir.NewLayout(r.Home, b.root, job.ID).Trees,
	}
	switch p := job.Pull; {
	case p != nil:
		i.Range = p.Base + ".." + p.Head
	case b.ends.err == nil: // else what is done again names its commits itself
		i.Range = b.ends.base.OID + ".." + b.ends.head.OID
	}
	if job.Config != nil {
		i.Config = rundir.Digest(string(job.Config.Data))
	}
	if m := job.Models; m != nil {
		i.Model = rundir.Digest(fmt.Sprintf("%s %q %t %s", m.Name, m.Agents, m.Coordinator, job.Mode))
		if m.NoBackground {
			i.Model += " no background"
		}
		if m.Exec != "" {
			i.Model += " exec " + m.Exec
		}
		if m.Effort != "" {
			i.Model += " effort " + m.Effort
		}
	}
	return i
}

func (r *Runner) settings(b *begun) rundir.Settings {
	job := b.job
	s := rundir.Settings{
		Began: b.began.UTC(), Trigger: job.Trigger, Actor: job.Actor, Trust: job.Trust, Require: job.Require,
		Sandbox: r.Sandbox.Status(), Network: r.Network, Model: job.Models != nil && !job.UntilFirst,
		First: job.UntilFirst, Machine: job.Machine, Accepted: slices.Clone(job.Accepted),
		Versions: report.Versions{Ycbot: r.Version, Git: r.Git.Version(), OS: r.OS}, Format: rundir.Format,
		Timeout: job.Timeout, NoRace: r.Tools.NoRace(),
	}
	for i := range s.Accepted {
		if s.Accepted[i].At == "" { // by a trailer: it holds from the run on
			s.Accepted[i].At = s.Began.Format(time.RFC3339)
		}
	}
	if job.Config != nil {
		s.Config = job.Config.Name
	}
	if m := job.Models; m != nil {
		s.Agents = &rundir.AgentSettings{
			Agents: m.Agents, Coordinator: m.Coordinator, MaxTokens: m.MaxTokens, MaxCostUSD: m.MaxCostUSD,
			MaxIterations: m.MaxIterations, NoBackground: m.NoBackground, Mode: job.Mode, Exec: m.Exec, Effort: m.Effort, Flags: m.Flags,
			Dir: r.agentsDir(job),
		}
	}
	return s
}

// agentsDir is the folder of agents that a command which repeats the run can name: the user's
// own or one of the base. That of a server is not where others are, and no one else's business.
func (r *Runner) agentsDir(job Job) string {
	if job.Trigger != "cli" {
		return job.AgentsDir
	}
	for _, f := range r.Agents {
		if f.Origin == agents.Operator {
			return f.Path
		}
	}
	return job.AgentsDir
}

// close closes the files of the run.
func (b *begun) close(r *Runner) {
	err := b.dir.Close()
	if b.repeats == nil {
		err = errors.Join(err, b.estimates.save())
	}
	if err != nil {
		r.Log.Warn("close run", "run", b.dir.ID, "error", err)
	}
}

// discard removes the run directory of a run that came to nothing because of
// what it was given: there is nothing in it to look at.
func (b *begun) discard(r *Runner, err error) error {
	var usage *rundir.UsageError
	if b.dir.Fresh && errors.As(err, &usage) {
		if rmErr := os.RemoveAll(b.dir.Path); rmErr != nil {
			r.Log.Warn("remove run directory", "dir", b.dir.Path, "error", rmErr)
		}
	}
	return err
}

// recorded is the run as its report needs it.
func (b *begun) recorded(src rundir.Source) rundir.Begun {
	return rundir.Begun{Dir: b.dir.Path, ID: b.dir.ID, Identity: b.identity, Settings: b.settings, Source: src}
}

// Writes are the folders outside of its directory that a run of a pull request writes to
// and that are gone when it ends.
func (r *Runner) Writes(job Job) []string {
	l := rundir.NewLayout(r.Home, job.Pull.root(), job.ID)
	return []string{l.Trees, l.Temp}
}
