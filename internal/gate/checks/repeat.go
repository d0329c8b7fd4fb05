package checks

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Repeats is how often the probe runs each test.
const Repeats = 2

// baseTime is how many times as long as on the head a probe may take on the base, which
// is asked only what the head showed, and baseGrace what it may take beyond that. A head
// whose program ends early does not shorten it below what the race detector costs.
const (
	baseTime  = 3
	baseGrace = 10 * time.Second
)

// raceCost is how much slower than usual tests are taken to be under the race
// detector (https://go.dev/doc/articles/race_detector: 2 to 20 times).
const raceCost = 5

// RaceWorst is the most that it makes them slower by.
const RaceWorst = 20

// probeShare is the part of the time that is left which one run of a probe may take: what
// it shows is run again, and other checks follow.
const probeShare = 3

// maxDependents bounds how many packages that only use the changed ones are probed.
const maxDependents = 10

// Repeat attacks what changed beyond the change's own tests: it runs them again, in
// another order, and with the detector of data races where there is one. A change that
// fails anyway is not attacked.
func Repeat(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	err := r.repeat(ctx)
	return r.found, err
}

func (r *check) repeat(ctx context.Context) error {
	if !r.in.Runnable || r.in.Unprepared || r.in.Failed {
		return nil
	}
	if r.hasPackageTests() && len(r.in.Packages) > 0 {
		if err := r.probePackages(ctx); err != nil {
			return err
		}
	}
	begun := func(p Probe) bool { return len(p.Evidence) > 0 }
	if err := r.probeOthers(ctx); err != nil || slices.ContainsFunc(r.found.Probes, begun) || r.hasPackageTests() {
		return err
	}
	return r.probeCommands(ctx)
}

// probePackages repeats the tests of the changed packages in another order, with the
// race detector where there is one. What fails is run again, and at base.
func (r *check) probePackages(ctx context.Context) error {
	by := map[ecosystem.Group][]string{}
	var elapsed time.Duration
	for _, p := range r.probed() {
		by[ecosystem.GroupOf(p)] = append(by[ecosystem.GroupOf(p)], p.ImportPath)
		elapsed += r.in.Suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}].Elapsed
	}
	if len(by) == 0 {
		r.in.NotCovered("no test exercises the changed packages, so that nothing could be repeated, shuffled or raced")
		return nil
	}
	groups := sorted.Keys(by, ecosystem.Group.Compare)
	racing := map[ecosystem.Group]bool{}
	for _, g := range groups {
		if race := languages.Named(g.Eco).Race; race != nil {
			racing[g] = r.canRace(ctx, race, elapsed)
		}
	}
	if slices.Contains(slices.Collect(maps.Values(racing)), true) {
		if err := r.in.Warm(ctx, r.in.Warming); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if !racing[g] {
			t := r.packagesTook(g, by[g])
			if _, ok := r.share(ctx, t.either); !ok {
				r.leaveOut(ctx, Probe{Title: shuffled, Command: r.packageCommand(g)}, t)
				continue
			}
		}
		if err := r.probeUnit(ctx, g, by[g], racing[g]); err != nil {
			return err
		}
	}
	return nil
}

// canRace says whether the race detector can be used for tests that take so long
// without it; else the report says why not.
func (r *check) canRace(ctx context.Context, race *ecosystem.Race, elapsed time.Duration) bool {
	if why := race.Missing(r.in.Tools); why != "" {
		r.in.NotCoveredOnce("data races: %s", why)
		return false
	}
	if !raceFits(ctx, r.in.Now(), elapsed) {
		r.in.NotCoveredOnce("data races: the tests are too slow for the race detector in the time left")
		return false
	}
	return true
}

// raceFits estimates whether the probe under the race detector ends in half of
// the time that is left.
func raceFits(ctx context.Context, now time.Time, elapsed time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || elapsed*raceCost*Repeats < deadline.Sub(now)/2
}

// share is how long one run of a probe may take, zero where nothing bounds it; false: tests
// that took so long would take longer, and the report says so.
func (r *check) share(ctx context.Context, took time.Duration) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, true
	}
	left := deadline.Sub(r.in.Now()) / probeShare
	if took < left {
		return min(left, r.in.StepLimit).Round(time.Second), true
	}
	r.noTime()
	return 0, false
}

// noTime says that tests are not repeated, or not to their end, for lack of time.
func (r *check) noTime() {
	r.in.NotCoveredOnce("the tests of what changed once more: they take more than a third of the time that is left")
}

// leaveOut keeps a probe that was not begun for lack of time.
func (r *check) leaveOut(ctx context.Context, p Probe, t times) {
	deadline, _ := ctx.Deadline()
	p.Note, p.NoTime = "its tests take more than a third of the time that is left", t.base >= deadline.Sub(r.in.Now())/probeShare
	r.found.Probes = append(r.found.Probes, p)
}

// cut says of a probe that it did not end in its time, and why, where its share of the time
// is little more than what its tests took: else it hangs. What runs one after the other may
// take as many times as long as there are processors.
func (r *check) cut(p *Probe, c ecosystem.Command, t times) {
	p.Ran, p.Note = false, "it did not end in its time"
	most := time.Duration(baseTime)
	if c.Results != nil && c.Results.Serial {
		most *= time.Duration(runtime.NumCPU())
	}
	if c.Timeout > 0 && c.Timeout < min(r.in.StepLimit, most*t.either) {
		r.noTime()
		p.NoTime = c.Timeout < most*t.base
	}
}

// NoTime says whether the probes that ran no tests are all such for which there was no time,
// as there is none for the base's tests either: what the change itself makes slow is no excuse.
func NoTime(probes []Probe) bool {
	none := slices.DeleteFunc(slices.Clone(probes), func(p Probe) bool { return p.Ran || p.Target != "" })
	return len(none) > 0 && !slices.ContainsFunc(none, func(p Probe) bool { return !p.NoTime })
}

// times is how long tests take: as they took on either side, for a probe runs on both, and on
// the base alone; where that is not known as on either.
type times struct{ either, base time.Duration }

// ran is how long the tests of a folder took on a side.
func (r *check) ran(side Side, unit string) time.Duration {
	var sum time.Duration
	for _, s := range ecosystem.Steps(r.in.Steps()).Of(StageTest, side) {
		if s.Unit == unit {
			sum += s.Duration
		}
	}
	return sum
}

// usual is how long the tests of a folder took on the base, also in an earlier run of it.
func (r *check) usual(unit string) time.Duration {
	if sum := r.ran(Base, unit); sum > 0 {
		return sum
	}
	var sum time.Duration
	for id, t := range r.in.Suites[Base] {
		if id.Unit == unit && id.Test == "" {
			sum += t.Elapsed
		}
	}
	return sum
}

// took is how long a test command takes, else as the tests of its folder took.
func (r *check) took(c ecosystem.Command) times {
	longest := map[Side]time.Duration{}
	for _, s := range r.in.Steps() {
		if s.Stage == StageTest && s.Unit == c.Unit && s.Command == c.Text {
			longest[s.Side] = max(longest[s.Side], s.Duration)
		}
	}
	either := cmp.Or(max(longest[Base], longest[Head]), r.ran(Head, c.Unit))
	return times{either, cmp.Or(longest[Base], r.usual(c.Unit), either)}
}

// packagesTook is how long packages take, as often as they are repeated.
func (r *check) packagesTook(g ecosystem.Group, pkgs []string) times {
	head := min(r.elapsed(Head, g.Unit, pkgs), r.ran(Head, g.Unit))
	base := head
	if usual := r.usual(g.Unit); usual > 0 {
		base = min(r.elapsed(Base, g.Unit, pkgs), usual)
	}
	return times{Repeats * head, Repeats * base}
}

// packageCommand is the test command of packages, as people type it.
func (r *check) packageCommand(g ecosystem.Group) string {
	for _, c := range r.in.Tests[Head] {
		if c.Eco == g.Eco && c.Unit == g.Unit {
			return c.Typed()
		}
	}
	return ""
}

// shuffled is the title of a probe of packages without the race detector.
const shuffled = "repeated and shuffled"

// Probed are the packages of a change that are worth more runs, the changed ones first.
func Probed(s *Subject) []ecosystem.Package { return (&check{in: s}).probed() }

// probed returns the packages to probe: the changed ones that have tests; where
// none has, some that use them.
func (r *check) probed() []ecosystem.Package {
	inside := ecosystem.Touched(r.in.Packages, r.in.Change.Paths())
	var own, users []ecosystem.Package
	for _, p := range r.in.Packages {
		_, ran := r.in.Suites[Head][ID{Unit: p.Unit, Package: p.ImportPath}]
		switch {
		case !ran || !p.HasTests():
		case inside[p.ImportPath]:
			own = append(own, p)
		case r.in.Affected[p.ImportPath]:
			users = append(users, p)
		}
	}
	if len(own) > 0 {
		return own
	}
	return users[:min(len(users), maxDependents)]
}

// probeUnit probes packages of one project.
func (r *check) probeUnit(ctx context.Context, g ecosystem.Group, pkgs []string, race bool) error {
	eco := languages.Named(g.Eco)
	title := shuffled
	if race {
		title = "repeated, shuffled, with the race detector"
	}
	slices.Sort(pkgs)
	var limit time.Duration // on the base
	run := func(side Side) (*results.RaceWatch, Suite, Step, error) {
		p := ecosystem.Probing{Seed: seed(r.in.Head.OID), Times: Repeats, Race: race}
		for _, name := range pkgs {
			if r.in.has(side, ID{Unit: g.Unit, Package: name}) {
				p.Packages = append(p.Packages, name)
			}
		}
		commands := r.in.PackageTests(side, g, StageProbe, func(c ecosystem.Command) ecosystem.Command {
			if c = eco.Packages.Again(c, p); side == Base && c.Results.Hang != nil {
				c = c.Results.Hang(c, limit)
			}
			return c
		})
		if len(commands) == 0 {
			return &results.RaceWatch{}, Suite{}, Step{}, nil
		}
		c, watch := commands[0], &results.RaceWatch{}
		if eco.Race != nil {
			c, watch = eco.Race.Watch(c)
		}
		suite, step, err := r.in.RunFresh(ctx, side, c)
		watch.In(r.in.tree(side).Dir)
		step.TimedOut = step.TimedOut || side == Base && step.Duration >= limit
		return watch, suite, step, err
	}
	watch, head, step, err := run(Head)
	if err != nil {
		return err
	}
	var usual time.Duration // on the base, without the race detector
	for _, name := range pkgs {
		usual += r.in.Suites[Base][ID{Unit: g.Unit, Package: name}].Elapsed
	}
	limit = (max(baseTime*step.Duration, raceCost*Repeats*usual) + baseGrace).Round(time.Second)
	if race && !results.AnyRan(head) {
		r.in.Note("the race detector could not be used: %s", cmp.Or(results.FirstLine(step.Output), "no test ran under it"))
		return r.probeUnit(ctx, g, pkgs, false)
	}
	p := Probe{Title: title, Command: step.Label(), Evidence: []string{step.Evidence}, Ran: r.held(head), Note: "nothing failed"}
	failed := r.newFailures(head)
	switch {
	case step.Stopped():
		p.Ran, p.Note = false, "it "+step.Ending()
	case !p.Ran:
		p.Note = "no test passed under it"
	case len(failed)+len(watch.Reports) > 0:
		err = r.judgePackages(ctx, &p, watch, failed, run)
	case step.Failed():
		p.Note = "nothing new failed"
	}
	r.found.Probes = append(r.found.Probes, p)
	return err
}

// held says whether a probe came to a result: a test passed under it, or failed that
// passes without it.
func (r *check) held(probed Suite) bool {
	return results.AnyPassed(probed) || len(r.newFailures(probed)) > 0
}

// newFailures are the tests that a probe of the head failed and that pass without
// it.
func (r *check) newFailures(probed Suite) []Case {
	var out []Case
	for id, t := range probed {
		if t.Status == Failed && r.in.Suites[Head][id].Status != Failed {
			out = append(out, results.NewCase(id, t))
		}
	}
	results.SortCases(out)
	return out
}

// judgePackages decides what a probe of packages shows: races with the change's functions, and
// tests that by themselves differ between the sides.
func (r *check) judgePackages(ctx context.Context, p *Probe, head *results.RaceWatch, failed []Case, run func(Side) (*results.RaceWatch, Suite, Step, error)) error {
	old, base, step, err := run(Base)
	if err != nil {
		return err
	}
	if step.Evidence != "" {
		p.Evidence = append(p.Evidence, step.Evidence)
	}
	races, err := r.judgeRaces(ctx, p, head, old, step.Stopped(), run)
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
func (r *check) judgeProbe(ctx context.Context, p *Probe, failed []Case, base Suite) error {
	q := Question{Once: r.in.Alone}
	for _, k := range failed {
		switch onBase := r.in.Suites[Base][k.ID]; {
		case base[k.ID].Status == Failed || k.ID.Test == "":
			if on := base[k.ID].Evidence; on != "" {
				k.Evidence = append(k.Evidence, on)
			}
			p.Flaky = append(p.Flaky, k)
		case onBase.Status == Passed:
			q.Regressed = append(q.Regressed, k)
		case onBase.Status == "":
			q.NewFailing = append(q.NewFailing, k)
		default:
			p.Flaky = append(p.Flaky, k)
		}
	}
	random, err := r.byThemselves(ctx, p, q)
	p.Note = probeNote(p, random)
	return err
}

// byThemselves has tests that a probe failed run again, each side by the same rule as
// tests that disagree, and files them. It returns how many fail at random on the head
// alone.
func (r *check) byThemselves(ctx context.Context, p *Probe, q Question) (random int, err error) {
	if len(q.Regressed)+len(q.NewFailing) == 0 {
		return 0, nil
	}
	a, err := r.in.Settle(ctx, q)
	if err != nil {
		return 0, err
	}
	for _, list := range [][]Case{a.Regressed, a.NewFailing, a.NewFlakiness, a.FlakyNew, a.Flaky, a.PreExisting, a.Unsettled, a.Unknown} {
		for i := range list { // what the probe said comes first
			for _, k := range slices.Concat(q.Regressed, q.NewFailing) {
				if k.ID == list[i].ID {
					list[i].Evidence = slices.Concat(k.Evidence, list[i].Evidence)
				}
			}
		}
	}
	p.Regressed = append(p.Regressed, a.Regressed...)
	p.NewFlaky = append(p.NewFlaky, a.FlakyNew...)
	r.found.NewFlakiness = append(r.found.NewFlakiness, a.NewFlakiness...)
	p.Flaky = slices.Concat(p.Flaky, a.NewFailing, a.Flaky, a.PreExisting, a.Unsettled, a.Unknown)
	for _, k := range a.NewFlakiness {
		p.Evidence = append(p.Evidence, k.Evidence...)
	}
	for _, list := range [][]Case{p.Regressed, p.NewFlaky, p.Flaky} {
		results.SortCases(list)
	}
	return len(results.Leaves(a.NewFlakiness)), nil
}

// hasPackageTests says whether a test command of the head runs packages.
func (r *check) hasPackageTests() bool {
	return slices.ContainsFunc(r.in.Tests[Head], func(c ecosystem.Command) bool { return c.Results != nil && languages.ByPackage(c.Eco) })
}

// probeNote says what came of the tests that failed under a probe.
func probeNote(p *Probe, random int) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, results.Count(n, one, many))
		}
	}
	add(len(p.Races), "data race in changed code that base does not have", "data races in changed code that base does not have")
	add(len(results.Leaves(p.Regressed))-len(p.Races), "test by itself fails only with the change", "tests by themselves fail only with the change")
	add(random, "test by itself fails at random, only with the change", "tests by themselves fail at random, only with the change")
	add(len(results.Leaves(p.NewFlaky)), "test that does not run on base fails at random", "tests that do not run on base fail at random")
	add(len(results.Leaves(p.Flaky)), "test failed only when repeated, shuffled or raced, which does not count against the change", "tests failed only when repeated, shuffled or raced, which does not count against the change")
	return cmp.Or(strings.Join(parts, "; "), "nothing new failed")
}

// probeCommands repeats the head's test commands, which is all that can be done
// to tests that are not reported one by one.
func (r *check) probeCommands(ctx context.Context) error {
	for _, c := range r.in.Tests[Head] {
		id := ID{Unit: c.Unit, Command: c.Text}
		if r.in.Suites[Head][id].Status != Passed {
			continue
		}
		var ok bool
		p, took := Probe{Title: "repeated", Command: c.Typed()}, r.took(c)
		if c.Timeout, ok = r.share(ctx, took.either); !ok {
			r.leaveOut(ctx, p, took)
			continue
		}
		c.Stage = StageProbe
		suite, step, err := r.in.RunFresh(ctx, Head, c)
		if err != nil {
			return err
		}
		p.Ran, p.Evidence, p.Note = !step.Stopped(), []string{step.Evidence}, "nothing failed"
		switch {
		case step.TimedOut:
			r.cut(&p, c, took)
		case step.Limited():
			p.Note = "it " + step.Ending()
		}
		if t := suite[id]; t.Status == Failed {
			q := Question{Once: r.in.Parted}
			if k := results.NewCase(id, t); r.in.Suites[Base][id].Status == Passed {
				q.Regressed = []Case{k}
			} else {
				q.NewFailing = []Case{k}
			}
			random, err := r.byThemselves(ctx, &p, q)
			if err != nil {
				return err
			}
			p.Note = probeNote(&p, random)
		}
		r.found.Probes = append(r.found.Probes, p)
	}
	return nil
}

// seed is the order of the tests for a tree: the same at each run of it.
func seed(oid string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(oid))
	return h.Sum32()%1_000_000 + 1
}
