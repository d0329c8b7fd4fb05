// Package preparation makes both sides of a change ready for their tests: setup, build, and
// what is compiled ahead. Where a side cannot be made ready for reasons that are not the
// change's, it says why, and takes projects out that decide nothing.
package preparation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Preparation makes the two sides of an executor ready. Projects that it takes out are no
// more in the executor's plans.
type Preparation struct {
	*execution.Executor
	Change     change.Change
	Configured func(results.Stage) bool                                // the configuration names the commands of a stage
	Plan       func([]ecosystem.Project) *sides.Plan                   // of projects, with the configuration
	Limited    func(results.Side, ecosystem.Command) ecosystem.Command // gives a command its time limit
	StepLimit  time.Duration                                           // of a command in any case
	NotCovered func(format string, args ...any)                        // says what was not looked at
	Idle       func() bool                                             // nothing is to be run on any side: the trees stay as they are
	// Given is given the snapshot of each side, which it closes; nil: the executor keeps it.
	Given func(context.Context, results.Side, *workspace.Tree) error

	why       string                    // a side cannot be judged for a reason that is not the change's
	baseFails bool                      // a setup or build of the base is why
	forgiven  map[string]bool           // evidence of setup commands that failed, and all that they fetch was there, or nothing asked for them
	makings   map[results.Side][]string // see [Preparation.Makings]
	aside     []string
	fresh     bool     // the project has no build cache yet
	standard  []string // what the base needs of the standard library, where it was listed
}

// New prepares nothing yet.
func New(p Preparation) *Preparation {
	p.forgiven, p.makings = map[string]bool{}, map[results.Side][]string{}
	return &p
}

// Unprepared is why a side cannot be judged, for a reason that is not the change's; empty:
// both can, as far as they are prepared.
func (prep *Preparation) Unprepared() string { return prep.why }

// Aside are the projects that the base cannot prepare and that a PASS needs, each with why.
func (prep *Preparation) Aside() []string { return prep.aside }

// PrepareBase sets the base up and builds it.
func (prep *Preparation) PrepareBase(ctx context.Context) error {
	if !prep.Compiles() {
		return errors.Join(prep.ShareCache(), prep.Prepare(ctx, results.Base))
	}
	if err := prep.SeedCache(); err != nil {
		return err
	}
	// What is in the cache from runs before takes as long as the base's commands.
	began := prep.Now()
	wait := prep.Store().SplitAhead()
	err := prep.Prepare(ctx, results.Base)
	if err = errors.Join(err, wait()); err != nil {
		return err
	}
	return prep.Store().SplitRest(began)
}

// PrepareHead does the same with the head. What it alone does not build is built again.
func (prep *Preparation) PrepareHead(ctx context.Context) error {
	if err := prep.Prepare(ctx, results.Head); err != nil {
		return err
	}
	if prep.why != "" {
		return nil // what a build without its dependencies does says nothing of the change
	}
	return prep.buildAgain(ctx)
}

// Prepare runs setup and build at one side, and keeps what that has made.
func (prep *Preparation) Prepare(ctx context.Context, side results.Side) error {
	p := prep.Plans[side]
	if err := prep.Fill(ctx, side); err != nil {
		return fmt.Errorf("HOME of %s: %w", side, err)
	}
	prep.unproven(p)
	put := func(context.Context) error { return nil }
	if side == results.Head {
		var err error
		if put, err = prep.WithoutMade(ctx, prep.Change.Files); err != nil {
			return err
		}
	}
	if err := prep.setUp(ctx, side); err != nil {
		return err
	}
	if err := prep.compile(ctx, side); err != nil {
		return err
	}
	if err := put(ctx); err != nil {
		return err
	}
	if err := prep.Keep(ctx, side, prep.Idle(), prep.Given); err != nil {
		return fmt.Errorf("prepared snapshot of %s: %w", side, err)
	}
	if err := prep.settle(ctx, side); err != nil {
		return err
	}
	if side == results.Base {
		prep.dropUnprepared()
	}
	return nil
}

// build runs the build commands of a side.
func (prep *Preparation) build(ctx context.Context, side results.Side) error {
	shared := ""
	if side == results.Base {
		shared = prep.Store().ProjectCache()
	}
	for _, c := range prep.Plans[side].Build {
		step, err := prep.Run(ctx, side, prep.Tree(side), Compiling(prep.Limited(side, c), shared), nil)
		if err != nil {
			return err
		}
		if side == results.Base && step.Lacks == "" { // what the head's build prints is in the change's hands
			if err := prep.unprepared(ctx, step); err != nil {
				return err
			}
		}
		if prep.WantsNewer(step) {
			continue
		}
		if side == results.Head && step.Lacks != "" && prep.lacksRust() {
			if err := prep.unprepared(ctx, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// lacksRust says whether the change asks for a Rust toolchain that the machine has not: what
// fails for want of it is no failure of the build.
func (prep *Preparation) lacksRust() bool {
	return slices.ContainsFunc(prep.Change.Paths(), func(name string) bool {
		if !rust.AsksForToolchain(name) {
			return false
		}
		file, err := ecosystem.ReadInTree(prep.Head.Dir, name)
		return err == nil && rust.LacksToolchain(prep.Tools, file)
	})
}

// Compiling lets the harness's own Go commands, which compile and run nothing,
// write to the project's build cache.
func Compiling(c ecosystem.Command, shared string) ecosystem.Command {
	if c.Argv[0] == "go" && (c.Stage == results.StageBuild || c.Stage == results.StageLint) {
		c.Cache = shared
	}
	return c
}

// Broken lists what does not build at a side: packages by import path where
// the output names them, else commands.
func (prep *Preparation) Broken(side results.Side) []string {
	var out []string
	for i, s := range prep.Steps {
		if s.Side != side || !s.Failed() || s.Stage != results.StageBuild && s.Stage != results.StageSetup || prep.Fetched(s) || prep.Steps.RanAgain(i) {
			continue
		}
		if s.Stage == results.StageSetup && (s.Environment != "" || prep.forgiven[s.Evidence]) {
			continue // said by Unprepared, or forgiven
		}
		named := languages.Unbuilt(s.Output)
		if out = append(out, named...); len(named) == 0 {
			out = append(out, results.ID{Unit: s.Unit, Command: s.Command}.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// buildAgain builds what only the head breaks once more, in a fresh copy: what fails
// there too is broken.
func (prep *Preparation) buildAgain(ctx context.Context) error {
	base := prep.Broken(results.Base)
	was := slices.DeleteFunc(prep.Steps.Of(results.StageBuild, results.Head), func(s ecosystem.Step) bool {
		return !s.Failed() || !prep.Steps.Last(s).Failed() || s.Lacks != "" || slices.Contains(base, results.ID{Unit: s.Unit, Command: s.Command}.String())
	})
	if len(was) == 0 {
		return nil
	}
	fresh, err := prep.Mirror.Worktree(ctx, filepath.Join(filepath.Dir(prep.Head.Dir), prep.Copies+"-again"), prep.Head.Commit)
	if err != nil {
		return fmt.Errorf("fresh copy of the head: %w", err)
	}
	defer fresh.Close()
	for _, c := range slices.Concat(prep.Plans[results.Head].Setup, prep.Plans[results.Head].Build) {
		if c.FillsModCache() {
			continue // it is the same for all trees
		}
		if _, err := prep.Run(ctx, results.Head, fresh, prep.Limited(results.Head, c), nil); err != nil {
			return err
		}
	}
	for _, s := range was {
		if last := prep.Steps.Last(s); !last.Failed() && prep.why == "" {
			prep.why = fmt.Sprintf("head: %s failed, and worked in a fresh copy of the same sources", s.Command)
		}
	}
	return nil
}
