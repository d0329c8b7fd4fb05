package sides

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Touch is a path of the tests, their data, support or steering at which base
// and head differ.
type Touch struct {
	Class compare.FileClass
	eco   string // whose table says so; empty: of none alone
	Path  string
	File  change.File   // that it comes from
	Put   workspace.Put // what the base has there
	Mixed bool          // only parts of the file are of the class
	Built bool          // it moves, and stands where the build of each side names it
	links []string      // where tests of the base find it by a link

	Merge    func(theirs, ours []byte) ([]byte, error) // of a mixed one: ours with theirs of these parts
	examples bool                                      // of a mixed one: they are in its documentation
}

// readBoth reads both versions of the paths of the change.
func (r *Reader) readBoth(ctx context.Context) (map[string]classes.Versions, error) {
	out := map[string]classes.Versions{}
	read := func(commit, name string) ([]byte, error) {
		data, err := r.Mirror.ReadFile(ctx, commit, name)
		switch {
		case err == nil && data == nil:
			return []byte{}, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
			return nil, nil
		}
		return data, err
	}
	for _, f := range r.Change.Files {
		for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
			if _, done := out[name]; done || name == "" || f.Binary || ecosystem.IsDoc(name) {
				continue
			}
			if len(out) > maxRead && !languages.IsTestSource(name) && classes.MixtureOf(name) == nil && !node.IsCompilerSettings(name) {
				continue // its path has to do
			}
			var v classes.Versions
			var err error
			if v.Base, err = read(r.Base.Commit, name); err != nil && ctx.Err() != nil {
				return nil, err
			}
			if v.Head, err = read(r.Head.Commit, name); err != nil && ctx.Err() != nil {
				return nil, err
			}
			out[name] = v
		}
	}
	return out, nil
}

// Classify reads the files of the change, and finds what they are to its tests. A file is
// of the first class that it has on either side.
func (r *Reader) Classify(ctx context.Context) error {
	both, err := r.readBoth(ctx)
	if err != nil {
		return err
	}
	r.Texts, r.moved, r.checked = both, nil, nil
	also := r.Referred(both)
	var out []Touch
	for _, f := range r.Change.Files {
		for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
			if name == "" || slices.ContainsFunc(out, func(t Touch) bool { return t.Path == name }) {
				continue
			}
			t := Touch{Path: name, File: f, Put: workspace.Put{Path: name, From: r.Base.Commit}}
			parts := both[name] // of a file of several uses, which keeps them where it moves
			if f.Status == change.Renamed && name == f.Path && parts.Base == nil {
				parts.Base = both[f.OldPath].Base
			}
			if eco := golang.VendoredAnew(name, r.onBase, r.onHead); eco != "" {
				t.Class, t.eco = compare.Support, eco // all of it or nothing
			} else if eco := classes.ForTests(name, r.readBase); eco != "" {
				t.Class, t.eco = compare.Test, eco
			} else if eco := classes.Serves(name, r.readBase); eco != "" {
				t.Class, t.eco = compare.Support, eco
			} else if eco := r.takenByTests(name); eco != "" {
				t.Class, t.eco = compare.Support, eco
			} else if m := r.mixtureOf(name, parts, also); m != nil && !ecosystem.InFolder(name, classes.DataFolders...) {
				if !r.mix(&t, m, parts) {
					continue
				}
			} else {
				t.Class, t.eco = classes.ClassOfBoth(name, both[name], also)
			}
			r.linked(ctx, &t, both[name], also)
			if t.Class == compare.Source && f.Status == change.Retyped || t.Class == compare.Source && r.linkAt(ctx, name) {
				t.Class, t.eco = classes.ClassOf(name+"/x", nil, also) // a link to a folder is what the folder is
			}
			if t.Class == compare.Source && name == f.Path && r.awaited(f) {
				t.Class = compare.Support
			}
			if m := classes.ExamplesOf(name, also.Doctests); t.Class == compare.Source && m != nil && r.mix(&t, m, parts) {
				t.examples = true
			}
			if f.Status == change.Renamed && name == f.Path && t.Class == compare.Source && strings.EqualFold(name, f.OldPath) {
				// The base's file cannot stand beside one whose name differs in its case alone.
				t.Class, t.eco = classes.ClassOfBoth(f.OldPath, both[f.OldPath], also)
			}
			if t.Class != compare.Source {
				out = append(out, t)
			}
		}
	}
	out = r.relocate(out)
	r.leaveBuilt(out)
	r.Touched = append(out, r.inTheWay(out)...)
	return nil
}

// mixtureOf returns how the two versions of a file are merged, nil where it is of one class, such as
// settings of a compiler that is run as a test.
func (r *Reader) mixtureOf(name string, v classes.Versions, also classes.Referred) *ecosystem.Mixture {
	switch {
	case also.Judges[name] != "", classes.InTestFolder(name): // all of it is of tests
	case node.IsCompilerSettings(name), also.Compiles[name]:
		return node.CompilerMixture(name, v.Base, r.readBase, r.readHead)
	}
	return classes.MixtureOf(name)
}

// readHead reads a file of the head, nil where it has none.
func (r *Reader) readHead(name string) []byte {
	src, err := ecosystem.ReadInTree(r.dir(results.Head), name)
	if err != nil {
		return nil
	}
	return src
}

// linkAt says whether either side has a symbolic link at a path.
func (r *Reader) linkAt(ctx context.Context, name string) bool {
	for _, commit := range []string{r.Base.Commit, r.Head.Commit} {
		entries, err := r.Mirror.Files(ctx, commit)
		if err != nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(entries, name, func(e objects.Entry, name string) int { return strings.Compare(e.Path, name) })
		if ok && entries[i].Mode == "120000" {
			return true
		}
	}
	return false
}

// inTheWay are links and files of the head where the base has folders of what is
// put back.
func (r *Reader) inTheWay(touches []Touch) []Touch {
	var out []Touch
	for _, t := range touches {
		for dir := path.Dir(t.Path); dir != "."; dir = path.Dir(dir) {
			there := func(o Touch) bool { return o.Path == dir }
			if _, ok := slices.BinarySearch(r.Plans[results.Head].Files, dir); ok && !slices.ContainsFunc(touches, there) && !slices.ContainsFunc(out, there) {
				out = append(out, Touch{Class: t.Class, eco: t.eco, Path: dir, File: t.File, Put: workspace.Put{Path: dir, From: r.Base.Commit}})
			}
		}
	}
	return out
}

// mix fills in the touch of a file of several uses; false where the change leaves
// the parts alone that are not source.
func (r *Reader) mix(t *Touch, m *ecosystem.Mixture, v classes.Versions) bool {
	if v.Head == nil {
		return false // its project is gone, or built with something else
	}
	merged, err := m.Merge(v.Base, v.Head)
	if err != nil {
		r.Note("%s: what it sets for tests could not be separated from the rest, so that the change's version is used: %v", t.Path, err)
		return false
	}
	if bytes.Equal(merged, v.Head) {
		return false
	}
	t.Class, t.Mixed, t.Merge = m.Class, true, m.Merge
	t.Put = workspace.Put{Path: t.Path, Data: merged}
	return true
}

// relocate lets the base's version of a test stand where the head has it, or had it if the
// change did not remove it, where what it tests moved along.
func (r *Reader) relocate(touches []Touch) []Touch {
	move := func(from, to int) {
		touches[to].Put = workspace.Put{Path: touches[to].Path, From: r.Base.Commit, At: touches[from].Path}
		touches[from].Put = workspace.Put{Path: touches[from].Path}
	}
	at := func(name string) int {
		return slices.IndexFunc(touches, func(o Touch) bool { return o.Path == name })
	}
	for i, t := range slices.Clone(touches) {
		switch f := t.File; {
		case t.Mixed:
		case f.Status == change.Renamed && t.Path == f.Path && r.movedAlong(f) && !r.namedByMake(touches, f.OldPath):
			touches[i].Put.At = f.OldPath
			if from := at(f.OldPath); from >= 0 && touches[from].File.Path == f.Path {
				move(from, i)
			}
		case f.Status == change.Deleted && t.Class == compare.Test && r.MovedTo(t.Path) != t.Path:
			to := at(r.MovedTo(t.Path))
			if to < 0 {
				to = len(touches)
				touches = append(touches, Touch{Class: t.Class, eco: t.eco, Path: r.MovedTo(t.Path), File: f})
			}
			move(i, to)
		}
	}
	return touches
}

// namedByMake says whether a Makefile of the base that is put back names a file where it is there.
func (r *Reader) namedByMake(touches []Touch, name string) bool {
	return bytes.Contains(r.makefiles(touches), []byte(path.Base(name)))
}

// makefiles are the texts of the base's Makefiles that are put back.
func (r *Reader) makefiles(touches []Touch) []byte {
	var out []byte
	for _, t := range touches {
		if t.Class == compare.Steering && t.File.Status == change.Modified && isMakefile(t.Path) {
			out = append(out, r.Texts[t.Path].Base...)
		}
	}
	return out
}

// isMakefile says whether a file is one of make by its name.
func isMakefile(name string) bool {
	return ecosystem.Called("GNUmakefile", "makefile", "Makefile", "*.mk")(name, nil)
}

// movedAlong says whether sources moved in the same way as a file, such as with
// the whole folder.
func (r *Reader) movedAlong(f change.File) bool {
	from, to := movedPrefix(f)
	return slices.ContainsFunc(r.Change.Files, func(o change.File) bool {
		if o.Status != change.Renamed || !languages.IsSource(o.Path) || languages.IsTestFile(o.Path) {
			return false
		}
		of, ot := movedPrefix(o)
		return of == from && ot == to || path.Dir(o.OldPath) == path.Dir(f.OldPath) && path.Dir(o.Path) == path.Dir(f.Path) && path.Dir(o.Path) != path.Dir(o.OldPath)
	})
}

// movedPrefix is what is left of both names without what they end in alike.
func movedPrefix(f change.File) (from, to string) {
	a, b := strings.Split(path.Dir(f.OldPath), "/"), strings.Split(path.Dir(f.Path), "/")
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, "/"), strings.Join(b, "/")
}

// OnlyTouched says whether the change has nothing but tests, what they share, their data and
// what steers them, and documents.
func (r *Reader) OnlyTouched() bool {
	return !slices.ContainsFunc(r.Change.Paths(), func(name string) bool {
		return languages.IsSource(name) && !languages.IsTestFile(name) && !slices.ContainsFunc(r.Touched, func(t Touch) bool { return t.Path == name })
	})
}
