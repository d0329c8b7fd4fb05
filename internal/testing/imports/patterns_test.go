package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatterns holds that no regular expression is compiled as the program
// starts, and that those of package pattern, which no one has compiled yet, can be.
func TestPatterns(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range sources(t) {
		if strings.HasSuffix(s.name, "_test.go") || strings.HasPrefix(s.name, "test/") {
			continue
		}
		text, err := fs.ReadFile(root(t), s.name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, s.name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			_, atStart := decl.(*ast.GenDecl)
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch expr, known := literal(call); {
				case isCall(call, "regexp", "MustCompile") && atStart:
					t.Errorf("%s: compiled as the program starts; use package pattern", files.Position(call.Pos()))
				case isCall(call, "pattern", "New") && known:
					found++
					if _, err := regexp.Compile(expr); err != nil {
						t.Errorf("%s: %v", files.Position(call.Pos()), err)
					}
				}
				return true
			})
		}
	}
	if found == 0 {
		t.Error("no patterns found")
	}
}

func isCall(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := sel.X.(*ast.Ident)
	return ok && of.Name == pkg && sel.Sel.Name == name
}

// literal is the only argument of a call, when it is written out.
func literal(call *ast.CallExpr) (string, bool) {
	if len(call.Args) != 1 {
		return "", false
	}
	return written(call.Args[0])
}

func written(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := written(e.X)
		right, also := written(e.Y)
		return left + right, ok && also
	}
	return "", false
}
