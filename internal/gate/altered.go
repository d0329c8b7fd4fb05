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
	"github.com/ycbot/ycbot/internal/regular"
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
	before, after := regular.FS(base), regular.FS(head)
	var out []string
	left := maxInstalled
	for _, p := range r.sides.Plans[Base].Projects {
		if p.Eco.Installed == nil {
			continue
		}
		for _, dir := range p.Eco.Installed(before, after, p.Dir, r.sides.TestsSay, r.sides.Bumped) {
			if r.ownSources(base, head, dir) {
				continue
			}
			out = append(out, unlike(before, after, dir, &left)...)
			out = append(out, unlike(after, before, dir, &left)...)
		}
	}
	if left == 0 {
		r.notCovered("whether setup or build of the change alters what it has installed for tests: of more than %d files the rest was not compared", maxInstalled)
	}
	out = append(out, loadedFrom(r.executor.Prepared(Base).Home(), r.executor.Prepared(Head).Home(), r.sides.Bumped)...)
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
			out = append(out, p.Eco.Older(regular.FS(base), regular.FS(head), p.Dir)...)
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

// loadedFrom are files of HOME by which Python loads code at each start, and pytest plug-ins,
// that only the head's setup or build has written, though the change asks for no such package.
func loadedFrom(base, head string, bumped func(string) bool) []string {
	was, err := os.OpenRoot(base)
	if err != nil {
		return nil
	}
	defer was.Close()
	is, err := os.OpenRoot(head)
	if err != nil {
		return nil
	}
	defer is.Close()
	before, after := regular.FS(was), regular.FS(is)
	var out []string
	for _, names := range []string{"*.pth", "*.dist-info", "*.egg-info"} {
		found, err := fs.Glob(after, ".local/lib/python*/site-packages/"+names)
		if err != nil {
			continue
		}
		for _, name := range found {
			dist, _, _ := strings.Cut(path.Base(name), "-")
			if info, err := is.Lstat(name); err != nil || info.IsDir() {
				name += "/entry_points.txt"
			}
			text := textOf(after, head, name)
			asked := names != "*.pth" && (bumped(dist) || bumped(strings.ReplaceAll(dist, "_", "-")))
			if text != "" && text != textOf(before, base, name) && !asked {
				out = append(out, "~/"+name)
			}
		}
	}
	return out
}

// textOf is what a file of a HOME holds. Of one that cannot be read, as it is a link that leads
// elsewhere, a pipe or without an end, it is where it leads, as seen from that HOME.
func textOf(tree fs.FS, home, name string) string {
	data, err := fs.ReadFile(tree, name)
	if err == nil {
		return string(data)
	}
	if to, err := fs.ReadLink(tree, name); err == nil {
		return "to " + strings.TrimPrefix(to, home)
	}
	if _, err := fs.Lstat(tree, name); err != nil {
		return ""
	}
	return "unreadable"
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
		is, errIs := fs.Stat(one, name)
		was, errWas := fs.Stat(other, name)
		if errIs == nil && is.Mode().IsRegular() && (errWas != nil || is.Size() != was.Size()) {
			out = append(out, name)
			return nil
		}
		a, errA := fs.ReadFile(one, name)
		b, errB := fs.ReadFile(other, name)
		if errA == nil && (errB != nil || !bytes.Equal(a, b)) {
			out = append(out, name)
		}
		return nil
	})
	return out
}
