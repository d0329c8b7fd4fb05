package sides

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// A link is a symbolic link of the base, and the path in the tree that it leads to.
type link struct{ at, to string }

// maxLinks is how many links may lead from one to the next.
const maxLinks = 3

// linksOf reads the links of the base once.
func (r *Reader) linksOf(ctx context.Context) []link {
	if r.links != nil {
		return r.links
	}
	r.links = []link{}
	entries, err := r.Mirror.Files(ctx, r.Base.Commit)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.Mode != "120000" || len(r.links) >= maxRead {
			continue
		}
		to, err := r.Mirror.ReadFile(ctx, r.Base.Commit, e.Path)
		if err == nil && !path.IsAbs(string(to)) {
			r.links = append(r.links, link{e.Path, path.Join(path.Dir(e.Path), string(to))})
		}
	}
	return r.links
}

// throughLinks are the other paths at which the base has a file, by links to it or to its folders.
func (r *Reader) throughLinks(ctx context.Context, name string) []string {
	var out []string
	next := []string{name}
	for range maxLinks {
		var more []string
		for _, f := range next {
			for _, l := range r.linksOf(ctx) {
				rest, ok := strings.CutPrefix(f+"/", l.to+"/")
				if at := path.Join(l.at, rest); ok && at != name && !slices.Contains(out, at) {
					out, more = append(out, at), append(more, at)
				}
			}
		}
		next = more
	}
	return out
}

// linked gives a file the class that it has where tests find it by a link. One that is the product's, too, is
// none of theirs: to put it back would repair what the change breaks in it.
func (r *Reader) linked(ctx context.Context, t *Touch, v classes.Versions, also classes.Referred) {
	if t.Mixed || t.Class != compare.Source && t.Class != compare.Data {
		return
	}
	for _, at := range r.throughLinks(ctx, t.Path) {
		class, eco := classes.ClassOfBoth(at, v, also)
		switch class {
		case compare.Test:
			if _, source, _ := r.namedIn(t.Path, classes.Imports); source || r.usedByScripts(at) {
				continue
			}
			class = compare.Support // it has a path of its own, so that no test is of this file
		case compare.Support:
			if !classes.IsShared(at, v.Base) {
				continue
			}
		case compare.Data:
			if classes.IsCode(t.Path, v.Base, v.Head) || languages.Steers(t.Path) || r.inProduct(t.Path) {
				continue
			}
		case compare.Source:
			continue
		}
		if t.links = append(t.links, at); len(t.links) == 1 {
			t.Class, t.eco = class, eco
		}
	}
}

// usedByScripts says whether a script in a folder of tests is not called as a test is, and others name it: a
// library that they take in, or a program that they call, which is the product's as well.
func (r *Reader) usedByScripts(name string) bool {
	if !classes.IsScript(name) || classes.IsCalledTest(name) {
		return false
	}
	in := r.takenIn(name, nil)
	return in.tests || in.others
}
