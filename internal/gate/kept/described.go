package kept

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// described runs tests that hold once more where the head is built as the base's files say it. What
// these say of more than tests is the head's in the arm, and can yet decide what tests are made of:
// a macro that takes their assertions away, another copy of what they test, a step that replaces their
// programs. Where the head is not built so, that says nothing.
func (k *keeper) described(ctx context.Context) error {
	files := k.on.Sides.BuildFiles()
	var tests []*examined
	for _, e := range k.tests {
		if !e.drop && !e.whole() && e.why == "" && e.kept == compare.Passed && e.head != compare.Failed &&
			slices.ContainsFunc(files, func(t sides.Touch) bool { return k.on.Sides.BuiltBy(t, e.id, e.eco) }) {
			tests = append(tests, e)
		}
	}
	if len(tests) == 0 || !k.in.Untrusted && k.took() > maxTogether {
		return nil
	}
	own := *k
	own.forwards = slices.Clone(k.forwards)
	for _, t := range files {
		own.forwards = append(own.forwards, workspace.Put{Path: t.Path, From: k.on.Sides.Base.Commit})
	}
	a, err := own.newArm(ctx, func(sides.Touch) bool { return true })
	if err != nil {
		return err
	}
	refuted, err := own.refutedIn(ctx, a, tests, func(*examined) bool { return len(a.Left) == 0 }) // a build without a file says nothing
	if err != nil {
		return err
	}
	for _, r := range refuted {
		at := slices.IndexFunc(files, func(t sides.Touch) bool { return k.on.Sides.BuiltBy(t, r.was.id, r.was.eco) })
		r.take(compare.Support)
		r.was.built = &files[at]
	}
	return nil
}
