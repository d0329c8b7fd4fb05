package backtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// goTest finds a test function of a Go file.
func goTest(text []byte, name string) (*token.FileSet, *ast.File, *ast.FuncDecl) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, nil
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && fn.Body != nil {
			return fset, f, fn
		}
	}
	return nil, nil, nil
}

// goBody replaces what stands between the braces of a test.
func goBody(text []byte, name string, with func(t, body string) string) ([]byte, bool) {
	fset, _, fn := goTest(text, name)
	if fn == nil || fn.Recv != nil || len(fn.Type.Params.List) != 1 || len(fn.Type.Params.List[0].Names) != 1 {
		return text, false
	}
	from, to := fset.Position(fn.Body.Lbrace).Offset+1, fset.Position(fn.Body.Rbrace).Offset
	out := string(text[:from]) + with(fn.Type.Params.List[0].Names[0].Name, string(text[from:to])) + string(text[to:])
	return goImports([]byte(out)), true
}

// goDrop removes a test.
func goDrop(text []byte, name string) ([]byte, bool) {
	fset, _, fn := goTest(text, name)
	if fn == nil {
		return text, false
	}
	from := fn.Pos()
	if fn.Doc != nil {
		from = fn.Doc.Pos()
	}
	out := slices.Concat(text[:fset.Position(from).Offset], text[fset.Position(fn.End()).Offset:])
	return goImports(out), true
}

var goFails = pattern.New(`\b(t|tb|c|st|tt)\.(Errorf|Fatalf|Error|Fatal)\(`)

// goWeaken lets the assertions of a test be logged in place of failing. Calls of
// testify's packages become assignments to nothing.
func goWeaken(text []byte, name string) ([]byte, bool) {
	fset, f, fn := goTest(text, name)
	if fn == nil || f == nil {
		return text, false
	}
	type change struct {
		from, to int
		text     string
	}
	var changes []change
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		stmt, ok := n.(*ast.ExprStmt)
		if !ok {
			return true
		}
		call, ok := stmt.X.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "assert" || x.Name == "require" || x.Name == "is") {
			from, to := fset.Position(call.Args[0].Pos()).Offset, fset.Position(call.Args[len(call.Args)-1].End()).Offset
			blanks := strings.TrimSuffix(strings.Repeat("_, ", len(call.Args)), ", ")
			changes = append(changes, change{fset.Position(stmt.Pos()).Offset, fset.Position(stmt.End()).Offset, blanks + " = " + string(text[from:to])})
			return false
		}
		return true
	})
	from, to := fset.Position(fn.Body.Lbrace).Offset, fset.Position(fn.Body.Rbrace).Offset
	out := string(text)
	for _, c := range slices.Backward(changes) {
		out = out[:c.from] + c.text + out[c.to:]
		to += len(c.text) - (c.to - c.from)
	}
	body := goFails.ReplaceAllStringFunc(out[from:to], func(call string) string {
		m := goFails.FindStringSubmatch(call)
		return m[1] + map[string]string{"Errorf": ".Logf(", "Fatalf": ".Logf(", "Error": ".Log(", "Fatal": ".Log("}[m[2]]
	})
	if body == string(text[from:fset.Position(fn.Body.Rbrace).Offset]) {
		return text, false
	}
	return goImports([]byte(out[:from] + body + out[to:])), true
}

// goImports makes imports that a file no longer uses blank, so that it compiles.
func goImports(text []byte) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, spec := range slices.Backward(f.Imports) {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil || name == "C" {
			continue
		}
		if spec.Name != nil {
			if n := spec.Name.Name; n == "_" || n == "." || used[n] {
				continue
			}
		} else if usesPackage(used, name) {
			continue
		}
		from, to := fset.Position(spec.Pos()).Offset, fset.Position(spec.End()).Offset
		text = slices.Concat(text[:from], []byte("_ "+spec.Path.Value), text[to:])
	}
	return text
}

var majorVersion = pattern.New(`^v\d+$`)

// usesPackage says whether a file may use a package: by the names that its import path
// suggests.
func usesPackage(used map[string]bool, name string) bool {
	last := path.Base(name)
	if majorVersion.MatchString(last) {
		last = path.Base(path.Dir(name))
	}
	last, _, _ = strings.Cut(last, ".v")
	for _, guess := range []string{last, strings.TrimPrefix(last, "go-"), strings.TrimSuffix(last, "-go"), strings.ReplaceAll(last, "-", ""), strings.ReplaceAll(last, "-", "_")} {
		if used[guess] {
			return true
		}
	}
	return false
}
