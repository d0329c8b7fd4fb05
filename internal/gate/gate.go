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

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Gate holds what every run of it needs.
type Gate struct {
	execution.Machine
	Limits  Limits
	Version string            // of the program, which reads what runners say
	Results known.BaseResults // of base's tests, from one run to the next; nil: none are kept
	Flakes  runs.Flakes       // which tests flaked before; nil: nothing is on record
	First   func(Result)      // given what the decisive part came to, before what can only lower it; may be nil
	// MutantsAlone compiles each mutant by itself, also where one program can hold them all.
	MutantsAlone bool
}

// An Input is one change to judge.
type Input struct {
	Change       change.Change
	Base, Head   *workspace.Tree // fresh worktrees, laid out or not, which the gate prepares and works in
	Commands     Commands        // from the base's configuration; a kind that is not named is detected
	Env          []string        // "NAME=value", from the base's configuration
	RequireRepro bool            // require_fail_to_pass
	Expectations compare.Policy  // what given-up expectations come to; empty: [compare.Report]
	PolicyWhy    string          // for people: why that is not [compare.Report]; empty: it is not said
	UntilFirst   bool            // stop after the decisive part: no probes are asked for
	Untrusted    bool            // no maintainer answers for the head, see [compare.Floor]
	AgentsFollow bool            // half of the time that the decisive part leaves is theirs
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

// Commands that are none leave everything to detection.
func (c Commands) none() bool { return len(c.Setup)+len(c.Build)+len(c.Test)+len(c.Lint) == 0 }
