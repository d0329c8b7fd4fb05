package kept

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// A lookup finds statuses in one suite.
type lookup struct {
	k    *keeper
	side results.Side
	s    results.Suite
	by   map[sides.Site]results.ID
}

func (k *keeper) lookup(side results.Side, s results.Suite) *lookup {
	return &lookup{k, side, s, k.on.Sides.ByPlace(side, s)}
}

// status is how a test of the base ended; broken is set where its package or file
// could not be compiled or loaded, crashed where its program ended before it.
func (l *lookup) status(e *examined) (status compare.Status, id results.ID, t results.Test, broken, crashed bool) {
	status = compare.Absent
	for _, at := range l.k.on.Sides.Sites(e.id, e.eco) {
		for name := at.Test; ; {
			have, ok := l.by[sides.Site{At: at.At, Test: name}]
			if ok && (name == at.Test || l.s[have].Status == results.Failed || l.s[have].Status == results.Skipped) {
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
			broken, crashed = t.Broken && t.Status == results.Failed, t.Cut
			id = pkg
		}
	}
	if !broken && e.id.Command == "" && !e.whole() {
		for have, test := range l.s { // the runner as a whole
			if have.Unit == e.id.Unit && test.Eco == e.eco && (have.Command != "" && test.Cut || have.Test == "" && test.Broken && have.Package != "" && !languages.IsSource(have.Package) && !languages.ByPackage(e.eco)) && !ranIn(l.s, e) {
				return status, have, test, !l.k.ended(test), false
			}
		}
	}
	if e.id.Command != "" && status == compare.Absent {
		return l.unit(e)
	}
	return status, id, t, broken, crashed
}

// ended says whether a run was ended for its time or for a limit: its tests start, and what became of them is
// not known.
func (k *keeper) ended(t results.Test) bool {
	return slices.ContainsFunc(k.on.Executor.Steps, func(s ecosystem.Step) bool { return s.Evidence == t.Evidence && s.Stopped() })
}

// unit is how all tests of a folder ended, for a command of the base that is reported
// apart, or called otherwise, on the head.
func (l *lookup) unit(e *examined) (compare.Status, results.ID, results.Test, bool, bool) {
	status, id, last := compare.Absent, results.ID{}, results.Test{}
	for have, t := range l.s {
		if have.Unit != e.id.Unit || !t.Leaf || t.Eco != e.eco {
			continue
		}
		switch t.Status {
		case results.Failed:
			return compare.Failed, have, t, false, false
		case results.Passed:
			status, id, last = compare.Passed, have, t
		}
	}
	return status, id, last, false, false
}

func ranIn(s results.Suite, e *examined) bool {
	for id, t := range s {
		if id.Unit == e.id.Unit && t.Eco == e.eco && id.Test != "" {
			return true
		}
	}
	return false
}

func statusOf(t results.Test) compare.Status {
	switch t.Status {
	case results.Passed:
		return compare.Passed
	case results.Failed:
		return compare.Failed
	case results.Skipped:
		return compare.Skipped
	}
	return compare.Absent
}

// observe reads the results of the arm, and of the head where that is the arm.
func (k *keeper) observe() {
	head := k.lookup(results.Head, k.on.Sides.Suites[results.Head])
	arm := k.lookup(results.Head, k.suite)
	for _, e := range k.tests {
		var t results.Test
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
			if e.kept == compare.Absent && e.head == compare.Passed && k.on.Sides.MovedAsItIs(e.id) {
				e.kept, broken, crashed, e.why = e.head, false, false, ""
			} else if file, src := k.on.Sides.TestFileOf(e.id); src != nil {
				e.why = cmp.Or(k.arm.Left[file], k.cutFor(e, file), e.why)
				if name := languages.Absent(e.eco, e.output); e.kept == compare.Failed && !k.on.Sides.ProductAsks(e.id, name, e.output) {
					e.why = cmp.Or(k.arm.Unimported[file][name], e.why) // for want of a name that its file no longer imports
				}
			} else if e.kept != compare.Failed && len(k.arm.Left) > 0 { // what passes may be the change's own version, which stands in the place of what is left out
				for _, f := range k.on.Sides.ClassIn(e.id) {
					e.why = cmp.Or(k.arm.Left[f], e.why)
				}
				if e.why != "" && t.Evidence == "" {
					e.evidence = append(e.evidence, k.arm.Evidence...)
				}
			}
		} else if _, pkg, p, broken, _ := head.status(e); broken && e.head == compare.Absent {
			e.drop = p.Status == results.Failed && pkg != (results.ID{}) // the build is broken, which is a failure of its own
		} else if e.head == compare.Failed && k.out.Compared.Random(e.id, e.headID) {
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

// cutFor is why a test was left out of its file in the arm; empty: it was not. Others of its name, in other
// modules of the file, may have run.
func (k *keeper) cutFor(e *examined, file string) string {
	name := e.id.Top()
	if !languages.ByPackage(e.eco) {
		if e.kept != compare.Absent {
			return ""
		}
		file, name = k.on.Sides.NamedIn(e.id)
	}
	return cmp.Or(k.arm.Cut[file].Why[name], k.arm.Cut[k.on.Sides.MovedTo(file)].Why[name])
}

// beside says whether the files of tests that the change touches have nothing to do with a
// test, but that they run in one process with it.
func (k *keeper) beside(e *examined) bool {
	if _, src := k.on.Sides.TestFileOf(e.id); src == nil {
		return false
	}
	file := k.on.Sides.StandsIn(e.id)
	at := reachKey{file, e.eco, e.id.Unit, e.id.Package, e.id.Command, ""}
	if languages.ByPackage(e.eco) {
		at.top = e.id.Top()
	}
	if _, ok := k.besides[at]; !ok {
		if k.besides == nil {
			k.besides = map[reachKey]bool{}
		}
		k.besides[at] = k.findBeside(e, file)
	}
	return k.besides[at]
}

func (k *keeper) findBeside(e *examined, file string) bool {
	some := false
	for _, t := range k.on.Sides.Touched {
		if t.Class == compare.Test && t.Mixed && t.Path == file {
			return false
		}
		if t.Class != compare.Test || t.Mixed {
			continue
		}
		if _, ok := k.on.Sides.Concerns(t, e.id, e.eco); ok {
			return false
		}
		_, ok := k.on.Sides.Reaches(t, e.id, e.eco)
		some = some || ok
	}
	return some
}

// wantsRemoved says whether a test fails for want of a name that the change takes
// out of the sources, which languages without a compiler say at run time.
func (k *keeper) wantsRemoved(e *examined) bool {
	name := languages.Absent(e.eco, e.output)
	if at := k.on.Sides.ForMakefile(); name == "" && e.id.Command != "" && len(at) > 0 { // make compiles them
		if name = languages.Absent(languages.Of(at[0].Path).Name, e.output); k.on.Sides.StandsUncalled(name) {
			return false
		}
	}
	return name != "" && !k.on.Sides.ProductAsks(e.id, name, e.output) && k.namesRemoved(e, name)
}

// namesRemoved says whether a message names what the change removed or renamed, and the test can ask for.
func (k *keeper) namesRemoved(e *examined, message string) bool {
	if k.on.Sides.RootGone(message) {
		return true
	}
	want := languages.Absent(e.eco, message)
	if k.on.Sides.ProductAsks(e.id, want, message) {
		return false
	}
	removed, asks := k.on.Sides.RemovedNames(e.id), k.on.Sides.MayAsk(e.id)
	for w := range classes.Words([]byte(message)) {
		if asks(w) && (removed[w] || k.on.Sides.Undeclared(w)) {
			return true
		}
	}
	if want != "" && asks(want) {
		for name, v := range k.on.Sides.Texts { // a file that the message names has lost the name, and another one has it
			if languages.IsSource(name) && !languages.IsTestFile(name) && strings.Contains(message, "/"+path.Base(name)) &&
				classes.Words(v.Base)[want] && !classes.Words(v.Head)[want] {
				return true
			}
		}
	}
	for _, m := range results.OtherSignature.FindAllStringSubmatch(message, -1) {
		if k.on.Sides.Redeclared(results.FirstGroup(m)) {
			return true
		}
	}
	return slices.ContainsFunc(results.Unmet.FindAllStringSubmatch(message, -1), func(m []string) bool { return k.on.Sides.Edits(results.FirstGroup(m)) })
}

// reached says whether the arm was to run a test.
func (k *keeper) reached(e *examined) bool {
	return slices.ContainsFunc(k.run, func(s arms.Selection) bool {
		switch {
		case s.Unit != e.id.Unit || (s.Command != "" || e.id.Command != "") && s.Command != e.id.Command:
			return false
		case s.Command != "":
			return true
		case s.Eco != e.eco:
			return false
		case languages.ByPackage(s.Eco):
			at := k.on.Sides.Sites(e.id, e.eco)
			return slices.ContainsFunc(at, func(p sides.Site) bool { return slices.Contains(s.Places, p.At) })
		}
		return len(s.Places) == 0 || slices.Contains(s.Places, e.id.Package) || slices.Contains(s.Places, k.on.Sides.MovedTo(e.id.Package))
	})
}
