package gate

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// maxInstalled bounds how many files of installed packages are compared.
const maxInstalled = 20000

// altered are files of packages that run tests, or that these compare with, which are not in
// the head's tree what they are in the base's, though the change asks for no other version:
// its setup or build wrote into them.
func (r *runner) altered() []string {
	base, head, done := r.bothTrees()
	if base == nil {
		return nil
	}
	defer done()
	var out []string
	left := maxInstalled
	for _, p := range r.sides.Plans[Base].Projects {
		if p.Eco.Installed == nil {
			continue
		}
		for _, dir := range p.Eco.Installed(base.FS(), head.FS(), p.Dir, r.sides.TestsSay, r.sides.Bumped) {
			if r.ownSources(base, head, dir) {
				continue
			}
			out = append(out, unlike(base.FS(), head.FS(), dir, &left)...)
			out = append(out, unlike(head.FS(), base.FS(), dir, &left)...)
		}
	}
	if left == 0 {
		r.notCovered("whether setup or build of the change alters what it has installed for tests: of more than %d files the rest was not compared", maxInstalled)
	}
	out = append(out, r.loadedFromHome()...)
	// What lies behind a link of the change is where that leads, and neither setup's nor the build's.
	out = slices.DeleteFunc(out, func(name string) bool {
		return slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return strings.HasPrefix(name, f.Path+"/") })
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// bothTrees are the prepared trees of both sides, and what closes them; nil where they cannot be read.
func (r *runner) bothTrees() (base, head *os.Root, done func()) {
	base, err := os.OpenRoot(r.executor.Prepared(Base).Tree.Dir)
	if err != nil {
		return nil, nil, nil
	}
	head, err = os.OpenRoot(r.executor.Prepared(Head).Tree.Dir)
	if err != nil {
		base.Close()
		return nil, nil, nil
	}
	return base, head, func() {
		base.Close()
		head.Close()
	}
}

// older are packages that tests compare with and of which the change has an older version: what
// that finds equal may differ.
func (r *runner) older() []string {
	base, head, done := r.bothTrees()
	if base == nil {
		return nil
	}
	defer done()
	var out []string
	for _, p := range r.sides.Plans[Base].Projects {
		if p.Eco.Older != nil {
			out = append(out, p.Eco.Older(base.FS(), head.FS(), p.Dir)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ownSources says whether a package that is installed is a link to a folder of the repository, as a
// member of a workspace is: its sources are the project's own, and the change may edit them. It
// leads to the same place on the base, or nothing is there, as where the member is new.
func (r *runner) ownSources(base, head *os.Root, dir string) bool {
	to, err := head.Readlink(dir)
	if err != nil || path.IsAbs(to) {
		return false
	}
	if was, err := base.Readlink(dir); err == nil && was != to {
		return false
	} else if _, there := base.Lstat(dir); err != nil && there == nil || err != nil && ecosystem.TestPackage.MatchString(path.Base(dir)) {
		return false
	}
	target := path.Join(path.Dir(dir), to)
	return !ecosystem.IgnoredDir(target) && slices.ContainsFunc(r.sides.Plans[Head].Files, func(f string) bool { return strings.HasPrefix(f, target+"/") })
}

// loadedFromHome are files of HOME by which Python loads code at each start, and pytest plug-ins,
// that only the head's setup or build has written, though the change asks for no such package.
func (r *runner) loadedFromHome() []string {
	base, head := os.DirFS(r.executor.Prepared(Base).Home()), os.DirFS(r.executor.Prepared(Head).Home())
	var out []string
	for _, names := range []string{"*.pth", "*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt"} {
		found, err := fs.Glob(head, ".local/lib/python*/site-packages/"+names)
		if err != nil {
			continue
		}
		for _, name := range found {
			was, _ := fs.ReadFile(base, name) // none is another one
			is, err := fs.ReadFile(head, name)
			dist, _, _ := strings.Cut(path.Base(path.Dir(name)), "-")
			if err == nil && !bytes.Equal(was, is) && !r.sides.Bumped(dist) && !r.sides.Bumped(strings.ReplaceAll(dist, "_", "-")) {
				out = append(out, "~/"+name)
			}
		}
	}
	return out
}

// unlike are the sources below a folder of one tree of which another has none, or another one.
func unlike(one, other fs.FS, dir string, left *int) []string {
	var out []string
	_ = fs.WalkDir(one, dir, func(name string, d fs.DirEntry, err error) error {
		if *left == 0 {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || !slices.Contains([]string{".js", ".cjs", ".mjs", ".json", ".py"}, path.Ext(name)) {
			return nil
		}
		*left--
		a, errA := fs.ReadFile(one, name)
		b, errB := fs.ReadFile(other, name)
		if errA == nil && (errB != nil || !bytes.Equal(a, b)) {
			out = append(out, name)
		}
		return nil
	})
	return out
}
