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
	for _, pkg := range slices.SortedFunc(maps.Keys(named), func(a, b ID) int { return cmp.Compare(a.String(), b.String()) }) {
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

// spareRounds are rounds beyond those that a rule needs, for tests that were not
// reported each time.
const spareRounds = 2

// A history is what every run of a side said of a test, the first one included.
type history map[Side][]Suite

// count is how often a test failed on a side, in this run's log.
func (h history) count(side Side, id ID) compare.Count {
	failed := seen(h[side], id, Failed)
	return compare.Count{Failed: failed, Runs: failed + seen(h[side], id, Passed)}
}

// A dispute is the tests that both sides disagree about while they are run again.
type dispute struct {
	cases Comparison // in which lists they are so far
	// once runs tests again at a side.
	once  func(ctx context.Context, side Side, ids []ID) (Suite, error)
	runs  history
	rule  compare.Rule
	cost  time.Duration // of the last round, both sides
	asked map[ID]bool   // the tests that decide; nil: each one does
	// rules are those of tests that other selections decided than that of the others.
	rules map[ID]compare.Rule
}

// rerun runs what both sides disagree about again, base and head in turns, in the
// selection in which it failed, until it is settled what is a regression and what is
// flaky.
func (r *runner) rerun(ctx context.Context) error {
	t := &r.res.Tests
	ids := disagreeing(*t)
	if len(ids) == 0 {
		return nil
	}
	d := &dispute{cases: *t, once: r.parted, runs: r.begun(), rule: compare.Usual, asked: r.sample(*t)}
	if again := r.retried(ids); len(again) > 0 { // they gave both results at once
		if err := r.round(ctx, d, again); err != nil {
			return err
		}
	}
	if err := r.rounds(ctx, d, ids); err != nil {
		return err
	}
	// Among the other tests they failed: only that separates flaky from dependent.
	if err := r.elsewhere(ctx, d, d.among(r.dependent), r.entire, compare.Whole); err != nil {
		return err
	}
	// What ends the program before them on the base does not when they are alone.
	if err := r.elsewhere(ctx, d, d.hidden(), r.alone, compare.Usual); err != nil {
		return err
	}
	if err := r.moreRounds(ctx, d, d.unsteady(r.excused)); err != nil {
		return err
	}
	r.flipped(d.runs)
	r.state(d, ids)
	*t = d.settle(r.excused)
	return nil
}

// retried are the tests that failed on the head and passed when their runner ran them
// again.
func (r *runner) retried(ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !r.suites[Head][id].Flipped() })
}

// elsewhere runs tests again in another selection, which then decides about them.
func (r *runner) elsewhere(ctx context.Context, d *dispute, ids []ID, once func(context.Context, Side, []ID) (Suite, error), rule compare.Rule) error {
	if len(ids) == 0 {
		return nil
	}
	w := &dispute{cases: d.cases, once: once, runs: history{}, rule: rule}
	if rule == compare.Whole { // the first runs were whole too
		w.runs = r.begun()
	}
	if err := r.rounds(ctx, w, ids); err != nil {
		return err
	}
	if err := r.moreRounds(ctx, w, w.unsteady(r.excused)); err != nil {
		return err
	}
	d.take(w, ids, rule)
	return nil
}

// disagreeing are the tests that one side alone fails.
func disagreeing(c Comparison) []ID {
	var ids []ID
	for _, list := range [][]Case{c.Regressed, c.NewFailing, c.Fixed} {
		for _, k := range list {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// begun is a history that begins with the first runs of this log. What was known of
// the base from earlier runs is no run.
func (r *runner) begun() history {
	h := history{}
	for _, side := range []Side{Base, Head} {
		first := maps.Clone(r.suites[side])
		maps.DeleteFunc(first, func(_ ID, t Test) bool { return t.Evidence == "" })
		h[side] = []Suite{first}
	}
	return h
}

// sample chooses the tests that decide for all; nil where there are few.
func (r *runner) sample(c Comparison) map[ID]bool {
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
	slices.SortStableFunc(leaves, func(a, b Case) int { return cmp.Compare(digest(a), digest(b)) })
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
func (r *runner) rounds(ctx context.Context, d *dispute, ids []ID) error {
	for n := 0; n < d.rule.Runs+spareRounds; n++ {
		open := d.open(ids)
		if len(open) == 0 || n > 0 && d.cost > r.decisive() {
			return nil
		}
		if err := r.round(ctx, d, open); err != nil {
			return err
		}
		if d.cost > r.limit/roundShare {
			d.rule = compare.Slow
		}
	}
	return nil
}

// round runs tests once on each side.
func (r *runner) round(ctx context.Context, d *dispute, ids []ID) error {
	began := r.logged()
	for _, side := range []Side{Base, Head} {
		suite, err := d.once(ctx, side, ids)
		if err != nil {
			return err
		}
		failures := slices.Concat(d.cases.Regressed, d.cases.NewFailing)
		d.runs[side] = append(d.runs[side], stillFailing(suite, r.suites[Base], failures...))
	}
	d.cost = r.logged() - began
	return nil
}

// moreRounds bounds how often tests are run again that fail on the head at random.
const moreRounds = 20

// moreRounds runs tests again that failed on the head once and not each time, until it is
// known that the base fails them too, and those that failed there each time and on the base
// once, until it is known whether that differs; or until there were enough runs.
func (r *runner) moreRounds(ctx context.Context, d *dispute, ids []ID) error {
	began := r.logged()
	for range moreRounds {
		ids = slices.DeleteFunc(ids, d.enough)
		if used := r.logged() - began; len(ids) == 0 || used+d.cost > r.Limits.random() || d.cost > r.decisive() {
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
	return r.flakes.of(id).Flips > 0 || !r.affects(id, r.suites[Head][id])
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
	for _, g := range slices.SortedFunc(maps.Keys(packages), ecosystem.Group.Compare) {
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
			return ecosystem.PackagesOf(p.Eco).Has(r.tree(side).Dir, p.Dir)
		}
	}
	_, err := ecosystem.ReadInTree(r.tree(side).Dir, id.Package)
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

// stillFailing marks those packages of failures whose failure a test explains in
// a run as failed when that test is not one that failed on base before: a crash
// that hits no test in one run and a test in another is still the same crash.
func stillFailing(run, base Suite, failures ...Case) Suite {
	for _, k := range failures {
		p, ok := run[k.ID]
		if !ok || k.ID.Test != "" || k.ID.Command != "" {
			continue
		}
		for id, t := range run {
			if id.Test != "" && id.Unit == k.ID.Unit && id.Package == k.ID.Package && t.Status == Failed && base[id].Status != Failed {
				p.Status = Failed
			}
		}
		run[k.ID] = p
	}
	return run
}
