package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/orchestrator/route"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// runOptions are the flags of "ycbot run".
type runOptions struct {
	dir, base, head  string
	dirty, noModel   bool
	task, taskFile   string
	config, out      string
	previous         string
	timeout          timeLimit
	sandbox, network choice
	format, failOn   choice
	until            choice
	model, baseURL   string
	provider         choice
	router           choice
	fastModel        string
	modelIdle        timeLimit
	effort           choice
	smartModel       string
	agents           []string
	coordinator      bool
	noBackground     bool
	mode             choice
	agentsDir        string
	agentFolders     []agents.Folder // of the person who runs this, and of the operator
	fetchHosts       []string
	maxTokens        int
	maxIterations    int
	maxCost          float64
	pr               pullRef // pull request
	pull             bool    // one was named
	repo             string  // of the pull request; empty: origin
	publish          bool
	remote           bool                   // the change is not in a repository here
	found            *repository.Repository // that the change is in; nil: it is in none here
	forecast         bool                   // the sandbox may be tried out beside the beginning of the run
	first            func(*report.Report)   // is shown what the decisive part came to; nil: it is shown to no one
	noRace           string                 // why the race detector is left out; empty: it is not
}

func newRunOptions() *runOptions {
	return &runOptions{
		sandbox:  choice{"auto", []string{"auto", "full", "strong", "basic", "none"}},
		network:  choice{"setup", []string{"none", "setup", "full"}},
		format:   choice{"text", []string{"text", "json", "markdown", "sarif", "junit"}},
		failOn:   choice{"", []string{"fail", "partial", "never"}},
		until:    choice{"end", []string{"first", "end"}},
		router:   choice{"", []string{"off", "manual", "auto"}},
		effort:   choice{"", model.Efforts()},
		mode:     choice{"verify", []string{"verify", "plan"}},
		provider: choice{"", route.Providers()},
	}
}

func runCommand(p *program) *cobra.Command {
	o := newRunOptions()
	cmd := &cobra.Command{
		Use:        "run",
		SuggestFor: []string{"verify", "test", "pr"},
		Short:      "Verify a change of this repository",
		Long: `Verify a change by building and testing it and its base, comparing both test
by test, laying the change's tests over the base's sources, and probing what
changed. With no flags that is HEAD against its merge base with the default
branch (origin/HEAD, else main, else master), and on that branch itself against
HEAD~1.

The report goes to standard output and ends in a line "VERDICT: …"; progress goes
to standard error. Nothing of the repository is changed.

Exit codes: 0 PASS, 1 FAIL, 2 PARTIAL, 3 ERROR (no verdict), 130 cancelled.
With --fail-on: 0 or 1, and 3 for ERROR.`,
		Example: `  ycbot run                          what this branch changes
  ycbot run --dirty                  uncommitted changes
  ycbot run --pr 7                   a pull request of this repository
  ycbot run --base v1.2.0 --head v1.2.1
  ycbot run --format json --out report/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given(cmd, "base", "head", "repo", "task-file", "agents-dir", "config", "previous", "out"); err != nil {
				return err
			}
			if err := aboveZero(cmd, "max-tokens", "max-cost-usd", "max-iterations"); err != nil {
				return err
			}
			o.pull = cmd.Flags().Changed("pr")
			return p.run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.dir, "directory", "C", ".", "work as if started in `DIR`")
	f.StringVar(&o.base, "base", "", "compare with the merge base of this `REF` and the head")
	f.StringVar(&o.head, "head", "", "verify this `REF` (default HEAD)")
	f.BoolVar(&o.dirty, "dirty", false, "verify the working tree with its uncommitted changes")
	f.Var(&o.pr, "pr", "verify pull request `N` on GitHub, or the one at an address; needs GITHUB_TOKEN")
	f.StringVar(&o.repo, "repo", "", "repository of --pr, `OWNER/NAME` or its address (default: origin)")
	f.BoolVar(&o.publish, "publish", false, "post the result on the pull request: a comment and a commit status")
	f.StringVar(&o.task, "task", "", "what the change is meant to do, as `TEXT`")
	f.StringVar(&o.taskFile, "task-file", "", "the same from `FILE`, or - for standard input")
	f.StringVar(&o.model, "model", "", "the `MODEL` that agents ask (default $YCBOT_MODEL; without one the gate alone decides)")
	f.Var(&o.provider, "provider", "the model provider `NAME`: "+strings.Join(provider.Names(), ", ")+",\nor openai:responses for an API that is not the first of a provider,\nor script to play the scenario file that --base-url names (default $YCBOT_PROVIDER, else the one whose key is set)")
	f.StringVar(&o.baseURL, "base-url", "", "the provider's `URL` (default $YCBOT_BASE_URL, else the provider's own); the key comes\nfrom $YCBOT_API_KEY or the provider's own variable, such as $OPENAI_API_KEY")
	f.Var(&o.router, "router", "who chooses an agent's model: off (the run's for all), manual (what the agent names),\nauto (what it names, else the fast or the smart one) (default $YCBOT_ROUTER, else off,\nor auto where one of these is named)")
	f.StringVar(&o.fastModel, "fast-model", "", "the `MODEL` of agents that only read ($YCBOT_FAST_MODEL)")
	f.StringVar(&o.smartModel, "smart-model", "", "the `MODEL` of agents that run commands ($YCBOT_SMART_MODEL)")
	f.Var(&o.modelIdle, "model-idle", "idle timeout of a model response; retried once\n(default $YCBOT_MODEL_IDLE, else 2m)")
	f.Var(&o.effort, "effort", "how long models may think: low, medium, high\n(default $YCBOT_EFFORT, else the configuration's, else the provider's own)")
	f.BoolVar(&o.noModel, "no-model", false, "ask no model: the gate alone gives the verdict")
	f.StringSliceVar(&o.agents, "agents", nil, "run these agents besides verification, as `A,B`")
	f.StringVar(&o.agentsDir, "agents-dir", "", "load agent files from `DIR`; they override the base's and yours")
	f.BoolVar(&o.coordinator, "coordinator", false, "let a model plan the verification, which may start read-only subagents")
	f.BoolVar(&o.noBackground, "no-background", false, "wait for each agent that the coordinator starts, even one marked background")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "limit of uncached tokens of all agents together, `N`; the configuration's where that is lower")
	f.Float64Var(&o.maxCost, "max-cost-usd", 0, "cost limit of all agents together, `X` (default 3); the configuration's, where that is lower")
	f.IntVar(&o.maxIterations, "max-iterations", 0, "limit of model requests per agent, `N` (default: the agent's definition)")
	f.Var(&o.mode, "mode", "what agents may do: verify, or plan to look around and run nothing")
	f.Var(&o.sandbox, "sandbox", "how commands of the change are sandboxed; fail if `TIER` is unavailable:\nauto, full, strong, basic, none")
	f.Var(&o.network, "network", "when commands may use the network: none, setup, full")
	f.StringSliceVar(&o.fetchHosts, "fetch-hosts", nil, "let agents fetch pages from these hosts, as `A,B` ($YCBOT_FETCH_HOSTS; default none)")
	f.Var(&o.timeout, "timeout", "time limit of the whole run (default 20m); the configuration's, where that is lower")
	f.StringVar(&o.config, "config", "", "use this `FILE` in place of .github/ycbot.yml at the base")
	f.Var(&o.until, "until", "what to wait for: first (the verdict of build and tests, without probes and agents) or end")
	f.Var(&o.format, "format", "output format on standard output: text, json, markdown, sarif, junit")
	f.StringVar(&o.previous, "previous", "", "run the checks of an earlier run in `DIR` again, of the same change,\nand show the model what has changed since")
	f.StringVar(&o.out, "out", "", "write the run's files to `DIR` (default below $YCBOT_HOME)")
	f.Var(&o.failOn, "fail-on", "exit 1 for fail, for partial (and worse), or never")
	return cmd
}

// run does "ycbot run": it verifies, prints, and sets the exit code. What keeps a change from
// being verified is printed as a report, too, so that no reader of one finds an empty file;
// a mistake in the command line is not.
func (p *program) run(ctx context.Context, o *runOptions) error {
	rep, err := p.verified(ctx, o)
	var wrong *usage.Error
	if rep == nil && errors.As(err, &wrong) {
		return err
	}
	none := rep == nil
	if none {
		rep = p.unverified(ctx, err)
	}
	p.code = report.Exit(rep.Verdict, o.failOn.value, rep.Outcome)
	if none && o.format.value == "text" && term.IsTerminal(int(p.stdout.Fd())) {
		return p.print(rep, o.format.value) // the report says why, and who reads it sees the errors, too
	}
	return errors.Join(p.print(rep, o.format.value), err)
}

// verified is the report of what the flags ask for. There can be an error beside it, where
// the report could not be posted.
func (p *program) verified(ctx context.Context, o *runOptions) (*report.Report, error) {
	if err := o.pullFlags(p.getenv); err != nil {
		return nil, err
	}
	o.forecast = true
	operator, err := machine.OperatorAgents(o.agentsDir)
	if err != nil {
		return nil, err
	}
	o.agentFolders = append(p.machine().UserFolders(), operator...)
	if o.pull {
		return p.runPull(ctx, o)
	}
	job, err := p.job(o)
	if err != nil {
		return nil, err
	}
	if job.Models, err = p.models(o); err != nil {
		return nil, err
	}
	return p.verify(ctx, o, job)
}

// unverified is the report where there was nothing to report on, why, and what was known of
// the run by then.
func (p *program) unverified(ctx context.Context, why error) *report.Report {
	rep := &report.Report{
		Schema: report.Schema, Trigger: "cli", Trust: "local", Actor: p.getenv("USER"),
		Versions: report.Versions{Ycbot: version(), OS: p.platform}, Timings: report.Timings{Started: p.now().UTC()},
	}
	var unready *run.Unready
	if errors.As(why, &unready) {
		rep = unready.Begun.Header(nil)
		rep.ReportDir, rep.NotCovered, rep.Reproduce = "", nil, "" // no report is kept, and the same would come to nothing again
		rep.Timings.DurationMS = p.now().Sub(rep.Timings.Started).Milliseconds()
	}
	rep.Phase, rep.Verdict, rep.Outcome = report.PhaseEnd, report.Error, report.Errored
	rep.Reasons = []string{"could not verify: " + oneLine(why)}
	if ctx.Err() != nil {
		rep.Outcome = report.Cancelled
	}
	if sig := stoppedBy(ctx); sig != nil { // and not what that made fail
		rep.Reasons = []string{"cancelled before there was a verdict: " + sig.Error()}
	}
	rep = p.withoutSecrets(rep)
	rep.Title = rep.MakeTitle()
	return rep
}

// withoutSecrets is a report without the secrets of the environment, such as in an address of
// a remote. One that cannot be searched keeps its reasons alone.
func (p *program) withoutSecrets(rep *report.Report) *report.Report {
	redactor := redact.New(redact.SecretsFrom(p.env))
	js, err := rep.JSON()
	if err == nil {
		var clean *report.Report
		if clean, err = report.Parse(redact.InJSON(redactor.Bytes, js)); err == nil {
			return clean
		}
	}
	reason := redactor.Bytes([]byte(rep.Reasons[0]))
	return &report.Report{
		Schema: report.Schema, Phase: rep.Phase, Verdict: rep.Verdict, Outcome: rep.Outcome, Reasons: []string{string(reason)},
		Trigger: rep.Trigger, Trust: rep.Trust,
	}
}

// verify wires what a run needs and shows its progress.
func (p *program) verify(ctx context.Context, o *runOptions, job run.Job) (*report.Report, error) {
	runner, err := p.runner(ctx, o)
	if err != nil {
		return nil, err
	}
	if job.Dir == o.dir {
		job.Repo = o.found
	}
	show := p.progress(p.stderr)
	defer show.Close()
	if job.Models != nil {
		show.Price = job.Models.Price
	}
	runner.Observe, runner.First = show.Event, o.first
	return p.door("run").Run(ctx, runner, job)
}

// job reads what the flags say of the change.
func (p *program) job(o *runOptions) (run.Job, error) {
	job := run.Job{
		Dir: o.dir, Base: o.base, Head: o.head, Dirty: o.dirty, Task: o.task, Out: o.out, Timeout: o.timeout.Duration,
		Mode: o.mode.value, UntilFirst: o.until.value == "first",
		Trigger: "cli", Trust: "local", Actor: p.getenv("USER"),
	}
	if o.dirty && o.head != "" {
		return job, usage.Errorf("--dirty takes the working tree as the head: leave --head out")
	}
	if o.task != "" && o.taskFile != "" {
		return job, usage.Errorf("--task and --task-file: give one of them")
	}
	if o.taskFile != "" {
		text, err := p.readInput(o.taskFile)
		if err != nil {
			return job, fmt.Errorf("--task-file: %w", err)
		}
		job.Task = string(text)
	}
	if o.previous != "" {
		dir, err := filepath.Abs(o.previous)
		if err != nil {
			return job, err
		}
		if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS")); err != nil {
			return job, fmt.Errorf("--previous %s: no finished run: %w", o.previous, err)
		}
		if sameFolder(dir, o.out) {
			return job, usage.Errorf("--out %s is the folder of --previous, whose run it would replace: name another one", o.out)
		}
		job.Previous = recheck.Previous(dir)
	}
	if o.config != "" {
		data, err := regular.Read(o.config)
		if err != nil {
			return job, fmt.Errorf("--config: %w", err)
		}
		job.Config = &run.ConfigFile{Name: o.config, Data: data}
	}
	return job, nil
}

// sameFolder reports whether two names are of one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// models says which model is asked; nil means none.
func (p *program) models(o *runOptions) (*orchestrator.ModelConfig, error) {
	c, err := route.Models(p.machine(), route.Settings{
		Provider: o.provider.value, Model: o.model, BaseURL: o.baseURL, Router: o.router.value, FastModel: o.fastModel, SmartModel: o.smartModel,
		Idle: o.modelIdle.Duration, Effort: o.effort.value, None: o.noModel, Agents: o.agents, Coordinator: o.coordinator, NoBackground: o.noBackground,
		MaxTokens: o.maxTokens, MaxIterations: o.maxIterations, MaxCostUSD: o.maxCost,
	})
	if c != nil || err != nil {
		return c, err
	}
	return nil, o.unasked()
}

// unasked refuses flags that have no effect where no model is asked.
func (o *runOptions) unasked() error {
	if o.noModel {
		if len(o.agents) > 0 || o.coordinator || o.mode.value != "verify" {
			return usage.Errorf("--no-model asks no agent: leave --agents, --coordinator and --mode out")
		}
		return nil
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"--router", o.router.value != ""},
		{"--fast-model", o.fastModel != ""},
		{"--smart-model", o.smartModel != ""},
		{"--model-idle", o.modelIdle.Duration != 0},
		{"--effort", o.effort.value != ""},
		{"--no-background", o.noBackground},
		{"--max-tokens", o.maxTokens != 0},
		{"--max-cost-usd", o.maxCost != 0},
		{"--max-iterations", o.maxIterations != 0},
		{"--fetch-hosts", len(o.fetchHosts) > 0},
		{"--mode", o.mode.value != "verify"},
		{"--agents-dir", o.agentsDir != ""},
	} {
		if f.set {
			return usage.Errorf("%s is for agents, and no model is named: give --model NAME or set YCBOT_MODEL, or leave it out", f.name)
		}
	}
	return nil
}

// runner makes what runs need on this machine.
func (p *program) runner(ctx context.Context, o *runOptions) (*run.Runner, error) {
	s := machine.Settings{
		Dir: o.dir, Remote: o.remote, Sandbox: o.sandbox.value, Network: o.network.value, Agents: o.agentFolders, FetchHosts: o.fetchHosts,
		Forecast: o.forecast, NoRace: o.noRace,
	}
	runner, found, err := p.machine().Runner(ctx, s)
	o.found = found
	return runner, err
}

func (p *program) readInput(name string) ([]byte, error) {
	if name == "-" {
		return readAll(p.stdin)
	}
	return regular.Read(name)
}

// print writes the report to standard output.
func (p *program) print(rep *report.Report, format string) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = rep.JSON()
	case "markdown":
		out = []byte(rep.Markdown())
	case "sarif":
		out, err = rep.SARIF()
	case "junit":
		out, err = rep.JUnit()
	default:
		out = []byte(rep.Text(p.textOptions()))
	}
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(out)
	return err
}

func (p *program) textOptions() report.TextOptions {
	o := report.TextOptions{Width: 100}
	if fd := int(p.stdout.Fd()); term.IsTerminal(fd) {
		o.Color = p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			o.Width = w
		}
	}
	return o
}
