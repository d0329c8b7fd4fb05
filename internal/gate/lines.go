package gate

import (
	"context"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// runnable says whether a line that can run changed: not documentation, not
// tests or their data, and in Go files more than comments and layout.
func (r *runner) runnable(ctx context.Context) bool {
	return slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return r.runnableFile(ctx, f) })
}

func (r *runner) runnableFile(ctx context.Context, f change.File) bool {
	inert := func(name string) bool {
		return ecosystem.IsTestFile(name) || ecosystem.IsDoc(name) && !r.embedded(name)
	}
	if inert(f.Path) && (f.Status != change.Renamed || inert(f.OldPath)) {
		return false
	}
	same := ecosystem.SameCode(f.Path)
	if same == nil || f.Status != change.Modified {
		return true // a file under another name may be another one, such as of another package
	}
	before, err := r.Mirror.ReadFile(ctx, r.in.Base.Commit, f.Path)
	if err != nil {
		return true // what cannot be read may be runnable
	}
	after, err := r.Mirror.ReadFile(ctx, r.in.Head.Commit, f.Path)
	if err != nil {
		return true
	}
	return !same(before, after)
}

// embedded says whether a Go package of the head carries the file.
func (r *runner) embedded(name string) bool {
	return slices.ContainsFunc(r.packages, func(p ecosystem.Package) bool {
		return slices.ContainsFunc(p.EmbedFiles, func(f string) bool { return path.Join(p.Dir, f) == name })
	})
}
