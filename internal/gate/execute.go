package gate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// exec runs c in tree and records the step. stdout, which may be nil, sees all
// of the command's standard output.
func (r *runner) exec(ctx context.Context, side Side, tree *workspace.Tree, c ecosystem.Command, stdout io.Writer) (Step, error) {
	step, err := r.asLaid(ctx, side, tree, c, stdout)
	if err == nil && c.Stage != StageList {
		r.restore(ctx, side, tree, c)
	}
	return step, err
}

// asLaid is exec, but that the tree is left as the command leaves it.
func (r *runner) asLaid(ctx context.Context, side Side, tree *workspace.Tree, c ecosystem.Command, stdout io.Writer) (Step, error) {
	r.progress(Progress{Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text})
	step, err := r.execute(ctx, side, spot{tree: tree, home: r.home(side)}, c, stdout)
	if err != nil {
		return step, err
	}
	r.res.Steps = append(r.res.Steps, step)
	if c.Data != nil {
		r.fetches[step.Evidence] = true
	}
	r.progress(Progress{Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text, Done: true, Step: step})
	return step, nil
}

// A spot is where a command runs, and when it is recorded.
type spot struct {
	tree  *workspace.Tree
	home  string
	after <-chan struct{} // its record comes after this; nil: when it has ended
}

// execute runs c into the log and touches nothing of the result, so that commands
// can run side by side.
func (r *runner) execute(ctx context.Context, side Side, at spot, c ecosystem.Command, stdout io.Writer) (Step, error) {
	if c.Stage != StageSetup && r.Whole != nil {
		r.Whole(ctx)
	}
	history, err := r.Mirror.Shown(ctx)
	if err != nil {
		return Step{}, err
	}
	cache := c.Cache
	switch {
	case cache != "":
	case c.Seals():
		cache = r.store().BuildCache(side)
	default:
		if cache, err = r.ownCache(ctx, side, at); err != nil {
			return Step{}, err
		}
	}
	if err := folder.Make(at.home, cache, r.store().ModCache()); err != nil {
		return Step{}, err
	}
	if err := at.tree.Lay(ctx); err != nil {
		return Step{}, err
	}
	dir := at.tree.Dir
	if c.Data != nil {
		var err error
		if dir, at.home, err = r.layData(ctx, side, &c); err != nil {
			return Step{}, fmt.Errorf("%s %s: %w", side, c.Text, err)
		}
	}
	if err := r.ownSettings(at.home); err != nil {
		return Step{}, err
	}
	run := sandbox.Command{
		Argv: c.Argv, Env: slices.Concat(r.store().GoEnv(cache, c), r.in.Env), Home: at.home,
		Writable: []string{dir, cache}, ReadOnly: []string{history},
		Network: r.Network.of(c.Network), Services: r.Services, Timeout: c.Timeout, Stdout: stdout,
	}
	if c.Stage == StageSetup {
		env, files := r.Tools.Registries()
		// As root yarn would take a folder of the system, which other runs write to.
		env = append(env, "YARN_CACHE_FOLDER="+filepath.Join(at.home, ".cache", "yarn"))
		run.Env = slices.Concat(env, r.store().GoEnv(cache, c))
		run.ReadOnly = append(run.ReadOnly, files...)
		if err := r.store().SetupModCache(side, c, &run); err != nil {
			return Step{}, err
		}
		run.Env = slices.Concat(run.Env, r.in.Env, r.SetupEnv)
	} else {
		run.ReadOnly = append(run.ReadOnly, r.store().ModCache())
		if run.Network == sandbox.NetworkNone {
			run.Env = append(ecosystem.UnconnectedEnv(), run.Env...)
		}
	}
	r.beside.start(c.Stage, &run)
	proxied, err := r.restrain(ctx, side, c, &run)
	if err != nil {
		return Step{}, fmt.Errorf("%s %s: %w", side, c.Text, err)
	}
	defer proxied.close()
	if cache != r.store().ProjectCache() {
		run.ReadOnly = append(run.ReadOnly, r.store().Linked()...)
	}
	if own := r.store().BuildCache(side); cache != own && folder.Exists(own) {
		run.ReadOnly = append(run.ReadOnly, own)
	}
	untouched, err := r.sealBase(side)
	if err != nil {
		return Step{}, err
	}
	rec, res, err := r.Log.Run(ctx, r.Sandbox, evidence.Execution{
		Agent: Agent, Task: string(r.named(side)) + "/" + string(c.Stage), Command: c.Text,
		Root: dir, Cwd: c.Unit, Tree: at.tree.OID, Run: run, After: at.after, Hosts: proxied.hosts,
	})
	step := Step{
		Stage: c.Stage, Side: side, Unit: c.Unit, Command: c.Text, Shown: plain(c), Evidence: rec.ID,
		Exit: res.Exit, TimedOut: res.TimedOut, Duration: res.Duration, PerTest: c.Results != nil,
	}
	if err != nil {
		return step, fmt.Errorf("%s %s: %w", side, c.Text, err)
	}
	if c.Stderr != nil {
		if _, err := c.Stderr.Write(res.Stderr.Bytes); err != nil {
			return step, fmt.Errorf("%s %s: %w", side, c.Text, err)
		}
	}
	if c.Data != nil {
		if err := r.takeFetched(ctx, side, c); err != nil {
			return step, fmt.Errorf("%s %s: %w", side, c.Text, err)
		}
	}
	if err := untouched(c); err != nil {
		return step, err
	}
	if step.Failed() {
		both := string(res.Stdout.Bytes)
		if c.Results != nil {
			both = ""
		}
		step.Output = ecosystem.Clean(ecosystem.JoinOutput(both, string(res.Stderr.Bytes)), dir)
		step.Environment = ecosystem.Environment(step.Output)
		if step.Lacks = r.lacking(step); step.Lacks != "" {
			step.Environment = "no " + step.Lacks + " on this machine"
		}
	}
	return step, nil
}

// restore puts tracked files back that a command changed, as code generators and
// careless tests do, so that later commands see the commit that is judged.
func (r *runner) restore(ctx context.Context, side Side, tree *workspace.Tree, c ecosystem.Command) {
	if tree != r.tree(side) {
		return // an overlay differs from its commit on purpose
	}
	changed, err := tree.Restore(ctx)
	switch {
	case err != nil:
		r.note("%s: tracked files could not be checked after %q: %v", side, c.Text, err)
	case len(changed) > 0:
		r.rewrites(side, c, changed)
		r.note("%s: %q changed %s, which %s put back", side, c.Text, ecosystem.Listed(changed, 3), ecosystem.Plural(len(changed), "was", "were"))
	}
}
