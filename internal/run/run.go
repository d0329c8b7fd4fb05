// Package run performs one job from checkout to report. The Action, the App and
// the command line all end here, so this is the package to read first: [Runner.Run]
// begins a run, prepares it and seals it, and verify, below it, is the list of its
// stages. Each stage is given values and returns values.
//
// What a stage returns is in the journal of the run directory before the next stage
// begins (see package rundir), so that the same run started again continues after the
// last finished stage.
//
// A run's trees lie in the folder of the project under the harness's home, and are
// removed when it ends; a crash leaves them to the sweeper.
package run

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/hook"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A Runner holds what every run needs.
type Runner struct {
	Home        string // the harness's own files: projects, their mirrors, caches and runs
	Git         *git.Git
	Sandbox     sandbox.Sandbox
	Tools       *gate.Toolchains // of this machine; nil: none
	Network     rundir.Network
	Hosts       []string               // that agents may fetch from; none: they fetch nothing
	Fetcher     tool.Fetcher           // by which they do
	SetupEnv    []string               // the operator's "NAME=value" for setup commands of heads that are not untrusted
	Contents    Contents               // of files under Git LFS; nil: none are fetched
	Redact      func([]byte) []byte    // takes secrets out of all that is written
	Permissions []agent.PermissionFile // the operator's
	Agents      []agents.Folder        // with agent files: of the person who runs this, and of the operator; the base's come between them
	// First is given the report on the decisive part of the gate, while the rest goes on,
	// which can only lower its verdict; it must not wait. May be nil.
	First   func(*report.Report)
	Observe func(agent.Event) // sees each event after it was written; may be nil
	Hooks   *hook.Runner      // the operator's; nil: none
	Force   *config.Force     // the operator's settings, over those of repositories; nil: none
	Version string
	OS      string // such as "linux/amd64"
	Now     func() time.Time
	Log     *slog.Logger
}

// A Job says what to verify.
type Job struct {
	ID     string                 // of the run; made up where empty, kept by a run that is continued
	Dir    string                 // a folder in the repository
	Repo   *repository.Repository // that Dir lies in; nil: it is looked for
	Base   string                 // ref; empty: the default range
	Head   string                 // ref; empty: HEAD
	Dirty  bool                   // the working tree is the head
	Pull   *Pull                  // a pull request, in place of Dir, Base, Head and Dirty
	Task   string                 // what the change is said to do
	Config *ConfigFile
	// AgentsDir is a folder of the base commit whose agents count as the operator's.
	AgentsDir string
	Out       string                    // run directory; empty: a new one under Home
	Previous  *Previous                 // the last run on the same change, whose checks are run again; nil: there is none
	Timeout   time.Duration             // of the whole run; 0: the configuration's
	Models    *orchestrator.ModelConfig // the model side; nil: gate only
	Mode      string                    // of agents: verify, or plan to run nothing; empty: verify
	Trigger   string
	Actor     string
	Notes     []string // for the report
	// Words brings what people say to the run while it goes, such as the text of a
	// new "/verify"; the sender has made sure that they may. Agents that work
	// read it between two rounds of tools, those that begin later before their
	// first reply counts. It is read from the first stage to the last, so that
	// sending does not block for long; what is sent after that is not read. Words
	// that were read are in the journal: a run that is continued knows them, and
	// they are not sent again. nil: nothing is said.
	Words <-chan string
	// Results are what tests of the repository's bases said in other runs; nil: those
	// that runs on this machine have kept.
	Results gate.BaseResults
	// Flakes are the tests of the repository that flaked in other runs; nil: what runs
	// on this machine have kept.
	Flakes gate.Flakes
	// Kept is called when the journal has an entry more, before the run relies on it,
	// so that it can be kept elsewhere too; its error is that of the entry. May be nil.
	Kept    func() error
	Trust   string // of the head: trusted, untrusted or local
	Machine bool   // its author is a machine, whose given-up expectations a person must accept
	// Accepted are what people accepted on this pull request before. One counts where
	// the head gives up exactly the same; one without a digest is of this head.
	Accepted []report.Acceptance
	// Accept concludes the run in Previous again, with Accepted, and runs nothing. That
	// it cannot be is a [rundir.UsageError].
	Accept bool
	// UntilFirst asks for the decisive part of the gate alone: no probes and no agents.
	UntilFirst bool
	Require    sandbox.Tier // the least in which the change may be executed; empty: any
}

// A ConfigFile is a configuration that was named explicitly.
type ConfigFile struct {
	Name string
	Data []byte
}

// A Previous is the last run on the same change, checked.
type Previous struct {
	Name   string         // of the folder, as someone gave it
	Dir    string         // the run directory that it rests on
	Digest string         // of that directory's SHA256SUMS
	Report *report.Report // nil where Err or Problem says why it cannot be used
	Err    error          // why it cannot be read
	// Problem is what is not as the run left it, or does not follow from its log; empty:
	// it is intact.
	Problem string
}

// Usable reports whether it is as its run left it, and of a format that this version reads: only then it can be
// concluded again.
func (p *Previous) Usable() bool { return p.Err == nil && p.Problem == "" }

// Run verifies a change. A failing verdict is a report, not an error; so is a
// run that was cancelled, ran out of time or met a fault of the infrastructure
// once it was prepared: see Report.Outcome. An error means that there is
// nothing to report on ([Unready] says what was known by then): what the caller gave ([rundir.UsageError]) or a run directory,
// mirror or journal that cannot be used.
func (r *Runner) Run(ctx context.Context, job Job) (*report.Report, error) {
	b, err := r.begin(ctx, job, nil)
	if err != nil {
		return nil, err
	}
	defer b.close(r)
	p, src, err := r.prepare(ctx, b)
	if err != nil {
		return nil, &Unready{Begun: b.recorded(src), Err: b.discard(r, err)}
	}
	defer p.close()
	rep, err := p.verify(ctx)
	if err == nil {
		err = b.seal(rep, p.config.digests())
	}
	b.progress.hooks.runEnd(ctx, rep, err)
	return rep, err
}

// An Unready run had begun, and met what keeps it from verifying anything.
type Unready struct {
	Begun rundir.Begun // its change is empty where the checkout failed
	Err   error
}

func (e *Unready) Error() string { return e.Err.Error() }
func (e *Unready) Unwrap() error { return e.Err }

// prepare finds the change and opens what the stages after the checkout need. The change is
// returned with an error, too, where it was found.
func (r *Runner) prepare(ctx context.Context, b *begun) (*prepared, rundir.Source, error) {
	h, err := r.openMirror(ctx, b)
	if err != nil {
		return nil, rundir.Source{}, fmt.Errorf("checkout: %w", err)
	}
	src, err := quick(ctx, b.progress, "checkout", func(ctx context.Context) (rundir.Source, error) { return r.checkout(ctx, b, h.mirror) })
	if err != nil {
		h.close(r.Log)
		return nil, src, err
	}
	p, err := r.ready(ctx, b, h, src)
	if err != nil {
		return nil, src, err
	}
	b.progress.hooks = r.hooks(b, src)
	if err := b.progress.hooks.runStart(ctx); err != nil {
		p.close()
		return nil, src, err
	}
	return p, src, nil
}

// verify is what comes after the checkout. Each stage is given values and returns
// values; what it returned is in the journal before the next one begins.
func (p *prepared) verify(ctx context.Context) (*report.Report, error) {
	ctx, cancel := withLimit(ctx, p.begun.job.Timeout, p.config)
	defer cancel()
	if p.begun.job.Accept {
		return p.acceptance(ctx)
	}
	ctx, done := p.reachable(ctx)
	defer done()
	defer p.inbox.Listen(ctx, p.begun.dir, p.begun.job.Words, p.runner.Log)()

	if why := p.begun.settings.Refused(); why != "" {
		result, failure := stage(ctx, p.begun.progress, "gate", func(context.Context) (*gate.Result, error) { return refusal(why), nil })
		return p.report(ctx, Found{Gate: result, Failure: failure})
	}
	reuse, err := p.lookBack(ctx)
	if err != nil {
		return nil, err
	}
	if reuse.Reused() {
		return p.reused(ctx)
	}
	var f Found
	var first orchestrator.Preflight
	if p.agents != nil && p.agents.HasPreflight() && !p.begun.job.UntilFirst {
		first, f.AgentsFailure = quick(ctx, p.begun.progress, "preflight", p.agents.Preflight)
	}
	sides := &snapshots{}
	f.Gate, f.Failure = stage(ctx, p.begun.progress, "gate", func(ctx context.Context) (*gate.Result, error) { return p.gate(ctx, sides) })
	p.history.wait(ctx) // of a gate that an earlier attempt at this run has ended
	if p.begun.job.Previous != nil && f.Failure == nil {
		f.Previous, f.Failure = stage(ctx, p.begun.progress, "previous", func(ctx context.Context) (*reproduce.Previous, error) { return p.previous(ctx, reuse, sides) })
	}
	if p.agents != nil && f.AgentsFailure == nil && !p.begun.job.UntilFirst {
		f.Judged, f.AgentsFailure = stage(ctx, p.begun.progress, "agents", func(ctx context.Context) (*orchestrator.Judgement, error) { return p.judge(ctx, f, first, sides) })
	}
	return p.report(ctx, f)
}
