package gate

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
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
	if !r.res.Runnable || r.facts.Unprepared != "" {
		return nil
	}
	if r.hasGoTests() && r.goTools() != nil && len(r.packages) > 0 {
		if err := r.probeGo(ctx); err != nil {
			return err
		}
	}
	if err := r.probeOthers(ctx); err != nil || len(r.res.Probes) > 0 || r.hasGoTests() {
		return err
	}
	return r.probeCommands(ctx)
}

// probeGo repeats the tests of the changed packages in another order, with the
// race detector where it can be had. What fails is run again, and at base.
func (r *runner) probeGo(ctx context.Context) error {
	byUnit := map[string][]string{}
	var elapsed time.Duration
	for _, p := range r.probed() {
		byUnit[p.unit] = append(byUnit[p.unit], p.ImportPath)
		elapsed += r.suites[Head][ID{Unit: p.unit, Package: p.ImportPath}].Elapsed
	}
	if len(byUnit) == 0 {
		r.notCovered("no test exercises the changed packages, so that nothing could be repeated, shuffled or raced")
		return nil
	}
	race := r.goTools().Race && raceFits(ctx, r.Now(), elapsed)
	switch {
	case !r.goTools().Race:
		r.notCovered("data races: %s", r.goTools().NoRace)
	case !race:
		r.notCovered("data races: the tests are too slow for the race detector in the time left")
	}
	for _, unit := range slices.Sorted(maps.Keys(byUnit)) {
		if err := r.probeUnit(ctx, unit, byUnit[unit], race); err != nil {
			return err
		}
	}
	return nil
}

// raceFits estimates whether the probe under the race detector ends in half of
// the time that is left.
func raceFits(ctx context.Context, now time.Time, elapsed time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || elapsed*raceCost*probeRepeat < deadline.Sub(now)/2
}

// probed returns the packages to probe: the changed ones that have tests; where
// none has, some that use them.
func (r *runner) probed() []goPackageInfo {
	inside := touched(r.packages, r.in.Change.Paths())
	var own, users []goPackageInfo
	for _, p := range r.packages {
		_, ran := r.suites[Head][ID{Unit: p.unit, Package: p.ImportPath}]
		switch {
		case !ran || !p.hasTests():
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

// probeUnit probes packages of one module.
func (r *runner) probeUnit(ctx context.Context, unit string, pkgs []string, race bool) error {
	args := []string{fmt.Sprintf("-count=%d", probeRepeat), fmt.Sprintf("-shuffle=%d", seed(r.in.Head.OID))}
	title := "repeated and shuffled"
	if race {
		args, title = append(args, "-race"), "repeated, shuffled, with the race detector"
	}
	slices.Sort(pkgs)
	run := func(side Side) (Suite, Step, error) {
		args := slices.Clone(args)
		for _, p := range pkgs {
			if r.has(side, ID{Unit: unit, Package: p}) {
				args = append(args, p)
			}
		}
		commands := r.goTests(side, unit, StageProbe, args...)
		if len(commands) == 0 {
			return Suite{}, Step{}, nil
		}
		return r.runFresh(ctx, side, commands[0])
	}
	p := Probe{Title: title}
	head, step, err := run(Head)
	p.Command, p.Evidence = step.Command, []string{step.Evidence}
	if err != nil {
		return err
	}
	if race && !anyRan(head) {
		r.note("the race detector could not be used: %s", cmp.Or(firstLine(step.Output), "no test ran under it"))
		return r.probeUnit(ctx, unit, pkgs, false)
	}
	p.Ran = anyRan(head)
	switch {
	case step.TimedOut:
		p.Ran, p.Note = false, "it did not end in its time"
	case !r.newFailures(head):
		p.Note = "nothing failed"
		if step.Failed() {
			p.Note = "nothing failed that does not fail without it"
		}
	default:
		if err := r.judgeProbe(&p, head, run); err != nil {
			return err
		}
	}
	r.res.Probes = append(r.res.Probes, p)
	return nil
}

// newFailures says whether a probe of the head failed a test that passes
// without it.
func (r *runner) newFailures(probed Suite) bool {
	for id, t := range probed {
		if t.Status == Failed && r.suites[Head][id].Status != Failed {
			return true
		}
	}
	return false
}

// judgeProbe runs a probe that failed on the head again there, and twice at base.
func (r *runner) judgeProbe(p *Probe, first Suite, run func(Side) (Suite, Step, error)) error {
	h := history{Head: {first}}
	for _, side := range []Side{Base, Head, Base} {
		if len(r.suites[Base]) == 0 && side == Base {
			continue
		}
		suite, step, err := run(side)
		if err != nil {
			return err
		}
		if step.Evidence != "" {
			p.Evidence = append(p.Evidence, step.Evidence)
		}
		h[side] = append(h[side], suite)
	}
	for id, t := range first {
		if t.Status != Failed || r.suites[Head][id].Status == Failed {
			continue // what fails without the probe is told elsewhere
		}
		k := newCase(id, t)
		k.Evidence = gather(h, id)
		_, onBase := r.suites[Base][id]
		switch {
		case seen(h[Base], id, Failed) > 0 || seen(h[Head], id, Failed) < len(h[Head]):
			p.Flaky = append(p.Flaky, k)
		case onBase && seen(h[Base], id, Passed) > 0:
			p.Regressed = append(p.Regressed, k)
		case onBase:
			p.Flaky = append(p.Flaky, k)
		default:
			p.NewFlaky = append(p.NewFlaky, k)
		}
	}
	for _, list := range [][]Case{p.Regressed, p.NewFlaky, p.Flaky} {
		sortCases(list)
	}
	p.Note = fmt.Sprintf("%d failed only with the change, %d of its own tests failed, %d failed on both sides or not each time",
		len(Leaves(p.Regressed)), len(Leaves(p.NewFlaky)), len(Leaves(p.Flaky)))
	return nil
}

// probeCommands repeats the head's test commands, which is all that can be done
// to tests that cannot be told apart.
func (r *runner) probeCommands(ctx context.Context) error {
	for _, c := range r.plan[Head].test {
		id := ID{Unit: c.unit, Command: c.text}
		if r.suites[Head][id].Status != Passed {
			continue
		}
		c.stage = StageProbe
		suite, step, err := r.runFresh(ctx, Head, c)
		if err != nil {
			return err
		}
		p := Probe{Title: "repeated", Command: c.text, Ran: !step.TimedOut, Evidence: []string{step.Evidence}, Note: "nothing failed"}
		if t := suite[id]; t.Status == Failed {
			p.Note = "it passed once and failed once"
			p.Flaky = append(p.Flaky, newCase(id, t))
		}
		r.res.Probes = append(r.res.Probes, p)
	}
	return nil
}

func anyRan(s Suite) bool {
	for id, t := range s {
		if id.Test != "" && (t.Status == Passed || t.Status == Failed) {
			return true
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// seed is the order of the tests for a tree: the same at each run of it.
func seed(oid string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(oid))
	return h.Sum32()%1_000_000 + 1
}
