package gate

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// maxInstalled bounds how many files of installed packages are compared.
const maxInstalled = 20000

// altered are files of packages that run tests, or that these compare with, which are not in
// the head's tree what they are in the base's, though the change asks for no other version:
// its setup or build wrote into them.
func (r *runner) altered() []string {
	var trees [2]installed
	for i, side := range []Side{Base, Head} {
		root, err := os.OpenRoot(r.executor.Prepared(side).Tree.Dir)
		if err != nil {
			return nil
		}
		defer root.Close()
		trees[i] = installed{root.FS(), r.executor.Tree(side).Dir}
	}
	base, head := trees[0], trees[1]
	var out []string
	left := maxInstalled
	for _, p := range r.plan[Base].Projects {
		if p.Eco.Installed == nil {
			continue
		}
		for _, dir := range p.Eco.Installed(base.files, head.files, p.Dir, r.sides.TestsSay, r.sides.Bumped) {
			out = append(out, unlike(base, head, dir, &left)...)
			out = append(out, unlike(head, base, dir, &left)...)
		}
	}
	if left == 0 {
		r.notCovered("whether setup or build of the change alters what it has installed for tests: of more than %d files the rest was not compared", maxInstalled)
	}
	out = slices.DeleteFunc(out, func(name string) bool {
		return slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return strings.HasPrefix(name, f.Path+"/") })
	}) // what lies behind a link is where the change leads it, and neither setup's nor the build's
	slices.Sort(out)
	return slices.Compact(out)
}

// installed is what a prepared tree has, and where its commands ran.
type installed struct {
	files fs.FS
	dir   string
}

// text is a file without the place of the tree, which package managers write into some.
func (i installed) text(name string) ([]byte, error) {
	data, err := fs.ReadFile(i.files, name)
	return bytes.ReplaceAll(data, []byte(i.dir), nil), err
}

// unlike are the sources below a folder of one tree of which another has none, or another one.
func unlike(one, other installed, dir string, left *int) []string {
	var out []string
	_ = fs.WalkDir(one.files, dir, func(name string, d fs.DirEntry, err error) error {
		if *left == 0 {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || !slices.Contains([]string{".js", ".cjs", ".mjs", ".json", ".py"}, path.Ext(name)) {
			return nil
		}
		*left--
		a, errA := one.text(name)
		b, errB := other.text(name)
		if errA == nil && (errB != nil || !bytes.Equal(a, b)) {
			out = append(out, name)
		}
		return nil
	})
	return out
}
