// Package execution runs the commands of the gate: each in a tree of its side, with a HOME and
// a build cache of its own, in the sandbox and into the evidence log.
//
//   - A [Machine] is what all commands are given: sandbox, log, network, caches.
//   - An [Executor] has the two sides of one run. It keeps what each is like once it is
//     prepared, and brings that back, so that no command sees what an earlier one left.
//
// What commands mean, and which are run, is the affair of package gate.
package execution

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/caches"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Agent is the name under which the gate's commands stand in the evidence log.
const Agent = "gate"

// A Machine is what every command is given.
type Machine struct {
	Sandbox  sandbox.Sandbox
	Log      *evidence.Log
	Mirror   *workspace.Mirror
	Network  Network
	Services []sandbox.Service     // of the job, for every command
	SetupEnv []string              // the operator's "NAME=value" for setup commands alone, with credentials
	Tools    *ecosystem.Toolchains // nil: none but those of every system
	CacheDir string                // of this project, kept between runs, written by the harness's own commands only
	Shared   string                // the same for all projects
	Scratch  string                // of this run; the caller removes it
	Progress func(Progress)        // receives each step as it begins and ends; may be nil
	// Whole waits until Mirror has all history that it will have, which may come while
	// setup is at work; nil: it has it.
	Whole func(context.Context)
	Now   func() time.Time

	registries *registryAccess // of setup, with NetworkRegistries; nil: it has no network
}

// A Progress is one step that begins or has ended.
type Progress struct {
	Stage   results.Stage
	Side    results.Side
	Unit    string
	Command string
	Rest    bool // of what the change does not touch
	Done    bool
	Step    ecosystem.Step // when Done
}

// Store says where the caches of the go command lie.
func (m *Machine) Store() caches.Store {
	out := caches.Store{Project: m.CacheDir, Shared: m.Shared, Scratch: m.Scratch, Closed: m.Network == NetworkRegistries, Now: m.Now}
	if m.Tools != nil {
		out.Go = m.Tools.Go
	}
	return out
}

// HomeOf is the HOME of a side's own commands.
func (m *Machine) HomeOf(side results.Side) string {
	return filepath.Join(m.Scratch, string(side), "home")
}

// Apart says whether commands see nothing of one another: else servers in their
// tests would be in one another's way, and a copy could run what lies in another.
func (m *Machine) Apart() bool {
	tier := m.Sandbox.Status().Tier
	return tier == sandbox.TierFull || tier == sandbox.TierStrong
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

// Of returns what a command gets that asks for want.
func (n Network) Of(want sandbox.Network) sandbox.Network {
	switch n {
	case NetworkNone:
		return sandbox.NetworkNone
	case NetworkFull:
		return sandbox.NetworkHost
	default:
		return want
	}
}
