package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/workspace"
)

// classify tells what the files of the change are to its tests.
func (r *runner) classify(ctx context.Context) error {
	var err error
	r.touched, err = r.touches(ctx)
	return err
}

// An examined test is one that passes on the base, with what is known of it.
type examined struct {
	id       ID
	eco      string
	kept     compare.Status // base's tests over head's sources
	head     compare.Status
	headID   ID
	reached  bool   // the kept arm ran it; else the head's arm is the kept arm
	why      string // it could not be compiled, collected or started there
	output   string // of the failure there
	evidence []string
	lost     bool // its program ended before it
	drop     bool // it gives both results, or has a name that is made up at random
	made     []compare.FileClass
}

// A keeper is the third arm: what passes on the base must pass with the base's
// tests, data, support and steering over the head's sources.
type keeper struct {
	r     *runner
	tests []*examined
	arm   *arm // nil: nothing that it would put back is touched
	run   []selection
	suite Suite // of the arm
	// commands are those of the arm; steers says that what steers them is touched, so
	// that without the base's version the head's own run.
	commands []command
	steers   bool
	lost     []Expectation // of commands that could not start
}

// kept finds out what became of the tests that pass on the base.
func (r *runner) kept(ctx context.Context) error {
	if r.facts.Unprepared != "" || len(r.suites[Base]) == 0 {
		return nil
	}
	k := r.keeper()
	k.tests = r.passing()
	err := k.steps(ctx)
	if k.arm != nil {
		r.keptArm = k.arm
		err = errors.Join(err, k.arm.close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return err
	}
	k.conclude(ctx)
	return nil
}

func (r *runner) keeper() *keeper {
	steers := slices.ContainsFunc(r.touched, func(t touch) bool { return t.class == compare.Steering })
	return &keeper{r: r, suite: Suite{}, steers: steers}
}

func (k *keeper) steps(ctx context.Context) error {
	if k.run = k.r.reach(k.tests, k.r.touched); len(k.run) > 0 {
		var err error
		if k.arm, err = k.newArm(ctx, func(touch) bool { return true }); err != nil {
			return err
		}
		if k.suite, err = k.arm.run(ctx, k.run); err != nil {
			return err
		}
		if err := k.startAgain(ctx); err != nil {
			return err
		}
	}
	k.observe()
	for _, step := range []func(context.Context) error{k.recover, k.confirm, k.attribute, k.headOverBase} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newArm is the head with the base's version of some of what is touched.
func (k *keeper) newArm(ctx context.Context, put func(touch) bool) (*arm, error) {
	var puts []workspace.Put
	for _, t := range k.r.touched {
		if put(t) {
			puts = append(puts, t.put)
		}
	}
	if k.commands == nil {
		var err error
		if k.commands, err = k.r.keptTests(ctx); err != nil {
			return nil, err
		}
	}
	tests := k.commands
	if !slices.ContainsFunc(k.r.touched, func(t touch) bool { return t.class == compare.Steering && put(t) }) && k.steers {
		tests = k.r.plan[Head].test
	}
	a, err := k.r.newArm(ctx, Head, StageKept, puts, tests)
	if err != nil {
		return nil, fmt.Errorf("the base's tests over the head: %w", err)
	}
	return a, nil
}

// passing are the tests that pass on the base and do not give both results.
func (r *runner) passing() []*examined {
	unsteady := map[ID]bool{}
	for _, list := range [][]Case{r.res.Tests.Flaky, r.res.Tests.PreExisting, r.res.Tests.Unknown, r.res.Tests.FlakyNew} {
		for _, c := range list {
			unsteady[c.ID] = true
		}
	}
	var out []*examined
	for id, t := range r.suites[Base] {
		counts := t.Leaf && (id.Test != "" || id.Command != "") || id.Test == "" && id.Package != "" && r.ecoOf(id) == "Go"
		if t.Status == Passed && counts && !unsteady[id] {
			out = append(out, &examined{id: id, eco: r.ecoOf(id)})
		}
	}
	slices.SortFunc(out, func(a, b *examined) int {
		return strings.Compare(a.id.Unit+" "+a.id.String(), b.id.Unit+" "+b.id.String())
	})
	return out
}

// whole says that an identity is a package's, which counts only where it fails.
func (e *examined) whole() bool { return e.id.Test == "" && e.id.Command == "" }

// sites are where a test of the base can stand in the head's tree.
func (r *runner) sites(id ID, eco string) []site {
	at := r.placeOf(Base, id, eco)
	out := []site{at}
	if id.Command != "" {
		return append(out, site{r.movedTo(id.Unit) + "$" + id.Command, ""})
	}
	if moved := r.movedTo(at.at); moved != at.at {
		out = append(out, site{moved, at.test})
	}
	if file, _ := r.testFileOf(id); eco == "Go" && file != "" && r.movedTo(file) != file {
		out = append(out, site{path.Dir(r.movedTo(file)), at.test})
	}
	return out
}

// A lookup finds statuses in one suite.
type lookup struct {
	k    *keeper
	side Side
	s    Suite
	by   map[site]ID
}

func (k *keeper) lookup(side Side, s Suite) *lookup {
	return &lookup{k, side, s, k.r.byPlace(side, s)}
}

// status is how a test of the base ended; broken is set where its package or file
// could not be compiled or loaded, crashed where its program ended before it.
func (l *lookup) status(e *examined) (status compare.Status, id ID, t Test, broken, crashed bool) {
	status = compare.Absent
	for _, at := range l.k.r.sites(e.id, e.eco) {
		for name := at.test; ; {
			have, ok := l.by[site{at.at, name}]
			if ok && (name == at.test || l.s[have].Status == Failed || l.s[have].Status == Skipped) {
				t = l.s[have]
				if status = statusOf(t); status == compare.Absent {
					crashed = l.s[l.by[site{at.at, ""}]].Cut
				}
				return status, have, t, t.Broken, crashed
			}
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				break
			}
			name = name[:i]
		}
		if pkg, ok := l.by[site{at.at, ""}]; ok && e.id.Command == "" && at.test != "" {
			t = l.s[pkg]
			broken, crashed = t.Broken && t.Status == Failed, t.Cut
			id = pkg
		}
	}
	if !broken && e.id.Command == "" && !e.whole() {
		for have, test := range l.s { // the runner as a whole
			if have.Unit == e.id.Unit && test.Eco == e.eco && (have.Command != "" && test.Cut || have.Test == "" && test.Broken && have.Package != "" && !isSource(have.Package) && e.eco != "Go") && !ranIn(l.s, e) {
				return status, have, test, true, false
			}
		}
	}
	if e.id.Command != "" && status == compare.Absent {
		return l.unit(e)
	}
	return status, id, t, broken, crashed
}

// unit is how all tests of a folder ended, for a command of the base that is told
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
	head := k.lookup(Head, k.r.suites[Head])
	arm := k.lookup(Head, k.suite)
	for _, e := range k.tests {
		var t Test
		var crashed bool
		e.head, e.headID, t, _, crashed = head.status(e)
		e.kept, e.output = e.head, t.Output
		e.reached = k.reached(e)
		if e.reached {
			var broken bool
			e.kept, _, t, broken, crashed = arm.status(e)
			e.output = t.Output
			if broken {
				e.why = t.Output
			}
			if file, src := k.r.testFileOf(e.id); src != nil && k.arm.left[file] != "" {
				e.why = k.arm.left[file]
			}
		} else if _, pkg, p, broken, _ := head.status(e); broken && e.head == compare.Absent {
			e.drop = p.Status == Failed && pkg != (ID{}) // the build is broken, which is a failure of its own
		} else if e.head == compare.Failed && k.r.res.Tests.random(e.id, e.headID) {
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
		if e.kept == compare.Failed && e.why == "" && e.reached && e.eco != "Go" && k.wantsRemoved(e) {
			e.why = e.output
		}
	}
}

// wantsRemoved says whether a test fails for want of a name that the change takes
// out of the sources, which languages without a compiler say at run time.
func (k *keeper) wantsRemoved(e *examined) bool {
	for _, eco := range ecosystems() {
		if eco.name != e.eco || eco.absent == nil {
			continue
		}
		name, _ := eco.absent(e.output)
		return name != "" && k.namesRemoved(e.id, name)
	}
	return false
}

// namesRemoved says whether a message names what the change removed or renamed.
func (k *keeper) namesRemoved(id ID, message string) bool {
	removed := k.r.removedNames(id)
	for w := range words([]byte(message)) {
		if removed[w] {
			return true
		}
	}
	for _, m := range otherSignature.FindAllStringSubmatch(message, -1) {
		if k.r.redeclared(firstGroup(m)) {
			return true
		}
	}
	return slices.ContainsFunc(unmet.FindAllStringSubmatch(message, -1), func(m []string) bool { return k.r.edits(firstGroup(m)) })
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
		case s.eco == "Go":
			at := k.r.sites(e.id, e.eco)
			return slices.ContainsFunc(at, func(p site) bool { return slices.Contains(s.places, p.at) })
		}
		return len(s.places) == 0 || slices.Contains(s.places, e.id.Package) || slices.Contains(s.places, k.r.movedTo(e.id.Package))
	})
}

// recover runs tests by themselves that did not run because their program ended
// before them: without those that failed, which may have ended it.
func (k *keeper) recover(ctx context.Context) error {
	for _, reached := range []bool{true, false} {
		var lost []*examined
		for _, e := range k.tests {
			if e.lost && e.reached == reached && !k.failedIn(e, e.id.Top()) {
				lost = append(lost, e)
			}
		}
		if len(lost) == 0 {
			continue
		}
		suite, err := k.alone(ctx, lost, reached)
		if err != nil {
			return err
		}
		l := k.lookup(Head, suite)
		for _, e := range lost {
			status, _, t, _, crashed := l.status(e)
			if ran(status) {
				e.kept, e.output, e.evidence = status, t.Output, append(e.evidence, t.Evidence)
			}
			e.lost = status == compare.Absent && crashed
		}
	}
	for _, e := range k.tests {
		if e.lost && (k.failedIn(e, e.id.Top()) || k.failedIn(e, "")) {
			e.drop = true // what ended the program is a failure of its own
		}
	}
	return nil
}

// alone runs tests without the others of their packages.
func (k *keeper) alone(ctx context.Context, tests []*examined, inArm bool) (Suite, error) {
	if inArm {
		return k.arm.run(ctx, k.r.narrowTo(tests))
	}
	out := Suite{}
	for _, s := range k.r.narrowTo(tests) {
		p := part{tests: s.tests}
		for _, e := range tests {
			if e.id.Unit == s.unit && e.eco == s.eco && !slices.Contains(p.packages, e.id.Package) {
				p.packages = append(p.packages, e.id.Package)
			}
		}
		for _, c := range k.r.parts(Head, group{s.eco, s.unit}, StageRerun, p) {
			suite, _, err := k.r.runFresh(ctx, Head, c)
			if err != nil {
				return out, err
			}
			out.add(suite)
		}
	}
	return out, nil
}

// failedIn says whether another test of a test's package failed where it was lost;
// no name: the package itself.
func (k *keeper) failedIn(e *examined, name string) bool {
	s, side := k.r.suites[Head], Head
	if e.reached {
		s = k.suite
	}
	by := k.r.byPlace(side, s)
	for _, at := range k.r.sites(e.id, e.eco) {
		if have, ok := by[site{at.at, name}]; ok && s[have].Status == Failed {
			return true
		}
	}
	return false
}

// doubtful are the tests that do not pass in the arm and could be compiled there.
func (k *keeper) doubtful() []*examined {
	return slices.DeleteFunc(slices.Clone(k.tests), func(e *examined) bool { return e.drop || e.why != "" || e.kept == compare.Passed })
}

// silentRounds is how often a test that the arm does not report is run again on the base.
const silentRounds = 4

func undropped(tests []*examined) []*examined {
	return slices.DeleteFunc(slices.Clone(tests), func(e *examined) bool { return e.drop })
}

// confirm runs what does not hold again, each time as setup and build left it: what
// fails in the arm on both sides in turns, as what both sides disagree about; what is
// silent once in the arm or the head, and on the base. What does not hold up is no
// expectation.
func (k *keeper) confirm(ctx context.Context) error {
	var failing, inArm, silent []*examined
	for _, e := range k.doubtful() {
		switch {
		case e.reached && e.kept == compare.Failed:
			failing = append(failing, e)
		case e.reached:
			inArm = append(inArm, e)
		case e.kept != compare.Failed: // what fails was run again when the sides were compared
			silent = append(silent, e)
		}
	}
	if err := k.disputed(ctx, failing); err != nil {
		return err
	}
	if len(inArm) > 0 {
		suite, err := k.arm.run(ctx, k.r.narrowTo(inArm))
		if err != nil {
			return err
		}
		k.settle(k.lookup(Head, suite), inArm)
	}
	if len(silent) > 0 {
		suite, err := k.r.again(ctx, Head, idsOf(silent), true)
		if err != nil {
			return err
		}
		k.settle(k.lookup(Head, suite), silent)
	}
	for range silentRounds {
		both := undropped(slices.Concat(inArm, silent))
		if len(both) == 0 {
			break
		}
		suite, err := k.r.again(ctx, Base, idsOf(both), true)
		if err != nil {
			return err
		}
		for _, e := range both {
			t, ok := suite[e.id]
			if !ok || t.Status != Passed {
				e.drop = true
			}
			if t.Evidence != "" {
				e.evidence = append(e.evidence, t.Evidence)
			}
		}
	}
	return nil
}

// settle reads one more run of tests that did not pass.
func (k *keeper) settle(l *lookup, tests []*examined) {
	for _, e := range tests {
		status, _, t, _, _ := l.status(e)
		if t.Evidence != "" && !slices.Contains(e.evidence, t.Evidence) {
			e.evidence = append(e.evidence, t.Evidence)
		}
		switch {
		case status == compare.Passed && !e.drop:
			e.drop = true
			c := Case{ID: e.id, Output: e.output, Evidence: e.evidence}
			if !slices.ContainsFunc(k.r.res.Tests.Flaky, func(f Case) bool { return f.ID == e.id }) && !e.whole() && e.kept == compare.Failed {
				k.r.res.Tests.Flaky = append(k.r.res.Tests.Flaky, c)
			}
		case status == compare.Failed && e.kept != compare.Failed:
			e.kept, e.output = status, t.Output
		}
	}
}

func idsOf(tests []*examined) []ID {
	var out []ID
	for _, e := range tests {
		out = append(out, e.id)
	}
	return out
}

// attribute finds the class of files whose head version makes a test pass that
// fails in the arm, by putting one class after the other back.
func (k *keeper) attribute(ctx context.Context) error {
	byClass := map[compare.FileClass][]*examined{}
	for _, e := range k.doubtful() {
		if !e.reached || e.kept != compare.Failed || e.head != compare.Passed {
			continue
		}
		classes := k.classesOf(e)
		if len(classes) == 1 {
			e.made = classes
			continue
		}
		for _, c := range classes {
			byClass[c] = append(byClass[c], e)
		}
	}
	for _, c := range []compare.FileClass{compare.Steering, compare.Support, compare.Test, compare.Data} {
		tests := byClass[c]
		if len(tests) == 0 {
			continue
		}
		a, err := k.newArm(ctx, func(t touch) bool { return t.class != c })
		if err != nil {
			return err
		}
		suite, err := a.run(ctx, k.r.narrowTo(tests))
		if err != nil {
			return err
		}
		l := k.lookup(Head, suite)
		for _, e := range tests {
			if status, _, _, _, _ := l.status(e); status == compare.Passed {
				e.made = append(e.made, c)
			}
		}
	}
	for _, tests := range byClass {
		for _, e := range tests {
			if len(e.made) == 0 {
				e.made = k.classesOf(e) // only several together do
			}
		}
	}
	return nil
}

// classesOf are the classes of the touched files that can reach a test.
func (k *keeper) classesOf(e *examined) []compare.FileClass {
	out := map[compare.FileClass]bool{}
	for _, t := range k.r.touched {
		if len(k.r.reach([]*examined{e}, []touch{t})) > 0 {
			out[t.class] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// headOverBase runs the head's version of tests over the base's sources where
// fail-to-pass has not: one that passes there asks for less than before.
func (k *keeper) headOverBase(ctx context.Context) error {
	var open []*examined
	by := k.r.byPlace(Base, k.r.over)
	for _, e := range k.doubtful() {
		if !slices.Contains(e.made, compare.Test) && !slices.Contains(e.made, compare.Data) {
			continue
		}
		if _, ok := by[k.r.placeOf(Head, e.headID, e.eco)]; !ok {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return nil
	}
	a, err := k.r.overBase(ctx)
	if err != nil {
		return err
	}
	suite, err := a.run(ctx, k.r.narrowTo(open))
	if err = errors.Join(err, a.close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if k.r.over == nil {
		k.r.over = Suite{}
	}
	maps.Copy(k.r.over, suite)
	return nil
}

// startAgain runs the commands once more with the head's steering that could not
// start with the base's.
func (k *keeper) startAgain(ctx context.Context) error {
	var again []selection
	for _, s := range k.run {
		if k.steered(s) && !k.started(k.suite, s) && k.started(k.r.suites[Head], s) {
			again = append(again, s)
		}
	}
	if len(again) == 0 {
		return nil
	}
	a, err := k.newArm(ctx, func(t touch) bool { return t.class != compare.Steering })
	if err != nil {
		return err
	}
	suite, err := a.run(ctx, again)
	if err != nil {
		return err
	}
	for _, s := range again {
		if !k.started(suite, s) {
			continue
		}
		label, why, evidence := k.r.labelOf(s), "", []string(nil)
		for id, t := range k.suite {
			if id.Unit == s.unit && t.Status == Failed && (t.Eco == s.eco || id.Command == s.command) {
				why, evidence = t.Output, []string{t.Evidence}
				delete(k.suite, id)
			}
		}
		if len(evidence) == 0 {
			evidence = slices.Clone(a.evidence)
		}
		class := compare.CannotApply
		if k.r.replacedRunner(s) {
			class = compare.SteeringMade
		}
		k.lost = append(k.lost, Expectation{ID: ID{Unit: s.unit, Command: label}, Class: class, Message: why, Evidence: evidence})
	}
	k.suite.add(suite)
	k.arm = a
	return nil
}

// steered says whether what steers the tests of a selection is touched.
func (k *keeper) steered(s selection) bool {
	return slices.ContainsFunc(k.r.touched, func(t touch) bool {
		return t.class == compare.Steering && (inside(s.unit, t.path) || inside(path.Dir(t.path), s.unit))
	})
}

// started says whether any test of a selection ran.
func (k *keeper) started(s Suite, sel selection) bool {
	for id, t := range s {
		if id.Unit != sel.unit {
			continue
		}
		if sel.command != "" && id.Command == sel.command {
			return t.Status == Passed || t.Lacks == "" && !cannotStart.MatchString(t.Output)
		}
		if t.Eco == sel.eco && id.Test != "" && (t.Status == Passed || t.Status == Failed) {
			return true
		}
	}
	return false
}
