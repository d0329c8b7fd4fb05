package gate

import (
	"bytes"
	"context"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// runnable says whether a line that can run changed: not documentation, not
// tests or their data, and in Go files more than comments and layout.
func (r *runner) runnable(ctx context.Context) bool {
	return slices.ContainsFunc(r.in.Change.Files, func(f change.File) bool { return r.runnableFile(ctx, f) })
}

func (r *runner) runnableFile(ctx context.Context, f change.File) bool {
	inert := func(name string) bool { return isTestFile(name) || isDoc(name) && !r.embedded(name) }
	if inert(f.Path) && (f.Status != change.Renamed || inert(f.OldPath)) {
		return false
	}
	same := sameCode(f.Path)
	if same == nil || f.Status != change.Modified {
		return true // a file under another name may be another one, such as of another package
	}
	before, err := r.Mirror.ReadFile(ctx, r.in.Base.Commit, f.Path)
	if err != nil {
		return true // what cannot be read may be runnable
	}
	after, err := r.Mirror.ReadFile(ctx, r.in.Head.Commit, f.Path)
	if err != nil {
		return true
	}
	return !same(before, after)
}

// embedded says whether a Go package of the head carries the file.
func (r *runner) embedded(name string) bool {
	return slices.ContainsFunc(r.packages, func(p goPackageInfo) bool {
		return slices.ContainsFunc(p.EmbedFiles, func(f string) bool { return path.Join(p.Dir, f) == name })
	})
}

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

// isDoc tells files that people read and nothing runs.
func isDoc(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".rst", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf":
		return true
	case "", ".txt":
		base := strings.ToUpper(path.Base(name))
		for _, doc := range []string{"LICENSE", "LICENCE", "COPYING", "AUTHORS", "CONTRIBUTORS", "NOTICE", "CHANGELOG", "CHANGES", "README", "PATENTS"} {
			if strings.HasPrefix(base, doc) {
				return true
			}
		}
	}
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".editorconfig", ".mailmap", "CODEOWNERS":
		return true
	}
	return strings.HasPrefix(name, ".github/")
}

// isTestFile tells the files of tests, and their data, in any language.
func isTestFile(name string) bool { return isTestSource(name) || inTestData(name) }

// isTestSource tells the files of tests in any language.
func isTestSource(name string) bool {
	return anyEcosystem(func(e *ecosystem) bool { return e.isTest != nil && e.isTest(name) })
}

// isSource tells files of code in any language.
func isSource(name string) bool {
	return anyEcosystem(func(e *ecosystem) bool { return e.isSource != nil && e.isSource(name) })
}

// steers tells files that decide what a project is built with.
func steers(name string) bool {
	return anyEcosystem(func(e *ecosystem) bool { return e.steers != nil && e.steers(name) })
}

func anyEcosystem(is func(*ecosystem) bool) bool { return slices.ContainsFunc(ecosystems(), is) }

// sameCode returns what compares two versions of a source by what they do, nil
// where that is not known of its language.
func sameCode(name string) func(before, after []byte) bool {
	for _, e := range ecosystems() {
		if e.isSource != nil && e.isSource(name) {
			return e.same
		}
	}
	return nil
}

// inTestData tells the folders in which tests of many languages keep their data.
func inTestData(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "testdata", "_testdata", "_test", "__snapshots__", "tap-snapshots", "__fixtures__":
			return true
		}
	}
	return false
}

// testFuncs returns the text of each top-level test, example and fuzz target of
// a Go file, by name; what does not parse has none.
func testFuncs(src []byte) map[string]string {
	out := map[string]string{}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return out
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !testName(f.Name.Name) {
			continue
		}
		out[f.Name.Name] = string(src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
	}
	return out
}

func testName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz")
}
