package sides

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Marks finds the lines that the change adds to its sources by which code can recognise a
// test run, and says of what it brings in place of the programs that run its tests why
// results are not to be believed.
func (r *Reader) Marks(ctx context.Context) (found []ecosystem.Mark, unbelieved []string, err error) {
	var brought, over, compiled, library, moved []string
	for _, f := range r.Change.Files {
		if f.Status == change.Added || f.Status == change.Renamed || f.Status == change.Copied || f.Status == change.Retyped {
			if ecosystem.ReplacesRunner(f.Path) {
				brought = append(brought, f.Path)
			}
			if ecosystem.ShadowsLibrary(f.Path, r.onHead) {
				library = append(library, f.Path)
			}
			if path.Base(f.Path) == "package.json" && r.takesOver(ctx, f.Path) {
				over = append(over, f.Path)
			}
		}
		if f.Status == change.Modified && path.Base(f.Path) == "package.json" {
			moved = append(moved, r.movedIn(ctx, f.Path)...)
		}
		if f.Status != change.Deleted && r.loadedFor(ctx, f.Path) != "" {
			compiled = append(compiled, f.Path)
		}
		if f.Status != change.Deleted && ecosystem.LinksModule(f.Path) {
			over = append(over, f.Path)
		}
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !ecosystem.MayHaveMarks(f.Path) {
			continue
		}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, ecosystem.MarksIn(f.Path, added)...)
	}
	if len(brought) > 0 {
		unbelieved = append(unbelieved, "the change brings what can stand for a program that runs tests: "+ecosystem.Listed(brought, 5))
	}
	if len(over) > 0 {
		unbelieved = append(unbelieved, "the change brings what answers imports of tests in place of the package that they lie in: "+ecosystem.Listed(over, 5))
	}
	if len(compiled) > 0 {
		unbelieved = append(unbelieved, "the change brings what is compiled and loaded in place of a source: "+ecosystem.Listed(compiled, 5))
	}
	if len(library) > 0 {
		unbelieved = append(unbelieved, "the change brings modules that are imported in place of the standard library's: "+ecosystem.Listed(library, 5))
	}
	if len(moved) > 0 {
		unbelieved = append(unbelieved, "the change has dependencies come from its own tree, or from other packages under their names: "+ecosystem.Listed(moved, 5))
	}
	return found, unbelieved, nil
}

// movedIn are the dependencies of a package.json that the change takes from elsewhere.
func (r *Reader) movedIn(ctx context.Context, name string) []string {
	base, err := r.Mirror.ReadFile(ctx, r.Base.Commit, name)
	if err != nil {
		return nil // a submodule, or a link that leads nowhere
	}
	head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, name)
	if err != nil {
		return nil
	}
	return ecosystem.MovedIn(base, head)
}

// loadedFor is the source of the head in place of which a file of it would be loaded.
func (r *Reader) loadedFor(ctx context.Context, name string) string {
	read := func() []byte {
		code, err := r.Mirror.ReadFile(ctx, r.Head.Commit, name)
		if err != nil {
			return nil // a submodule, or a link that leads nowhere
		}
		return code
	}
	return ecosystem.LoadedFor(name, read, r.onHead)
}

// onHead says whether the head has a file.
func (r *Reader) onHead(name string) bool {
	_, ok := slices.BinarySearch(r.Plans[ecosystem.Head].Files, name)
	return ok
}

// takesOver says whether a package.json that the change brings stands for one above it.
func (r *Reader) takesOver(ctx context.Context, name string) bool {
	added, err := r.Mirror.ReadFile(ctx, r.Head.Commit, name)
	if err != nil {
		return false // a submodule, or a link that leads nowhere
	}
	for dir := path.Dir(name); dir != "."; {
		dir = path.Dir(dir)
		if above, err := r.Mirror.ReadFile(ctx, r.Base.Commit, path.Join(dir, "package.json")); err == nil {
			return ecosystem.TakesOver(added, above)
		}
	}
	return false
}

// addedText is the lines that the change adds to a file, by their numbers.
func (r *Reader) addedText(ctx context.Context, f change.File) (map[int]string, error) {
	numbers, err := r.Added(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("added lines of %s: %w", f.Path, err)
	}
	src, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a submodule, or retyped: it has no lines
	}
	lines := strings.Split(string(src), "\n")
	out := map[int]string{}
	for n := range numbers {
		if n > 0 && n <= len(lines) {
			out[n] = lines[n-1]
		}
	}
	return out, nil
}
