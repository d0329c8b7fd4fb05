package sides

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Marks finds the lines that the change adds to its sources by which code can recognise a
// test run.
func (r *Reader) Marks(ctx context.Context) ([]classes.Mark, error) {
	var found []classes.Mark
	for _, f := range r.Change.Files {
		if !f.Binary && f.Status == change.Modified && r.onBase(f.Path) && r.onHead(f.Path) {
			if head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path); err == nil {
				found = append(found, slices.DeleteFunc(classes.Unwatched(f.Path, r.readBase(f.Path), head), func(classes.Mark) bool {
					if !classes.IsScript(f.Path) {
						return false // a file of a build
					}
					test, _ := r.takenIn(f.Path, nil) // tests that take it in end as it does
					return !test
				})...)
			}
		}
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !classes.MayHaveMarks(f.Path) || golang.VendoredAnew(f.Path, r.onBase, r.onHead) != "" {
			continue
		}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return nil, err
		}
		found = append(found, slices.DeleteFunc(classes.MarksIn(f.Path, added), func(m classes.Mark) bool {
			return m.TakesPlace() && r.isTestLibrary(path.Ext(f.Path))
		})...)
	}
	return found, nil
}

// isTestLibrary says whether the base itself has sources that take the place of a test library,
// as the library has.
func (r *Reader) isTestLibrary(ext string) bool {
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		if path.Ext(f.name) != ext {
			return false
		}
		lines := map[int]string{}
		for i, line := range strings.Split(r.textOf(f), "\n") {
			lines[i] = line
		}
		return slices.ContainsFunc(classes.MarksIn(f.name, lines), classes.Mark.TakesPlace)
	})
}

// onBase says whether the base has a file.
func (r *Reader) onBase(name string) bool {
	_, ok := slices.BinarySearch(r.Plans[results.Base].Files, name)
	return ok
}

// onHead says whether the head has a file.
func (r *Reader) onHead(name string) bool {
	_, ok := slices.BinarySearch(r.Plans[results.Head].Files, name)
	return ok
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
