package gate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A command is one thing to run at a side.
type command struct {
	stage    Stage
	unit     string   // folder in the repository, "." for its top
	text     string   // for people
	name     string   // of it as a whole, where text names some of its tests; empty: text
	whole    string   // the text of the command that it is a part of, with its packages; empty: it is no part
	packages []string // import paths
	argv     []string // what is run
	env      []string
	network  sandbox.Network
	eco      string   // name of the ecosystem whose it is; empty: of none
	results  *results // how its standard output tells tests apart; nil: it does not
	flags    []string // of the test runner, which also hold when tests are run again
	needed   bool     // is run beside setup commands of the configuration
	race     bool     // is of use for the race detector only
	timeout  time.Duration
	cache    string // Go's build cache; empty: see seals
}

// exec runs c in tree and records the step. stdout, which may be nil, sees all
// of the command's standard output.
func (r *runner) exec(ctx context.Context, side Side, tree *workspace.Tree, c command, stdout io.Writer) (Step, error) {
	r.progress(Progress{Stage: c.stage, Side: side, Unit: c.unit, Command: c.text})
	step, err := r.execute(ctx, side, spot{tree: tree, home: r.home(side)}, c, stdout)
	if err != nil {
		return step, err
	}
	r.res.Steps = append(r.res.Steps, step)
	if c.stage != StageList {
		r.restore(ctx, side, tree, c)
	}
	r.progress(Progress{Stage: c.stage, Side: side, Unit: c.unit, Command: c.text, Done: true, Step: step})
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
func (r *runner) execute(ctx context.Context, side Side, at spot, c command, stdout io.Writer) (Step, error) {
	if c.stage != StageSetup && r.Whole != nil {
		r.Whole(ctx)
	}
	cache, err := c.cache, error(nil)
	switch {
	case cache != "":
	case c.seals():
		cache = r.buildCache(side)
	default:
		if cache, err = r.ownCache(side, at); err != nil {
			return Step{}, err
		}
	}
	if err := mkdirs(at.home, cache, r.modCache()); err != nil {
		return Step{}, err
	}
	if err := r.ownSettings(at.home); err != nil {
		return Step{}, err
	}
	run := sandbox.Command{
		Argv: c.argv, Env: slices.Concat(r.Tools.settings(), r.goEnv(cache, c), r.in.Env), Home: at.home,
		Writable: []string{at.tree.Dir, cache}, ReadOnly: []string{r.Mirror.Dir},
		Network: r.Network.of(c.network), Services: r.Services, Timeout: c.timeout, Stdout: stdout,
	}
	if c.stage == StageSetup {
		env, files := r.Tools.registries()
		// As root yarn would take a folder of the system, which other runs write to.
		env = append(env, "YARN_CACHE_FOLDER="+filepath.Join(at.home, ".cache", "yarn"))
		run.Env = slices.Concat(r.Tools.settings(), env, r.goEnv(cache, c))
		run.ReadOnly = append(run.ReadOnly, files...)
		if err := r.setupModCache(side, c, &run); err != nil {
			return Step{}, err
		}
		run.Env = append(run.Env, r.in.Env...)
	} else {
		run.ReadOnly = append(run.ReadOnly, r.modCache())
	}
	r.restrain(&run, c.text)
	if cache != r.projectCache() {
		run.ReadOnly = append(run.ReadOnly, r.lent()...)
	}
	if own := r.buildCache(side); cache != own && exists(own) {
		run.ReadOnly = append(run.ReadOnly, own)
	}
	untouched, err := r.sealBase(side)
	if err != nil {
		return Step{}, err
	}
	rec, res, err := r.Log.Run(ctx, r.Sandbox, evidence.Execution{
		Agent: Agent, Task: string(r.named(side)) + "/" + string(c.stage), Command: c.text,
		Root: at.tree.Dir, Cwd: c.unit, Tree: at.tree.OID, Run: run, After: at.after,
	})
	step := Step{
		Stage: c.stage, Side: side, Unit: c.unit, Command: c.text, Evidence: rec.ID,
		Exit: res.Exit, TimedOut: res.TimedOut, Duration: res.Duration, PerTest: c.results != nil,
	}
	if err != nil {
		return step, fmt.Errorf("%s %s: %w", side, c.text, err)
	}
	if err := untouched(c); err != nil {
		return step, err
	}
	if step.Failed() {
		both := string(res.Stdout.Bytes)
		if c.results != nil {
			both = ""
		}
		step.Output = clean(joinOutput(both, string(res.Stderr.Bytes)), at.tree.Dir)
		step.Environment = environment(step.Output)
		if step.Lacks = r.lacking(step); step.Lacks != "" {
			step.Environment = "no " + step.Lacks + " on this machine"
		}
	}
	return step, nil
}

// restore puts tracked files back that a command changed, as code generators and
// careless tests do, so that later commands see the commit that is judged.
func (r *runner) restore(ctx context.Context, side Side, tree *workspace.Tree, c command) {
	if tree != r.tree(side) {
		return // an overlay differs from its commit on purpose
	}
	changed, err := tree.Restore(ctx)
	switch {
	case err != nil:
		r.note("%s: tracked files could not be checked after %q: %v", side, c.text, err)
	case len(changed) > 0:
		r.note("%s: %q changed %s, which %s put back", side, c.text, listed(changed, 3), plural(len(changed), "was", "were"))
	}
}
