package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// withoutTests takes the tests out of a test file of Go in which some lines stand, and with
// helpers also other declarations. What is left keeps its lines, and imports of packages that
// nothing uses any more get no name.
func withoutTests(src []byte, lines []int, helpers bool) (rest []byte, tests []string, ok bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || len(lines) == 0 {
		return nil, nil, false
	}
	gone := map[ast.Decl]bool{}
	for _, line := range lines {
		i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
			return fset.Position(d.Pos()).Line <= line && line <= fset.Position(d.End()).Line
		})
		if i < 0 || !isTestFunc(file.Decls[i]) && (!helpers || !isHelper(file.Decls[i])) {
			return nil, nil, false
		}
		gone[file.Decls[i]] = true
	}
	rest = slices.Clone(src)
	blank := func(from, to token.Pos) {
		for i := fset.Position(from).Offset; i < fset.Position(to).Offset; i++ {
			if rest[i] != '\n' {
				rest[i] = ' '
			}
		}
	}
	before, after := map[string]bool{}, map[string]bool{}
	for _, d := range file.Decls {
		usedPackages(d, before)
		if !gone[d] {
			usedPackages(d, after)
			continue
		}
		if isTestFunc(d) {
			tests = append(tests, d.(*ast.FuncDecl).Name.Name)
		}
		if doc := docOf(d); doc != nil {
			blank(doc.Pos(), doc.End())
		}
		blank(d.Pos(), d.End())
	}
	for _, spec := range slices.Backward(file.Imports) { // from the end, so that places stay what they are
		if onlyIn(spec, before, after) {
			if spec.Name != nil {
				blank(spec.Name.Pos(), spec.Name.End())
			}
			at := fset.Position(spec.Path.Pos()).Offset
			rest = slices.Insert(rest, at, []byte("_ ")...)
		}
	}
	return rest, tests, true
}

// isTestFunc says whether a declaration is a test, an example, a benchmark or a fuzz target.
func isTestFunc(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv == nil && f.Name.Name != "TestMain" &&
		slices.ContainsFunc([]string{"Test", "Example", "Benchmark", "Fuzz"}, func(p string) bool { return strings.HasPrefix(f.Name.Name, p) })
}

// isHelper says whether a declaration does nothing but where tests use it by its name.
func isHelper(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv != nil || d.Name.Name != "TestMain" && d.Name.Name != "init"
	case *ast.GenDecl:
		return d.Tok != token.IMPORT
	}
	return false
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// usedPackages adds what stands before a dot in a declaration.
func usedPackages(d ast.Decl, to map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				to[x.Name] = true
			}
		}
		return true
	})
}

// onlyIn says whether an import is of a package that is used before and not after. What a
// package without a name of its own is called stands in its path, with few exceptions.
func onlyIn(spec *ast.ImportSpec, before, after map[string]bool) bool {
	for name := range before {
		if !after[name] && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && strings.Contains(spec.Path.Value, name)) {
			return true
		}
	}
	return false
}
