package gate

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// rounds is how often a disagreement is run again at each side, in turns.
const rounds = 2

// slowPackage is how long a package's tests may take to be run again whole;
// of slower ones only the tests in question are.
const slowPackage = 30 * time.Second

// A history is what every run of a side said of a test, the first one included.
type history map[Side][]Suite

// rerun runs what both sides disagree about again, base and head in turns, and
// settles what is a regression and what is flaky.
func (r *runner) rerun(ctx context.Context) error {
	t := &r.res.Tests
	var ids []ID
	for _, list := range [][]Case{t.Regressed, t.NewFailing, t.Fixed} {
		for _, c := range list {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	h := history{Base: {r.suites[Base]}, Head: {r.suites[Head]}}
	for range rounds {
		for _, side := range []Side{Base, Head} {
			suite, err := r.again(ctx, side, ids, true)
			if err != nil {
				return err
			}
			h[side] = append(h[side], stillFailing(suite, r.suites[Base], append(slices.Clone(t.Regressed), t.NewFailing...)...))
		}
	}
	if alone := passedAlone(ids, h, r.slow); len(alone) > 0 {
		// Among the other tests they failed: only that tells flaky from dependent.
		suite, err := r.again(ctx, Head, alone, false)
		if err != nil {
			return err
		}
		h[Head] = replaceAlone(h[Head], alone, suite)
	}
	*t = settleAll(*t, h)
	return nil
}

// slow says whether id's package is too slow to be run again whole, and need not be.
func (r *runner) slow(id ID) bool {
	return id.Test != "" && r.suites[Head][ID{Unit: id.Unit, Package: id.Package}].Elapsed > slowPackage && r.ecoOf(id) == "Go"
}

// again runs the tests of ids once more at one side, with narrow only those
// tests of slow packages. Packages that the side does not have are left out.
func (r *runner) again(ctx context.Context, side Side, ids []ID, narrow bool) (Suite, error) {
	out := Suite{}
	for _, c := range r.againCommands(side, ids, narrow) {
		suite, _, err := r.runFresh(ctx, side, c)
		out.add(suite)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *runner) againCommands(side Side, ids []ID, narrow bool) []command {
	var out []command
	whole := map[group][]string{}     // packages
	named := map[ID]map[string]bool{} // top-level tests by package
	for _, id := range ids {
		g := group{r.ecoOf(id), id.Unit}
		switch pkg := (ID{Unit: id.Unit, Package: id.Package}); {
		case id.Command != "":
			out = append(out, r.commandOf(side, id)...)
		case !r.has(side, pkg):
		case narrow && r.slow(id):
			if named[pkg] == nil {
				named[pkg] = map[string]bool{}
			}
			named[pkg][id.Top()] = true
		case !slices.Contains(whole[g], id.Package):
			whole[g] = append(whole[g], id.Package)
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(whole), group.compare) {
		out = append(out, r.parts(side, g, StageRerun, part{packages: slices.Sorted(slices.Values(whole[g]))})...)
	}
	for pkg, tests := range named {
		out = append(out, r.parts(side, group{r.ecoOf(pkg), pkg.Unit}, StageRerun, part{packages: []string{pkg.Package}, tests: tests})...)
	}
	return out
}

// A group is the test commands of one ecosystem in one folder.
type group struct{ eco, unit string }

func (g group) compare(h group) int {
	return cmp.Or(cmp.Compare(g.eco, h.eco), cmp.Compare(g.unit, h.unit))
}

// ecoOf names the ecosystem of the command that told of a test.
func (r *runner) ecoOf(id ID) string {
	pkg := ID{Unit: id.Unit, Package: id.Package}
	return cmp.Or(r.suites[Head][id].Eco, r.suites[Base][id].Eco, r.suites[Head][pkg].Eco, r.suites[Base][pkg].Eco)
}

// parts are the commands of a group for a part of its tests: for all of them
// where the part cannot be named. A side that has no such tests has none.
func (r *runner) parts(side Side, g group, stage Stage, p part) []command {
	var out []command
	for _, c := range r.plan[side].test {
		if c.results == nil || c.eco != g.eco || c.unit != g.unit {
			continue
		}
		if less, ok := c.results.narrow(c, p); ok {
			less.name = c.label()
			c = less
		}
		c.stage = stage
		c = r.hanging(c)
		if !slices.ContainsFunc(out, func(have command) bool { return have.text == c.text }) {
			out = append(out, c)
		}
	}
	return out
}

// only is the pattern for -run that names exactly these top-level tests.
func only(tests map[string]bool) string {
	names := slices.Sorted(maps.Keys(tests))
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

func (r *runner) has(side Side, pkg ID) bool {
	_, ok := r.suites[side][pkg]
	return ok
}

// commandOf finds the test command that an identity without tests stands for.
func (r *runner) commandOf(side Side, id ID) []command {
	for _, c := range r.plan[side].test {
		if c.unit == id.Unit && (c.text == id.Command || c.results != nil && c.label() == id.Command) {
			c.stage = StageRerun
			return []command{c}
		}
	}
	return nil
}

// goTests are "go test -json" with args in the module at unit, once for each set
// of flags that its tests are run with. A side that has no such tests has none.
func (r *runner) goTests(side Side, unit string, stage Stage, args ...string) []command {
	var out []command
	for _, c := range r.plan[side].test {
		if c.eco != "Go" || c.results == nil || c.unit != unit {
			continue
		}
		c = c.goTest(args...)
		c.stage = stage
		c = r.hanging(c)
		if !slices.ContainsFunc(out, func(have command) bool { return have.text == c.text }) {
			out = append(out, c)
		}
	}
	return out
}

// passedAlone returns the tests of slow packages that failed on the head at
// first and never when they were run by themselves.
func passedAlone(ids []ID, h history, slow func(ID) bool) []ID {
	var out []ID
	for _, id := range ids {
		if h[Head][0][id].Status == Failed && slow(id) && seen(h[Head][1:], id, Failed) == 0 && seen(h[Head][1:], id, Passed) > 0 {
			out = append(out, id)
		}
	}
	return out
}

// replaceAlone puts what ids did among the other tests in place of what they
// did alone.
func replaceAlone(runs []Suite, ids []ID, among Suite) []Suite {
	out := slices.Clone(runs)
	for i := 1; i < len(out); i++ {
		out[i] = maps.Clone(out[i])
		for _, id := range ids {
			delete(out[i], id)
			if t, ok := among[id]; ok && i == 1 {
				out[i][id] = t
			}
		}
	}
	return out
}

// seen counts the runs in which id ended with a status.
func seen(runs []Suite, id ID, s Status) int {
	n := 0
	for _, run := range runs {
		if t, ok := run[id]; ok && t.Status == s {
			n++
		}
	}
	return n
}

// settleAll decides the disagreements of c by all runs of both sides.
//
//   - It passed once on the head, or failed once on base: flaky, and of a test
//     that only the head has, flaky new.
//   - It did not turn up again: where it is part of another test, its name is made
//     up at random, and that other test has its own result; else nothing is known.
//   - Else it stays what it was.
func settleAll(c Comparison, h history) Comparison {
	out := c
	out.Regressed, out.NewFailing, out.Fixed = nil, nil, nil
	for _, k := range c.Regressed {
		k.Evidence = gather(h, k.ID)
		switch {
		case seen(h[Head], k.ID, Passed) > 0, seen(h[Base], k.ID, Failed) > 0:
			out.Flaky = append(out.Flaky, k)
		case seen(h[Head][1:], k.ID, Failed) == 0:
			out.lost(k)
		default:
			out.Regressed = append(out.Regressed, k)
		}
	}
	for _, k := range c.NewFailing {
		k.Evidence = gather(h, k.ID)
		switch {
		case seen(h[Head], k.ID, Passed) > 0:
			out.FlakyNew = append(out.FlakyNew, k)
		case seen(h[Base], k.ID, Failed) > 0:
			out.Flaky = append(out.Flaky, k)
		case seen(h[Head][1:], k.ID, Failed) == 0:
			out.lost(k)
		default:
			out.NewFailing = append(out.NewFailing, k)
		}
	}
	for _, k := range c.Fixed {
		k.Evidence = gather(h, k.ID)
		if seen(h[Head], k.ID, Failed) > 0 || seen(h[Base], k.ID, Passed) > 0 {
			out.Flaky = append(out.Flaky, k)
		} else {
			out.Fixed = append(out.Fixed, k)
		}
	}
	out.sort()
	return out
}

// lost files a failure that did not turn up again.
func (c *Comparison) lost(k Case) {
	if _, part := k.ID.parent(); part {
		c.Flaky = append(c.Flaky, k)
		return
	}
	c.Unknown = append(c.Unknown, k)
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

// gather lists the evidence of all runs of a test, the head's first.
func gather(h history, id ID) []string {
	var out []string
	for _, side := range []Side{Head, Base} {
		for _, run := range h[side] {
			if t, ok := run[id]; ok && t.Evidence != "" && !slices.Contains(out, t.Evidence) {
				out = append(out, t.Evidence)
			}
		}
	}
	return out
}
