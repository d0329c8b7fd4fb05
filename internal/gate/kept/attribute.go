package kept

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

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
		a, err := k.newArm(ctx, func(t sides.Touch) bool { return t.Class != c })
		if err != nil {
			return err
		}
		if err := k.whichPass(ctx, a, tests, func(e *examined, _ results.Test) { e.made = append(e.made, c) }); err != nil {
			return err
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

// whichPass runs tests in an arm, and calls do for those that pass there.
func (k *keeper) whichPass(ctx context.Context, a *arms.Arm, tests []*examined, do func(*examined, results.Test)) error {
	suite, err := a.Run(ctx, narrowTo(k.on.Sides, tests))
	if err != nil {
		return err
	}
	l := k.lookup(results.Head, suite)
	for _, e := range tests {
		if status, _, t, _, _ := l.status(e); status == compare.Passed {
			do(e, t)
		}
	}
	return nil
}

// classesOf are the classes of the touched files that can reach a test.
func (k *keeper) classesOf(e *examined) []compare.FileClass {
	out := map[compare.FileClass]bool{}
	for _, t := range k.on.Sides.Touched {
		if len(reach(k.on.Sides, []*examined{e}, []sides.Touch{t})) > 0 {
			out[t.Class] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// headOverBase runs the head's version of tests over the base's sources where
// fail-to-pass has not: one that passes there asks for less than before. Of a file that did not
// compile there, those are left out that do not, so that the others say it.
func (k *keeper) headOverBase(ctx context.Context) error {
	var open []*examined
	by := k.on.Sides.ByPlace(results.Base, k.out.Over)
	for _, e := range k.doubtful() {
		if !slices.Contains(e.made, compare.Test) && !slices.Contains(e.made, compare.Data) {
			continue
		}
		if _, ok := by[k.on.Sides.PlaceOf(results.Head, e.headID, e.eco)]; !ok {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return nil
	}
	a, err := k.in.OverBase(ctx)
	if err != nil {
		return err
	}
	a.Apart = true
	suite, err := a.Run(ctx, narrowTo(k.on.Sides, open))
	if err = errors.Join(err, a.Close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if k.out.Over == nil {
		k.out.Over = results.Suite{}
	}
	maps.Copy(k.out.Over, suite)
	return nil
}
