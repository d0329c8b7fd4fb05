package gate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// A lookup finds statuses in one suite.
type lookup struct {
	k    *keeper
	side Side
	s    Suite
	by   map[sides.Site]ID
}

func (k *keeper) lookup(side Side, s Suite) *lookup {
	return &lookup{k, side, s, k.r.sides.ByPlace(side, s)}
}

// status is how a test of the base ended; broken is set where its package or file
// could not be compiled or loaded, crashed where its program ended before it.
func (l *lookup) status(e *examined) (status compare.Status, id ID, t Test, broken, crashed bool) {
	status = compare.Absent
	for _, at := range l.k.r.sides.Sites(e.id, e.eco) {
		for name := at.Test; ; {
			have, ok := l.by[sides.Site{At: at.At, Test: name}]
			if ok && (name == at.Test || l.s[have].Status == Failed || l.s[have].Status == Skipped) {
				t = l.s[have]
				if status = statusOf(t); status == compare.Absent {
					crashed = l.s[l.by[sides.Site{At: at.At, Test: ""}]].Cut
				}
				return status, have, t, t.Broken, crashed
			}
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				break
			}
			name = name[:i]
		}
		if pkg, ok := l.by[sides.Site{At: at.At, Test: ""}]; ok && e.id.Command == "" && at.Test != "" {
			t = l.s[pkg]
			broken, crashed = t.Broken && t.Status == Failed, t.Cut
			id = pkg
		}
	}
	if !broken && e.id.Command == "" && !e.whole() {
		for have, test := range l.s { // the runner as a whole
			if have.Unit == e.id.Unit && test.Eco == e.eco && (have.Command != "" && test.Cut || have.Test == "" && test.Broken && have.Package != "" && !languages.IsSource(have.Package) && !languages.ByPackage(e.eco)) && !ranIn(l.s, e) {
				return status, have, test, true, false
			}
		}
	}
	if e.id.Command != "" && status == compare.Absent {
		return l.unit(e)
	}
	return status, id, t, broken, crashed
}

// unit is how all tests of a folder ended, for a command of the base that is reported
// apart, or called otherwise, on the head.
func (l *lookup) unit(e *examined) (compare.Status, ID, Test, bool, bool) {
	status, id, last := compare.Absent, ID{}, Test{}
	for have, t := range l.s {
		if have.Unit != e.id.Unit || !t.Leaf || t.Eco != e.eco {
			continue
		}
		switch t.Status {
		case Failed:
			return compare.Failed, have, t, false, false
		case Passed:
			status, id, last = compare.Passed, have, t
		}
	}
	return status, id, last, false, false
}

func ranIn(s Suite, e *examined) bool {
	for id, t := range s {
		if id.Unit == e.id.Unit && t.Eco == e.eco && id.Test != "" {
			return true
		}
	}
	return false
}

func statusOf(t Test) compare.Status {
	switch t.Status {
	case Passed:
		return compare.Passed
	case Failed:
		return compare.Failed
	case Skipped:
		return compare.Skipped
	}
	return compare.Absent
}

// observe reads the results of the arm, and of the head where that is the arm.
func (k *keeper) observe() {
	head := k.lookup(Head, k.r.sides.Suites[Head])
	arm := k.lookup(Head, k.suite)
	for _, e := range k.tests {
		var t Test
		var crashed bool
		e.head, e.headID, t, _, crashed = head.status(e)
		e.kept, e.output = e.head, t.Output
		e.reached = k.reached(e)
		if e.reached {
			e.beside = k.beside(e)
			var broken bool
			e.kept, _, t, broken, crashed = arm.status(e)
			e.output = t.Output
			if broken {
				e.why = t.Output
			}
			if e.kept == compare.Absent && e.head == compare.Passed && k.r.sides.MovedAsItIs(e.id) {
				e.kept, broken, crashed, e.why = e.head, false, false, ""
			} else if file, src := k.r.sides.TestFileOf(e.id); src != nil {
				e.why = cmp.Or(k.arm.left[file], k.arm.cut[file].why[e.id.Top()], k.arm.cut[k.r.sides.MovedTo(file)].why[e.id.Top()], e.why)
				if e.kept == compare.Failed { // for want of a name that its file no longer imports
					e.why = cmp.Or(k.arm.unimported[file][wanted(e.eco, e.output)], e.why)
				}
			}
		} else if _, pkg, p, broken, _ := head.status(e); broken && e.head == compare.Absent {
			e.drop = p.Status == Failed && pkg != (ID{}) // the build is broken, which is a failure of its own
		} else if e.head == compare.Failed && k.r.res.Tests.Random(e.id, e.headID) {
			e.drop = true // what the sides disagreed about was settled: it does not fail each time
		}
		if t.Evidence != "" {
			e.evidence = append(e.evidence, t.Evidence)
		}
		switch {
		case e.whole():
			// A package says something of its own only where it ends badly and no test does.
			e.drop = e.kept != compare.Failed || t.Broken || !e.reached
		case crashed && e.kept == compare.Absent && e.why == "":
			e.lost = true
		}
		if e.kept == compare.Failed && e.why == "" && e.reached && k.wantsRemoved(e) {
			e.why = e.output
		}
	}
}

// beside says whether the files of tests that the change touches have nothing to do with a
// test, but that they run in one process with it.
func (k *keeper) beside(e *examined) bool {
	if _, src := k.r.sides.TestFileOf(e.id); src == nil {
		return false
	}
	file, some := k.r.sides.StandsIn(e.id), false
	for _, t := range k.r.sides.Touched {
		if t.Class == compare.Test && t.Mixed && t.Path == file {
			return false
		}
		if t.Class != compare.Test || t.Mixed {
			continue
		}
		if _, ok := k.r.sides.Concerns(t, e.id, e.eco); ok {
			return false
		}
		_, ok := k.r.sides.Reaches(t, e.id, e.eco)
		some = some || ok
	}
	return some
}

// wantsRemoved says whether a test fails for want of a name that the change takes
// out of the sources, which languages without a compiler say at run time.
func (k *keeper) wantsRemoved(e *examined) bool {
	name := wanted(e.eco, e.output)
	return name != "" && k.namesRemoved(e, name)
}

// wanted is the name that a message says is not there, "" where it says of none.
func wanted(eco, message string) string {
	by := languages.Named(eco)
	if by == nil || by.Absent == nil {
		return ""
	}
	name, _ := by.Absent(message)
	return name
}

// namesRemoved says whether a message names what the change removed or renamed.
func (k *keeper) namesRemoved(e *examined, message string) bool {
	if k.r.sides.RootGone(message) {
		return true
	}
	removed := k.r.sides.RemovedNames(e.id)
	for w := range classes.Words([]byte(message)) {
		if removed[w] || k.r.sides.Undeclared(w) {
			return true
		}
	}
	if want := wanted(e.eco, message); want != "" {
		for name, v := range k.r.sides.Texts { // a file that the message names has lost the name, and another one has it
			if languages.IsSource(name) && !languages.IsTestFile(name) && strings.Contains(message, "/"+path.Base(name)) &&
				classes.Words(v.Base)[want] && !classes.Words(v.Head)[want] {
				return true
			}
		}
	}
	for _, m := range results.OtherSignature.FindAllStringSubmatch(message, -1) {
		if k.r.sides.Redeclared(firstGroup(m)) {
			return true
		}
	}
	return slices.ContainsFunc(results.Unmet.FindAllStringSubmatch(message, -1), func(m []string) bool { return k.r.sides.Edits(firstGroup(m)) })
}

// reached says whether the arm was to run a test.
func (k *keeper) reached(e *examined) bool {
	return slices.ContainsFunc(k.run, func(s selection) bool {
		switch {
		case s.unit != e.id.Unit || (s.command != "" || e.id.Command != "") && s.command != e.id.Command:
			return false
		case s.command != "":
			return true
		case s.eco != e.eco:
			return false
		case languages.ByPackage(s.eco):
			at := k.r.sides.Sites(e.id, e.eco)
			return slices.ContainsFunc(at, func(p sides.Site) bool { return slices.Contains(s.places, p.At) })
		}
		return len(s.places) == 0 || slices.Contains(s.places, e.id.Package) || slices.Contains(s.places, k.r.sides.MovedTo(e.id.Package))
	})
}
