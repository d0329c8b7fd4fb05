package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFlagsAreDocumented holds that each flag of a command is named on README.md or a page of
// docs. It reads the calls that define flags, so a new flag is covered without a list.
func TestFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, page := range pageNames(t) {
		if page == "docs/claims.md" || page == "docs/decisions.md" { // not what users read
			continue
		}
		for _, m := range namedFlag.FindAllStringSubmatch(readPage(t, page), -1) {
			named[m[1]] = true
		}
	}
	flags := definedFlags(t)
	if len(flags) < 60 {
		t.Fatalf("%d flags were found in cmd/ycbot: is definesFlag right?", len(flags))
	}
	for _, f := range flags {
		if !named[f.name] {
			t.Errorf("%s: --%s is on no page: name it in docs/*.md, a flag of run in docs/run.md", f.at, f.name)
		}
	}
}

var namedFlag = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]*)`)

// A definedFlag is a flag, and where it is defined.
type definedFlag struct{ name, at string }

// definesFlag matches the methods of a pflag.FlagSet that define a flag named by their second
// argument.
var definesFlag = regexp.MustCompile(`^(String|StringSlice|StringArray|Bool|Int|Int64|Int64Slice|Uint|Float64|Duration|Count)?VarP?$`)

// definedFlags are the flags that cmd/ycbot defines and does not hide.
func definedFlags(t *testing.T) []definedFlag {
	t.Helper()
	names, err := fs.Glob(root(t), "cmd/ycbot/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []definedFlag
	var hidden []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := fs.ReadFile(root(t), name)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path.Base(name), src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch {
			case method.Sel.Name == "MarkHidden":
				hidden = append(hidden, textOf(call.Args[0]))
			case definesFlag.MatchString(method.Sel.Name) && len(call.Args) > 2 && textOf(call.Args[1]) != "":
				out = append(out, definedFlag{textOf(call.Args[1]), set.Position(call.Pos()).String()})
			}
			return true
		})
	}
	return slices.DeleteFunc(out, func(f definedFlag) bool { return slices.Contains(hidden, f.name) })
}

// textOf is the value of a string literal, else empty.
func textOf(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
