package kept

import (
	"context"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// forward runs tests again that did not start for want of sources which the change moves, with
// what leads from the old places to the new ones.
func (k *keeper) forward(ctx context.Context) error {
	var lost []*examined
	for _, e := range k.tests {
		if !e.reached || e.drop {
			continue
		}
		moved := e.id.Command != "" && len(k.on.Sides.ForMakefile()) > 0 || len(k.on.Sides.Lists()) > 0 || k.on.Sides.SaysMoved(e.output)
		if e.why != "" || e.kept == compare.Failed && e.head == compare.Passed && moved {
			lost = append(lost, e)
		}
	}
	if len(lost) == 0 || k.forwards != nil {
		return nil
	}
	if k.forwards = k.on.Sides.Forwards(); k.forwards == nil {
		return nil
	}
	a, err := k.newArm(ctx, func(sides.Touch) bool { return true })
	if err != nil {
		return err
	}
	suite, err := a.Run(ctx, narrowTo(k.on.Sides, lost))
	if err != nil {
		return err
	}
	l, some := k.lookup(results.Head, suite), false
	for _, e := range lost {
		status, _, t, broken, _ := l.status(e)
		if broken || !ran(status) || e.why == "" && status != compare.Passed {
			continue
		}
		was := e.why
		e.kept, e.output, e.why = status, t.Output, ""
		if status == compare.Failed && k.wantsRemoved(e) {
			e.why = was
			continue
		}
		e.evidence, some = append(e.evidence, t.Evidence), true
	}
	if !some {
		k.forwards = nil
		return nil
	}
	maps.DeleteFunc(k.suite, func(id results.ID, _ results.Test) bool {
		return slices.ContainsFunc(lost, func(e *examined) bool {
			return id.Unit == e.id.Unit && id.Package == e.id.Package && id.Command == e.id.Command
		})
	})
	maps.Copy(k.suite, suite)
	k.arm = a
	return nil
}

// startForwarded runs commands that could not start with the base's steering, which may lead to
// where sources were, with what leads on from there; it returns those that do not start so either.
func (k *keeper) startForwarded(ctx context.Context, again []arms.Selection) ([]arms.Selection, error) {
	if k.forwards = k.on.Sides.Forwards(); k.forwards == nil {
		return again, nil
	}
	a, err := k.newArm(ctx, func(sides.Touch) bool { return true })
	if err != nil {
		return nil, err
	}
	suite, err := a.Run(ctx, again)
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(again), func(s arms.Selection) bool { return k.started(suite, s) })
	if len(rest) == len(again) {
		k.forwards = nil
		return again, nil
	}
	maps.DeleteFunc(k.suite, func(id results.ID, t results.Test) bool {
		return slices.ContainsFunc(again, func(s arms.Selection) bool {
			return id.Unit == s.Unit && (t.Eco == s.Eco || id.Command == s.Command)
		})
	})
	maps.Copy(k.suite, suite)
	k.arm = a
	return rest, nil
}
