package golang

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// sameTokens compares two Go files without comments and layout. Comments that
// the toolchain obeys count: directives, and all of a file that uses cgo.
func sameTokens(a, b []byte) bool {
	if bytes.Contains(a, []byte(`"C"`)) || bytes.Contains(b, []byte(`"C"`)) {
		return bytes.Equal(a, b)
	}
	ta, oka := tokens(a)
	tb, okb := tokens(b)
	return oka && okb && slices.Equal(ta, tb)
}

func tokens(src []byte) ([]string, bool) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	ok := true
	s.Init(fset.AddFile("", -1, len(src)), src, func(token.Position, string) { ok = false }, scanner.ScanComments)
	var out []string
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return out, ok
		case tok == token.COMMENT && !strings.HasPrefix(lit, "//go:") && !constraint.IsPlusBuild(lit):
		case (tok == token.RPAREN || tok == token.RBRACE) && len(out) > 0 && (out[len(out)-1] == ";" || out[len(out)-1] == ", "):
			out[len(out)-1] = tok.String() + " " // what ends a line before them is layout
		case tok == token.SEMICOLON:
			out = append(out, ";") // written or implied by the end of a line
		default:
			out = append(out, tok.String()+" "+lit)
		}
	}
}

// TestFuncs returns the text of each top-level test, example and fuzz target of
// a Go file, by name; what does not parse has none.
func TestFuncs(src []byte) map[string]string {
	out := map[string]string{}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return out
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !IsTestName(f.Name.Name) {
			continue
		}
		out[f.Name.Name] = string(src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
	}
	return out
}

// IsTestName recognises the names of functions that "go test" runs.
func IsTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz")
}
