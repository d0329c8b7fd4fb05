package sides

import (
	"context"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// Runnable says whether a line that can run changed: not documentation or settings of linters,
// not tests or their data, and in Go files more than comments and layout.
func (r *Reader) Runnable(ctx context.Context, packages []ecosystem.Package) bool {
	return slices.ContainsFunc(r.Change.Files, func(f change.File) bool { return r.runnableFile(ctx, f, packages) })
}

func (r *Reader) runnableFile(ctx context.Context, f change.File, packages []ecosystem.Package) bool {
	inert := func(name string) bool {
		return languages.IsTestFile(name) || (ecosystem.IsDoc(name) || languages.IsUpkeep(name)) && !embedded(packages, name)
	}
	if inert(f.Path) && (f.Status != change.Renamed || inert(f.OldPath)) {
		return false
	}
	same := languages.SameCode(f.Path)
	if same == nil || f.Status != change.Modified {
		return true // a file under another name may be another one, such as of another package
	}
	before, err := r.Mirror.ReadFile(ctx, r.Base.Commit, f.Path)
	if err != nil {
		return true // what cannot be read may be runnable
	}
	after, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
	if err != nil {
		return true
	}
	return !same(before, after)
}

// embedded says whether a Go package of the head carries the file.
func embedded(packages []ecosystem.Package, name string) bool {
	return slices.ContainsFunc(packages, func(p ecosystem.Package) bool {
		return slices.ContainsFunc(p.EmbedFiles, func(f string) bool { return path.Join(p.Dir, f) == name })
	})
}
