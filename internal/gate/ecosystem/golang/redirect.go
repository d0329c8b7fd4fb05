package golang

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A MovedPackage is a package that a change gives another import path or name.
type MovedPackage struct {
	Path    string // its new import path
	Was, Is string // its name by its package clause, before and after
}

// Redirect is a source with the imports of moved packages, by their old import paths, leading to
// the new ones under the names that it uses; inside is the one that the source belongs to, whose
// name its package clause takes. It is src where nothing of that stands in it, or it is no Go.
func Redirect(src []byte, moved map[string]MovedPackage, inside MovedPackage) []byte {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.ImportsOnly)
	if err != nil {
		return src
	}
	type edit struct {
		at, end int
		text    string
	}
	var edits []edit
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	if name, test := strings.CutSuffix(f.Name.Name, "_test"); inside.Was != inside.Is && name == inside.Was {
		if is := inside.Is; test {
			edits = append(edits, edit{offset(f.Name.Pos()), offset(f.Name.End()), is + "_test"})
		} else {
			edits = append(edits, edit{offset(f.Name.Pos()), offset(f.Name.End()), is})
		}
	}
	for _, i := range f.Imports {
		old, err := strconv.Unquote(i.Path.Value)
		to, ok := moved[old]
		if err != nil || !ok {
			continue
		}
		text := strconv.Quote(to.Path)
		if i.Name == nil && (to.Was != to.Is || to.Was != path.Base(to.Path)) {
			text = to.Was + " " + text
		}
		edits = append(edits, edit{offset(i.Path.Pos()), offset(i.Path.End()), text})
	}
	out := slices.Clone(src)
	for _, e := range slices.Backward(edits) {
		out = slices.Replace(out, e.at, e.end, []byte(e.text)...)
	}
	return out
}

// ClauseName is the name in the package clause of a source, without _test; empty where it has none.
func ClauseName(src []byte) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(f.Name.Name, "_test")
}
