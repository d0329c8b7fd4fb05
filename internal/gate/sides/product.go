package sides

import (
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Product says whether a touched file is a part of the product as well, which the head has
// otherwise: sources of the base import it, or have it as their data, or it is what the
// product is built by. keep is what to put in its place with the head's part in it; nil: the
// file is the head's.
func (r *Reader) Product(t Touch) (keep *workspace.Put, ok bool) {
	switch t.Class {
	case compare.Test, compare.Support:
		if t.Mixed {
			return nil, false
		}
		_, source, _ := r.namedIn(t.Path, classes.Imports)
		return nil, source || native.OnlyNamedTest(t.Path, r.Texts[t.Path].Base) ||
			t.Class == compare.Support && classes.MayHelpTests(t.Path) && !classes.InTestFolder(t.Path) // of a library for tests it is the product
	case compare.Data:
		return nil, r.inProduct(t.Path)
	case compare.Steering:
		if data := classes.ProductOf(t.Path, r.Texts[t.Path]); data != nil {
			return &workspace.Put{Path: t.Path, Data: data}, true
		}
		return nil, !t.Mixed && r.inProduct(t.Path)
	}
	return nil, false
}

// besideProduct are sources that are run by those who work on a project, and are no part of it.
var besideProduct = pattern.New(`(?:^|/)(?:scripts?|tools?|bench(?:marks?|es)?|examples?|docs?|dev|ci|build)/|(?:^|/)(?:setup|noxfile|conf|build|gulpfile|Gruntfile)\.\w+$`)

// inProduct says whether a source of the base that is no test has a file as its own.
func (r *Reader) inProduct(name string) bool {
	all := r.sourcesOfBase()
	return slices.ContainsFunc(all[:min(len(all), maxRead)], func(f *baseSource) bool {
		return !f.test && !f.apart && !classes.InTestFolder(f.name) && !besideProduct.MatchString(f.name) && classes.NamesInTree(r.textOf(f), path.Dir(f.name), name)
	})
}
