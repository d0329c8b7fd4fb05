package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// MovedTest says whether a test of the head is one of the base by the same name under another name of
// its package or file: where git shows that as renamed, where its module is, or where its text is the same.
func (r *Reader) MovedTest(base, head results.ID) bool {
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
		} else if text := classes.TextAt(string(src), base.Test); text == "" || strings.Contains(classes.Flat(string(v.Head)), text) {
			return true
		}
	}
	return false
}

func stemOf(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// lastOf is the last part of the name of a package, whatever stands between these.
func lastOf(pkg string) string { return pkg[strings.LastIndexAny(pkg, "./:\\")+1:] }
