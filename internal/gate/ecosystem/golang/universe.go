package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// predeclared are the names that the language itself declares (https://go.dev/ref/spec#Predeclared_identifiers).
// Package go/types has them too, and would make the program larger by a megabyte.
var predeclared = strings.Fields(`any bool byte comparable complex64 complex128 error float32 float64
	int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil
	append cap clear close complex copy delete imag len make max min new panic print println real recover`)

// A Universe is what a source of Go has to do with the names that the language itself declares.
type Universe struct {
	Package  string          // by its clause
	Declares map[string]int  // lines of declarations of such names for the whole package; imports hold in their file alone
	Uses     map[string]bool // such names that the source uses, and does not declare itself where it does
}

// UniverseOf reads a source. One that is no Go declares and uses nothing.
func UniverseOf(src []byte) Universe {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, 0)
	if err != nil {
		return Universe{}
	}
	out := Universe{f.Name.Name, map[string]int{}, map[string]bool{}}
	for _, name := range declared(f) {
		if slices.Contains(predeclared, name.Name) {
			out.Declares[name.Name] = files.Position(name.Pos()).Line
		}
	}
	for _, name := range f.Unresolved {
		if slices.Contains(predeclared, name.Name) {
			out.Uses[name.Name] = true
		}
	}
	return out
}

// declared are the names that a source declares for all of its package.
func declared(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					out = append(out, s.Names...)
				case *ast.TypeSpec:
					out = append(out, s.Name)
				}
			}
		}
	}
	return out
}
