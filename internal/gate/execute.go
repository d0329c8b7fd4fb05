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
	installs string // the folder in unit that a setup command fills and that depends on manifests alone; empty: not known
	cache    string // Go's build cache; empty: see seals

	// stranger returns what a head that is not trusted, and its base, are set up with in
	// place of this; nil: it is run as it stands. See [runner.setupOf].
	stranger func(Side) []command
	// data is what is there in place of the tree, by name; nil: the tree is. Such a
	// command fetches, and runs nothing of the tree.
	data    func(*survey) map[string][]byte
	ownYarn bool // among the data is the yarn that the base's settings name
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
	if c.data != nil {
		r.fetches[step.Evidence] = true
	}
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
	history, err := r.Mirror.Shown(ctx)
	if err != nil {
		return Step{}, err
	}
	cache := c.cache
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
	dir := at.tree.Dir
	if c.data != nil {
		var err error
		if dir, at.home, err = r.layData(ctx, side, &c); err != nil {
			return Step{}, fmt.Errorf("%s %s: %w", side, c.text, err)
		}
	}
	if err := r.ownSettings(at.home); err != nil {
		return Step{}, err
	}
	run := sandbox.Command{
		Argv: c.argv, Env: slices.Concat(r.goEnv(cache, c), r.in.Env), Home: at.home,
		Writable: []string{dir, cache}, ReadOnly: []string{history},
		Network: r.Network.of(c.network), Services: r.Services, Timeout: c.timeout, Stdout: stdout,
	}
	if c.stage == StageSetup {
		env, files := r.Tools.registries()
		// As root yarn would take a folder of the system, which other runs write to.
		env = append(env, "YARN_CACHE_FOLDER="+filepath.Join(at.home, ".cache", "yarn"))
		run.Env = slices.Concat(env, r.goEnv(cache, c))
		run.ReadOnly = append(run.ReadOnly, files...)
		if err := r.setupModCache(side, c, &run); err != nil {
			return Step{}, err
		}
		run.Env = append(run.Env, r.in.Env...)
	} else {
		run.ReadOnly = append(run.ReadOnly, r.modCache())
	}
	led, err := r.restrain(ctx, side, c, &run)
	if err != nil {
		return Step{}, fmt.Errorf("%s %s: %w", side, c.text, err)
	}
	defer led.close()
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
		Root: dir, Cwd: c.unit, Tree: at.tree.OID, Run: run, After: at.after, Hosts: led.hosts,
	})
	step := Step{
		Stage: c.stage, Side: side, Unit: c.unit, Command: c.text, Evidence: rec.ID,
		Exit: res.Exit, TimedOut: res.TimedOut, Duration: res.Duration, PerTest: c.results != nil,
	}
	if err != nil {
		return step, fmt.Errorf("%s %s: %w", side, c.text, err)
	}
	if c.data != nil {
		if err := r.takeFetched(ctx, side, c); err != nil {
			return step, fmt.Errorf("%s %s: %w", side, c.text, err)
		}
	}
	if err := untouched(c); err != nil {
		return step, err
	}
	if step.Failed() {
		both := string(res.Stdout.Bytes)
		if c.results != nil {
			both = ""
		}
		step.Output = clean(joinOutput(both, string(res.Stderr.Bytes)), dir)
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
