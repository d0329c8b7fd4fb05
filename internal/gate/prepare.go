package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Limits are how long one command may take: Step in any case, and on the head
// ten times as long as the same took on the base, and Grace on top, before it
// counts as hanging. Mutation is the machine time for mutants of the changed
// lines together, Fuzz the time of existing fuzz targets together; negative: none.
// Random is the time for runs of tests that fail at random, and Lines that for finding
// out which changed lines tests run; negative: none. Zero means ten minutes, one, a
// minute and a half, half a minute, a minute, and an eighth of the time that is left.
type Limits struct{ Step, Grace, Mutation, Fuzz, Random, Lines time.Duration }

const hangFactor = 10

func (l Limits) step() time.Duration   { return cmp.Or(l.Step, 10*time.Minute) }
func (l Limits) random() time.Duration { return cmp.Or(l.Random, time.Minute) }
func (l Limits) grace() time.Duration  { return cmp.Or(l.Grace, time.Minute) }

// hang is how long the head may take for what took the base so long.
func (l Limits) hang(base time.Duration) time.Duration { return hangFactor*base + l.grace() }

// prepareBase sets the base up and builds it.
func (r *runner) prepareBase(ctx context.Context) error {
	if r.hasGo() {
		if err := r.seedCache(); err != nil {
			return err
		}
	}
	// What is in the cache from runs before takes as long as the base's commands.
	began := r.Now()
	wait := r.splitAhead()
	err := r.prepare(ctx, Base)
	if err == nil {
		err = r.warm(ctx, r.warms(false))
	}
	if err = errors.Join(err, wait()); err != nil {
		return err
	}
	return r.splitRest(began)
}

// hasGo tells whether the base or the head has a module of Go, also one that the change
// cannot affect: agents may look at it.
func (r *runner) hasGo() bool {
	for _, p := range r.plan {
		if slices.ContainsFunc(slices.Concat(p.projects, p.left), func(q project) bool { return q.eco.name == "Go" }) {
			return true
		}
	}
	return false
}

// warm fills the project's caches from the base, this time and next time, by
// commands that compile and run nothing; whether they work is the later steps'
// affair.
func (r *runner) warm(ctx context.Context, commands []command) error {
	if r.facts.Unprepared != "" {
		return nil
	}
	for _, c := range commands {
		c.timeout, c.cache = r.Limits.step(), r.projectCache()
		if _, err := r.exec(ctx, Base, r.in.Base, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// warmLate does so for what only probes need, when they begin: what decides does not
// wait for it. Both sides get what has come. Where commands of the head could have
// written into the base's tree, each side compiles for itself.
func (r *runner) warmLate(ctx context.Context, commands []command) error {
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
	return r.lendSince(since)
}

// lendSince gives both sides what has come into the project's cache.
func (r *runner) lendSince(since time.Time) error {
	if !exists(r.projectCache()) {
		return nil
	}
	for _, side := range []Side{Base, Head} {
		if err := r.lend(r.projectCache(), r.buildCache(side), since.Add(-time.Second)); err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return nil
}

// warms are the warming commands of the base: those for the race detector, or the
// others.
func (r *runner) warms(race bool) []command {
	return slices.DeleteFunc(slices.Clone(r.plan[Base].warm), func(c command) bool { return c.race != race })
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
	for _, c := range r.plan[Head].warm {
		if c.race {
			continue
		}
		c.timeout = r.Limits.step()
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
		shared = r.projectCache()
	}
	if err := r.fill(ctx, side); err != nil {
		return fmt.Errorf("HOME of %s: %w", side, err)
	}
	r.unproven(p)
	if err := r.setUp(ctx, side); err != nil {
		return err
	}
	for _, c := range p.build {
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
	return r.settle(ctx, side)
}

// lint asks for complaints, which decide nothing, when all that decides has run.
func (r *runner) lint(ctx context.Context) error {
	since, shared := r.Now(), ""
	if r.Sandbox.Status().Tier != sandbox.TierNone { // else the head could have written into the base's tree
		shared = r.projectCache()
	}
	for _, side := range []Side{Base, Head} {
		if len(r.plan[side].lint) == 0 || r.prepared[side] == nil || r.facts.Unprepared != "" {
			continue
		}
		if err := r.reset(ctx, side); err != nil {
			return err
		}
		for _, c := range r.plan[side].lint {
			c = r.limited(side, c)
			if side == Base {
				c = compiling(c, shared)
			}
			if _, err := r.exec(ctx, side, r.tree(side), c, nil); err != nil {
				return err
			}
		}
		if err := r.lendSince(since); err != nil {
			return err
		}
	}
	r.compareLint()
	return nil
}

// offline explains a setup that fails for a head that is not trusted, because what it needs
// was not fetched. It returns what could not be fetched so far.
func (r *runner) offline(c command, s Step, unfetched string) string {
	if r.Network != NetworkRegistries || !s.Failed() || r.facts.Unprepared != "" {
		return unfetched
	}
	steered := slices.ContainsFunc(r.in.Change.Paths(), func(name string) bool {
		return slices.ContainsFunc(ecosystems(), func(e *ecosystem) bool { return e.steers != nil && e.steers(name) })
	})
	switch {
	case c.data != nil:
		return cmp.Or(unfetched, fmt.Sprintf("%s: %s: exit %d", s.Side, s.Command, s.Exit))
	case unfetched != "":
		r.facts.Unprepared = unfetched
	case s.Side == Head && !c.reaches(Head) && (steered || c.eco == ""):
		r.facts.Unprepared = fmt.Sprintf("%s: %s: for a head that is not trusted it is run without a network, with what the base has fetched", s.Side, s.Command)
	}
	return unfetched
}

// compiling lets the harness's own Go commands, which compile and run nothing,
// write to the project's build cache.
func compiling(c command, shared string) command {
	if c.argv[0] == "go" && (c.stage == StageBuild || c.stage == StageLint) {
		c.cache = shared
	}
	return c
}

// limited gives c its time limit.
func (r *runner) limited(side Side, c command) command {
	if c.timeout != 0 {
		return c
	}
	c.timeout = r.Limits.step()
	if side == Base {
		return c
	}
	for _, s := range r.res.Steps {
		if s.Side == Base && s.Stage == c.stage && s.Unit == c.unit && s.Command == c.text && !s.TimedOut {
			c.timeout = min(r.Limits.step(), r.Limits.hang(s.Duration))
		}
	}
	return c
}

// goHeading is the line that the go command writes above the errors of a package.
var goHeading = pattern.New(`(?m)^# (\S+)(?: \[.*\])?$`)

// broken lists what does not build at a side: Go packages by import path where
// the output names them, else commands.
func (r *runner) broken(side Side) []string {
	var out []string
	for i, s := range r.res.Steps {
		if s.Side != side || !s.Failed() || s.Stage != StageBuild && s.Stage != StageSetup || r.fetches[s.Evidence] || r.ranAgain(i) {
			continue
		}
		if s.Stage == StageSetup && s.Environment != "" {
			continue // said by Unprepared, or forgiven
		}
		named := goHeading.FindAllStringSubmatch(s.Output, -1)
		for _, m := range named {
			out = append(out, m[1])
		}
		if len(named) == 0 {
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
	for _, c := range slices.Concat(r.plan[Head].setup, r.plan[Head].build) {
		if c.fillsModCache() {
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

// compareLint keeps the complaints of the head that the base does not have.
func (r *runner) compareLint() {
	for _, s := range r.lackingBoth(StageLint) {
		r.lack(StageLint, s.Unit, s.Command, s.Lacks)
	}
	seen := map[string]int{}
	for _, s := range r.stepsOf(StageLint, Base) {
		for _, line := range complaints(s) {
			seen[place.ReplaceAllString(line, ":")]++
		}
	}
	for _, s := range r.stepsOf(StageLint, Head) {
		for _, line := range complaints(s) {
			key := place.ReplaceAllString(line, ":")
			if seen[key] > 0 {
				seen[key]--
				continue
			}
			r.res.Lint = append(r.res.Lint, Case{ID: ID{Unit: s.Unit, Command: s.Command}, Output: line, Evidence: []string{s.Evidence}})
		}
	}
}

// complaints returns the lines of a failed lint step that say something.
func complaints(s Step) []string {
	if !s.Failed() {
		return nil
	}
	var out []string
	for line := range strings.Lines(s.Output) {
		more := len(out) > 0 && strings.TrimLeft(line, " \t") != line
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "vet: "))
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case more:
			out[len(out)-1] += "; " + line
		default:
			out = append(out, line)
		}
	}
	return out
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
