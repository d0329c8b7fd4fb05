// Package kept is the third arm: the tests that pass on the base run, as the base has them, over
// the head's sources, and what does not hold there becomes an expectation with a class
// (docs/gate.md, "The four arms").
package kept

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// An Input is what the kept arm starts from.
type Input struct {
	Change    change.Change
	Untrusted bool            // no maintainer answers for the head
	Policy    compare.Policy  // what given-up expectations come to
	Compared  runs.Comparison // of the results of both sides
	Over      results.Suite   // the change's tests over the base's sources
	Own       []results.ID    // commands of projects that run beside the runners of their tests
	// OverBase makes the arm of Over again.
	OverBase func(context.Context) (*arms.Arm, error)
	// Commands are those that run the base's tests in the kept arm, as the base calls them and as
	// they are detected there, where that is another call.
	Commands func(context.Context) (base, otherwise []ecosystem.Command, err error)
}

// An Outcome is what became of the tests that pass on the base.
type Outcome struct {
	Expectations *Expectations
	Compared     runs.Comparison // with what the arm says of tests that disagree
	Over         results.Suite   // with what was run there as well
	Ran          int             // of the tests that reach what the change affects, those that ran over the head's sources
	Unnamed      int             // those that another run of the base does not report
	Arm          *arms.Arm       // closed; nil: that is the head itself
}

// Run finds out what became of the tests that pass on the base when they run, as the base has
// them, over the head's sources. With an error the outcome is what was known before it,
// without expectations.
func Run(ctx context.Context, on arms.Maker, in Input) (Outcome, error) {
	k := newKeeper(on, in)
	k.tests = k.passing()
	err := k.steps(ctx)
	if k.arm != nil {
		k.out.Arm = k.arm
		err = errors.Join(err, k.arm.Close(context.WithoutCancel(ctx)))
	}
	if err == nil {
		k.conclude(ctx)
	}
	return *k.out, err
}

// Arm is the head with the base's version of all that the change touches of tests.
func Arm(ctx context.Context, on arms.Maker, in Input) (*arms.Arm, error) {
	return newKeeper(on, in).newArm(ctx, func(sides.Touch) bool { return true })
}

func newKeeper(on arms.Maker, in Input) *keeper {
	steers := slices.ContainsFunc(on.Sides.Touched, func(t sides.Touch) bool { return t.Class == compare.Steering })
	return &keeper{
		in: in, on: on, suite: results.Suite{}, steers: steers,
		out: &Outcome{Compared: in.Compared, Over: maps.Clone(in.Over)},
	}
}

// An examined test is one that passes on the base, with what is known of it.
type examined struct {
	id       results.ID
	eco      string
	kept     compare.Status // base's tests over head's sources
	head     compare.Status
	headID   results.ID
	reached  bool   // the kept arm ran it; else the head's arm is the kept arm
	why      string // it could not be compiled, collected or started there
	output   string // of the failure there
	evidence []string
	lost     bool // its program ended before it
	drop     bool // it gives both results, or has a name that is made up at random
	unnamed  bool // dropped, because another run of the base does not report it
	seen     bool // it holds while the change's new files of tests are there, and the product may look at them
	beside   bool // the files of tests that are touched have nothing to do with it, but that they run in its process
	detected bool // it does not start as the base calls it, and runs as it is detected in the arm
	made     []compare.FileClass
	built    *sides.Touch // it holds only where this file says how it is built
}

// A keeper is the third arm: what passes on the base must pass with the base's
// tests, data, support and steering over the head's sources.
type keeper struct {
	in    Input
	on    arms.Maker
	out   *Outcome
	tests []*examined
	arm   *arms.Arm // nil: nothing that it would put back is touched
	run   []arms.Selection
	suite results.Suite // of the arm
	// commands are those of the arm; steers says that what steers them is touched, so
	// that without the base's version the head's own run.
	commands  []ecosystem.Command
	besides   map[reachKey]bool   // of files of tests, as far as it was asked for
	otherwise []ecosystem.Command // as they are detected in the arm, where that is another call
	steers    bool
	forwards  []workspace.Put // of every arm, where tests could not start without them
	lost      []Expectation   // of commands that could not start, and of failures of which no test of the base is known
}

// maxTogether is how long all tests may take for those that the change does not touch to be
// run once more where others are that run in one process with them.
const maxTogether = 2 * time.Minute

// together says whether the tests of one file can reach all others of a command: in its
// process; and of a change from outside, which may mean to, by what processes leave as well.
func (k *keeper) together() func(ecosystem.Command) bool {
	took := k.took()
	return func(c ecosystem.Command) bool { return k.in.Untrusted || took <= maxTogether && !c.Results.Apart }
}

// took is how long the head's tests took.
func (k *keeper) took() time.Duration {
	var took time.Duration
	for _, s := range k.on.Executor.Steps.Of(results.StageTest, results.Head) {
		took += s.Duration
	}
	return took
}

// passing are the tests that pass on the base and do not give both results: there, or as the base has
// them, where it is the change's version of them that did.
func (k *keeper) passing() []*examined {
	unsteady := map[results.ID]bool{}
	for _, list := range [][]results.Case{k.in.Compared.Flaky, k.in.Compared.PreExisting, k.in.Compared.Unknown, k.in.Compared.FlakyNew} {
		for _, c := range list {
			unsteady[c.ID] = true
		}
	}
	var out []*examined
	for id, t := range k.on.Sides.Suites[results.Base] {
		counts := t.Leaf && (id.Test != "" || id.Command != "") || id.Test == "" && id.Package != "" && languages.ByPackage(k.on.Sides.EcoOf(id))
		eco := k.on.Sides.EcoOf(id)
		if t.Status == results.Passed && counts && (!unsteady[id] || k.editedToFlake(id, eco)) {
			out = append(out, &examined{id: id, eco: eco})
		}
	}
	slices.SortFunc(out, func(a, b *examined) int {
		return strings.Compare(a.id.Unit+" "+a.id.String(), b.id.Unit+" "+b.id.String())
	})
	return out
}

// editedToFlake says whether a test gave both results on the head alone, and the change edits it or what
// it reads: the kept arm runs it as the base has it.
func (k *keeper) editedToFlake(id results.ID, eco string) bool {
	steady := slices.ContainsFunc(k.on.Tests.Statistics, func(s runs.Statistic) bool { return s.ID == id && s.Base.Runs > 0 && s.Base.Failed == 0 })
	return steady && id.Test != "" && slices.ContainsFunc(k.in.Compared.Flaky, func(c results.Case) bool { return c.ID == id }) &&
		slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool {
			_, ok := k.on.Sides.Concerns(t, id, eco)
			return ok
		})
}

func (k *keeper) steps(ctx context.Context) error {
	k.on.Sides.Together = k.together()
	if k.run = k.called(reach(k.on.Sides, k.tests, k.on.Sides.Touched)); len(k.run) > 0 {
		var err error
		if k.arm, err = k.newArm(ctx, func(sides.Touch) bool { return true }); err != nil {
			return err
		}
		if k.suite, err = k.arm.Run(ctx, k.run); err != nil {
			return err
		}
		if err := k.startDetected(ctx); err != nil {
			return err
		}
		if err := k.startAgain(ctx); err != nil {
			return err
		}
	}
	k.observe()
	for _, step := range []func(context.Context) error{k.forward, k.recover, k.aside, k.confirm, k.attribute, k.looks, k.shipped, k.described, k.headOverBase, k.strangers} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newArm is the head with the base's version of some of what is touched.
func (k *keeper) newArm(ctx context.Context, put func(sides.Touch) bool) (*arms.Arm, error) {
	return k.newArmOf(ctx, put, func(t sides.Touch) workspace.Put { return t.Put })
}

// newArmOf is newArm with something else in the place of the base's version.
func (k *keeper) newArmOf(ctx context.Context, put func(sides.Touch) bool, what func(sides.Touch) workspace.Put) (*arms.Arm, error) {
	var puts []workspace.Put
	for _, t := range k.on.Sides.Touched {
		if put(t) || slices.ContainsFunc(k.on.Sides.Touched, func(o sides.Touch) bool {
			return put(o) && strings.HasPrefix(o.Path, t.Path+"/") // a link of the head is in the way
		}) {
			puts = append(puts, what(t))
		}
	}
	for _, f := range k.forwards {
		at := slices.IndexFunc(puts, func(p workspace.Put) bool { return p.Path == f.Path })
		touched := slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool { return t.Path == f.Path })
		switch {
		case at >= 0:
			puts[at] = f
		case !touched:
			puts = append(puts, f)
		}
	}
	if k.commands == nil {
		var err error
		if k.commands, k.otherwise, err = k.in.Commands(ctx); err != nil {
			return nil, err
		}
	}
	tests := k.commands
	if !slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool { return t.Class == compare.Steering && put(t) }) && k.steers {
		tests = k.on.Sides.Plans[results.Head].Test
	}
	a, err := k.on.New(ctx, results.Head, results.StageKept, puts, tests)
	if err != nil {
		return nil, fmt.Errorf("the base's tests over the head: %w", err)
	}
	return a, nil
}

// whole says that an identity is a package's, which counts only where it fails.
func (e *examined) whole() bool { return e.id.Test == "" && e.id.Command == "" }
