package execution

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Run runs c in tree and records the step. stdout, which may be nil, sees all
// of the command's standard output.
func (e *Executor) Run(ctx context.Context, side results.Side, tree *workspace.Tree, c ecosystem.Command, stdout io.Writer) (ecosystem.Step, error) {
	look, err := e.watchMade(side, tree, c)
	if err != nil {
		return ecosystem.Step{}, err
	}
	step, err := e.RunAsLaid(ctx, side, tree, c, stdout)
	if err == nil && c.Stage != results.StageList {
		look()
		e.restore(ctx, side, tree, c)
	}
	return step, err
}

// RunAsLaid is Run, but that the tree is left as the command leaves it.
func (e *Executor) RunAsLaid(ctx context.Context, side results.Side, tree *workspace.Tree, c ecosystem.Command, stdout io.Writer) (ecosystem.Step, error) {
	e.Show(Progress{Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text})
	step, err := e.RunAt(ctx, side, Place{Tree: tree, Home: e.HomeOf(side)}, c, stdout)
	if err != nil {
		return step, err
	}
	e.Steps = append(e.Steps, step)
	if c.Data != nil {
		e.fetches[step.Evidence] = true
	}
	e.Show(Progress{Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text, Done: true, Step: step})
	return step, nil
}

// A Place is where a command runs, and when it is recorded.
type Place struct {
	Tree  *workspace.Tree
	Home  string
	After <-chan struct{} // its record comes after this; nil: when it has ended
}

// RunAt runs c into the log and touches nothing else of e, so that commands
// can run side by side, each at a place of its own.
func (e *Executor) RunAt(ctx context.Context, side results.Side, at Place, c ecosystem.Command, stdout io.Writer) (ecosystem.Step, error) {
	step, err := e.runAt(ctx, side, at, c, stdout)
	if err != nil {
		return step, fmt.Errorf("%s %s: %w", side, c.Text, err)
	}
	return step, nil
}

func (e *Executor) runAt(ctx context.Context, side results.Side, at Place, c ecosystem.Command, stdout io.Writer) (ecosystem.Step, error) {
	if c.Stage != results.StageSetup && e.Whole != nil {
		e.Whole(ctx)
	}
	history, err := e.Mirror.Shown(ctx)
	if err != nil {
		return ecosystem.Step{}, err
	}
	cache, err := e.cacheFor(ctx, side, at, c)
	if err != nil {
		return ecosystem.Step{}, err
	}
	if err := folder.Make(at.Home, cache, e.Store().ModCache()); err != nil {
		return ecosystem.Step{}, err
	}
	if err := at.Tree.Lay(ctx); err != nil {
		return ecosystem.Step{}, err
	}
	dir := at.Tree.Dir
	if c.Data != nil {
		if dir, at.Home, err = e.layData(ctx, side, &c); err != nil {
			return ecosystem.Step{}, err
		}
	}
	if err := e.ownSettings(at.Home); err != nil {
		return ecosystem.Step{}, err
	}
	run, err := e.command(side, c, dir, at.Home, cache)
	if err != nil {
		return ecosystem.Step{}, err
	}
	run.Stdout, run.ReadOnly = stdout, slices.Concat([]string{history}, run.ReadOnly)
	proxied, err := e.restrain(ctx, side, c, &run)
	if err != nil {
		return ecosystem.Step{}, err
	}
	defer proxied.close()
	untouched, err := e.sealBase(side)
	if err != nil {
		return ecosystem.Step{}, err
	}
	rec, res, err := e.Log.Run(ctx, e.Sandbox, evidence.Execution{
		Agent: Agent, Task: string(e.Named(side)) + "/" + string(c.Stage), Command: c.Text,
		Root: dir, Cwd: c.Unit, Tree: at.Tree.OID, Run: run, After: at.After, Hosts: proxied.hosts,
	})
	step := ecosystem.Step{
		Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text, Shown: c.Typed(), Evidence: rec.ID,
		Exit: res.Exit, TimedOut: res.TimedOut, Limit: res.Limit, Duration: res.Duration, PerTest: c.Results != nil,
	}
	if err != nil {
		return step, err
	}
	if c.Stderr != nil {
		if _, err := c.Stderr.Write(res.Stderr.Bytes); err != nil {
			return step, err
		}
	}
	if c.Data != nil {
		if err := e.takeFetched(ctx, side, c); err != nil {
			return step, err
		}
	}
	if err := untouched(c); err != nil {
		return step, err
	}
	if !step.Failed() && c.Stage != results.StageLint {
		return step, nil
	}
	both := string(res.Stdout.Bytes)
	if c.Results != nil {
		both = ""
	}
	output := results.Clean(results.JoinOutput(both, string(res.Stderr.Bytes)), dir)
	if step.Failed() {
		e.explain(&step, output)
	} else {
		step.Output = output
	}
	return step, nil
}

// RunBare runs c, which compiles and runs nothing, in a folder that has files and nothing of the
// trees, with an empty HOME and without what the project has in the environment of its commands.
func (e *Executor) RunBare(ctx context.Context, files map[string][]byte, c ecosystem.Command) (ecosystem.Step, error) {
	at := filepath.Join(e.Scratch, "bare")
	if err := folder.RemoveAll(ctx, at); err != nil {
		return ecosystem.Step{}, err
	}
	tree, home := &workspace.Tree{Dir: filepath.Join(at, "tree")}, filepath.Join(at, "home")
	if err := folder.Make(tree.Dir, home); err != nil {
		return ecosystem.Step{}, err
	}
	for name, data := range files {
		if err := writeInTree(tree.Dir, name, data); err != nil {
			return ecosystem.Step{}, err
		}
	}
	p := Progress{Stage: c.Stage, Side: results.Base, Unit: c.Unit, Command: c.Text}
	e.Show(p)
	step, err := New(e.Machine, Job{Base: tree, Head: tree, Note: e.Note}).RunAt(ctx, results.Base, Place{Tree: tree, Home: home}, c, nil)
	if err != nil {
		return step, err
	}
	e.Steps = append(e.Steps, step)
	p.Done, p.Step = true, step
	e.Show(p)
	return step, nil
}

// command is what the sandbox runs for c.
func (e *Executor) command(side results.Side, c ecosystem.Command, dir, home, cache string) (sandbox.Command, error) {
	run := sandbox.Command{
		Argv: c.Argv, Env: slices.Concat(e.Store().GoEnv(side, cache, c), e.Env), Home: home, Writable: []string{dir, cache},
		Network: e.Network.Of(c.Network), Services: e.Services, Timeout: c.Timeout,
	}
	if c.Stage == results.StageSetup {
		env, files := languages.Registries(e.Tools)
		// As root yarn would take a folder of the system, which other runs write to.
		env = append(env, "YARN_CACHE_FOLDER="+filepath.Join(home, ".cache", "yarn"))
		run.Env = slices.Concat(env, e.Store().GoEnv(side, cache, c))
		if run.Network == sandbox.NetworkNone { // it would wait for minutes for what cannot come
			run.Env = append(languages.UnconnectedEnv(), run.Env...)
		}
		run.ReadOnly = append(run.ReadOnly, files...)
		if err := e.Store().SetupModCache(side, c, &run); err != nil {
			return run, err
		}
		run.Env = slices.Concat(run.Env, e.Env, e.SetupEnv)
	} else {
		run.ReadOnly = append(run.ReadOnly, e.Store().ModCache())
		if run.Network == sandbox.NetworkNone {
			run.Env = append(languages.UnconnectedEnv(), run.Env...)
		}
	}
	if path := e.Tools.Search(e.Sandbox.Status().Search, dir); path != "" && (c.Stage != results.StageSetup || e.Network != NetworkRegistries) {
		run.Env = append([]string{path}, run.Env...)
	}
	e.Beside.start(c.Stage, &run)
	if cache != e.Store().ProjectCache() {
		run.ReadOnly = append(run.ReadOnly, e.Store().Linked()...)
	}
	if own := e.Store().BuildCache(side); cache != own && folder.Exists(own) {
		run.ReadOnly = append(run.ReadOnly, own)
	}
	return run, nil
}

// explain gives a step that failed its output, and why the failure says nothing about the
// change where that is so.
func (e *Executor) explain(step *ecosystem.Step, output string) {
	step.Output = output
	step.Environment = results.Environment(output)
	if step.Lacks = e.lacking(*step); step.Lacks != "" {
		step.Environment = "no " + step.Lacks + " on this machine"
	}
	if step.Limited() {
		step.Environment = "it " + step.Ending()
	}
}

// noteRestored hands on that a command changed tracked files.
func (e *Executor) noteRestored(side results.Side, c ecosystem.Command, changed []string) {
	if e.Restored != nil {
		e.Restored(side, c.Text, changed)
	}
}

// restore puts tracked files back that a command changed, as careless tests do, so that later
// commands see the commit that is judged. What the base's build makes stands as it was made.
func (e *Executor) restore(ctx context.Context, side results.Side, tree *workspace.Tree, c ecosystem.Command) {
	if tree != e.Tree(side) {
		return // an overlay differs from its commit on purpose
	}
	if err := e.keepMade(ctx, side, tree, c); err != nil {
		e.Note("%s: what %q made could not be kept: %v", side, c.Text, err)
	}
	changed, err := tree.Restore(ctx)
	switch {
	case err != nil:
		e.Note("%s: tracked files could not be checked after %q: %v", side, c.Text, err)
	case len(changed) > 0:
		e.rewrites(side, c, changed)
		e.noteRestored(side, c, changed)
	}
}
