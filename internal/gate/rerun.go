package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/sorted"
)

// alone runs tests by themselves, without the others of their packages where their
// runner can name them.
func (r *runner) alone(ctx context.Context, side Side, ids []ID) (Suite, error) {
	named := map[ID]map[string]bool{} // top-level tests by package
	for _, id := range ids {
		pkg := ID{Unit: id.Unit, Package: id.Package}
		if !r.has(side, pkg) {
			continue
		}
		if named[pkg] == nil {
			named[pkg] = map[string]bool{}
		}
		named[pkg][id.Top()] = true
	}
	out := Suite{}
	for _, pkg := range sorted.Keys(named, func(a, b ID) int { return cmp.Compare(a.String(), b.String()) }) {
		for _, c := range r.parts(side, ecosystem.Group{Eco: r.sides.EcoOf(pkg), Unit: pkg.Unit}, StageRerun, ecosystem.Part{Packages: []string{pkg.Package}, Tests: named[pkg]}) {
			suite, _, err := r.runFresh(ctx, side, c)
			if err != nil {
				return out, err
			}
			out.Add(suite)
		}
	}
	return out, nil
}

// maxSample is how many disagreeing tests are run again at most: chosen by digest,
// they decide for all.
const maxSample = 20

// roundShare is the part of the time limit over which a round of runs is slow.
const roundShare = 10

// rerun runs what both sides disagree about again, base and head in turns, in the
// selection in which it failed, until it is settled what is a regression and what is
// flaky.
func (r *runner) rerun(ctx context.Context) error {
	t := &r.res.Tests
	ids := runs.Disagreeing(*t)
	if len(ids) == 0 {
		return nil
	}
	d := &runs.Dispute{Cases: *t, Once: r.parted, Runs: r.begun(), Rule: compare.Usual, Asked: r.sample(*t)}
	if again := r.retried(ids); len(again) > 0 { // they gave both results at once
		if err := r.round(ctx, d, again); err != nil {
			return err
		}
	}
	if err := r.rounds(ctx, d, ids); err != nil {
		return err
	}
	// Among the other tests they failed: only that separates flaky from dependent.
	if err := r.elsewhere(ctx, d, d.Among(r.dependent), r.entire, compare.Whole, r.begun()); err != nil {
		return err
	}
	// What ends the program before them on the base does not when they are alone.
	if err := r.elsewhere(ctx, d, d.Hidden(), r.alone, compare.Usual, runs.History{}); err != nil {
		return err
	}
	if err := r.moreRounds(ctx, d, d.Unsteady(r.excused)); err != nil {
		return err
	}
	r.flipped(d.Runs)
	r.state(d, ids)
	*t = d.Settle(r.excused)
	return nil
}

// retried are the tests that failed on the head and passed when their runner ran them
// again.
func (r *runner) retried(ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !r.suites[Head][id].Flipped() })
}

// elsewhere runs tests again in another selection, which then decides about them; begun are
// runs in it that have been made.
func (r *runner) elsewhere(ctx context.Context, d *runs.Dispute, ids []ID, once func(context.Context, Side, []ID) (Suite, error), rule compare.Rule, begun runs.History) error {
	if len(ids) == 0 {
		return nil
	}
	w := &runs.Dispute{Cases: d.Cases, Once: once, Runs: begun, Rule: rule}
	if err := r.rounds(ctx, w, ids); err != nil {
		return err
	}
	if err := r.moreRounds(ctx, w, w.Unsteady(r.excused)); err != nil {
		return err
	}
	d.Take(w, ids, rule)
	return nil
}

// begun is a history that begins with the first runs of this log. What was known of
// the base from earlier runs is no run.
func (r *runner) begun() runs.History {
	h := runs.History{}
	for _, side := range []Side{Base, Head} {
		first := maps.Clone(r.suites[side])
		maps.DeleteFunc(first, func(_ ID, t Test) bool { return t.Evidence == "" })
		h[side] = []Suite{first}
	}
	return h
}

// sample chooses the tests that decide for all; nil where there are few.
func (r *runner) sample(c runs.Comparison) map[ID]bool {
	var leaves []Case
	for _, list := range [][]Case{c.Regressed, c.NewFailing, c.Fixed} {
		leaves = append(leaves, Leaves(list)...)
	}
	if len(leaves) <= maxSample {
		return nil
	}
	digest := func(k Case) string {
		sum := sha256.Sum256([]byte(r.in.Head.OID + "\n" + k.ID.Unit + "\n" + k.ID.String()))
		return string(sum[:])
	}
	sorted.By(leaves, func(a, b Case) int { return cmp.Compare(digest(a), digest(b)) })
	out := map[ID]bool{}
	for _, k := range leaves[:maxSample] {
		out[k.ID] = true
		for up, ok := k.ID.Parent(); ok; up, ok = up.Parent() {
			out[up] = true
		}
	}
	r.note("%d tests disagree: %d of them, chosen by digest, were run again and decide for all", len(leaves), maxSample)
	return out
}

// rounds runs tests again, on both sides in turns, until each is settled or there is
// no time for more.
func (r *runner) rounds(ctx context.Context, d *runs.Dispute, ids []ID) error {
	for n := 0; n < d.Rule.Runs+runs.SpareRounds; n++ {
		open := d.Open(ids)
		if len(open) == 0 || n > 0 && d.Cost > r.decisive() {
			return nil
		}
		if err := r.round(ctx, d, open); err != nil {
			return err
		}
		if d.Cost > r.limit/roundShare {
			d.Rule = compare.Slow
		}
	}
	return nil
}

// round runs tests once on each side.
func (r *runner) round(ctx context.Context, d *runs.Dispute, ids []ID) error {
	began := r.logged()
	for _, side := range []Side{Base, Head} {
		suite, err := d.Once(ctx, side, ids)
		if err != nil {
			return err
		}
		failures := slices.Concat(d.Cases.Regressed, d.Cases.NewFailing)
		d.Runs[side] = append(d.Runs[side], runs.StillFailing(suite, r.suites[Base], failures...))
	}
	d.Cost = r.logged() - began
	return nil
}

// moreRounds bounds how often tests are run again that fail on the head at random.
const moreRounds = 20

// moreRounds runs tests again that failed on the head once and not each time, until it is
// known that the base fails them too, and those that failed there each time and on the base
// once, until it is known whether that differs; or until there were enough runs.
func (r *runner) moreRounds(ctx context.Context, d *runs.Dispute, ids []ID) error {
	began := r.logged()
	for range moreRounds {
		ids = slices.DeleteFunc(ids, d.Enough)
		if used := r.logged() - began; len(ids) == 0 || used+d.Cost > r.Limits.random() || d.Cost > r.decisive() {
			return nil
		}
		if err := r.round(ctx, d, ids); err != nil {
			return err
		}
	}
	return nil
}

// Parts of the time limit, in percent: what building, the tests of both sides and
// what they disagree about may take, and what all may take before it is concluded.
const (
	decidesFirst = 70
	decidesAll   = 95
)

// decisive is the time that is left for more runs.
func (r *runner) decisive() time.Duration { return r.limit*time.Duration(r.share)/100 - r.logged() }

// excused says whether a test is known to have flipped on the base, or cannot be
// reached by the change, so that it fails at random without its help.
func (r *runner) excused(id ID) bool {
	return r.flakes.Of(id).Flips > 0 || !r.affects(id, r.suites[Head][id])
}

// dependent says whether a part of the suite in which a test is run again can differ
// from the whole: its runner has the tests of several packages in one process.
func (r *runner) dependent(id ID) bool {
	return id.Test != "" && slices.ContainsFunc(r.plan[Head].Test, func(c ecosystem.Command) bool {
		if c.Results == nil || c.Results.Apart || c.Eco != r.sides.EcoOf(id) || c.Unit != id.Unit {
			return false
		}
		_, narrowed := c.Results.Narrow(c, ecosystem.Part{Packages: []string{id.Package}})
		return narrowed
	})
}

// parted runs tests again in their packages.
func (r *runner) parted(ctx context.Context, side Side, ids []ID) (Suite, error) {
	return r.again(ctx, side, ids, false)
}

// entire runs tests again in all of their suite.
func (r *runner) entire(ctx context.Context, side Side, ids []ID) (Suite, error) {
	return r.again(ctx, side, ids, true)
}

// again runs the tests of ids once more at one side, in their packages or, with
// whole, in all of their suite. Packages that the side does not have are left out.
func (r *runner) again(ctx context.Context, side Side, ids []ID, whole bool) (Suite, error) {
	out := Suite{}
	for _, c := range r.againCommands(side, ids, whole) {
		suite, _, err := r.runFresh(ctx, side, c)
		out.Add(suite)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *runner) againCommands(side Side, ids []ID, whole bool) []ecosystem.Command {
	var out []ecosystem.Command
	packages := map[ecosystem.Group][]string{}
	for _, id := range ids {
		g := ecosystem.Group{Eco: r.sides.EcoOf(id), Unit: id.Unit}
		switch pkg := (ID{Unit: id.Unit, Package: id.Package}); {
		case id.Command != "":
			out = append(out, r.commandOf(side, id)...)
		case !r.has(side, pkg) && !r.hasPackageOf(side, id):
		case !slices.Contains(packages[g], id.Package):
			packages[g] = append(packages[g], id.Package)
		}
	}
	for _, g := range sorted.Keys(packages, ecosystem.Group.Compare) {
		p := ecosystem.Part{Packages: slices.Sorted(slices.Values(packages[g]))}
		if whole {
			p = ecosystem.Part{}
		}
		out = append(out, r.parts(side, g, StageRerun, p)...)
	}
	return out
}

// hasPackageOf says whether a side's tree has the package of a test of which it reported
// nothing, as where its runner failed as a whole.
func (r *runner) hasPackageOf(side Side, id ID) bool {
	for _, p := range r.packages {
		if p.ImportPath == id.Package {
			return languages.PackagesOf(p.Eco).Has(r.executor.Tree(side).Dir, p.Dir)
		}
	}
	_, err := ecosystem.ReadInTree(r.executor.Tree(side).Dir, id.Package)
	return err == nil
}

// parts are the commands of a group for a part of its tests: for all of them
// where the part cannot be named. A side that has no such tests has none.
func (r *runner) parts(side Side, g ecosystem.Group, stage Stage, p ecosystem.Part) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.plan[side].Test {
		if c.Results == nil || c.Eco != g.Eco || c.Unit != g.Unit {
			continue
		}
		p := p
		if len(p.Packages) > 0 {
			p.Packages = slices.DeleteFunc(slices.Clone(p.Packages), func(pkg string) bool { return r.ofOthers(c, pkg) })
			if len(p.Packages) == 0 {
				continue
			}
		}
		if less, ok := c.Results.Narrow(c, p); ok && len(p.Packages) > 0 {
			less.Name = c.Label()
			c = less
		}
		c.Stage = stage
		c = r.hanging(c)
		if !slices.ContainsFunc(out, func(have ecosystem.Command) bool { return have.Text == c.Text }) {
			out = append(out, c)
		}
	}
	return out
}

// reports keeps which packages or files of tests a command has reported on.
func (r *runner) reports(unit, label string, suite Suite) {
	for id := range suite {
		if id.Package == "" {
			continue
		}
		by := ID{Unit: unit, Package: id.Package}
		if r.reportedBy == nil {
			r.reportedBy = map[ID][]string{}
		}
		if !slices.Contains(r.reportedBy[by], label) {
			r.reportedBy[by] = append(r.reportedBy[by], label)
		}
	}
}

// ofOthers says whether other commands alone have reported on a package or file of tests. This
// one runs it in another way, in which it may fail on both sides.
func (r *runner) ofOthers(c ecosystem.Command, pkg string) bool {
	by := r.reportedBy[ID{Unit: c.Unit, Package: pkg}]
	return len(by) > 0 && !slices.Contains(by, c.Label())
}

func (r *runner) has(side Side, pkg ID) bool {
	_, ok := r.suites[side][pkg]
	return ok
}

// commandOf finds the test command that an identity without tests stands for.
func (r *runner) commandOf(side Side, id ID) []ecosystem.Command {
	for _, c := range r.plan[side].Test {
		if c.Unit == id.Unit && (c.Text == id.Command || c.Results != nil && c.Label() == id.Command) {
			c.Stage = StageRerun
			return []ecosystem.Command{c}
		}
	}
	return nil
}

// packageTests are the test commands of a group made into others, such as those that
// look for data races, once for each set of flags that its tests are run with. A side
// that has no such tests has none.
func (r *runner) packageTests(side Side, g ecosystem.Group, stage Stage, as func(ecosystem.Command) ecosystem.Command) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.plan[side].Test {
		if c.Eco != g.Eco || c.Results == nil || c.Unit != g.Unit {
			continue
		}
		c = as(c)
		c.Stage = stage
		c = r.hanging(c)
		if !slices.ContainsFunc(out, func(have ecosystem.Command) bool { return have.Text == c.Text }) {
			out = append(out, c)
		}
	}
	return out
}
