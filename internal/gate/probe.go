package gate

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// probeRepeat is how often the probe runs each test.
const probeRepeat = 2

// raceCost is how much slower than usual tests are taken to be under the race
// detector (https://go.dev/doc/articles/race_detector: 2 to 20 times).
const raceCost = 5

// raceWorst is the most that it makes them slower by.
const raceWorst = 20

// maxDependents bounds how many packages that only use the changed ones are probed.
const maxDependents = 10

// probe attacks what changed beyond the change's own tests.
func (r *runner) probe(ctx context.Context) error {
	r.share = decidesAll
	if !r.res.Runnable || r.facts.Unprepared != "" {
		return nil
	}
	if r.hasPackageTests() && len(r.packages) > 0 {
		if err := r.probePackages(ctx); err != nil {
			return err
		}
	}
	if err := r.probeOthers(ctx); err != nil || len(r.res.Probes) > 0 || r.hasPackageTests() {
		return err
	}
	return r.probeCommands(ctx)
}

// probePackages repeats the tests of the changed packages in another order, with the
// race detector where there is one. What fails is run again, and at base.
func (r *runner) probePackages(ctx context.Context) error {
	by := map[ecosystem.Group][]string{}
	var elapsed time.Duration
	for _, p := range r.probed() {
		by[ecosystem.GroupOf(p)] = append(by[ecosystem.GroupOf(p)], p.ImportPath)
		elapsed += r.suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}].Elapsed
	}
	if len(by) == 0 {
		r.notCovered("no test exercises the changed packages, so that nothing could be repeated, shuffled or raced")
		return nil
	}
	groups := slices.SortedFunc(maps.Keys(by), ecosystem.Group.Compare)
	racing := map[ecosystem.Group]bool{}
	for _, g := range groups {
		if race := ecosystem.Named(g.Eco).Race; race != nil {
			racing[g] = r.canRace(ctx, race, elapsed)
		}
	}
	if slices.Contains(slices.Collect(maps.Values(racing)), true) {
		if err := r.warmLate(ctx, r.warms(true)); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if err := r.probeUnit(ctx, g, by[g], racing[g]); err != nil {
			return err
		}
	}
	return nil
}

// canRace says whether the race detector can be used for tests that take so long
// without it; else the report says why not.
func (r *runner) canRace(ctx context.Context, race *ecosystem.Race, elapsed time.Duration) bool {
	if why := race.Missing(r.Tools); why != "" {
		r.notCoveredOnce("data races: %s", why)
		return false
	}
	if !raceFits(ctx, r.Now(), elapsed) {
		r.notCoveredOnce("data races: the tests are too slow for the race detector in the time left")
		return false
	}
	return true
}

// raceFits estimates whether the probe under the race detector ends in half of
// the time that is left.
func raceFits(ctx context.Context, now time.Time, elapsed time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || elapsed*raceCost*probeRepeat < deadline.Sub(now)/2
}

// probed returns the packages to probe: the changed ones that have tests; where
// none has, some that use them.
func (r *runner) probed() []ecosystem.Package {
	inside := ecosystem.Touched(r.packages, r.in.Change.Paths())
	var own, users []ecosystem.Package
	for _, p := range r.packages {
		_, ran := r.suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}]
		switch {
		case !ran || !p.HasTests():
		case inside[p.ImportPath]:
			own = append(own, p)
		case r.affected[p.ImportPath]:
			users = append(users, p)
		}
	}
	if len(own) > 0 {
		return own
	}
	return users[:min(len(users), maxDependents)]
}

// probeUnit probes packages of one project.
func (r *runner) probeUnit(ctx context.Context, g ecosystem.Group, pkgs []string, race bool) error {
	eco := ecosystem.Named(g.Eco)
	title := "repeated and shuffled"
	if race {
		title = "repeated, shuffled, with the race detector"
	}
	slices.Sort(pkgs)
	run := func(side Side) (*ecosystem.RaceWatch, Suite, Step, error) {
		p := ecosystem.Probing{Seed: seed(r.in.Head.OID), Times: probeRepeat, Race: race}
		for _, name := range pkgs {
			if r.has(side, ID{Unit: g.Unit, Package: name}) {
				p.Packages = append(p.Packages, name)
			}
		}
		commands := r.packageTests(side, g, StageProbe, func(c ecosystem.Command) ecosystem.Command { return eco.Packages.Again(c, p) })
		if len(commands) == 0 {
			return &ecosystem.RaceWatch{}, Suite{}, Step{}, nil
		}
		c, watch := commands[0], &ecosystem.RaceWatch{}
		if eco.Race != nil {
			c, watch = eco.Race.Watch(c)
		}
		suite, step, err := r.runFresh(ctx, side, c)
		watch.In(r.tree(side).Dir)
		return watch, suite, step, err
	}
	watch, head, step, err := run(Head)
	if err != nil {
		return err
	}
	if race && !ecosystem.AnyRan(head) {
		r.note("the race detector could not be used: %s", cmp.Or(ecosystem.FirstLine(step.Output), "no test ran under it"))
		return r.probeUnit(ctx, g, pkgs, false)
	}
	p := Probe{Title: title, Command: step.Command, Evidence: []string{step.Evidence}, Ran: r.held(head), Note: "nothing failed"}
	failed := r.newFailures(head)
	switch {
	case step.TimedOut:
		p.Ran, p.Note = false, "it did not end in its time"
	case !p.Ran:
		p.Note = "no test passed under it"
	case len(failed)+len(watch.Reports) > 0:
		err = r.judgePackages(ctx, &p, watch, failed, run)
	case step.Failed():
		p.Note = "nothing failed that does not fail without it"
	}
	r.res.Probes = append(r.res.Probes, p)
	return err
}

// held says whether a probe came to a result: a test passed under it, or failed that
// passes without it.
func (r *runner) held(probed Suite) bool {
	return ecosystem.AnyPassed(probed) || len(r.newFailures(probed)) > 0
}

// newFailures are the tests that a probe of the head failed and that pass without
// it.
func (r *runner) newFailures(probed Suite) []Case {
	var out []Case
	for id, t := range probed {
		if t.Status == Failed && r.suites[Head][id].Status != Failed {
			out = append(out, ecosystem.NewCase(id, t))
		}
	}
	ecosystem.SortCases(out)
	return out
}

// judgePackages decides what a probe of packages shows: races with the change's functions, and
// tests that by themselves differ between the sides.
func (r *runner) judgePackages(ctx context.Context, p *Probe, head *ecosystem.RaceWatch, failed []Case, run func(Side) (*ecosystem.RaceWatch, Suite, Step, error)) error {
	old, base, step, err := run(Base)
	if err != nil {
		return err
	}
	if step.Evidence != "" {
		p.Evidence = append(p.Evidence, step.Evidence)
	}
	races, err := r.judgeRaces(ctx, p, head, old, run)
	if err != nil {
		return err
	}
	explained := map[ID]bool{}
	for _, k := range races {
		explained[k.ID] = true
		for up, ok := k.ID.Parent(); ok; up, ok = up.Parent() {
			explained[up] = true
		}
		explained[ID{Unit: k.ID.Unit, Package: k.ID.Package}] = true
	}
	failed = slices.DeleteFunc(failed, func(k Case) bool { return explained[k.ID] })
	return r.judgeProbe(ctx, p, failed, base)
}

// judgeProbe decides about tests that failed under a probe on the head and pass there
// without it. That alone says nothing of the change: another order, or a second run in
// one process, can fail tests that are as old as the base. What they do by themselves,
// as often on both sides as it takes, decides.
func (r *runner) judgeProbe(ctx context.Context, p *Probe, failed []Case, base Suite) error {
	d := &dispute{once: r.alone, runs: history{}, rule: compare.Usual}
	var ids []ID
	for _, k := range failed {
		switch onBase := r.suites[Base][k.ID]; {
		case base[k.ID].Status == Failed || k.ID.Test == "":
			if on := base[k.ID].Evidence; on != "" {
				k.Evidence = append(k.Evidence, on)
			}
			p.Flaky = append(p.Flaky, k)
		case onBase.Status == Passed:
			d.cases.Regressed = append(d.cases.Regressed, k)
			ids = append(ids, k.ID)
		case onBase.Status == "":
			d.cases.NewFailing = append(d.cases.NewFailing, k)
			ids = append(ids, k.ID)
		default:
			p.Flaky = append(p.Flaky, k)
		}
	}
	random, err := r.byThemselves(ctx, p, d, ids)
	p.Note = probeNote(p, random)
	return err
}

// byThemselves runs tests that a probe failed again, each side by the same rule as
// tests that disagree, and files them. It returns how many fail at random on the head
// alone.
func (r *runner) byThemselves(ctx context.Context, p *Probe, d *dispute, ids []ID) (random int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	if err := r.rounds(ctx, d, ids); err != nil {
		return 0, err
	}
	var more []ID
	d.cases.each(func(k Case, l disputed) {
		if d.stand(k, l) == compare.Conflict && (l == isNew || !r.excused(k.ID)) {
			more = append(more, k.ID)
		}
	})
	if err := r.moreRounds(ctx, d, more); err != nil {
		return 0, err
	}
	r.flipped(d.runs)
	r.state(d, ids)
	s := d.settle(r.excused)
	for _, list := range s.lists() {
		for i := range *list { // what the probe said comes first
			for _, k := range slices.Concat(d.cases.Regressed, d.cases.NewFailing) {
				if k.ID == (*list)[i].ID {
					(*list)[i].Evidence = slices.Concat(k.Evidence, (*list)[i].Evidence)
				}
			}
		}
	}
	p.Regressed = append(p.Regressed, s.Regressed...)
	p.NewFlaky = append(p.NewFlaky, s.FlakyNew...)
	r.res.Tests.NewFlakiness = append(r.res.Tests.NewFlakiness, s.NewFlakiness...)
	p.Flaky = slices.Concat(p.Flaky, s.NewFailing, s.Flaky, s.PreExisting, s.Unsettled, s.Unknown)
	for _, k := range s.NewFlakiness {
		p.Evidence = append(p.Evidence, k.Evidence...)
	}
	for _, list := range [][]Case{p.Regressed, p.NewFlaky, p.Flaky} {
		ecosystem.SortCases(list)
	}
	return len(Leaves(s.NewFlakiness)), nil
}

// probeNote says what came of the tests that failed under a probe.
func probeNote(p *Probe, random int) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, count(n, one, many))
		}
	}
	add(len(p.Races), "data race in changed code that base does not have", "data races in changed code that base does not have")
	add(len(Leaves(p.Regressed))-len(p.Races), "test by itself fails only with the change", "tests by themselves fail only with the change")
	add(random, "test by itself fails at random, only with the change", "tests by themselves fail at random, only with the change")
	add(len(Leaves(p.NewFlaky)), "new test of the change fails at random", "new tests of the change fail at random")
	add(len(Leaves(p.Flaky)), "test failed only when repeated, shuffled or raced, which is not held against the change", "tests failed only when repeated, shuffled or raced, which is not held against the change")
	return cmp.Or(strings.Join(parts, "; "), "nothing failed that does not fail without it")
}

// probeCommands repeats the head's test commands, which is all that can be done
// to tests that cannot be told apart.
func (r *runner) probeCommands(ctx context.Context) error {
	for _, c := range r.plan[Head].test {
		id := ID{Unit: c.Unit, Command: c.Text}
		if r.suites[Head][id].Status != Passed {
			continue
		}
		c.Stage = StageProbe
		suite, step, err := r.runFresh(ctx, Head, c)
		if err != nil {
			return err
		}
		p := Probe{Title: "repeated", Command: c.Text, Ran: !step.TimedOut, Evidence: []string{step.Evidence}, Note: "nothing failed"}
		if t := suite[id]; t.Status == Failed {
			d := &dispute{once: r.parted, runs: history{}, rule: compare.Usual}
			if k := ecosystem.NewCase(id, t); r.suites[Base][id].Status == Passed {
				d.cases.Regressed = []Case{k}
			} else {
				d.cases.NewFailing = []Case{k}
			}
			random, err := r.byThemselves(ctx, &p, d, []ID{id})
			if err != nil {
				return err
			}
			p.Note = probeNote(&p, random)
		}
		r.res.Probes = append(r.res.Probes, p)
	}
	return nil
}

// seed is the order of the tests for a tree: the same at each run of it.
func seed(oid string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(oid))
	return h.Sum32()%1_000_000 + 1
}
