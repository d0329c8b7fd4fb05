package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sorted"
)

// conclude turns what was observed into classes, effects and the facts of the
// verdict.
func (k *keeper) conclude(ctx context.Context) {
	r := k.r
	policy := compare.Floor(r.in.Expectations, r.in.Untrusted, false)
	x := &Expectations{Policy: policy}
	over := r.sides.ByPlace(Base, r.over)
	for _, e := range k.tests {
		switch {
		case e.drop && e.unnamed && k.alike(e):
			e.kept = compare.Passed
			k.holds(x, e)
			continue
		case e.drop:
			if e.unnamed {
				r.facts.Unnamed++
			}
			continue
		case e.why == "" && e.kept == compare.Passed:
			k.holds(x, e)
			continue
		}
		o := k.observation(e, over)
		class := compare.ClassOf(o)
		if class == compare.Silent && k.insideSource(e) {
			class, e.why = compare.CannotApply, "it stands in a source file that the change edits, and could not be put back there"
		}
		x.Changed = append(x.Changed, k.expectation(ctx, e, class))
	}
	k.showRemoved()
	x.Changed = append(x.Changed, k.lost...)
	for i := range x.Changed {
		c := &x.Changed[i]
		c.Effect = compare.EffectOf(c.Class, policy, c.SubjectStands)
	}
	x.sum()
	k.listed(x)
	if r.res.Expectations == nil {
		r.res.Expectations = x
		return
	}
	r.res.Expectations.join(x)
}

// showRemoved gives removed tests of which the base's results were known before the runs of
// the kept arm as evidence: no run of the base's suite stands in this log.
func (k *keeper) showRemoved() {
	for i, c := range k.r.res.Tests.Removed {
		if len(c.Evidence) > 0 {
			continue
		}
		if j := slices.IndexFunc(k.tests, func(e *examined) bool { return e.id == c.ID }); j >= 0 {
			k.r.res.Tests.Removed[i].Evidence = k.tests[j].evidence
		}
	}
}

// join adds the expectations of another part of the suite.
func (x *Expectations) join(other *Expectations) {
	x.Held, x.Changed = x.Held+other.Held, append(x.Changed, other.Changed...)
	x.sum()
}

// sum orders the expectations and counts them in words.
func (x *Expectations) sum() {
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
		k.r.facts.KeptRan++
	}
	if !e.reached || e.beside || e.head != compare.Failed || !slices.Contains(k.classesOf(e), compare.Test) || e.id.Command != "" {
		return
	}
	t := &k.r.res.Tests
	t.Regressed = slices.DeleteFunc(t.Regressed, func(c Case) bool {
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
	t := Test{Eco: e.eco}
	return k.r.sides.Affects(e.id, t) || k.r.sides.Affects(e.headID, t)
}

func ran(s compare.Status) bool { return s == compare.Passed || s == compare.Failed }

// alike says of a test whose name is made up in each run whether as many of its family, such
// as the rows of one table, passed over the head's sources as on the base, and none failed.
func (k *keeper) alike(e *examined) bool {
	family := familyOf(e)
	if family == "" {
		return false
	}
	ran := k.r.sides.Suites[Head]
	if e.reached {
		ran = k.suite
	}
	passed := func(s Suite) int {
		n := 0
		for id, t := range s {
			if id.Unit != e.id.Unit || id.Package != e.id.Package || !strings.HasPrefix(id.Test, family) {
				continue
			}
			if t.Status == Failed {
				return 0
			}
			n += b2i(t.Leaf && t.Status == Passed)
		}
		return n
	}
	was := passed(k.r.sides.Suites[Base])
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
func (k *keeper) observation(e *examined, over map[sides.Site]ID) compare.Observation {
	o := compare.Observation{
		Kept: e.kept, Head: e.head, Made: e.made,
		NotApplied: e.why != "", NamesRemoved: e.why != "" && k.namesRemoved(e, e.why),
		OverBase: compare.Absent, Beside: e.beside,
	}
	if ran(e.kept) && k.affects(e) {
		k.r.facts.KeptRan++
	}
	if id, ok := over[k.r.sides.PlaceOf(Head, e.headID, e.eco)]; ok {
		o.OverBase = statusOf(k.r.over[id])
	}
	switch {
	case e.head == compare.Skipped:
		o.EditSkips, o.Stands = k.r.sides.AddsSkip(e.id), true
	case e.head != compare.Passed && e.head != compare.Failed:
		o.Stands = k.r.sides.Stands(e.id)
	case e.head == compare.Passed:
		o.Lenient = k.r.sides.AddsLeniency(e.id)
		o.Wraps = k.r.sides.OnlyWraps(e.id, e.eco)
	}
	return o
}

// insideSource says of a test that was not reported whether it stands in a source
// file of the change, where it cannot be put back by itself.
func (k *keeper) insideSource(e *examined) bool {
	if _, src := k.r.sides.TestFileOf(e.id); src != nil || e.id.Command != "" || languages.ByPackage(e.eco) {
		return false
	}
	for _, f := range k.r.in.Change.Files {
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
	x := Expectation{ID: e.id, Class: class, Beside: beside, Message: results.Short(cmp.Or(e.why, e.output)), Evidence: slices.Clone(e.evidence)}
	x.Skipped = class == compare.Weakened && e.head == compare.Skipped
	if class == compare.Dropped {
		x.SubjectStands = k.r.sides.SubjectStands(e.id)
	}
	if t, ok := k.r.sides.Suites[Head][e.headID]; ok && t.Evidence != "" && !slices.Contains(x.Evidence, t.Evidence) {
		x.Evidence = append(x.Evidence, t.Evidence)
	}
	want := map[compare.Class]compare.FileClass{
		compare.SteeringMade: compare.Steering, compare.SupportMade: compare.Support, compare.DataChanged: compare.Data,
	}[class]
	file := k.r.sides.StandsIn(e.id)
	for _, t := range k.r.sides.Touched {
		fits := want != "" && t.Class == want || beside && t.Class == compare.Test || want == "" && (t.Path == file || t.Path == k.r.sides.MovedTo(file))
		if fits && len(k.r.reach([]*examined{e}, []sides.Touch{t})) > 0 {
			x.Path = t.File.Path
			x.Line, x.Old, x.New = k.r.hunkOf(ctx, t, e.id, e.output)
			break
		}
	}
	if x.Path == "" {
		x.Path = k.r.sides.MovedTo(file)
		if file == "" {
			x.Path = ""
		}
	}
	return x
}

// listed moves tests that the head no longer has among those that did not run
// there, where they still stand.
func (k *keeper) listed(x *Expectations) {
	t := &k.r.res.Tests
	quiet, unnamed, moved := map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
	for _, e := range k.tests {
		unnamed[e.id] = e.unnamed
		moved[e.id] = e.kept == compare.Passed && (ran(e.head) && e.headID != e.id || k.r.sides.MovedAsItIs(e.id))
	}
	for _, c := range x.Changed {
		if c.Class == compare.Silent || c.Class == compare.Silenced {
			quiet[c.ID] = true
		}
	}
	var removed []Case
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

// changed counts the expectations that do not hold, by class.
func (x *Expectations) counts() []Changed {
	var out []Changed
	for _, c := range x.Changed {
		i := slices.IndexFunc(out, func(o Changed) bool {
			return o.Class == c.Class && o.SubjectStands == c.SubjectStands && o.Beside == c.Beside && o.Skipped == c.Skipped
		})
		if i < 0 {
			i, out = len(out), append(out, Changed{Class: c.Class, SubjectStands: c.SubjectStands, Beside: c.Beside, Skipped: c.Skipped})
		}
		out[i].Count++
	}
	return out
}
