package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// compareSuites says how two runs of the tests differ. Nothing has been run again
// yet: what it calls regressed may still prove to be flaky.
//
// A package that did not compile or ended early on base says nothing about its
// tests there, so that tests of it that fail on the head are neither new nor
// pre-existing but unknown. Failures that move along with their package, to
// another name of it, are not new.
func compareSuites(base, head Suite) Comparison {
	c := Comparison{Base: base.Count(), Head: head.Count()}
	moved := movedFailures(base, head)
	for id, h := range head {
		b, onBase := base[id]
		add := func(list *[]Case) { *list = append(*list, ecosystem.NewCase(id, h)) }
		switch {
		case h.Status == Failed && b.Status == Failed:
			add(&c.PreExisting)
		case h.Status == Failed && b.Status == Passed:
			add(&c.Regressed)
		case h.Status == Failed && silent(base, id):
			add(&c.Unknown)
		case h.Status == Failed && !onBase && moved[id.Test] && !ecosystem.HasPackage(base, id):
			add(&c.PreExisting)
		case h.Flipped() && b.Status == Passed && !b.Flipped():
			add(&c.Regressed) // and passed: more runs decide
		case h.Flipped() && !onBase:
			add(&c.NewFailing)
		case h.Status == Failed: // not on base, or skipped there
			add(&c.NewFailing)
		case h.Status == Passed && onBase && (b.Status == Failed || b.Status == Skipped) && named(id, b, h):
			add(&c.Fixed)
		case h.Status == Skipped && onBase && b.Status == Passed && id.Test != "":
			add(&c.Skipped)
		case h.Status == NotRun && onBase && b.Status == Passed:
			add(&c.NotRun)
		}
	}
	for id, b := range base {
		if _, onHead := head[id]; onHead || id.Test == "" && id.Command == "" || b.Cut || b.Status == NotRun {
			continue
		}
		if packageEnded(head, id) || b.Status == Passed && id.Test != "" && silent(head, id) {
			if b.Status == Passed {
				c.NotRun = append(c.NotRun, ecosystem.NewCase(id, b))
			}
			continue
		}
		c.Removed = append(c.Removed, ecosystem.NewCase(id, b))
	}
	c.sort()
	return c
}

// named leaves out packages: one whose tests were all skipped or absent and now
// run is no test that was fixed.
func named(id ID, b, h Test) bool {
	return id.Test != "" || id.Command != "" || b.Status == Failed && h.Status == Passed
}

// packageEnded says whether id's package did not compile, panicked or was cut
// off in s, so that s does not show what id would have done.
func packageEnded(s Suite, id ID) bool {
	p, ok := s[ID{Unit: id.Unit, Package: id.Package}]
	if !ok || id.Test == "" || !p.Broken && !p.Cut {
		return false
	}
	t, ok := s[id]
	return !ok || t.Status == NotRun
}

// silent says that s does not show what id would have done, because its package
// or all of its module's tests could not be run to their end.
func silent(s Suite, id ID) bool {
	if s[id].Status == NotRun || packageEnded(s, id) {
		return true
	}
	if ecosystem.HasPackage(s, id) {
		return false
	}
	for have, t := range s {
		if t.Cut && have.Command != "" && have.Unit == id.Unit && have != id {
			return true
		}
	}
	return false
}

// movedFailures names the tests that failed on base in packages that the head
// does not have.
func movedFailures(base, head Suite) map[string]bool {
	out := map[string]bool{}
	for id, t := range base {
		if t.Status == Failed && id.Test != "" && !ecosystem.HasPackage(head, id) {
			out[id.Test] = true
		}
	}
	return out
}

func (c *Comparison) lists() []*[]Case {
	return []*[]Case{&c.Regressed, &c.NewFailing, &c.Fixed, &c.PreExisting, &c.Flaky, &c.FlakyNew, &c.NewFlakiness, &c.Unsettled, &c.Removed, &c.Skipped, &c.NotRun, &c.Unknown}
}

// random says whether one of these tests was seen to give both results, or in too few
// runs to know.
func (c *Comparison) random(ids ...ID) bool {
	return slices.ContainsFunc([][]Case{c.Flaky, c.FlakyNew, c.NewFlakiness, c.Unsettled, c.Unknown}, func(list []Case) bool {
		return slices.ContainsFunc(list, func(k Case) bool { return slices.Contains(ids, k.ID) })
	})
}

func (c *Comparison) sort() {
	for _, list := range c.lists() {
		ecosystem.SortCases(*list)
	}
}
