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
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/runs"
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
	SetupEnv []string          // the operator's "NAME=value" for setup commands alone, with credentials
	Limits   Limits
	Tools    *Toolchains    // nil: none but those of every system
	CacheDir string         // of this project, kept between runs, written by the harness's own commands only
	Shared   string         // the same for all projects
	Scratch  string         // of this run; the caller removes it
	Version  string         // of the program, which reads what runners say
	Results  BaseResults    // of base's tests, from one run to the next; nil: none are kept
	Flakes   runs.Flakes    // which tests flaked before; nil: nothing is on record
	Progress func(Progress) // receives each step as it begins and ends; may be nil
	First    func(Result)   // given what the decisive part came to, before what can only lower it; may be nil
	// Whole waits until Mirror has all history that it will have, which may come while
	// setup is at work; nil: it has it.
	Whole func(context.Context)
	Now   func() time.Time
	// MutantsAlone compiles each mutant by itself, also where one program can hold them all.
	MutantsAlone bool

	registryAccess *registryAccess // of setup, with NetworkRegistries; nil: it has no network
}

// A Network says when commands may use the network.
type Network string

// When commands may use the network. The zero value is as NetworkSetup.
const (
	NetworkNone  Network = "none"
	NetworkSetup Network = "setup"
	NetworkFull  Network = "full"
	// NetworkRegistries is as NetworkSetup for a head that no maintainer answers for: setup
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
	Base, Head   *workspace.Tree // fresh worktrees, laid out or not, which the gate prepares and works in
	Commands     Commands        // from the base's configuration; a kind that is not named is detected
	Env          []string        // "NAME=value", from the base's configuration
	RequireRepro bool            // require_fail_to_pass
	Expectations compare.Policy  // what given-up expectations come to; empty: [compare.Report]
	UntilFirst   bool            // stop after the decisive part: no probes are asked for
	Untrusted    bool            // no maintainer answers for the head, see [compare.Floor]
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

// Commands that are none leave everything to detection.
func (c Commands) none() bool { return len(c.Setup)+len(c.Build)+len(c.Test)+len(c.Lint) == 0 }
