package recheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// agents runs the commands of each agent that are wanted, and then those that came
// from the checks of an earlier run.
func (a *rerunner) agents(ctx context.Context, repeat *run.Repeat) error {
	tries := append(a.past.tries(), a.past.samples()...)
	tasks := a.tasks(tries)
	if len(tasks) == 0 && !slices.ContainsFunc(a.past.run.Records, a.revisits) {
		return nil
	}
	sides, ok := repeat.Sides()
	if !ok {
		a.stopped = cmp.Or(a.stopped, "the prepared trees could not be made")
		return nil
	}
	sides.Sandbox = a.box
	for _, task := range tasks {
		if err := a.agent(ctx, sides, task, tries); err != nil {
			return fmt.Errorf("commands of agent %s: %w", task, err)
		}
	}
	numbers := reproduce.Numbers(a.past.run.Records)
	for i, rec := range a.past.run.Records {
		if a.revisits(rec) {
			from := reproduce.CopyOf(a.past.run.Journal, rec, numbers)
			if err := a.revisit(ctx, sides, rec, from, fmt.Sprintf("revisit-%d", i)); err != nil {
				return fmt.Errorf("%s: %w", rec.ID, err)
			}
		}
	}
	return nil
}

// tasks are those of the agents of which a command is needed.
func (a *rerunner) tasks(tries []try) []string {
	var out []string
	for _, r := range a.past.run.Records {
		mine := r.Executed && r.Agent != gate.Agent && r.Agent != reproduce.Host
		needed := a.wanted[r.ID] || slices.ContainsFunc(tries, func(t try) bool { return t.first.ID == r.ID && a.wants(t) })
		if mine && needed && !slices.Contains(out, r.Task) {
			out = append(out, r.Task)
		}
	}
	return out
}

// revisits says whether a command is wanted and came from the checks of an earlier run.
func (a *rerunner) revisits(r evidence.Record) bool {
	return a.wanted[r.ID] && r.Agent == reproduce.Host && strings.HasPrefix(r.Task, reproduce.PreviousTask)
}

// revisit runs one of them in a fresh copy of its side. from are the folders that it
// names.
func (a *rerunner) revisit(ctx context.Context, s *reproduce.Sides, rec evidence.Record, from evidence.Roots, name string) error {
	side := s.Head
	if strings.HasPrefix(path.Base(rec.Task), string(gate.Base)) {
		side = s.Base
	}
	at := s.Layout.Copy(name)
	tree, err := s.Pool.Copy(ctx, side, at.Tree)
	if err != nil {
		return err
	}
	defer s.Pool.Put(tree, side)
	if _, err := s.LayTexts(ctx, tree, a.added(rec)); err != nil {
		return err
	}
	c, err := s.Command(ctx, at)
	if err != nil {
		return err
	}
	at.Base = s.Base.Dir
	c.Dir, c.Timeout = filepath.Join(tree.Dir, filepath.FromSlash(rec.Cwd)), patience(rec)
	x := evidence.Execution{Agent: rec.Agent, Root: tree.Dir, Roots: at, Tree: tree.OID, Run: c}
	company, err := s.Accompany(ctx, x, rec.Beside, from)
	if err != nil {
		return err
	}
	company.Attend(&x)
	c.Loopback, c.Env = x.Run.Loopback, x.Run.Env
	c.Argv = reproduce.Bash(from.Move(cmp.Or(rec.Script, rec.Command), at))
	res, err := a.box.Run(ctx, c)
	err = errors.Join(err, company.Leave())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.compare(rec, res, err)
}

// added are the files beside which the command of a check of an earlier run ran.
func (a *rerunner) added(rec evidence.Record) reproduce.Added {
	last, err := reproduce.ReadLast(filepath.Join(a.past.run.Begun.Dir, rundir.Previous))
	if err != nil {
		return reproduce.Added{}
	}
	for _, c := range last.Report.Checks {
		if was, ok := last.Record(c); ok && path.Dir(rec.Task) == reproduce.PreviousTask+c.ID {
			return last.Added(was)
		}
	}
	return reproduce.Added{}
}

func (a *rerunner) wants(t try) bool {
	return slices.ContainsFunc(t.records, func(r evidence.Record) bool { return a.wanted[r.ID] })
}

// agent runs one agent's commands up to the last that is needed, and then what
// was tried again of them.
func (a *rerunner) agent(ctx context.Context, s *reproduce.Sides, task string, tries []try) (err error) {
	ws, err := orchestrator.Allocate(ctx, s, task)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ws.Tree.Close()) }()
	records := of(a.past.run.Records, task)
	mine := slices.DeleteFunc(slices.Clone(tries), func(t try) bool { return t.first.Task != task || !a.wants(t) })
	last := len(records) - 1
	for len(mine) == 0 && !a.wanted[records[last].ID] {
		last-- // one of them is wanted
	}
	for _, rec := range records[:last+1] {
		if rec.Held { // it is started again beside the commands that it served
			continue
		}
		ws.Past.Take(ctx, rec.ID)
		res, err := a.own(ctx, s, ws, rec)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, restoreErr := ws.Tree.Restore(ctx); restoreErr != nil {
			return restoreErr
		}
		if a.wanted[rec.ID] {
			if err := a.compare(rec, res, err); err != nil {
				return err
			}
		}
	}
	for _, t := range mine {
		if err := a.try(ctx, s, ws, t); err != nil {
			return err
		}
	}
	return nil
}

// own runs a command of an agent, with what was held while it ran.
func (a *rerunner) own(ctx context.Context, s *reproduce.Sides, ws *orchestrator.Workspace, rec evidence.Record) (sandbox.Result, error) {
	o := a.original(rec, ws)
	x := evidence.Execution{Agent: rec.Agent, Task: rec.Task, Root: ws.Tree.Dir, Roots: ws.Roots, Tree: ws.Tree.OID, Run: ws.Command}
	company, err := s.Accompany(ctx, x, rec.Beside, o.Roots)
	if err != nil {
		return sandbox.Result{Exit: -1}, err
	}
	company.Attend(&x)
	x.Command = o.CommandAt(ws.Roots)
	if err := s.LayScratch(ctx, ws.Roots, &x); err != nil {
		return sandbox.Result{Exit: -1}, errors.Join(err, company.Leave())
	}
	c := x.Run
	c.Dir, c.Timeout = filepath.Join(ws.Tree.Dir, filepath.FromSlash(rec.Cwd)), patience(rec)
	c.Argv = reproduce.Bash(x.Command)
	res, err := a.box.Run(ctx, c)
	return res, errors.Join(err, company.Leave())
}

// try runs what was tried once more.
func (a *rerunner) try(ctx context.Context, s *reproduce.Sides, ws *orchestrator.Workspace, t try) error {
	o := a.original(t.first, ws)
	for _, rec := range t.records {
		var side *workspace.Tree
		if side = s.Head; strings.HasPrefix(rec.Task, reproduce.OnBase) {
			side = s.Base
		}
		now, err := s.Again(ctx, o, side, rec.Task)
		if err != nil {
			return err
		}
		stdout, err := s.Log.Output(now.Stdout)
		if err != nil {
			return err
		}
		stderr, err := s.Log.Output(now.Stderr)
		if err != nil {
			return err
		}
		res := sandbox.Result{Exit: now.Exit, TimedOut: now.TimedOut, Limit: now.Limit, Stdout: sandbox.Output{Bytes: stdout}, Stderr: sandbox.Output{Bytes: stderr}}
		if err := a.compare(rec, res, nil); err != nil {
			return err
		}
	}
	return nil
}

// original is a recorded command of an agent. A record of a version that recorded no
// roots names folders that lie where the recorded run had them all.
func (a *rerunner) original(rec evidence.Record, ws *orchestrator.Workspace) reproduce.Original {
	if rec.Roots != nil {
		return reproduce.Original{Record: rec, Roots: *rec.Roots, Workspace: ws.Roots, Past: ws.Past}
	}
	rec.Command = a.moved.Replace(rec.Command)
	return reproduce.Original{Record: rec, Roots: ws.Roots, Workspace: ws.Roots, Past: ws.Past}
}

// patience is how long a command of an agent may take that took so long before.
func patience(r evidence.Record) time.Duration {
	took := time.Duration(r.DurationMS) * time.Millisecond
	if r.TimedOut {
		return took
	}
	return 2*took + 2*time.Minute
}
