// Package reproduce runs a recorded command again on clean copies of both sides of a
// change and classifies the outcome. A failure counts against the change only where
// it happens again on the head and not in the same way on the base.
//
// What a copy is made from is a prepared snapshot of its side, after setup and build.
// Files that the agent made for its check travel along, as they were before the command: small
// files that it added to its worktree, and its scratch files.
package reproduce

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// longest is how long a command may take when it is run again.
const longest = 5 * time.Minute

// patience is how long this command may take: one that ran into its limit a little longer
// than that.
func patience(r evidence.Record) time.Duration {
	if took := time.Duration(r.DurationMS) * time.Millisecond; r.TimedOut {
		return min(longest, took+took/10+5*time.Second)
	}
	return longest
}

// Shares of the time that is left in which commands may be begun again: checks that held,
// or are of the last run; and what fails, on which a verdict hangs. None goes on for longer
// than the last.
const (
	ShareOfHeld    = 0.25
	ShareOfFailing = 0.75
	ShareInAll     = 0.9
)

// Share is when a share of the time is over that ctx has left. Zero: it has no end.
func Share(ctx context.Context, now time.Time, part float64) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(end.Sub(now)) * part))
}

// A Shell makes the command in which the shell commands of a project run in tree: its
// environment, what it may write and read, its network.
type Shell interface {
	Shell(ctx context.Context, tree, base, home string) (sandbox.Command, error)
}

// Sides are the two sides of a change, prepared, and what it takes to run commands on
// clean copies of them.
type Sides struct {
	Base, Head *workspace.Tree // snapshots after setup and build, which nothing changes
	Shell      Shell
	Env        []string // of the configuration, for each command
	Layout     rundir.Layout
	Sandbox    sandbox.Sandbox
	Log        *evidence.Log
	Pool       *workspace.Pool  // of copies
	Now        func() time.Time // as Sandbox has it

	ports sync.Mutex // held while processes listen on ports of the host
}

// Command is what shell commands in a copy of a side have in common.
func (s *Sides) Command(ctx context.Context, at evidence.Roots) (sandbox.Command, error) {
	if err := os.MkdirAll(at.Temp, 0o700); err != nil {
		return sandbox.Command{}, err
	}
	c, err := s.Shell.Shell(ctx, at.Tree, s.Base.Dir, at.Home)
	if err != nil {
		return sandbox.Command{}, err
	}
	c.Writable = append(c.Writable, at.Temp)
	c.Env = append(c.Env, s.Env...)
	c.Env = append(c.Env, "TMPDIR="+at.Temp, "YCBOT_BASE="+s.Base.Dir, scratchVar+"="+scratch(at))
	return c, nil
}

// Bash are the words that run a command as an agent's are run.
func Bash(command string) []string {
	return []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", command}
}

// An Original is a recorded command of an agent.
type Original struct {
	Record    evidence.Record
	Roots     evidence.Roots // folders that its command names
	Workspace evidence.Roots // where the agent works now, for the files that travel along
	Past      *Past          // those files before each of its commands; nil: they are taken as they are now
}

// CommandAt is the command with the folders of at in the place of those that it names.
func (o Original) CommandAt(at evidence.Roots) string { return o.Roots.Move(scriptOf(o.Record), at) }

// scriptOf is the text that bash was given.
func scriptOf(r evidence.Record) string { return cmp.Or(given(r), CommandOf(r)) }

// Again runs the command of o in a fresh copy of a side. The copy takes the place of
// the folders that the command names.
func (s *Sides) Again(ctx context.Context, o Original, side *workspace.Tree, task string) (evidence.Record, error) {
	rec, _, err := s.again(ctx, o, side, task)
	return rec, err
}

// AgainOnBase is Again on the base. It also returns what the agent had built of the head, so
// that it did not go to the base, and what the command did not build there.
func (s *Sides) AgainOnBase(ctx context.Context, o Original) (evidence.Record, []string, error) {
	return s.again(ctx, o, s.Base, OnBase)
}

func (s *Sides) again(ctx context.Context, o Original, side *workspace.Tree, task string) (rec evidence.Record, left []string, err error) {
	at := s.Layout.Copy(o.Record.ID + "-" + filepath.Base(task))
	tree, err := s.Pool.Copy(ctx, side, at.Tree)
	if err != nil {
		return rec, nil, err
	}
	defer s.Pool.Put(tree, side)
	ofTree, err := o.copyProbes(ctx, carrying{s.Head.Dir, tree.Dir, side == s.Base, s.Head.Ignored})
	if err != nil {
		return rec, nil, err
	}
	defer s.clean(at)
	ofTemp, err := o.copyScratch(ctx, at.Temp, side == s.Base)
	if err != nil {
		return rec, nil, err
	}
	rec, err = s.execute(ctx, execution{o.Record, o.Roots, at, task}, tree)
	left = stillMissing(tree.Dir, ofTree)
	if script := scriptOf(rec); strings.Contains(script, "TMPDIR") || strings.Contains(script, at.Temp) {
		left = append(left, stillMissing(at.Temp, ofTemp)...)
	}
	return rec, left, err
}

// repeat runs a recorded command of the last run in a fresh copy of a side, beside the files
// that its agent had added. It also returns those that were not laid out and that the command
// did not make.
func (s *Sides) repeat(ctx context.Context, e execution, side *workspace.Tree, files Added) (rec evidence.Record, left []string, err error) {
	tree, err := s.Pool.Copy(ctx, side, e.at.Tree)
	if err != nil {
		return rec, nil, err
	}
	defer s.Pool.Put(tree, side)
	if left, err = s.LayTexts(ctx, tree, files); err != nil {
		return rec, nil, err
	}
	defer s.clean(e.at)
	rec, err = s.execute(ctx, e, tree)
	return rec, stillMissing(tree.Dir, left), err
}

// clean removes the short-lived files of a command. What cannot be removed goes with
// the run.
func (s *Sides) clean(at evidence.Roots) { _ = folder.RemoveAll(context.Background(), at.Temp) }

// An execution is a recorded command that is run again in a copy.
type execution struct {
	record evidence.Record
	roots  evidence.Roots // that the command names
	at     evidence.Roots // in their place
	task   string
}

func (s *Sides) execute(ctx context.Context, e execution, tree *workspace.Tree) (evidence.Record, error) {
	run, err := s.Command(ctx, e.at)
	if err != nil {
		return evidence.Record{}, err
	}
	e.at.Base = s.Base.Dir
	x := evidence.Execution{
		Agent: Host, Task: e.task, Command: e.roots.Move(CommandOf(e.record), e.at), Script: e.roots.Move(given(e.record), e.at),
		Roots: e.at, // what ran is what the log says
		Root:  tree.Dir, Cwd: e.record.Cwd, Tree: tree.OID, Run: run,
	}
	company, err := s.Accompany(ctx, x, e.record.Beside, e.roots)
	if err != nil {
		return evidence.Record{}, err
	}
	company.Attend(&x)
	if err := s.LayScratch(ctx, e.at, &x); err != nil {
		return evidence.Record{}, errors.Join(err, company.Leave())
	}
	x.Run.Argv, x.Run.Timeout = Bash(cmp.Or(x.Script, x.Command)), patience(e.record)
	rec, _, err := s.Log.Run(ctx, s.Sandbox, x)
	return rec, errors.Join(err, company.Leave())
}
