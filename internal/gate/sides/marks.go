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
	found, err := r.unwatched(ctx)
	if err != nil {
		return nil, err
	}
	compiled, err := r.compiled(ctx)
	if err != nil {
		return nil, err
	}
	found = append(append(found, compiled...), r.hidesLanguage()...)
	for _, f := range r.Change.Files {
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !classes.MayHaveMarks(f.Path) || golang.VendoredAnew(f.Path, r.onBase, r.onHead) != "" {
			continue
		}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return nil, err
		}
		marks := slices.DeleteFunc(classes.MarksIn(f.Path, added), func(m classes.Mark) bool {
			return m.TakesPlace() && r.isTestLibrary(path.Ext(f.Path))
		})
		for _, m := range slices.Concat(r.namesakes(f.Path, added), r.loosens(f.Path, added), r.exits(f.Path, added)) {
			if !slices.ContainsFunc(marks, func(o classes.Mark) bool { return o.Line == m.Line }) {
				marks = append(marks, m)
			}
		}
		found = append(found, marks...)
	}
	return found, nil
}

// unwatched finds what lets a program check itself and what the change takes away: from all files of
// builds that it touches, and from scripts that tests take in, which end as these do.
func (r *Reader) unwatched(ctx context.Context) ([]classes.Mark, error) {
	var now []byte // files of builds that the change touches, as the head has them
	var builds []change.File
	var out []classes.Mark
	for _, f := range r.Change.Files {
		if f.Binary || f.Status == change.Deleted || !classes.IsScript(f.Path) && !classes.SaysBuild(f.Path) {
			continue
		}
		head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // a submodule, or a link
		}
		if classes.SaysBuild(f.Path) {
			builds, now = append(builds, f), append(append(now, head...), '\n')
		} else if marks := classes.StopsNoMore(f.Path, r.readBase(f.Path), head); len(marks) > 0 && r.takenIn(f.Path, nil).tests {
			out = append(out, marks...)
		}
	}
	for _, f := range builds {
		if f.Status == change.Modified {
			out = append(out, classes.Unwatched(f.Path, r.readBase(f.Path), now)...)
		}
	}
	return out, nil
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
