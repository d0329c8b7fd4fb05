package kept

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Expectations is what became of the tests that pass on the base when they ran, as
// the base has them, over the head's sources (docs/gate.md, "The four arms").
type Expectations struct {
	Policy  compare.Policy `json:"policy"`
	Held    int            `json:"held"`    // leaf tests that still pass
	Changed []Expectation  `json:"changed"` // those that do not hold, the gravest class first
	Note    string         `json:"note"`    // one sentence for people, such as "41 of 41 old expectations hold"
}

// An Expectation is a test that passes on the base and does not hold on the head.
type Expectation struct {
	ID            results.ID     `json:"id"`
	Class         compare.Class  `json:"class"`
	Effect        compare.Effect `json:"effect"`
	Path          string         `json:"path"`              // of the file whose difference decides, in the repository; empty: not known
	Line          int            `json:"line"`              // of the first changed line there, on the head; 0: not known
	Old           string         `json:"old"`               // the lines that the change takes away, cut
	New           string         `json:"new"`               // the lines that it brings, cut
	Message       string         `json:"message"`           // what the test or its runner said in the kept arm, cut
	SubjectStands bool           `json:"subject_stands"`    // of a dropped one: what it tested is still in the head's tree
	Beside        bool           `json:"beside,omitempty"`  // of a silenced one: it passes by what another file of tests does in its process
	Skipped       bool           `json:"skipped,omitempty"` // of a weakened one: the change skips it
	Lenient       bool           `json:"lenient,omitempty"` // of a weakened one: it may fail, or is tried again
	Lost          []string       `json:"lost,omitempty"`    // of a weakened one: what it no longer checks, beside what the change rewrites in it, for people
	Wraps         bool           `json:"wraps,omitempty"`   // of a rewritten one: it takes another form of the same, and passes without the change
	Own           bool           `json:"own,omitempty"`     // of a project's own command, beside the runner of its tests
	Evidence      []string       `json:"evidence"`
}

// conclude turns what was observed into classes, effects and the facts of the
// verdict.
func (k *keeper) conclude(ctx context.Context) {
	x := &Expectations{Policy: k.in.Policy}
	over := k.on.Sides.ByPlace(results.Base, k.out.Over)
	replaced := k.replaced(over)
	for _, e := range k.tests {
		switch {
		case e.drop && e.unnamed && k.alike(e):
			e.kept = compare.Passed
			k.holds(x, e)
			continue
		case e.drop:
			if e.unnamed {
				k.out.Unnamed++
			}
			continue
		case e.why == "" && e.kept == compare.Passed:
			k.holds(x, e)
			continue
		}
		o := k.observation(e, over)
		o.Replaced = replaced[e.id]
		class := compare.ClassOf(o)
		wraps := class == compare.Rewritten && o.Wraps && o.OverBase == compare.Passed
		var lost []string
		if e.head == compare.Passed && !wraps && (class == compare.NeedsOldAPI || class == compare.Rewritten) {
			lost = k.on.Sides.Lost(e.id, e.eco, class == compare.Rewritten)
			o.Lost = len(lost) > 0
			class = compare.ClassOf(o)
		}
		if class == compare.Silent && k.insideSource(e) {
			class, e.why = compare.CannotApply, "it is in a source file that the change edits, and could not be put back there"
		}
		given := k.expectation(ctx, e, class)
		given.Wraps, given.Lost = wraps, lost
		given.showLost()
		given.Lenient = class == compare.Weakened && o.Lenient && o.OverBase != compare.Passed && o.OverBase != compare.Skipped
		x.Changed = append(x.Changed, given)
	}
	k.showRemoved()
	x.Changed = append(x.Changed, k.lost...)
	for i := range x.Changed {
		c := &x.Changed[i]
		c.Effect = compare.EffectOn(c.Class, k.in.Policy, c.SubjectStands, c.Own)
	}
	x.Sum()
	k.listed(x)
	k.out.Expectations = x
}

// showLost has the lines that a test lost among those that the change takes away.
func (x *Expectation) showLost() {
	for _, l := range slices.Backward(x.Lost) {
		if line := strings.Trim(l, "`"); line != l && !strings.Contains(x.Old, line) {
			x.Old = strings.TrimSuffix(line+"\n"+x.Old, "\n")
		}
	}
}

// showRemoved gives removed tests of which the base's results were known before the runs of
// the kept arm as evidence: no run of the base's suite stands in this log.
func (k *keeper) showRemoved() {
	for i, c := range k.out.Compared.Removed {
		if len(c.Evidence) > 0 {
			continue
		}
		if j := slices.IndexFunc(k.tests, func(e *examined) bool { return e.id == c.ID }); j >= 0 {
			k.out.Compared.Removed[i].Evidence = k.tests[j].evidence
		}
	}
}

// Join adds the expectations of another part of the suite.
func (x *Expectations) Join(other *Expectations) {
	x.Held, x.Changed = x.Held+other.Held, append(x.Changed, other.Changed...)
	x.Sum()
}

// Sum orders the expectations and counts them in words.
func (x *Expectations) Sum() {
	sorted.By(x.Changed, func(a, b Expectation) int {
		return slices.Index(compare.Classes(), a.Class) - slices.Index(compare.Classes(), b.Class)
	})
	all := x.Held + len(x.Changed)
	x.Note = fmt.Sprintf("%d of %s", x.Held, results.Count(all, "old expectation holds", "old expectations hold"))
	if all == 0 {
		x.Note = "no test passes on the base"
	}
}

// holds counts a test that passes in the kept arm. Where the head's own version of
// it fails, that is a new test that fails, and no regression.
func (k *keeper) holds(x *Expectations, e *examined) {
	if e.whole() {
		return
	}
	x.Held++
	if ran(e.kept) && k.affects(e) {
		k.out.Ran++
	}
	if !e.reached || e.beside || e.head != compare.Failed || !slices.Contains(k.classesOf(e), compare.Test) || e.id.Command != "" {
		return
	}
	t := &k.out.Compared
	t.Regressed = slices.DeleteFunc(t.Regressed, func(c results.Case) bool {
		if c.ID != e.headID {
			return false
		}
		t.NewFailing = append(t.NewFailing, c)
		return true
	})
	t.Sort()
}

// affects says whether the change can influence a test of the base, also where its
// package has moved.
func (k *keeper) affects(e *examined) bool {
	t := results.Test{Eco: e.eco}
	return k.on.Sides.Affects(e.id, t) || k.on.Sides.Affects(e.headID, t)
}

func ran(s compare.Status) bool { return s == compare.Passed || s == compare.Failed }

// alike says of a test whose name is made up in each run whether as many of its family, such
// as the rows of one table, passed over the head's sources as on the base, and none failed.
func (k *keeper) alike(e *examined) bool {
	family := familyOf(e)
	if family == "" {
		return false
	}
	ran := k.on.Sides.Suites[results.Head]
	if e.reached {
		ran = k.suite
	}
	passed := func(s results.Suite) int {
		n := 0
		for id, t := range s {
			if id.Unit != e.id.Unit || id.Package != e.id.Package || !strings.HasPrefix(id.Test, family) {
				continue
			}
			if t.Status == results.Failed {
				return 0
			}
			if t.Leaf && t.Status == results.Passed {
				n++
			}
		}
		return n
	}
	was := passed(k.on.Sides.Suites[results.Base])
	return was > 0 && passed(ran) >= was
}

// familyOf is what the names of the rows of a test begin with: of a subtest of Go the test
// that it belongs to, of one with parameters what stands before these; empty: it has none.
func familyOf(e *examined) string {
	if strings.HasSuffix(e.id.Test, "]") {
		if name, _, ok := strings.Cut(e.id.Test, "["); ok {
			return name + "["
		}
	}
	if top := e.id.Top(); top != e.id.Test && languages.ByPackage(e.eco) {
		return top + "/"
	}
	return ""
}

// observation is what the class of a test follows from.
func (k *keeper) observation(e *examined, over map[sides.Site]results.ID) compare.Observation {
	o := compare.Observation{
		Kept: e.kept, Head: e.head, Made: e.made,
		NotApplied: e.why != "", NamesRemoved: e.why != "" && k.namesRemoved(e, e.why),
		OverBase: compare.Absent, Beside: e.beside,
	}
	if ran(e.kept) && k.affects(e) {
		k.out.Ran++
	}
	if id, ok := over[k.on.Sides.PlaceOf(results.Head, e.headID, e.eco)]; ok {
		o.OverBase = statusOf(k.out.Over[id])
	}
	switch {
	case e.head == compare.Skipped:
		o.EditSkips, o.Stands = k.on.Sides.AddsSkip(e.id), true
	case e.head != compare.Passed && e.head != compare.Failed:
		o.Stands, o.Gone = k.on.Sides.Stands(e.id), k.on.Sides.OfGone(e.id)
	case e.head == compare.Passed:
		o.Lenient = k.on.Sides.AddsLeniency(e.id)
		o.Wraps = k.on.Sides.OnlyWraps(e.id, e.eco)
		o.Shared = e.seen || slices.Contains(e.made, compare.Test) && k.on.Sides.OnlyImports(e.id, e.eco)
	}
	return o
}

// insideSource says of a test that was not reported whether it stands in a source
// file of the change, where it cannot be put back by itself.
func (k *keeper) insideSource(e *examined) bool {
	if _, src := k.on.Sides.TestFileOf(e.id); src != nil || e.id.Command != "" || languages.ByPackage(e.eco) {
		return false
	}
	for _, f := range k.in.Change.Files {
		old := f.Path
		if f.OldPath != "" {
			old = f.OldPath
		}
		if languages.IsSource(old) && strings.Contains(e.id.Test, old) {
			return true // such as a doctest, which is called by its file
		}
	}
	return false
}

// expectation is what people are shown of a test that does not hold.
func (k *keeper) expectation(ctx context.Context, e *examined, class compare.Class) Expectation {
	beside := class == compare.Silenced && e.head == compare.Passed
	x := Expectation{ID: e.id, Class: class, Beside: beside, Message: results.Short(cmp.Or(e.why, e.output)), Evidence: slices.Clone(e.evidence), Own: slices.Contains(k.in.Own, e.id)}
	x.Skipped = class == compare.Weakened && e.head == compare.Skipped
	if class == compare.Dropped {
		x.SubjectStands = k.on.Sides.SubjectStands(e.id)
	}
	if t, ok := k.on.Sides.Suites[results.Head][e.headID]; ok && t.Evidence != "" && !slices.Contains(x.Evidence, t.Evidence) {
		x.Evidence = append(x.Evidence, t.Evidence)
	}
	if e.built != nil {
		x.Path = e.built.Path
		x.Line, x.Old, x.New = k.hunkOf(ctx, *e.built, e.id, e.output)
		return x
	}
	want := map[compare.Class]compare.FileClass{
		compare.SteeringMade: compare.Steering, compare.SupportMade: compare.Support, compare.DataChanged: compare.Data,
	}[class]
	file := k.on.Sides.StandsIn(e.id)
	fit := func(t sides.Touch) bool {
		return want != "" && t.Class == want || beside && t.Class == compare.Test || want == "" && (t.Path == file || t.Path == k.on.Sides.MovedTo(file))
	}
	fits := []func(sides.Touch) bool{func(t sides.Touch) bool { return fit(t) && calledAs(t.Path, e) }, fit}
	if class == compare.SupportMade { // a file of tests gives it what it holds by
		test := func(t sides.Touch) bool { return t.Class == compare.Test }
		fits = append(fits, func(t sides.Touch) bool {
			_, ok := k.on.Sides.Concerns(t, e.id, e.eco)
			return ok && test(t)
		}, test)
	}
	if class == compare.Weakened { // the test is as it was, and what it reads, or is built with, is not
		fits = append(fits, func(t sides.Touch) bool { return t.Class == compare.Data }, func(t sides.Touch) bool { return t.Class != compare.Source })
	}
	if said := cmp.Or(e.why, e.output); want == "" && x.Class != compare.Dropped { // what helps it, or is called as it is
		fits = append(fits, func(t sides.Touch) bool {
			return (t.Class == compare.Support || t.Class == compare.Test) && (strings.Contains(said, t.Path) || file == "" && t.Class == compare.Test && calledAs(t.Path, e))
		})
	}
	for _, fit := range fits {
		at := slices.IndexFunc(k.on.Sides.Touched, func(t sides.Touch) bool {
			return fit(t) && len(reach(k.on.Sides, []*examined{e}, []sides.Touch{t})) > 0
		})
		if at >= 0 {
			t := k.on.Sides.Touched[at]
			x.Path = t.File.Path
			x.Line, x.Old, x.New = k.hunkOf(ctx, t, e.id, e.output)
			break
		}
	}
	if x.Path == "" {
		x.Path = k.on.Sides.MovedTo(file)
		if file == "" {
			x.Path = ""
		}
	}
	return x
}

// calledAs says whether a file is called as a test is, as one of many that tests compare with, or what
// the test says as it fails names it.
func calledAs(file string, e *examined) bool {
	base := path.Base(file)
	stem, _, _ := strings.Cut(base, ".")
	test := e.id.Test
	return stem != "" && strings.EqualFold(stem, strings.TrimSuffix(test[strings.LastIndexAny(test, "/[> ")+1:], "]")) || strings.Contains(e.output, base)
}

// listed moves tests that the head no longer has among those that did not run
// there, where they still stand.
func (k *keeper) listed(x *Expectations) {
	t := &k.out.Compared
	quiet, unnamed, moved := map[results.ID]bool{}, map[results.ID]bool{}, map[results.ID]bool{}
	for _, e := range k.tests {
		unnamed[e.id] = e.unnamed
		moved[e.id] = e.kept == compare.Passed && (ran(e.head) && e.headID != e.id || k.on.Sides.MovedAsItIs(e.id))
	}
	for _, c := range x.Changed {
		if c.Class == compare.Silent || c.Class == compare.Silenced {
			quiet[c.ID] = true
		}
	}
	var removed []results.Case
	for _, c := range t.Removed {
		switch {
		case quiet[c.ID]:
			t.NotRun = append(t.NotRun, c)
		case moved[c.ID]: // it holds at its new place
		case !unnamed[c.ID]: // else the base does not have it each time either
			removed = append(removed, c)
		}
	}
	t.Removed = removed
	t.Sort()
}
