package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// classify says what the files of the change are to its tests.
func (r *runner) classify(ctx context.Context) error {
	return r.sides.Classify(ctx)
}

// reported classifies the files of the change again where the base's runners have reported tests
// of one that does not look like a file of tests.
func (r *runner) reported(ctx context.Context) error {
	for _, f := range r.in.Change.Files {
		name := cmp.Or(f.OldPath, f.Path)
		if languages.IsSource(name) && !slices.ContainsFunc(r.sides.Touched, func(t sides.Touch) bool { return t.Path == name }) && r.sides.Reported(name) {
			return r.sides.Classify(ctx)
		}
	}
	return nil
}

// An examined test is one that passes on the base, with what is known of it.
type examined struct {
	id       ID
	eco      string
	kept     compare.Status // base's tests over head's sources
	head     compare.Status
	headID   ID
	reached  bool   // the kept arm ran it; else the head's arm is the kept arm
	why      string // it could not be compiled, collected or started there
	output   string // of the failure there
	evidence []string
	lost     bool // its program ended before it
	drop     bool // it gives both results, or has a name that is made up at random
	unnamed  bool // dropped, because another run of the base does not report it
	beside   bool // the files of tests that are touched have nothing to do with it, but that they run in its process
	made     []compare.FileClass
}

// A keeper is the third arm: what passes on the base must pass with the base's
// tests, data, support and steering over the head's sources.
type keeper struct {
	r     *runner
	tests []*examined
	arm   *arm // nil: nothing that it would put back is touched
	run   []selection
	suite Suite // of the arm
	// commands are those of the arm; steers says that what steers them is touched, so
	// that without the base's version the head's own run.
	commands []ecosystem.Command
	steers   bool
	lost     []Expectation // of commands that could not start
}

// kept finds out what became of the tests that pass on the base.
func (r *runner) kept(ctx context.Context) error {
	if r.prep.Unprepared() != "" || len(r.sides.Suites[Base]) == 0 {
		return nil
	}
	k := r.keeper()
	k.tests = r.passing()
	err := k.steps(ctx)
	if k.arm != nil {
		r.keptArm = k.arm
		err = errors.Join(err, k.arm.close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return err
	}
	k.conclude(ctx)
	return nil
}

func (r *runner) keeper() *keeper {
	steers := slices.ContainsFunc(r.sides.Touched, func(t sides.Touch) bool { return t.Class == compare.Steering })
	return &keeper{r: r, suite: Suite{}, steers: steers}
}

// maxTogether is how long all tests may take for those that the change does not touch to be
// run once more where others are that run in one process with them.
const maxTogether = 2 * time.Minute

// together says whether the tests of one file can reach all others of a command: in its
// process; and of a change from outside, which may mean to, by what processes leave as well.
func (r *runner) together() func(ecosystem.Command) bool {
	var took time.Duration
	for _, s := range r.executor.Steps.Of(StageTest, Head) {
		took += s.Duration
	}
	return func(c ecosystem.Command) bool { return r.in.Untrusted || took <= maxTogether && !c.Results.Apart }
}

func (k *keeper) steps(ctx context.Context) error {
	k.r.sides.Together = k.r.together()
	if k.run = k.r.reach(k.tests, k.r.sides.Touched); len(k.run) > 0 {
		var err error
		if k.arm, err = k.newArm(ctx, func(sides.Touch) bool { return true }); err != nil {
			return err
		}
		if k.suite, err = k.arm.run(ctx, k.run); err != nil {
			return err
		}
		if err := k.startAgain(ctx); err != nil {
			return err
		}
	}
	k.observe()
	for _, step := range []func(context.Context) error{k.recover, k.aside, k.confirm, k.attribute, k.shipped, k.headOverBase} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newArm is the head with the base's version of some of what is touched.
func (k *keeper) newArm(ctx context.Context, put func(sides.Touch) bool) (*arm, error) {
	return k.newArmOf(ctx, put, func(t sides.Touch) workspace.Put { return t.Put })
}

// newArmOf is newArm with something else in the place of the base's version.
func (k *keeper) newArmOf(ctx context.Context, put func(sides.Touch) bool, what func(sides.Touch) workspace.Put) (*arm, error) {
	var puts []workspace.Put
	for _, t := range k.r.sides.Touched {
		if put(t) || slices.ContainsFunc(k.r.sides.Touched, func(o sides.Touch) bool {
			return put(o) && strings.HasPrefix(o.Path, t.Path+"/") // a link of the head is in the way
		}) {
			puts = append(puts, what(t))
		}
	}
	if k.commands == nil {
		var err error
		if k.commands, err = k.r.keptTests(ctx); err != nil {
			return nil, err
		}
	}
	tests := k.commands
	if !slices.ContainsFunc(k.r.sides.Touched, func(t sides.Touch) bool { return t.Class == compare.Steering && put(t) }) && k.steers {
		tests = k.r.sides.Plans[Head].Test
	}
	a, err := k.r.newArm(ctx, Head, StageKept, puts, tests)
	if err != nil {
		return nil, fmt.Errorf("the base's tests over the head: %w", err)
	}
	return a, nil
}

// passing are the tests that pass on the base and do not give both results.
func (r *runner) passing() []*examined {
	unsteady := map[ID]bool{}
	for _, list := range [][]Case{r.res.Tests.Flaky, r.res.Tests.PreExisting, r.res.Tests.Unknown, r.res.Tests.FlakyNew} {
		for _, c := range list {
			unsteady[c.ID] = true
		}
	}
	var out []*examined
	for id, t := range r.sides.Suites[Base] {
		counts := t.Leaf && (id.Test != "" || id.Command != "") || id.Test == "" && id.Package != "" && languages.ByPackage(r.sides.EcoOf(id))
		if t.Status == Passed && counts && !unsteady[id] {
			out = append(out, &examined{id: id, eco: r.sides.EcoOf(id)})
		}
	}
	slices.SortFunc(out, func(a, b *examined) int {
		return strings.Compare(a.id.Unit+" "+a.id.String(), b.id.Unit+" "+b.id.String())
	})
	return out
}

// whole says that an identity is a package's, which counts only where it fails.
func (e *examined) whole() bool { return e.id.Test == "" && e.id.Command == "" }
