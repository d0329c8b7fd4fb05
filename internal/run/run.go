// Package run performs one job from checkout to report. The Action, the App and
// the command line all end here, so this is the package to read first: [Runner.Run]
// is the list of stages, and each stage is a file of that name.
//
// A run keeps everything it does in one directory, of which it is the only
// writer: journal.jsonl holds the result of each stage that is finished (kind
// "stage", key the stage's name), so that the same run started again continues
// after the last one; events.jsonl tells what happened when, evidence.jsonl and
// spill/ what was executed. SHA256SUMS is written last.
//
// A run's trees lie elsewhere, in the folder of the project under the harness's
// home, and are removed when it ends; a crash leaves them to the sweeper.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/hook"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Runner holds what every run needs.
type Runner struct {
	Home        string // the harness's own files: projects, their mirrors, caches and runs
	Git         *workspace.Git
	Sandbox     sandbox.Sandbox
	Tools       *gate.Toolchains // of this machine; nil: none
	Network     Network
	Hosts       []string               // that agents may fetch from; none: they fetch nothing
	Fetcher     tool.Fetcher           // by which they do
	Redact      func([]byte) []byte    // takes secrets out of all that is written
	Permissions []agent.PermissionFile // the operator's
	Agents      []agents.Folder        // with agent files: of the person who runs this, and of the operator; the base's come between them
	// First is given the report on the decisive part of the gate, while the rest goes on,
	// which can only lower its verdict; it must not wait. May be nil.
	First   func(*report.Report)
	Observe func(agent.Event) // sees each event after it was written; may be nil
	Hooks   *hook.Runner      // the operator's; nil: none
	Version string
	OS      string // such as "linux/amd64"
	Now     func() time.Time
	Log     *slog.Logger
}

// A Network says when commands of the change may use the network.
type Network string

// When commands may use the network. The zero value is as NetworkSetup.
const (
	NetworkNone  Network = "none"
	NetworkSetup Network = "setup" // while dependencies are fetched
	NetworkFull  Network = "full"
)

// A Job says what to verify.
type Job struct {
	ID     string                // of the run; made up where empty, kept by a run that is continued
	Dir    string                // a folder in the repository
	Repo   *workspace.Repository // that Dir lies in; nil: it is looked for
	Base   string                // ref; empty: the default range
	Head   string                // ref; empty: HEAD
	Dirty  bool                  // the working tree is the head
	Pull   *Pull                 // a pull request, in place of Dir, Base, Head and Dirty
	Task   string                // what the change is said to do
	Config *ConfigFile
	// AgentsDir is a folder of the base commit whose agents count as the operator's.
	AgentsDir string
	Out       string        // run directory; empty: a new one under Home
	Previous  string        // directory of the last run on the same change, whose checks are run again; empty: none
	Timeout   time.Duration // of the whole run; 0: the configuration's
	Cast      *Cast         // the model side; nil: gate only
	Mode      string        // of agents: verify, or plan to run nothing; empty: verify
	Trigger   string
	Actor     string
	Notes     []string // for the report
	// Words brings what people say to the run while it goes, such as the text of a
	// new "/verify"; whoever sends it has made sure that they may. Agents that work
	// read it between two rounds of tools, those that begin later before their
	// first reply counts. It is read from the first stage to the last, so that
	// sending does not block for long; what is sent after that is not read. Words
	// that were read are in the journal: a run that is continued knows them, and
	// nobody sends them again. nil: nobody says anything.
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
	// it cannot be is a [UsageError].
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

// Run verifies a change. A failing verdict is a report, not an error; so is a
// run that was cancelled, ran out of time or met a fault of the infrastructure
// once its range was known: Report.Outcome tells. An error means that there is
// nothing to report on: what the caller gave ([UsageError]) or a run directory,
// mirror or journal that cannot be used.
func (r *Runner) Run(ctx context.Context, job Job) (*report.Report, error) {
	s, err := r.open(ctx, job)
	if err != nil {
		return nil, err
	}
	defer s.close()
	src, err := stage(ctx, s, "checkout", s.checkout)
	if err == nil {
		err = s.ready(ctx, src)
	}
	if err == nil {
		err = s.admitted(ctx)
	}
	if err != nil {
		return nil, s.discard(err)
	}
	rep, err := s.drive(ctx)
	if err == nil {
		err = s.seal(rep)
	}
	s.ended(ctx, rep, err)
	return rep, err
}

// drive is what comes after the checkout: gate, agents, report.
func (s *session) drive(ctx context.Context) (*report.Report, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	if s.job.Accept {
		return s.acceptance(ctx)
	}
	ctx, done := s.reachable(ctx)
	defer done()
	defer s.listen(ctx)()
	var t *takeover
	if s.job.Previous != "" && s.around.refused() == "" {
		var err error
		if t, err = stage(ctx, s, "takeover", s.takeOver); err != nil && ctx.Err() == nil {
			return nil, err
		}
		if t != nil && t.RunID != "" {
			return stage(context.WithoutCancel(ctx), s, "report", func(context.Context) (*report.Report, error) { return s.taken(t) })
		}
	}
	var agentsFailure error
	if c := s.job.Cast; c != nil && s.around.refused() == "" && (c.Preflight != nil || c.Rates != nil) {
		_, agentsFailure = stage(ctx, s, "preflight", s.preflight)
	}
	result, failure := stage(ctx, s, "gate", s.gate)
	s.history.wait(ctx) // of a gate that an earlier attempt at this run has ended
	var last *revisited
	if s.job.Previous != "" && failure == nil && s.around.refused() == "" {
		last, failure = stage(ctx, s, "previous", func(ctx context.Context) (*revisited, error) { return s.revisit(ctx, t, result) })
	}
	s.last = last
	var judged *judgement
	if agentsFailure == nil && s.job.Cast != nil && !s.job.UntilFirst && s.around.refused() == "" {
		judged, agentsFailure = stage(ctx, s, "agents", func(ctx context.Context) (*judgement, error) { return s.agents(ctx, result) })
	}
	return stage(context.WithoutCancel(ctx), s, "report", func(context.Context) (*report.Report, error) {
		return s.report(ctx, result, judged, failure, agentsFailure)
	})
}

// A UsageError is a mistake of whoever asked for the run. Its text says what is
// wrong and what to do.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// stage returns what fn gives, or gave when this run was begun before: its
// result is in the journal before the next stage begins. What a stage gives
// beside an error is returned and not recorded.
func stage[T any](ctx context.Context, s *session, name string, fn func(context.Context) (T, error)) (T, error) {
	began := s.Now()
	s.tell(agent.Event{Type: agent.EventStageStart, Step: &agent.Step{Stage: name}})
	var kept T // what fn gave beside an error
	v, err := journal.Once(s.journal, "stage", name, func() (T, error) {
		var err error
		kept, err = fn(ctx)
		return kept, err
	})
	if err != nil {
		v = kept
		err = fmt.Errorf("%s: %w", name, err)
	}
	took := s.Now().Sub(began).Milliseconds()
	s.stages = append(s.stages, report.Stage{Name: name, DurationMS: took})
	s.tell(agent.Event{Type: agent.EventStageDone, Step: &agent.Step{Stage: name}, DurationMS: took, Reason: errText(err)})
	return v, errors.Join(err, s.failed())
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
