package runs

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Comparison is how the test results of both sides differ, after the
// disagreements were run again.
type Comparison struct {
	Base, Head  map[results.Status]int
	Regressed   []results.Case `json:"regressed"`    // passed on base each time, failed on head each time
	NewFailing  []results.Case `json:"new_failing"`  // not on base, failed on head each time
	Fixed       []results.Case `json:"fixed"`        // failed or skipped on base, pass on head
	PreExisting []results.Case `json:"pre_existing"` // failed on both
	Flaky       []results.Case `json:"flaky"`        // gave both results on one side
	FlakyNew    []results.Case `json:"flaky_new"`    // the same, of tests that the change brings
	// NewFlakiness are tests of the base that fail at random with the change, and
	// never on base.
	NewFlakiness []results.Case `json:"new_flakiness"`
	Unsettled    []results.Case `json:"unsettled"` // failed on head each time; the runs do not decide whether by chance
	Removed      []results.Case `json:"removed"`   // only on base
	Skipped      []results.Case `json:"skipped"`   // passed on base, skipped on head
	NotRun       []results.Case `json:"not_run"`   // passed on base, is there on head and did not run
	Unknown      []results.Case `json:"unknown"`   // failed on head, which could not be compared with base or seen again
}

// Compare says how two runs of the tests differ. Nothing has been run again
// yet: what it calls regressed may still prove to be flaky.
//
// A package that did not compile or ended early on base says nothing about its
// tests there, so that tests of it that fail on the head are neither new nor
// pre-existing but unknown. Failures that move, or get another name, are not new: is says whether two
// tests are one; nil: those of one name are that move along with their package, to another name of it.
func Compare(base, head results.Suite, is func(base, head results.ID) bool) Comparison {
	c := Comparison{Base: base.Count(), Head: head.Count()}
	moved, gone, shifted := movedFailures(base, head), goneFailures(base, head), shiftedTwins(base, head)
	for id, h := range head {
		b, onBase := base[id]
		add := func(list *[]results.Case) { *list = append(*list, results.NewCase(id, h)) }
		switch {
		case h.Status == results.Failed && b.Status == results.Failed:
			add(&c.PreExisting)
		case h.Status == results.Failed && shifted[id]:
			add(&c.PreExisting)
		case h.Status == results.Failed && b.Status == results.Passed:
			add(&c.Regressed)
		case h.Status == results.Failed && silent(base, id):
			add(&c.Unknown)
		case h.Status == results.Failed && !onBase && !results.HasPackage(base, id) &&
			slices.ContainsFunc(moved[id.Test], func(was results.ID) bool { return is == nil || is(was, id) }):
			add(&c.PreExisting)
		case h.Status == results.Failed && !onBase && id.Test != "" && is != nil &&
			slices.ContainsFunc(gone[id.Unit], func(was results.ID) bool { return is(was, id) }):
			add(&c.PreExisting)
		case h.Flipped() && b.Status == results.Passed && !b.Flipped():
			add(&c.Regressed) // and passed: more runs decide
		case h.Flipped() && !onBase:
			add(&c.NewFailing)
		case h.Status == results.Failed: // not on base, or skipped there
			add(&c.NewFailing)
		case h.Status == results.Passed && onBase && (b.Status == results.Failed || b.Status == results.Skipped) && named(id, b, h) && !shifted[id]:
			add(&c.Fixed)
		case h.Status == results.Skipped && onBase && b.Status == results.Passed && id.Test != "":
			add(&c.Skipped)
		case h.Status == results.NotRun && onBase && b.Status == results.Passed:
			add(&c.NotRun)
		}
	}
	for id, b := range base {
		if _, onHead := head[id]; onHead || id.Test == "" && id.Command == "" || b.Cut || b.Status == results.NotRun {
			continue
		}
		if PackageEnded(head, id) || b.Status == results.Passed && id.Test != "" && silent(head, id) {
			if b.Status == results.Passed {
				c.NotRun = append(c.NotRun, results.NewCase(id, b))
			}
			continue
		}
		c.Removed = append(c.Removed, results.NewCase(id, b))
	}
	c.Sort()
	return c
}

// named leaves out packages: one whose tests were all skipped or absent and now
// run is no test that was fixed.
func named(id results.ID, b, h results.Test) bool {
	return id.Test != "" || id.Command != "" || b.Status == results.Failed && h.Status == results.Passed
}

// PackageEnded says whether id's package did not compile, panicked or was cut
// off in s, so that s does not show what id would have done.
func PackageEnded(s results.Suite, id results.ID) bool {
	p, ok := s[results.ID{Unit: id.Unit, Package: id.Package}]
	if !ok || id.Test == "" || !p.Broken && !p.Cut {
		return false
	}
	t, ok := s[id]
	return !ok || t.Status == results.NotRun
}

// silent says that s does not show what id would have done, because its package
// or all of its module's tests could not be run to their end.
func silent(s results.Suite, id results.ID) bool {
	if s[id].Status == results.NotRun || PackageEnded(s, id) {
		return true
	}
	if results.HasPackage(s, id) {
		return false
	}
	for have, t := range s {
		if t.Cut && have.Command != "" && have.Unit == id.Unit && have != id {
			return true
		}
	}
	return false
}

// movedFailures are the tests that failed on base in packages that the head
// does not have, by name.
func movedFailures(base, head results.Suite) map[string][]results.ID {
	out := map[string][]results.ID{}
	for id, t := range base {
		if t.Status == results.Failed && id.Test != "" && !results.HasPackage(head, id) {
			out[id.Test] = append(out[id.Test], id)
		}
	}
	return out
}

// goneFailures are the tests that failed on base and that the head does not have, by folder.
func goneFailures(base, head results.Suite) map[string][]results.ID {
	out := map[string][]results.ID{}
	for id, t := range base {
		if _, there := head[id]; t.Status == results.Failed && id.Test != "" && !there {
			out[id.Unit] = append(out[id.Unit], id)
		}
	}
	return out
}

// numberedTwin is the name of a test that is not the first of its name.
var numberedTwin = pattern.New(`^(.+)\[([2-9]|[1-9]\d+)\]$`)

// twins are the tests of one name that are distinguished by their order, by the first of them.
func twins(s results.Suite) map[results.ID][]results.ID {
	out := map[results.ID][]results.ID{}
	for id := range s {
		if !strings.HasSuffix(id.Test, "]") {
			continue
		}
		if m := numberedTwin.FindStringSubmatch(id.Test); m != nil {
			first := id
			first.Test = m[1]
			if _, ok := s[first]; ok {
				out[first] = append(out[first], id)
			}
		}
	}
	for first, list := range out {
		out[first] = append(list, first)
	}
	return out
}

// shiftedTwins are the tests of one name on the head of which the base has more or fewer, so that
// their numbers say nothing, where no more of them fail than did there.
func shiftedTwins(base, head results.Suite) map[results.ID]bool {
	before, after := twins(base), twins(head)
	failed := func(s results.Suite, list []results.ID) int {
		n := 0
		for _, id := range list {
			if s[id].Status == results.Failed {
				n++
			}
		}
		return n
	}
	out := map[results.ID]bool{}
	for _, side := range []map[results.ID][]results.ID{before, after} {
		for first := range side {
			was, is := before[first], after[first]
			if was == nil {
				was = []results.ID{first}
			}
			if is == nil {
				is = []results.ID{first}
			}
			if len(was) != len(is) && failed(head, is) <= failed(base, was) {
				for _, id := range is {
					out[id] = true
				}
			}
		}
	}
	return out
}

func (c *Comparison) Lists() []*[]results.Case {
	return []*[]results.Case{&c.Regressed, &c.NewFailing, &c.Fixed, &c.PreExisting, &c.Flaky, &c.FlakyNew, &c.NewFlakiness, &c.Unsettled, &c.Removed, &c.Skipped, &c.NotRun, &c.Unknown}
}

// Random says whether one of these tests was seen to give both results, or in too few
// runs to know.
func (c *Comparison) Random(ids ...results.ID) bool {
	return slices.ContainsFunc([][]results.Case{c.Flaky, c.FlakyNew, c.NewFlakiness, c.Unsettled, c.Unknown}, func(list []results.Case) bool {
		return slices.ContainsFunc(list, func(k results.Case) bool { return slices.Contains(ids, k.ID) })
	})
}

func (c *Comparison) Sort() {
	for _, list := range c.Lists() {
		results.SortCases(*list)
	}
}

// IsFlaky says whether a test was seen to give both results on one side.
func IsFlaky(c Comparison, id results.ID) bool {
	is := func(k results.Case) bool { return k.ID == id }
	return slices.ContainsFunc(c.Flaky, is) || slices.ContainsFunc(c.FlakyNew, is)
}
