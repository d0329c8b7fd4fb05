package kept

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
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

// startDetected runs what does not start as the base calls it, or starts nothing, for want of what the
// change moves or removes, as it is detected over the head.
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
		status, _, t, broken, _ := l.status(e)
		if broken && k.namesRemoved(e, t.Output) || status == compare.Failed && k.wantsMoved(t.Output) {
			lost = append(lost, e)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	for _, e := range lost {
		e.detected = true
	}
	suite, err := k.runDetected(ctx, lost)
	if err != nil {
		return err
	}
	k.replace(k.suite, suite, lost)
	return nil
}

var noModule = pattern.New(`(?:No module named|Cannot find module) ['"]?(?:\S*/)?(\w+)`)

// wantsMoved says whether a program that a test starts misses a module that the change moves.
func (k *keeper) wantsMoved(output string) bool {
	m := noModule.FindStringSubmatch(output)
	return m != nil && slices.ContainsFunc(k.in.Change.Files, func(f change.File) bool {
		return f.Status == change.Renamed && slices.Contains(strings.Split(strings.TrimSuffix(f.OldPath, path.Ext(f.OldPath)), "/"), m[1]) && k.on.Sides.GoneFromHead(f.OldPath)
	})
}

// runDetected runs tests in the arm as they are detected there.
func (k *keeper) runDetected(ctx context.Context, tests []*examined) (results.Suite, error) {
	base := k.arm.Tests
	defer func() { k.arm.Tests = base }()
	k.arm.Tests = slices.Concat(k.otherwise, slices.DeleteFunc(slices.Clone(base), func(c ecosystem.Command) bool {
		return slices.ContainsFunc(k.otherwise, func(o ecosystem.Command) bool { return sides.SameRun(o, c) })
	}))
	return k.arm.Run(ctx, narrowTo(k.on.Sides, tests))
}

// replace puts what a run as it is detected said of tests in the place of what did not start.
func (k *keeper) replace(suite, detected results.Suite, tests []*examined) {
	maps.DeleteFunc(suite, func(id results.ID, t results.Test) bool {
		return slices.ContainsFunc(tests, func(e *examined) bool {
			return id.Unit == e.id.Unit && (id.Package == e.id.Package && id.Command == e.id.Command || t.Broken && t.Eco == e.eco)
		})
	})
	suite.Add(detected)
}

// runAgain runs tests in the arm, each as it ran there before.
func (k *keeper) runAgain(ctx context.Context, tests []*examined) (results.Suite, error) {
	detected := slices.DeleteFunc(slices.Clone(tests), func(e *examined) bool { return !e.detected })
	suite := results.Suite{}
	if rest := slices.DeleteFunc(slices.Clone(tests), func(e *examined) bool { return e.detected }); len(rest) > 0 {
		var err error
		if suite, err = k.arm.Run(ctx, narrowTo(k.on.Sides, rest)); err != nil {
			return suite, err
		}
	}
	if len(detected) == 0 {
		return suite, nil
	}
	more, err := k.runDetected(ctx, detected)
	suite.Add(more)
	return suite, err
}

// runWhole runs all that the arm ran, each as it ran there before.
func (k *keeper) runWhole(ctx context.Context) (results.Suite, error) {
	suite, err := k.arm.Run(ctx, k.run)
	detected := slices.DeleteFunc(slices.Clone(k.tests), func(e *examined) bool { return !e.detected })
	if err != nil || len(detected) == 0 {
		return suite, err
	}
	more, err := k.runDetected(ctx, detected)
	k.replace(suite, more, detected)
	return suite, err
}
