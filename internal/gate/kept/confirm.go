package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

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
		var suite results.Suite
		var err error
		if reached {
			suite, err = k.runAgain(ctx, lost)
		} else {
			suite, err = k.alone(ctx, results.Head, lost)
		}
		if err != nil {
			return err
		}
		l := k.lookup(results.Head, suite)
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

// aside runs tests that fail in the arm, and have nothing to do with the files of tests that
// are touched, without these: an old test that breaks in the middle can leave what others
// stumble over. Where none breaks, it is the change that they stumble over.
func (k *keeper) aside(ctx context.Context) error {
	if !slices.ContainsFunc(k.doubtful(), func(e *examined) bool { return !e.beside }) {
		return nil
	}
	var tests []*examined
	for _, e := range k.doubtful() {
		if e.beside && e.kept == compare.Failed && e.head == compare.Passed {
			tests = append(tests, e)
		}
	}
	if len(tests) == 0 {
		return nil
	}
	suite, err := k.runAgain(ctx, tests)
	if err != nil {
		return err
	}
	l := k.lookup(results.Head, suite)
	for _, e := range tests {
		if status, _, t, _, _ := l.status(e); status == compare.Passed {
			e.kept, e.output, e.evidence = status, "", append(e.evidence, t.Evidence)
		}
	}
	return nil
}

// alone runs tests of a side without the others of their packages.
func (k *keeper) alone(ctx context.Context, side results.Side, tests []*examined) (results.Suite, error) {
	out := results.Suite{}
	for _, s := range narrowTo(k.on.Sides, tests) {
		p := ecosystem.Part{Tests: s.Tests}
		for _, e := range tests {
			if e.id.Unit == s.Unit && e.eco == s.Eco && !slices.Contains(p.Packages, e.id.Package) {
				p.Packages = append(p.Packages, e.id.Package)
			}
		}
		for _, c := range k.on.Tests.Parts(side, ecosystem.Group{Eco: s.Eco, Unit: s.Unit}, results.StageRerun, p) {
			suite, _, err := k.on.Tests.RunFresh(ctx, side, c)
			if err != nil {
				return out, err
			}
			out.Add(suite)
		}
	}
	return out, nil
}

// failedIn says whether another test of a test's package failed where it was lost;
// no name: the package itself.
func (k *keeper) failedIn(e *examined, name string) bool {
	s, side := k.on.Sides.Suites[results.Head], results.Head
	if e.reached {
		s = k.suite
	}
	by := k.on.Sides.ByPlace(side, s)
	for _, at := range k.on.Sides.Sites(e.id, e.eco) {
		if have, ok := by[sides.Site{At: at.At, Test: name}]; ok && s[have].Status == results.Failed {
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
		suite, err := k.runAgain(ctx, inArm)
		if err != nil {
			return err
		}
		k.settle(k.lookup(results.Head, suite), inArm)
	}
	if len(silent) > 0 {
		suite, err := k.on.Tests.Again(ctx, results.Head, idsOf(silent), true)
		if err != nil {
			return err
		}
		k.settle(k.lookup(results.Head, suite), silent)
	}
	for range silentRounds {
		both := undropped(slices.Concat(inArm, silent))
		if len(both) == 0 {
			break
		}
		suite, err := k.on.Tests.Again(ctx, results.Base, idsOf(both), true)
		if err != nil {
			return err
		}
		for _, e := range both {
			t, ok := suite[e.id]
			if !ok && !reports(suite, e.id) {
				continue // it was not run, which says nothing of it
			}
			if !ok || t.Status != results.Passed {
				e.drop, e.unnamed = true, !ok
			}
			if t.Evidence != "" {
				e.evidence = append(e.evidence, t.Evidence)
			}
		}
	}
	return nil
}

// reports says whether a run reports any test of the package or file of a test.
func reports(s results.Suite, of results.ID) bool {
	for id := range s {
		if id.Unit == of.Unit && id.Package == of.Package && id.Command == of.Command && id.Test != "" {
			return true
		}
	}
	return false
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
			c := results.Case{ID: e.id, Output: e.output, Evidence: e.evidence}
			if !slices.ContainsFunc(k.out.Compared.Flaky, func(f results.Case) bool { return f.ID == e.id }) && !e.whole() && e.kept == compare.Failed {
				k.out.Compared.Flaky = append(k.out.Compared.Flaky, c)
			}
		case status == compare.Failed && e.kept != compare.Failed:
			e.kept, e.output = status, t.Output
		}
	}
}

func idsOf(tests []*examined) []results.ID {
	var out []results.ID
	for _, e := range tests {
		out = append(out, e.id)
	}
	return out
}
