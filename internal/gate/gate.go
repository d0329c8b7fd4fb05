// Package gate is what is known of a change without a model: it builds and
// tests both sides, compares them test by test, lays the change's tests over
// the base's sources, probes what changed, and concludes.
//
// Everything it claims rests on commands in the evidence log. It works in four
// trees of its own: base and head, in which it sets up, builds and tests; and,
// where the change brings tests, a copy of the prepared base under them. Code of
// the head never writes into a cache that commands of the base read.
//
// The verdict is a pure function of [Facts]; see [Decide].
package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Agent is the name under which the gate's commands stand in the evidence log.
const Agent = "gate"

// A Gate holds what every run of it needs.
type Gate struct {
	Sandbox  sandbox.Sandbox
	Log      *evidence.Log
	Mirror   *workspace.Mirror
	Network  Network
	Services []sandbox.Service // of the job, for every command
	Limits   Limits
	Tools    *Toolchains    // nil: none but those of every system
	CacheDir string         // of this project, kept between runs, written by the harness's own commands only
	Shared   string         // the same for all projects
	Scratch  string         // of this run; the caller removes it
	Results  BaseResults    // of base's tests, from one run to the next; nil: none are kept
	Flakes   Flakes         // which tests flaked before; nil: nothing is on record
	Progress func(Progress) // told of each step as it begins and ends; may be nil
	First    func(Result)   // given what the decisive part came to, before what can only lower it; may be nil
	// Whole waits until Mirror has all history that it will have, which may come while
	// setup is at work; nil: it has it.
	Whole func(context.Context)
	Now   func() time.Time

	leash *leash // of setup, with NetworkRegistries; nil: it has no network
}

// A Network says when commands may use the network.
type Network string

// When commands may use the network. The zero value is as NetworkSetup.
const (
	NetworkNone  Network = "none"
	NetworkSetup Network = "setup"
	NetworkFull  Network = "full"
	// NetworkRegistries is as NetworkSetup for a head that nobody answers for: setup
	// reaches package registries alone, and runs no install scripts where the package
	// manager can leave them out.
	NetworkRegistries Network = "registries"
)

// of returns what a command gets that asks for want.
func (n Network) of(want sandbox.Network) sandbox.Network {
	switch n {
	case NetworkNone:
		return sandbox.NetworkNone
	case NetworkFull:
		return sandbox.NetworkHost
	default:
		return want
	}
}

// An Input is one change to judge.
type Input struct {
	Change       change.Change
	Base, Head   *workspace.Tree // fresh worktrees, which the gate prepares and works in
	Commands     Commands        // from the base's configuration; a kind that is not named is detected
	Env          []string        // "NAME=value", from the base's configuration
	RequireRepro bool            // require_fail_to_pass
	Expectations compare.Policy  // what given-up expectations come to; empty: [compare.Report]
	UntilFirst   bool            // stop after the decisive part: no probes are asked for
	BaseCommands bool            // the head is not trusted to say how it is tested, where the base does
	// Prepared is given the prepared snapshot of a side, once: a copy that was
	// taken when its setup and build were done and before a test had written into
	// it. It is the callee's to close, and to be left as it is until the gate has
	// ended. Nil: the gate closes it.
	Prepared func(context.Context, Side, *workspace.Tree) error
}

// Commands are the shell commands that the configuration names, by kind. A nil
// list leaves the kind to detection, an empty one leaves it out.
type Commands struct {
	Setup, Build, Test, Lint []string
}

// A Progress is one step that begins or has ended.
type Progress struct {
	Stage   Stage
	Side    Side
	Unit    string
	Command string
	Rest    bool // of what the change does not touch
	Done    bool
	Step    Step // when Done
}

// runner is one run of the gate.
type runner struct {
	*Gate
	in       Input
	res      *Result
	plan     map[Side]*plan
	suites   map[Side]Suite
	files    []string // of the head
	prepared map[Side]*snapshot
	as       map[Side]Side    // what the sides are called in the log; nil: by their names
	packages []goPackageInfo  // of the head
	affected map[string]bool  // import paths of the head that the change affects
	splits   map[string]split // by folder of the module
	known    *baseRecord      // of base's tests, from earlier runs; nil: nothing
	saving   *baseRecord      // what this run adds to it; nil: nothing
	doubted  bool             // runs of base's tests disagreed
	resting  bool             // it is at what the change cannot affect
	rested   Suite            // what the head's tests said that the change cannot affect
	flakes   *flakeLedger
	facts    Facts
	longest  time.Duration                  // the slowest package of the base's tests
	lacks    []string                       // what could not be run for want of a program, for people
	missing  bool                           // tests of the change import what the base does not provide
	limit    time.Duration                  // of the whole gate
	share    int                            // of limit, in percent: what the step that is at work may come to
	fetches  map[string]bool                // evidence of commands that fetched, which build nothing
	copies   string                         // what the names of its prepared snapshots begin with
	phantoms *phantoms                      // tests that fail inside of passing ones on the base
	texts    map[string]versions            // of the files of the change
	touched  []touch                        // paths of the change that are not source
	goFiles  map[string]map[string]testFile // of the base's Go tests, by folder and test, as far as they were asked for
	over     Suite                          // the change's tests over the base's sources
	keptArm  *arm                           // the base's tests over the head's sources, closed; nil: that is the head itself
}

// Run judges a change. It returns what it found out also when ctx ends on the
// way: Result.Verdict then is what stands without the rest, and the error says
// why it stopped. Other errors are infrastructure.
func (g *Gate) Run(ctx context.Context, in Input) (*Result, error) {
	r := newRunner(g.leashed(ctx), in)
	defer r.close()
	r.limit = r.left(ctx)
	err := r.steps(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	if err != nil {
		r.facts.Incomplete = stopped(context.Cause(ctx))
	}
	r.noteLeash()
	r.writeFlakes(context.WithoutCancel(ctx))
	r.conclude()
	return r.res, err
}

func newRunner(g *Gate, in Input) *runner {
	return &runner{
		Gate: g, in: in,
		res:      &Result{Toolchains: map[string]string{}},
		plan:     map[Side]*plan{},
		suites:   map[Side]Suite{},
		prepared: map[Side]*snapshot{},
		rested:   Suite{},
		fetches:  map[string]bool{},
		copies:   "prepared",
		flakes:   &flakeLedger{flipped: map[string]bool{}},
		limit:    time.Hour,
		share:    decidesFirst,
		phantoms: newPhantoms(),
	}
}

// steps is the gate from beginning to end: the decisive part, whose verdict is shown at
// once, and what can only lower it.
func (r *runner) steps(ctx context.Context) error {
	if err := r.decide(ctx); err != nil || r.facts.Nothing != "" {
		return err
	}
	r.first()
	if r.in.UntilFirst {
		return nil
	}
	for _, step := range []func(context.Context) error{r.executed, r.lint, r.probe, r.merge, r.rest, r.fuzz, r.plant, r.mutation} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// first shows what the decisive part came to. What is concluded here is concluded again
// in the end.
func (r *runner) first() {
	if r.First == nil || r.in.UntilFirst {
		return
	}
	facts, result := r.facts, *r.res
	r.facts.NoProbes = true
	r.conclude()
	r.First(*r.res)
	r.facts, *r.res = facts, result
}

// decide does what a verdict rests on: the build, the tests of both sides, and each
// side's tests over the other's sources.
func (r *runner) decide(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.detect,
		r.readFlakes,
		r.marks,
		r.prepareBase,
		r.prepareHead,
		r.list,
		r.classify,
		r.splitGo,
		r.testBase,
		r.testHead,
		r.compare,
		r.saveBase,
		r.failToPass,
		r.kept,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if r.facts.Nothing != "" {
			return r.handOver(ctx)
		}
	}
	return nil
}

// handOver gives the trees of a change of which nothing can be run to whoever
// wants them prepared: agents may find something.
func (r *runner) handOver(ctx context.Context) error {
	if r.in.Prepared == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.prepareBase(ctx); err != nil {
		return err
	}
	return r.prepareHead(ctx)
}

// stopped words the reason for which a context ended.
func stopped(cause error) string {
	if errors.Is(cause, context.DeadlineExceeded) {
		return "the time limit was reached"
	}
	if cause == nil || errors.Is(cause, context.Canceled) {
		return "it was cancelled"
	}
	return cause.Error()
}

func (r *runner) tree(side Side) *workspace.Tree {
	if side == Base {
		return r.in.Base
	}
	return r.in.Head
}

func (r *runner) progress(p Progress) {
	if r.Progress != nil {
		p.Side, p.Rest = r.named(p.Side), r.resting
		r.Progress(p)
	}
}

func (r *runner) note(format string, args ...any) {
	r.res.Notes = append(r.res.Notes, fmt.Sprintf(format, args...))
}

func (r *runner) notCovered(format string, args ...any) {
	r.res.NotCovered = append(r.res.NotCovered, fmt.Sprintf(format, args...))
}

// notCoveredOnce is for what is found out of each run of a command.
func (r *runner) notCoveredOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.res.NotCovered, text) {
		r.res.NotCovered = append(r.res.NotCovered, text)
	}
}

// conclude turns what was found out into the verdict.
func (r *runner) conclude() {
	f, t := &r.facts, &r.res.Tests
	f.Lacks = strings.Join(r.lacks, "; ")
	f.BrokenHead, f.BrokenBoth = len(r.res.Broken), len(r.res.BrokenBoth)
	f.Regressed, f.NewFailing = len(Leaves(t.Regressed)), len(Leaves(t.NewFailing))
	f.FlakyNew, f.Unknown = len(Leaves(t.FlakyNew)), len(Leaves(t.Unknown))
	f.NewFlakiness, f.Unsettled = r.counted(t.NewFlakiness), r.counted(t.Unsettled)
	for _, c := range Leaves(t.PreExisting) {
		if _, rested := r.rested[c.ID]; !rested && (c.ID.Test != "" || c.ID.Command != "") {
			f.FailBoth++
		}
	}
	for _, s := range r.res.Steps {
		f.Builds += b2i(s.Side == Head && (s.Stage == StageBuild || s.Stage == StageTest))
	}
	for id, test := range r.suites[Head] {
		if !test.Leaf || test.Status != Passed && test.Status != Failed {
			continue
		}
		passed := test.Status == Passed
		f.Ran++
		f.Passed += b2i(passed)
		if r.affects(id, test) {
			f.AffectedRan++
			f.AffectedPassed += b2i(passed)
		}
	}
	for _, t := range r.rested {
		f.Passed += b2i(t.Leaf && t.Status == Passed)
	}
	for _, p := range r.res.Probes {
		f.Probes += b2i(p.Ran)
		f.ProbeRegressed += len(Leaves(p.Regressed))
		f.ProbeNew += len(Leaves(p.NewFlaky))
	}
	if m := r.res.Merge; m != nil {
		f.MergeBroken, f.MergeFailing = len(m.Broken), len(Leaves(m.Tests.Regressed))+len(Leaves(m.Tests.NewFailing))
	}
	if r.res.FailToPass.State == "" {
		r.res.FailToPass = Reproduction{State: ReproNotRun, Note: "fail-to-pass was not reached"}
	}
	f.NoProbes = f.NoProbes || r.in.UntilFirst
	if x := r.res.Expectations; x != nil {
		f.Changed, f.Policy = x.counts(), x.Policy
	}
	f.Untrusted = r.in.BaseCommands
	f.Runnable, f.Repro, f.RequireRepro = r.res.Runnable, r.res.FailToPass.State, r.in.RequireRepro
	if f.Policy == "" {
		f.Policy = r.in.Expectations
	}
	r.noteRetried()
	r.res.Phantoms = r.phantoms.cases()
	r.res.Facts = *f
	r.res.Verdict, r.res.Reasons = Decide(*f)
}

// affects says whether the change can influence a test: of Go's by their
// packages, of others by what is run at all.
func (r *runner) affects(id ID, t Test) bool {
	return id.Command != "" || t.Eco != "Go" || r.affected[id.Package]
}

// Commands that are none leave everything to detection.
func (c Commands) none() bool { return len(c.Setup)+len(c.Build)+len(c.Test)+len(c.Lint) == 0 }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
