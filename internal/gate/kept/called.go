package kept

import (
	"context"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// called adds what the head runs by another call than the base, whatever is touched: by what
// stands in a tree it is seen how its tests are called.
func (k *keeper) called(run []arms.Selection) []arms.Selection {
	for _, c := range k.on.Sides.Plans[results.Base].Test {
		if c.Results == nil || !k.on.Sides.CalledOtherwise(c) {
			continue
		}
		var tests []*examined
		for _, e := range k.tests {
			if e.eco == c.Eco && e.id.Unit == c.Unit && e.id.Command == "" {
				tests = append(tests, e)
			}
		}
		for _, s := range narrowTo(k.on.Sides, tests) {
			s.Tests = nil
			if !languages.ByPackage(s.Eco) {
				s.Places = nil
			}
			if i := slices.IndexFunc(run, func(o arms.Selection) bool { return o.Eco == s.Eco && o.Unit == s.Unit && o.Command == "" }); i >= 0 {
				run[i] = s
			} else {
				run = append(run, s)
			}
		}
	}
	return run
}

// startDetected runs what does not start as the base calls it, for want of what the change moves
// or removes, as it is detected over the head.
func (k *keeper) startDetected(ctx context.Context) error {
	if len(k.otherwise) == 0 {
		return nil
	}
	l := k.lookup(results.Head, k.suite)
	var lost []*examined
	for _, e := range k.tests {
		if !k.reached(e) || !slices.ContainsFunc(k.otherwise, func(c ecosystem.Command) bool { return c.Eco == e.eco }) {
			continue
		}
		if _, _, t, broken, _ := l.status(e); broken && k.namesRemoved(e, t.Output) {
			lost = append(lost, e)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	base := k.commands
	k.commands = slices.Concat(k.otherwise, slices.DeleteFunc(slices.Clone(base), func(c ecosystem.Command) bool {
		return slices.ContainsFunc(k.otherwise, func(o ecosystem.Command) bool { return sides.SameRun(o, c) })
	}))
	a, err := k.newArm(ctx, func(sides.Touch) bool { return true })
	if err != nil {
		return err
	}
	suite, err := a.Run(ctx, narrowTo(k.on.Sides, lost))
	if err != nil {
		return err
	}
	if len(lost) < len(k.tests) {
		k.commands = base // what does start does so as the base calls it
	} else {
		k.arm = a
	}
	maps.DeleteFunc(k.suite, func(id results.ID, t results.Test) bool {
		return slices.ContainsFunc(lost, func(e *examined) bool {
			return id.Unit == e.id.Unit && (id.Package == e.id.Package && id.Command == e.id.Command || t.Broken && t.Eco == e.eco)
		})
	})
	k.suite.Add(suite)
	return nil
}
