package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// MovedTest says whether a failing test of the head is one of the base under another name: by the same
// name of its own where git shows its package or file as renamed, where its module is, or where its text is
// the same; by another namespace; by another one, or in another file, where its text is the same and it fails alike.
func (r *Reader) MovedTest(base, head results.ID) bool {
	if r.renamed().to[base] == head {
		return true
	}
	if base.Test != head.Test || results.HasPackage(r.Suites[results.Base], head) || results.HasPackage(r.Suites[results.Head], base) {
		was, is := r.failureOf(results.Base, base), r.failureOf(results.Head, head)
		return was.why == is.why && slices.ContainsFunc(was.texts, func(text string) bool { return slices.Contains(is.texts, text) })
	}
	eco := r.EcoOf(base)
	if slices.Contains(r.Sites(base, eco), r.PlaceOf(results.Head, head, eco)) {
		return true
	}
	file, src := r.TestFileOf(base)
	if src == nil {
		return lastOf(base.Package) == lastOf(head.Package) || slices.ContainsFunc(r.Change.Files, func(f change.File) bool {
			return f.Status == change.Renamed && stemOf(f.OldPath) == lastOf(base.Package) && stemOf(f.Path) == lastOf(head.Package)
		})
	}
	was, byPackage := r.testsOf(results.Base, file, src).Text(base.Test), languages.ByPackage(eco)
	for name, v := range r.Texts {
		if v.Head == nil || name != head.Package && (!byPackage || path.Dir(name) != r.PackageDir(results.Head, head)) {
			continue
		}
		if was != "" {
			if r.testsOf(results.Head, name, v.Head).Text(head.Test) == was {
				return true
			}
		} else if text := classes.TextAt(string(src), base.Test); text != "" && strings.Contains(classes.Flat(string(v.Head)), text) ||
			text == "" && r.failureOf(results.Base, base).why == r.failureOf(results.Head, head).why { // its title is put together
			return true
		}
	}
	return false
}

// A failure is what a failing test is and says, but for its name and its place.
type failure struct {
	texts []string // in each file that can have it
	why   string
}

// placeOf is a line of a source in what a runner says.
var placeOf = pattern.New(`\S+\.\w+:\d+(?::\d+)?:?|\d+`)

// failureOf reads the failure of a test that one side alone has, once.
func (r *Reader) failureOf(side results.Side, id results.ID) failure {
	at := sideID{side, id}
	f, ok := r.failures[at]
	if ok {
		return f
	}
	if r.failures == nil {
		r.failures = map[sideID]failure{}
	}
	f.why = placeOf.ReplaceAllString(results.FailureLine(r.Suites[side][id].Output), "")
	last := results.LastName(id.Test)
	for _, name := range []string{id.Test, id.Top(), last, last[strings.LastIndexByte(last, '.')+1:]} {
		f.why = strings.ReplaceAll(f.why, name, "")
	}
	_, filed := r.Texts[id.Package]
	byPackage, class := languages.ByPackage(r.EcoOf(id)), classNamed(id)
	for name, v := range r.Texts {
		src := v.Base
		if side == results.Head {
			src = v.Head
		}
		switch {
		case src == nil, filed && name != id.Package, byPackage && path.Dir(name) != r.PackageDir(side, id), !filed && !byPackage && !class.Match(src):
			continue
		}
		own, text := last, r.testsOf(side, name, src).Text(id.Test)
		switch {
		case text == "":
			text = classes.TextAt(string(src), id.Test)
		case byPackage:
			own = id.Top()
		default:
			own = last[strings.LastIndexByte(last, '.')+1:]
		}
		_, rest, _ := strings.Cut(id.Test, own) // a subtest, or parameters
		if text != "" {
			f.texts = append(f.texts, strings.ReplaceAll(classes.Flat(text), own, "\x00")+"\x00"+rest)
		}
	}
	r.failures[at] = f
	return f
}

type sideID struct {
	side results.Side
	id   results.ID
}

func stemOf(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// lastOf is the last part of the name of a package, whatever stands between these.
func lastOf(pkg string) string { return pkg[strings.LastIndexAny(pkg, "./:\\")+1:] }
