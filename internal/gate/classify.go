package gate

import (
	"cmp"
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// classify says what the files of the change are to its tests.
func (r *runner) classify(ctx context.Context) error {
	return r.sides.Classify(ctx)
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
