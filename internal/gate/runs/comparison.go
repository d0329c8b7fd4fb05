package runs

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A Comparison is how the test results of both sides differ, after the
// disagreements were run again.
type Comparison struct {
	Base, Head  map[ecosystem.Status]int
	Regressed   []ecosystem.Case `json:"regressed"`    // passed on base each time, failed on head each time
	NewFailing  []ecosystem.Case `json:"new_failing"`  // not on base, failed on head each time
	Fixed       []ecosystem.Case `json:"fixed"`        // failed or skipped on base, pass on head
	PreExisting []ecosystem.Case `json:"pre_existing"` // failed on both
	Flaky       []ecosystem.Case `json:"flaky"`        // gave both results on one side
	FlakyNew    []ecosystem.Case `json:"flaky_new"`    // the same, of tests that the change brings
	// NewFlakiness are tests of the base that fail at random with the change, and
	// never on base.
	NewFlakiness []ecosystem.Case `json:"new_flakiness"`
	Unsettled    []ecosystem.Case `json:"unsettled"` // failed on head each time; the runs do not decide whether by chance
	Removed      []ecosystem.Case `json:"removed"`   // only on base
	Skipped      []ecosystem.Case `json:"skipped"`   // passed on base, skipped on head
	NotRun       []ecosystem.Case `json:"not_run"`   // passed on base, is there on head and did not run
	Unknown      []ecosystem.Case `json:"unknown"`   // failed on head, which could not be compared with base or seen again
}

// Compare says how two runs of the tests differ. Nothing has been run again
// yet: what it calls regressed may still prove to be flaky.
//
// A package that did not compile or ended early on base says nothing about its
// tests there, so that tests of it that fail on the head are neither new nor
// pre-existing but unknown. Failures that move along with their package, to
// another name of it, are not new.
func Compare(base, head ecosystem.Suite) Comparison {
	c := Comparison{Base: base.Count(), Head: head.Count()}
	moved := movedFailures(base, head)
	for id, h := range head {
		b, onBase := base[id]
		add := func(list *[]ecosystem.Case) { *list = append(*list, ecosystem.NewCase(id, h)) }
		switch {
		case h.Status == ecosystem.Failed && b.Status == ecosystem.Failed:
			add(&c.PreExisting)
		case h.Status == ecosystem.Failed && b.Status == ecosystem.Passed:
			add(&c.Regressed)
		case h.Status == ecosystem.Failed && silent(base, id):
			add(&c.Unknown)
		case h.Status == ecosystem.Failed && !onBase && moved[id.Test] && !ecosystem.HasPackage(base, id):
			add(&c.PreExisting)
		case h.Flipped() && b.Status == ecosystem.Passed && !b.Flipped():
			add(&c.Regressed) // and passed: more runs decide
		case h.Flipped() && !onBase:
			add(&c.NewFailing)
		case h.Status == ecosystem.Failed: // not on base, or skipped there
			add(&c.NewFailing)
		case h.Status == ecosystem.Passed && onBase && (b.Status == ecosystem.Failed || b.Status == ecosystem.Skipped) && named(id, b, h):
			add(&c.Fixed)
		case h.Status == ecosystem.Skipped && onBase && b.Status == ecosystem.Passed && id.Test != "":
			add(&c.Skipped)
		case h.Status == ecosystem.NotRun && onBase && b.Status == ecosystem.Passed:
			add(&c.NotRun)
		}
	}
	for id, b := range base {
		if _, onHead := head[id]; onHead || id.Test == "" && id.Command == "" || b.Cut || b.Status == ecosystem.NotRun {
			continue
		}
		if PackageEnded(head, id) || b.Status == ecosystem.Passed && id.Test != "" && silent(head, id) {
			if b.Status == ecosystem.Passed {
				c.NotRun = append(c.NotRun, ecosystem.NewCase(id, b))
			}
			continue
		}
		c.Removed = append(c.Removed, ecosystem.NewCase(id, b))
	}
	c.Sort()
	return c
}

// named leaves out packages: one whose tests were all skipped or absent and now
// run is no test that was fixed.
func named(id ecosystem.ID, b, h ecosystem.Test) bool {
	return id.Test != "" || id.Command != "" || b.Status == ecosystem.Failed && h.Status == ecosystem.Passed
}

// PackageEnded says whether id's package did not compile, panicked or was cut
// off in s, so that s does not show what id would have done.
func PackageEnded(s ecosystem.Suite, id ecosystem.ID) bool {
	p, ok := s[ecosystem.ID{Unit: id.Unit, Package: id.Package}]
	if !ok || id.Test == "" || !p.Broken && !p.Cut {
		return false
	}
	t, ok := s[id]
	return !ok || t.Status == ecosystem.NotRun
}

// silent says that s does not show what id would have done, because its package
// or all of its module's tests could not be run to their end.
func silent(s ecosystem.Suite, id ecosystem.ID) bool {
	if s[id].Status == ecosystem.NotRun || PackageEnded(s, id) {
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
func movedFailures(base, head ecosystem.Suite) map[string]bool {
	out := map[string]bool{}
	for id, t := range base {
		if t.Status == ecosystem.Failed && id.Test != "" && !ecosystem.HasPackage(head, id) {
			out[id.Test] = true
		}
	}
	return out
}

func (c *Comparison) Lists() []*[]ecosystem.Case {
	return []*[]ecosystem.Case{&c.Regressed, &c.NewFailing, &c.Fixed, &c.PreExisting, &c.Flaky, &c.FlakyNew, &c.NewFlakiness, &c.Unsettled, &c.Removed, &c.Skipped, &c.NotRun, &c.Unknown}
}

// Random says whether one of these tests was seen to give both results, or in too few
// runs to know.
func (c *Comparison) Random(ids ...ecosystem.ID) bool {
	return slices.ContainsFunc([][]ecosystem.Case{c.Flaky, c.FlakyNew, c.NewFlakiness, c.Unsettled, c.Unknown}, func(list []ecosystem.Case) bool {
		return slices.ContainsFunc(list, func(k ecosystem.Case) bool { return slices.Contains(ids, k.ID) })
	})
}

func (c *Comparison) Sort() {
	for _, list := range c.Lists() {
		ecosystem.SortCases(*list)
	}
}

// IsFlaky says whether a test was seen to give both results on one side.
func IsFlaky(c Comparison, id ecosystem.ID) bool {
	is := func(k ecosystem.Case) bool { return k.ID == id }
	return slices.ContainsFunc(c.Flaky, is) || slices.ContainsFunc(c.FlakyNew, is)
}
