package sides

import (
	"maps"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// hidesLanguage are the declarations of Go by which tests of the base mean something else than they did: a source
// declares, for its whole package, a name that they have from the language, and that the package did not declare. Which
// lines the change adds does not matter: a comment around a declaration goes without any.
func (r *Reader) hidesLanguage() []classes.Mark {
	var out []classes.Mark
	for _, f := range r.Change.Files {
		if path.Ext(f.Path) != ".go" || f.Status == change.Deleted || languages.IsTestFile(f.Path) {
			continue
		}
		head := r.readHead(f.Path)
		is := golang.UniverseOf(head)
		if len(is.Declares) == 0 {
			continue
		}
		hidden := r.usedInGo(path.Dir(f.Path), is.Package)
		if f.OldPath != "" { // the package may move
			was := r.usedInGo(path.Dir(f.OldPath), golang.UniverseOf(r.readBase(f.OldPath)).Package)
			maps.Copy(hidden, was)
		}
		lines := strings.Split(string(head), "\n")
		for _, name := range sorted.Keys(is.Declares, strings.Compare) {
			if n := is.Declares[name]; hidden[name] {
				out = append(out, mark(f.Path, n, "redefines what tests judge by", lines[n-1]))
			}
		}
	}
	return out
}

// usedInGo are the names that tests of a package of the base have from the language. Those from outside of the package
// do not meet what it declares.
func (r *Reader) usedInGo(dir, name string) map[string]bool {
	out, own := map[string]bool{}, map[string]int{}
	for _, f := range r.Plans[results.Base].Files {
		if path.Dir(f) != dir || path.Ext(f) != ".go" {
			continue
		}
		was := golang.UniverseOf(r.readBase(f))
		if was.Package != name {
			continue
		}
		maps.Copy(own, was.Declares)
		if languages.IsTestFile(f) {
			maps.Copy(out, was.Uses)
		}
	}
	maps.DeleteFunc(out, func(n string, _ bool) bool { return own[n] > 0 })
	return out
}
