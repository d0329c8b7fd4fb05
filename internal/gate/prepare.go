package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Limits are how long one command may take: Step in any case, and on the head
// ten times as long as the same took on the base, and Grace on top, before it
// counts as hanging. Mutation is the machine time for mutants of the changed
// lines together, Fuzz the time of existing fuzz targets together; negative: none.
// Zero means ten minutes, one, a minute and a half, and half a minute.
type Limits struct{ Step, Grace, Mutation, Fuzz time.Duration }

const hangFactor = 10

func (l Limits) step() time.Duration  { return cmp.Or(l.Step, 10*time.Minute) }
func (l Limits) grace() time.Duration { return cmp.Or(l.Grace, time.Minute) }

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
		err = r.warm(ctx)
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
func (r *runner) warm(ctx context.Context) error {
	if r.facts.Unprepared != "" {
		return nil
	}
	probed := slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return !isDoc(f.Path) && !isTestFile(f.Path) })
	for _, c := range slices.Concat(r.plan[Base].warm, r.fuzzWarm()) {
		if c.race && !probed {
			continue
		}
		c.timeout, c.cache = r.Limits.step(), r.projectCache()
		if _, err := r.exec(ctx, Base, r.in.Base, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// prepareHead does the same with the head, and compares the builds.
func (r *runner) prepareHead(ctx context.Context) error {
	if err := r.prepare(ctx, Head); err != nil {
		return err
	}
	r.compareLint()
	if r.facts.Unprepared != "" {
		return nil // a build that lacks its dependencies is nobody's fault
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
	unfetched := ""
	for _, c := range r.setupOf(side, p) {
		step, err := r.withRetry(ctx, side, r.limited(side, c))
		if err != nil {
			return err
		}
		unfetched = r.offline(c, step, unfetched)
		r.unprepared(step)
	}
	if side == Base {
		r.harvest(ctx)
	}
	for _, c := range p.build {
		step, err := r.exec(ctx, side, tree, compiling(r.limited(side, c), shared), nil)
		if err != nil {
			return err
		}
		if side == Base && step.Lacks == "" { // what the head's build prints is in the change's hands
			r.unprepared(step)
		}
	}
	if err := r.snapshot(ctx, side); err != nil {
		return fmt.Errorf("prepared snapshot of %s: %w", side, err)
	}
	for _, c := range p.lint {
		if _, err := r.exec(ctx, side, tree, compiling(r.limited(side, c), shared), nil); err != nil {
			return err
		}
	}
	r.settle(side)
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

// unprepared keeps the first reason for which a side cannot be judged.
func (r *runner) unprepared(s Step) {
	if s.Failed() && s.Environment != "" && r.facts.Unprepared == "" {
		r.facts.Unprepared = fmt.Sprintf("%s: %s: %s", s.Side, s.Command, s.Environment)
	}
}

// compiling lets the harness's own Go commands, which compile and run nothing,
// write to the project's build cache.
func compiling(c command, shared string) command {
	if c.argv[0] == "go" && (c.stage == StageBuild || c.stage == StageLint) {
		c.cache = shared
	}
	return c
}

// withRetry asks a second time where the first failure was the environment's.
func (r *runner) withRetry(ctx context.Context, side Side, c command) (Step, error) {
	step, err := r.exec(ctx, side, r.tree(side), c, nil)
	if err != nil || !step.Failed() || step.Environment == "" {
		return step, err
	}
	return r.exec(ctx, side, r.tree(side), c, nil)
}

// settle forgives a setup that failed for want of a network where everything
// was there nevertheless: all of the side's Go code, tests included, compiles.
func (r *runner) settle(side Side) {
	if !strings.HasPrefix(r.facts.Unprepared, string(side)+":") {
		return
	}
	for _, s := range r.res.Steps {
		compiled := s.Stage == StageBuild || s.Stage == StageLint
		if s.Side == side && compiled && (s.Failed() || !strings.Contains(s.Command, "go ")) {
			return
		}
	}
	if len(r.in.Commands.Setup) == 0 {
		r.note("%s; all that is needed was there already", r.facts.Unprepared)
		r.facts.Unprepared = ""
	}
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
	for _, s := range r.res.Steps {
		if s.Side != side || !s.Failed() || s.Stage != StageBuild && s.Stage != StageSetup || r.fetches[s.Evidence] {
			continue
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
