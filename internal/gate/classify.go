package gate

import (
	"cmp"
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// classify says what the files of the change are to its tests.
func (r *runner) classify(ctx context.Context) error {
	if err := r.sides.Classify(ctx); err != nil {
		return err
	}
	if before := r.sides.Before(); len(before) > 0 {
		r.ask("tests may get a new file of the change by a name that two files have now: %s", results.Listed(before, 3))
		r.notCovered("which file tests get by a name that two have with the change, the new one or theirs: %s", results.Listed(before, 3))
	}
	if own := r.sides.OwnSettings(); len(own) > 0 {
		r.ask("the change alters settings that tests read: %s", results.Listed(own, 3))
		r.notCovered("what the base's tests hold with the base's settings that they read: %s", results.Listed(own, 3))
	}
	moved, err := r.sides.MovedSubmodules(ctx)
	if len(moved) > 0 {
		r.ask("the change takes another commit of what tests read: submodule %s", results.Listed(moved, 3))
		r.notCovered("what the base's tests hold with the base's commit of submodule %s, which the change moves and they name", results.Listed(moved, 3))
	}
	return err
}

// reported classifies the files of the change again where the base's runners have reported tests
// of one that does not look like a file of tests.
func (r *runner) reported(ctx context.Context) error {
	for _, f := range r.in.Change.Files {
		name := cmp.Or(f.OldPath, f.Path)
		if languages.IsSource(name) && !slices.ContainsFunc(r.sides.Touched, func(t sides.Touch) bool { return t.Path == name }) && r.sides.Reported(name) {
			return r.sides.Classify(ctx)
		}
	}
	return nil
}
