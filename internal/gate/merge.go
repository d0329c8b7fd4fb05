package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// The sides of the merge. The strings are stored: do not change them.
const (
	Tip    Side = "tip"    // the current base
	Merged Side = "merged" // the change merged into it
)

// A Merge is what the change does once it is merged into the current base.
type Merge struct {
	Tip       string          `json:"tip"`              // commit of the current base
	Commit    string          `json:"commit,omitempty"` // of the merge; empty where there are conflicts
	Note      string          `json:"note"`             // one sentence for people
	Command   string          `json:"command"`          // the first that ran there
	Evidence  []string        `json:"evidence"`
	Conflicts []string        `json:"conflicts"` // paths
	Ran       bool            `json:"ran"`       // it was built and tested
	Broken    []string        `json:"broken"`    // builds on the tip and with the change alone, not merged
	Tests     runs.Comparison `json:"tests"`     // the tip against the merge, of tests that fail only there
}

// mergeShare is the part of the time that is left in which the merge has to fit.
const mergeShare = 2

// merge merges the change into the current base, where that has moved, and
// builds and tests what both have touched. What fails there is run at the tip as
// well: only what passes at the tip and with the change alone is the merge's.
func (r *runner) merge(ctx context.Context) error {
	c := r.in.Change
	t := r.res.Tests
	if c.BaseSHA == c.MergeBase || c.BaseSHA == "" || c.BaseSHA == c.HeadSHA {
		return nil
	}
	if r.prep.Unprepared() != "" || len(r.res.Broken)+len(t.Regressed)+len(t.NewFailing) > 0 {
		r.notCovered("the change merged into the current base: it fails by itself")
		return nil
	}
	if left, need := r.left(ctx), r.spent(Head); need > left/mergeShare {
		r.notCovered("the change merged into the current base: there is no time left for it (about %s)", need.Round(time.Second))
		return nil
	}
	m := &Merge{Tip: c.BaseSHA}
	r.res.Merge = m
	merged, err := r.Mirror.Merge(ctx, c.BaseSHA, c.HeadSHA)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.Note = "it could not be merged: " + err.Error()
		r.notCovered("the change merged into the current base: %v", err)
		return nil
	}
	m.Commit, m.Conflicts = merged.Commit, merged.Conflicts
	if len(m.Conflicts) > 0 {
		m.Note = "it cannot be merged without a decision: " + results.Listed(m.Conflicts, 5) + results.Plural(len(m.Conflicts), " conflicts", " conflict") + " with the current base"
		r.notCovered("the change merged into the current base: there are conflicts in %s", results.Listed(m.Conflicts, 5))
		return nil
	}
	return r.judgeMerge(ctx, m)
}

// left is how much time the run has; without a limit, an hour.
func (g *Gate) left(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Sub(g.Now())
	}
	return time.Hour
}

// spent is how long setup, build and tests of a side took.
func (r *runner) spent(side Side) time.Duration {
	var sum time.Duration
	for _, stage := range []Stage{StageSetup, StageBuild, StageTest} {
		for _, s := range r.executor.Steps.Of(stage, side) {
			sum += s.Duration
		}
	}
	return sum
}

// judgeMerge has a runner of its own look at both trees.
func (r *runner) judgeMerge(ctx context.Context, m *Merge) error {
	dir := filepath.Join(filepath.Dir(r.in.Head.Dir), "merge")
	tip, err := r.Mirror.Worktree(ctx, filepath.Join(dir, "tip"), m.Tip)
	if err != nil {
		return err
	}
	defer tip.Close()
	both, err := r.Mirror.Worktree(ctx, filepath.Join(dir, "merged"), m.Commit)
	if err != nil {
		return err
	}
	defer both.Close()
	in := r.in
	in.Base, in.Head, in.Prepared = tip, both, nil
	inner := newRunner(r.aside(filepath.Join(r.Scratch, "merge")), in, task{
		beside:  r.executor.Beside,
		as:      map[Side]Side{Base: Tip, Head: Merged},
		longest: r.tests.Longest, limit: r.tests.Limit - r.tests.Logged(), flakes: r.tests.Flakes,
	})
	g := &merger{r: inner, alone: r, out: m}
	defer r.takeOver(g)
	if err := g.steps(ctx); err != nil {
		return fmt.Errorf("after merge: %w", err)
	}
	g.conclude()
	return nil
}

// takeOver brings what the gate of the merge ran and noted into the result.
func (r *runner) takeOver(g *merger) {
	g.r.executor.Close()
	for _, s := range g.r.executor.Steps {
		s.Side = g.r.executor.As[s.Side]
		r.executor.Steps = append(r.executor.Steps, s)
		if s.Side == Merged && (s.Stage == StageBuild || s.Stage == StageTest) {
			g.out.Evidence = append(g.out.Evidence, s.Evidence)
			g.out.Command = s.Label()
		}
	}
	for _, n := range g.r.res.Notes {
		r.note("after merge: %s", n)
	}
}

// A merger is a run of the gate whose base is the tip and whose head is the merge.
type merger struct {
	r     *runner
	alone *runner // that of the change without the merge
	out   *Merge
	ready bool // the tip is prepared
}

func (g *merger) steps(ctx context.Context) error {
	for _, step := range []func(context.Context) error{g.r.detect, g.build, g.r.list, g.tests} {
		if err := step(ctx); err != nil {
			return err
		}
		if g.r.facts.Nothing != "" || g.r.prep.Unprepared() != "" || len(g.out.Broken) > 0 {
			return nil
		}
	}
	return nil
}

// build sets the merge up and builds it; the tip only where that fails.
func (g *merger) build(ctx context.Context) error {
	if err := g.r.executor.ShareCache(); err != nil {
		return err
	}
	if err := g.r.prep.Prepare(ctx, Head); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(g.r.prep.Broken(Head), func(b string) bool { return slices.Contains(g.alone.prep.Broken(Head), b) })
	if len(fresh) == 0 || g.r.prep.Unprepared() != "" {
		return nil
	}
	if err := g.tip(ctx); err != nil {
		return err
	}
	tip := g.r.prep.Broken(Base)
	g.out.Broken = slices.DeleteFunc(fresh, func(b string) bool { return slices.Contains(tip, b) })
	return nil
}

// tip prepares the tip, once.
func (g *merger) tip(ctx context.Context) error {
	if g.ready {
		return nil
	}
	g.ready = true
	return g.r.prep.Prepare(ctx, Base)
}

// tests runs those of what both have touched, at the tip only where some fail
// that do not fail with the change alone.
func (g *merger) tests(ctx context.Context) error {
	var err error
	if g.r.sides.Plans[Head].Test, err = g.touchedByBoth(ctx, Head); err != nil {
		return err
	}
	if len(g.r.sides.Plans[Head].Test) == 0 {
		return nil
	}
	g.out.Ran = true
	if err := g.r.test(ctx, Head); err != nil {
		return err
	}
	known := func(id ID) bool {
		return g.alone.sides.Suites[Head][id].Status == Failed || g.alone.sides.Suites[Base][id].Status == Failed
	}
	fresh := false
	for id, t := range g.r.sides.Suites[Head] {
		fresh = fresh || t.Status == Failed && !known(id)
	}
	if !fresh {
		return nil
	}
	if err := g.tip(ctx); err != nil {
		return err
	}
	if g.r.sides.Plans[Base].Test, err = g.touchedByBoth(ctx, Base); err != nil {
		return err
	}
	if err := g.r.test(ctx, Base); err != nil {
		return err
	}
	g.r.res.Tests = runs.Compare(g.r.sides.Suites[Base], g.r.sides.Suites[Head], g.r.sides.MovedTest)
	if g.r.res.Tests, err = g.r.tests.Rerun(ctx, g.r.res.Tests); err != nil {
		return err
	}
	g.out.Tests = g.r.res.Tests
	for _, list := range []*[]Case{&g.out.Tests.Regressed, &g.out.Tests.NewFailing} {
		*list = slices.DeleteFunc(*list, func(k Case) bool { return known(k.ID) })
	}
	return nil
}

// touchedByBoth narrows test commands to the packages that the change and
// what happened on the base since both affect. Others run whole.
func (g *merger) touchedByBoth(ctx context.Context, side Side) ([]ecosystem.Command, error) {
	moved, err := g.r.Mirror.Diff(ctx, g.r.in.Change.MergeBase, g.out.Tip)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range moved {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	theirs := languages.Affected(g.r.sides.Packages, paths)
	byUnit := map[string][]string{}
	for _, p := range g.r.sides.Packages {
		if theirs[p.ImportPath] && g.r.sides.Affected[p.ImportPath] && p.HasTests() && languages.PackagesOf(p.Eco).Has(g.r.executor.Tree(side).Dir, p.Dir) {
			byUnit[p.Unit] = append(byUnit[p.Unit], p.ImportPath)
		}
	}
	var out []ecosystem.Command
	for _, c := range g.r.sides.Plans[side].Test {
		if !languages.ByPackage(c.Eco) || c.Results == nil || len(g.r.in.Commands.Test) > 0 {
			out = append(out, c)
			continue
		}
		if pkgs := byUnit[c.Unit]; len(pkgs) > 0 {
			slices.Sort(pkgs)
			if n, ok := c.Results.Narrow(c, ecosystem.Part{Packages: slices.Compact(pkgs)}); ok {
				c = n
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// conclude puts the result into words.
func (g *merger) conclude() {
	m := g.out
	failing := len(Leaves(m.Tests.Regressed)) + len(Leaves(m.Tests.NewFailing))
	switch {
	case g.r.prep.Unprepared() != "":
		m.Note = "merged into the current base, it could not be set up: " + g.r.prep.Unprepared()
		g.alone.notCovered("the change merged into the current base: %s", g.r.prep.Unprepared())
	case len(m.Broken) > 0:
		m.Note = "merged into the current base, it does not build any more: " + results.Listed(m.Broken, 5)
	case failing > 0:
		m.Note = fmt.Sprintf("merged into the current base, %s that %s on both sides alone", results.Count(failing, "test fails", "tests fail"), results.Plural(failing, "passes", "pass"))
	case m.Ran:
		m.Note = "merged into the current base, it builds, and the tests of what both changed pass as before"
	default:
		m.Note = "merged into the current base, it builds; no test covers what both changed"
	}
	if g.r.facts.Incomplete != "" {
		g.alone.notCovered("the change merged into the current base: %s", g.r.facts.Incomplete)
	}
}
