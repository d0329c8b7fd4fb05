package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// prepareBase sets the base up and builds it.
func (r *runner) prepareBase(ctx context.Context) error {
	if !r.idle() {
		if err := r.lay(ctx); err != nil {
			return err
		}
	}
	if !r.caches() {
		return errors.Join(r.shareCache(), r.prepare(ctx, Base))
	}
	if err := r.store().SeedCache(); err != nil {
		return err
	}
	// What is in the cache from runs before takes as long as the base's commands.
	began := r.Now()
	wait := r.store().SplitAhead()
	err := r.prepare(ctx, Base)
	if err == nil {
		err = r.warm(ctx, r.warms(false))
	}
	if err = errors.Join(err, wait()); err != nil {
		return err
	}
	return r.store().SplitRest(began)
}

// caches says whether the base or the head has a project that compiles into the build
// cache, also one that the change cannot affect: agents may look at it. A plan may be of
// commands alone, as that of the packages that a change does not reach is.
func (r *runner) caches() bool {
	for _, p := range r.plan {
		of := func(c ecosystem.Command) bool { e := ecosystem.Named(c.Eco); return e != nil && e.Caches }
		if len(p.Warm) > 0 || slices.ContainsFunc(p.Test, of) || slices.ContainsFunc(slices.Concat(p.Projects, p.Left), func(q ecosystem.Project) bool { return q.Eco.Caches }) {
			return true
		}
	}
	return false
}

// shareCache gives each side its copy of the project's cache, where something compiles into it.
func (r *runner) shareCache() error {
	if !r.caches() {
		return folder.Make(r.store().BuildCache(Base), r.store().BuildCache(Head))
	}
	return r.store().SplitCache()
}

// warm fills the project's caches from the base, this time and next time, by
// commands that compile and run nothing; whether they work is the later steps'
// affair.
func (r *runner) warm(ctx context.Context, commands []ecosystem.Command) error {
	if r.facts.Unprepared != "" {
		return nil
	}
	for _, c := range commands {
		c.Timeout, c.Cache = r.Limits.step(), r.store().ProjectCache()
		if _, err := r.exec(ctx, Base, r.in.Base, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// warmLate does so for what only probes need, when they begin: what decides does not
// wait for it. Both sides get what has come. Where commands of the head could have
// written into the base's tree, each side compiles for itself.
func (r *runner) warmLate(ctx context.Context, commands []ecosystem.Command) error {
	if len(commands) == 0 || r.prepared[Base] == nil || r.Sandbox.Status().Tier == sandbox.TierNone {
		return nil
	}
	if err := r.reset(ctx, Base); err != nil {
		return err
	}
	since := r.Now()
	if err := r.warm(ctx, commands); err != nil {
		return err
	}
	if slices.ContainsFunc(commands, func(c ecosystem.Command) bool { return c.Race }) {
		if err := r.store().GrowSeed("race", since.Add(-time.Second)); err != nil { // time stamps are coarser than the clock
			return err
		}
	}
	return r.linkSince(since)
}

// linkSince gives both sides what has come into the project's cache.
func (r *runner) linkSince(since time.Time) error {
	if !folder.Exists(r.store().ProjectCache()) {
		return nil
	}
	for _, side := range []Side{Base, Head} {
		if err := r.store().Link(r.store().ProjectCache(), r.store().BuildCache(side), since.Add(-time.Second)); err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return nil
}

// warms are the warming commands of the base: those for the race detector, or the
// others.
func (r *runner) warms(race bool) []ecosystem.Command {
	return slices.DeleteFunc(slices.Clone(r.plan[Base].Warm), func(c ecosystem.Command) bool { return c.Race != race })
}

// prepareHead does the same with the head, and compares the builds.
func (r *runner) prepareHead(ctx context.Context) error {
	if err := r.prepare(ctx, Head); err != nil {
		return err
	}
	if r.facts.Unprepared != "" {
		return nil // what a build without its dependencies does says nothing of the change
	}
	if err := r.buildAgain(ctx); err != nil {
		return err
	}
	if err := r.warmHead(ctx); err != nil {
		return err
	}
	base, head := r.broken(Base), r.broken(Head)
	for _, b := range r.unbuilt(head) {
		if slices.Contains(base, b) {
			r.res.BrokenBoth = append(r.res.BrokenBoth, b)
		} else {
			r.res.Broken = append(r.res.Broken, b)
		}
	}
	return nil
}

// warmHead compiles the head's tests into the head's cache, and runs nothing: each
// command that tests begins with a copy of it.
func (r *runner) warmHead(ctx context.Context) error {
	if r.resting {
		return nil
	}
	for _, c := range r.plan[Head].Warm {
		if c.Race {
			continue
		}
		c.Timeout, c.Cache = r.Limits.step(), r.store().BuildCache(Head)
		if _, err := r.exec(ctx, Head, r.in.Head, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// prepare runs setup, build and lint at one side.
func (r *runner) prepare(ctx context.Context, side Side) error {
	tree, p := r.tree(side), r.plan[side]
	shared := ""
	if side == Base {
		shared = r.store().ProjectCache()
	}
	if err := r.fill(ctx, side); err != nil {
		return fmt.Errorf("HOME of %s: %w", side, err)
	}
	r.unproven(p)
	if err := r.setUp(ctx, side); err != nil {
		return err
	}
	for _, c := range p.Build {
		step, err := r.exec(ctx, side, tree, compiling(r.limited(side, c), shared), nil)
		if err != nil {
			return err
		}
		if side == Base && step.Lacks == "" { // what the head's build prints is in the change's hands
			if err := r.unprepared(ctx, step); err != nil {
				return err
			}
		}
	}
	if err := r.snapshot(ctx, side); err != nil {
		return fmt.Errorf("prepared snapshot of %s: %w", side, err)
	}
	if err := r.settle(ctx, side); err != nil {
		return err
	}
	if side == Base {
		r.dropUnprepared()
	}
	return nil
}

// offline explains a setup that fails for a head that is not trusted, because what it needs
// was not fetched. It returns what could not be fetched so far.
func (r *runner) offline(c ecosystem.Command, s Step, unfetched string) string {
	if r.Network != NetworkRegistries || !s.Failed() || r.facts.Unprepared != "" {
		return unfetched
	}
	steered := slices.ContainsFunc(r.in.Change.Paths(), func(name string) bool {
		return slices.ContainsFunc(ecosystem.All(), func(e *ecosystem.Ecosystem) bool { return e.Steers != nil && e.Steers(name) })
	})
	switch {
	case c.Data != nil:
		return cmp.Or(unfetched, fmt.Sprintf("%s: %s: exit %d", s.Side, s.Command, s.Exit))
	case unfetched != "":
		r.facts.Unprepared = unfetched
		r.baseFails = s.Side == Base
	case s.Side == Head && !c.Reaches(Head) && (steered || c.Eco == ""):
		r.facts.Unprepared = fmt.Sprintf("%s: %s: for a head that is not trusted it is run without a network, with what the base has fetched", s.Side, s.Command)
	}
	return unfetched
}

// compiling lets the harness's own Go commands, which compile and run nothing,
// write to the project's build cache.
func compiling(c ecosystem.Command, shared string) ecosystem.Command {
	if c.Argv[0] == "go" && (c.Stage == StageBuild || c.Stage == StageLint) {
		c.Cache = shared
	}
	return c
}

// broken lists what does not build at a side: packages by import path where
// the output names them, else commands.
func (r *runner) broken(side Side) []string {
	var out []string
	for i, s := range r.res.Steps {
		if s.Side != side || !s.Failed() || s.Stage != StageBuild && s.Stage != StageSetup || r.fetches[s.Evidence] || r.ranAgain(i) {
			continue
		}
		if s.Stage == StageSetup && (s.Environment != "" || r.forgiven[s.Evidence]) {
			continue // said by Unprepared, or forgiven
		}
		named := ecosystem.Unbuilt(s.Output)
		if out = append(out, named...); len(named) == 0 {
			out = append(out, ID{Unit: s.Unit, Command: s.Command}.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// place is the position in a line of a compiler or linter.
var place = pattern.New(`:\d+(:\d+)?:`)

// ranAgain says whether the command of a step was run again on the same side, so
// that the last run of it counts.
func (r *runner) ranAgain(at int) bool {
	s := r.res.Steps[at]
	return slices.ContainsFunc(r.res.Steps[at+1:], func(t Step) bool {
		return t.Side == s.Side && t.Stage == s.Stage && t.Unit == s.Unit && t.Command == s.Command
	})
}

// buildAgain builds what only the head breaks once more, in a fresh copy: what fails
// there too is broken.
func (r *runner) buildAgain(ctx context.Context) error {
	base := r.broken(Base)
	was := slices.DeleteFunc(r.stepsOf(StageBuild, Head), func(s Step) bool {
		return !s.Failed() || s.Lacks != "" || slices.Contains(base, ID{Unit: s.Unit, Command: s.Command}.String())
	})
	if len(was) == 0 {
		return nil
	}
	fresh, err := r.Mirror.Worktree(ctx, filepath.Join(filepath.Dir(r.in.Head.Dir), r.copies+"-again"), r.in.Head.Commit)
	if err != nil {
		return fmt.Errorf("fresh copy of the head: %w", err)
	}
	defer fresh.Close()
	for _, c := range slices.Concat(r.plan[Head].Setup, r.plan[Head].Build) {
		if c.FillsModCache() {
			continue // it is the same for all trees
		}
		if _, err := r.exec(ctx, Head, fresh, r.limited(Head, c), nil); err != nil {
			return err
		}
	}
	for _, s := range was {
		if last := r.lastRun(s); !last.Failed() && r.facts.Unprepared == "" {
			r.facts.Unprepared = fmt.Sprintf("head: %s failed, and worked in a fresh copy of the same sources", s.Command)
		}
	}
	return nil
}

// lastRun is the last run of the command of a step, on the same side.
func (r *runner) lastRun(s Step) Step {
	for _, t := range r.stepsOf(s.Stage, s.Side) {
		if t.Unit == s.Unit && t.Command == s.Command {
			s = t
		}
	}
	return s
}

// stepsOf returns the steps of one stage at one side.
func (r *runner) stepsOf(stage Stage, side Side) []Step {
	var out []Step
	for _, s := range r.res.Steps {
		if s.Stage == stage && s.Side == side {
			out = append(out, s)
		}
	}
	return out
}
