package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// agents runs the commands of each agent that are wanted.
func (a *rerunner) agents(ctx context.Context) error {
	tries := append(a.past.tries(), a.past.samples()...)
	var tasks []string
	for _, r := range a.past.read {
		mine := r.Executed && r.Agent != gate.Agent && r.Agent != hostAgent
		needed := a.wanted[r.ID] || slices.ContainsFunc(tries, func(t try) bool { return t.first.ID == r.ID && a.wants(t) })
		if mine && needed && !slices.Contains(tasks, r.Task) {
			tasks = append(tasks, r.Task)
		}
	}
	if len(tasks) == 0 && !slices.ContainsFunc(a.past.read, a.revisits) {
		return nil
	}
	h := &host{session: a.session, cast: a.job.Cast, seats: map[string]*seat{}, gate: a.gateOf(a.log)}
	h.base, h.head = a.snapshots[gate.Base], a.snapshots[gate.Head]
	if h.base == nil || h.head == nil {
		a.stopped = cmp.Or(a.stopped, "the prepared trees could not be made")
		return nil
	}
	for _, task := range tasks {
		if err := a.agent(ctx, h, task, tries); err != nil {
			return fmt.Errorf("commands of agent %s: %w", task, err)
		}
	}
	for i, rec := range a.past.read {
		if a.revisits(rec) {
			if err := a.revisit(ctx, h, rec, fmt.Sprintf("revisit-%d", i)); err != nil {
				return fmt.Errorf("%s: %w", rec.ID, err)
			}
		}
	}
	return nil
}

// revisits tells the wanted commands that came from the checks of an earlier run.
func (a *rerunner) revisits(r evidence.Record) bool {
	return a.wanted[r.ID] && r.Agent == hostAgent && strings.HasPrefix(r.Task, "again/")
}

// revisit runs one of them in a fresh copy of its side.
func (a *rerunner) revisit(ctx context.Context, h *host, rec evidence.Record, name string) error {
	side := h.head
	if strings.HasSuffix(rec.Task, "/"+string(gate.Base)) {
		side = h.base
	}
	tree, err := a.pool.Copy(ctx, side, filepath.Join(a.trees, "again", name))
	if err != nil {
		return err
	}
	defer a.pool.Put(tree, side)
	c, err := h.template(ctx, tree, tree.Dir+"-home", filepath.Join(a.temps(), name))
	if err != nil {
		return err
	}
	c.Dir, c.Timeout = filepath.Join(tree.Dir, filepath.FromSlash(rec.Cwd)), patience(rec)
	c.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", revisitDir.ReplaceAllLiteralString(rec.Command, tree.Dir)}
	res, err := a.box.Run(ctx, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.compare(rec, res, err)
}

func (a *rerunner) wants(t try) bool {
	return slices.ContainsFunc(t.records, func(r evidence.Record) bool { return a.wanted[r.ID] })
}

// agent runs one agent's commands up to the last that is needed, and then what
// the host tried again of them.
func (a *rerunner) agent(ctx context.Context, h *host, task string, tries []try) error {
	st := &seat{}
	if err := h.lodge(ctx, st, task); err != nil {
		return err
	}
	records := of(a.past.read, task)
	mine := slices.DeleteFunc(slices.Clone(tries), func(t try) bool { return t.first.Task != task || !a.wants(t) })
	last := len(records) - 1
	for len(mine) == 0 && !a.wanted[records[last].ID] {
		last-- // one of them is wanted
	}
	for _, rec := range records[:last+1] {
		c := st.command
		c.Dir, c.Timeout = st.tree.Dir, patience(rec)
		c.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", a.moved.Replace(rec.Command)}
		res, err := a.box.Run(ctx, c)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, restoreErr := st.tree.Restore(ctx); restoreErr != nil {
			return restoreErr
		}
		if a.wanted[rec.ID] {
			if err := a.compare(rec, res, err); err != nil {
				return err
			}
		}
	}
	for _, t := range mine {
		if err := a.try(ctx, h, st, t); err != nil {
			return err
		}
	}
	return nil
}

// try runs what the host tried once more.
func (a *rerunner) try(ctx context.Context, h *host, st *seat, t try) error {
	first := t.first
	first.Command = a.moved.Replace(first.Command)
	for _, rec := range t.records {
		var side *workspace.Tree
		if side = h.head; rec.Task == rerunBase {
			side = h.base
		}
		now, err := h.again(ctx, st, first, side, rec.Task)
		if err != nil {
			return err
		}
		stdout, err := a.log.Output(now.Stdout)
		if err != nil {
			return err
		}
		stderr, err := a.log.Output(now.Stderr)
		if err != nil {
			return err
		}
		res := sandbox.Result{Exit: now.Exit, TimedOut: now.TimedOut, Stdout: sandbox.Output{Bytes: stdout}, Stderr: sandbox.Output{Bytes: stderr}}
		if err := a.compare(rec, res, nil); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long a command of an agent may take that took so long before.
func patience(r evidence.Record) time.Duration {
	took := time.Duration(r.DurationMS) * time.Millisecond
	if r.TimedOut {
		return took
	}
	return 2*took + 2*time.Minute
}
