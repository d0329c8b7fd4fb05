package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// shipped runs tests once more that hold and that the change edits, over the head's version
// of what belongs to the tests and to the product as well: data that sources read, a module
// that they import, what the product is built by. Putting that back would repair what the
// change breaks in it.
func (k *keeper) shipped(ctx context.Context) error {
	keep := map[string]*workspace.Put{}
	var parts []sides.Touch
	for _, t := range k.on.Sides.Touched {
		if put, ok := k.on.Sides.Product(t); ok {
			keep[t.Path], parts = put, append(parts, t)
		}
	}
	// What a file of tests is to the product has nothing to do with its own tests.
	isTest := slices.ContainsFunc(parts, func(t sides.Touch) bool { return t.Class == compare.Test })
	var tests []*examined
	for _, e := range k.tests {
		if !e.drop && e.reached && !e.whole() && e.kept == compare.Passed && e.head != compare.Failed &&
			k.edited(e, keep) && (isTest || len(reach(k.on.Sides, []*examined{e}, parts)) > 0) {
			tests = append(tests, e)
		}
	}
	if len(parts) == 0 || len(tests) == 0 {
		return nil
	}
	a, err := k.newArmOf(ctx, func(t sides.Touch) bool {
		put, ok := keep[t.Path]
		return !ok || put != nil
	}, func(t sides.Touch) workspace.Put {
		if put := keep[t.Path]; put != nil {
			return *put
		}
		return t.Put
	})
	if err != nil {
		return err
	}
	refuted, err := k.refutedIn(ctx, a, tests, func(again *examined) bool {
		return a.Left[k.fileOf(again)] == "" && !k.wantsRemoved(again) // else it says nothing of the product
	})
	if err != nil {
		return err
	}
	for _, r := range refuted {
		r.take(compare.Test)
	}
	return nil
}

func (k *keeper) fileOf(e *examined) string {
	file, _ := k.on.Sides.TestFileOf(e.id)
	return file
}

// edited says whether the change touches the text of a test that the arm puts back.
func (k *keeper) edited(e *examined, product map[string]*workspace.Put) bool {
	return slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool {
		if _, ok := product[t.Path]; ok || t.Class != compare.Test {
			return false
		}
		_, ok := k.on.Sides.Concerns(t, e.id, e.eco)
		return ok
	})
}
