package classes

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Words of what a source does that is more than a table.
var (
	pyDoes   = pattern.New(`\b(?:def|class|lambda)\b`)
	rubyDoes = pattern.New(`\b(?:def|class|lambda|proc)\b|->`)
	nodeDoes = pattern.New(`\b(?:function|class|new)\b|=>|\)\s*\{`)
	phpDoes  = pattern.New(`\b(?:function|class|fn|trait|interface|new)\b`)
	nodeHas  = pattern.New(`\bexports?\b`)
	phpHas   = pattern.New(`\breturn\b`)
)

// IsTable says whether a source has values that others read and does nothing by itself: it has no
// function and no class.
func IsTable(name string, src []byte) bool {
	var does, has *pattern.Pattern
	hash := false
	switch path.Ext(name) {
	case ".go":
		return isGoTable(src)
	case ".py":
		does, hash = pyDoes, true
	case ".rb":
		does, hash = rubyDoes, true
	case ".php":
		does, has = phpDoes, phpHas
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		does, has = nodeDoes, nodeHas
	default:
		return false
	}
	code, _ := withoutStrings(string(src), hash)
	switch {
	case does.MatchString(code) || !strings.ContainsAny(code, "[{("):
		return false
	case has == nil:
		return strings.Contains(code, "=")
	}
	return has.MatchString(code)
}

func isGoTable(src []byte) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil || bytes.Contains(src, []byte("//go:build")) {
		return false
	}
	values, does := false, false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit, *ast.InterfaceType:
			does = true
		case *ast.CompositeLit:
			values = true
		}
		return !does
	})
	return values && !does
}
