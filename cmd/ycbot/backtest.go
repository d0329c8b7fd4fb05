package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/backtest"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace"
)

// backtestOptions are the flags of "ycbot backtest".
type backtestOptions struct {
	dir, repos, out, resume string
	arms                    []string
	last, jobs              int
	seed                    uint64
	plan                    bool
	timeout                 timeLimit
	sandbox                 choice
	network                 choice
	until                   choice
	format                  choice
}

func backtestCommand(p *program) *cobra.Command {
	o := &backtestOptions{
		timeout: timeLimit{20 * time.Minute},
		sandbox: choice{"auto", []string{"auto", "full", "strong", "basic", "none"}},
		network: choice{"setup", []string{"none", "setup", "full"}},
		until:   choice{"end", []string{"first", "end"}},
		format:  choice{"text", []string{"text", "json", "markdown"}},
	}
	cmd := &cobra.Command{
		Use:   "backtest",
		Short: "Find out what ycbot would have said of past changes",
		Long: `Choose past changes by a rule and a seed, make bad ones of them whose faults tests
prove, run the gate on each without a model, and count the verdicts.

The arms: good (as it was merged), undone (sources put back, tests kept), unseen (a
fault that only a hidden test shows), tampered (undone, and the tests changed until
they pass), honest (edits of sample repositories that change tests for a good reason).

The plan is written to DIR/plan.json before the first run, and each case adds a line
to DIR/results.jsonl as it ends. A backtest that was interrupted, in any way and on
any machine, is continued with --resume. The repositories are only read.

Exit codes: 0 all cases have their line, 3 it could not be done, 130 cancelled.`,
		Example: `  ycbot backtest --last 20
  ycbot backtest --last 20 --resume ~/.ycbot/backtests/project/results.jsonl
  ycbot backtest table --format markdown
  ycbot backtest --repos ~/src --last 5 --arms good,undone --out study/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given(cmd, "repos", "out", "resume"); err != nil {
				return err
			}
			return p.backtest(cmd.Context(), o)
		},
	}
	shared := cmd.PersistentFlags()
	shared.SortFlags = false
	shared.StringVarP(&o.dir, "directory", "C", ".", "read the history of the repository in `DIR`")
	shared.StringVar(&o.repos, "repos", "", "read the history of each repository in the folder `DIR`, in place of -C")
	shared.StringVar(&o.out, "out", "", "folder `DIR` of the plan and the results (default below $YCBOT_HOME)")
	shared.Var(&o.format, "format", "how the table is printed: text, json, markdown")
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.last, "last", 20, "choose the last `N` changes of each repository")
	f.StringSliceVar(&o.arms, "arms", []string{"good", "undone", "unseen", "tampered"}, "make cases of these arms, as `A,B`: good, undone, unseen, tampered, honest")
	f.Uint64Var(&o.seed, "seed", 1, "choose the order of changes and operators by `S`")
	f.IntVar(&o.jobs, "jobs", 1, "run `N` changes side by side; with more than one, processor time is not measured")
	f.Var(&o.timeout, "timeout", "time limit of a run, and of a plain suite")
	f.Var(&o.until, "until", "first: judge by the first verdict, without probes; end: by the whole run")
	f.BoolVar(&o.plan, "plan", false, "write the plan and run nothing; --resume begins with it")
	f.StringVar(&o.resume, "resume", "", "continue the backtest whose results are in `FILE`, with the same settings")
	for _, flags := range []*cobra.Command{cmd, backtestShow(p, o)} {
		flags.Flags().Var(&o.sandbox, "sandbox", "how commands are sandboxed; fail if `TIER` is unavailable:\nauto, full, strong, basic, none")
		flags.Flags().Var(&o.network, "network", "when commands may use the network: none, setup, full")
		if flags != cmd {
			cmd.AddCommand(flags)
		}
	}
	cmd.AddCommand(backtestTable(p, o))
	return cmd
}

func backtestShow(p *program, o *backtestOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "show CASE",
		Short: "Make the run directory of a case again",
		Long: `Run a case of a backtest again and keep its run directory, below the folder of the
backtest: "ycbot check" opens it. The commits are the same as then.`,
		Example: `  ycbot backtest show project-1a2b3c4d-undone`,
		Args:    someArgs(1, "which case? name it, as \"ycbot backtest table\" does"),
		RunE:    func(cmd *cobra.Command, args []string) error { return p.backtestShow(cmd.Context(), o, args[0]) },
	}
}

func backtestTable(p *program, o *backtestOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "table",
		Short: "Print what a backtest has found so far",
		Long: `Print the verdicts of each arm with exact 95 % intervals, what they cost, each case
that was judged wrongly or not decided with its cause, and what gave no case.

What you find out about a case goes into DIR/notes.jsonl, one line each:
{"case":"…","cause":"…","exclude":true}. An excluded case stays an error in the last
column.`,
		Example: `  ycbot backtest table --format markdown`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := p.backtestOut(o)
			if err != nil {
				return err
			}
			return p.backtestPrint(o, out)
		},
	}
}

// backtest does "ycbot backtest".
func (p *program) backtest(ctx context.Context, o *backtestOptions) error {
	b, s, err := p.newBacktest(ctx, o)
	if err != nil {
		return err
	}
	if err := b.Run(ctx, s); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(p.stderr, "ycbot: continue with --resume %s\n", filepath.Join(s.Out, "results.jsonl"))
		}
		return err
	}
	if o.plan {
		return p.backtestPlan(o, s.Out)
	}
	return p.backtestPrint(o, s.Out)
}

// backtestPlan prints what was planned and where that is written; there is no table yet.
func (p *program) backtestPlan(o *backtestOptions, dir string) error {
	plan, err := backtest.ReadPlan(dir)
	if err != nil {
		return err
	}
	var out []byte
	if o.format.value == "json" {
		out, err = json.MarshalIndent(plan, "", " ")
		out = append(out, '\n')
	} else {
		out = []byte(plan.Text(dir))
	}
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(out)
	return err
}

// newBacktest wires what a backtest needs.
func (p *program) newBacktest(ctx context.Context, o *backtestOptions) (*backtest.Backtest, backtest.Settings, error) {
	s := backtest.Settings{Last: o.last, Seed: o.seed, Jobs: o.jobs, Timeout: o.timeout.Duration, Resume: o.resume, Plan: o.plan, First: o.until.value == "first"}
	var err error
	if s.Arms, err = backtest.ParseArms(o.arms); err != nil {
		return nil, s, usage.Errorf("%w", err)
	}
	if o.last < 1 || o.jobs < 1 {
		return nil, s, usage.Errorf("--last and --jobs: give a number above zero")
	}
	if s.Out, err = p.backtestOut(o); err != nil {
		return nil, s, err
	}
	ro := newRunOptions()
	ro.sandbox, ro.network, ro.remote = o.sandbox, o.network, true
	runner, err := p.runner(ctx, ro)
	if err != nil {
		return nil, s, err
	}
	if s.Sources, err = backtest.Sources(ctx, runner.Git, o.dir, o.repos); err != nil {
		return nil, s, err
	}
	b := &backtest.Backtest{
		Engine: backtest.Gate{Runner: runner}, Git: runner.Git, Version: version(), CPU: backtest.ProcessorTime, Now: p.now, Log: p.log(),
	}
	if !p.quiet {
		b.Progress = p.stderr
	}
	return b, s, nil
}

// backtestOut is the folder of a backtest.
func (p *program) backtestOut(o *backtestOptions) (string, error) {
	switch {
	case o.out != "":
		return filepath.Abs(o.out)
	case o.resume != "":
		name, err := filepath.Abs(o.resume)
		return filepath.Dir(name), err
	}
	home, err := p.home()
	if err != nil {
		return "", err
	}
	dir := o.dir
	if o.repos != "" {
		dir = o.repos
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return filepath.Join(home, "backtests", workspace.Slug(dir)), nil
}

// backtestShow does "ycbot backtest show".
func (p *program) backtestShow(ctx context.Context, o *backtestOptions, id string) error {
	o.arms, o.last, o.jobs = []string{"good"}, 1, 1 // the plan says what they are
	b, s, err := p.newBacktest(ctx, o)
	if err != nil {
		return err
	}
	out := filepath.Join(s.Out, "cases", id)
	line, rep, err := b.Show(ctx, s, id, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "the run directory of %s, which was %s then: %s\n", id, line.Verdict, out)
	format := o.format.value
	return p.print(rep, format)
}

// backtestPrint prints the table.
func (p *program) backtestPrint(o *backtestOptions, dir string) error {
	s, err := backtest.Load(dir)
	if err != nil {
		return err
	}
	out := []byte(s.Text())
	switch o.format.value {
	case "json":
		out, err = s.JSON()
	case "markdown":
		out = []byte(s.Markdown())
	}
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(out)
	return err
}
