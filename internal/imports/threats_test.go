package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatsAreHeld: each row of the table of threats in docs/security.md names tests,
// and each of them is there.
func TestThreatsAreHeld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| threat | what is done | held by |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/security.md has no table of threats")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	tests, rows := allTests(t), 0
	name := regexp.MustCompile("`([^`]+)`")
	for row := range strings.Lines(table) {
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if len(cells) != 3 {
			t.Errorf("%d cells in %s", len(cells), row)
			continue
		}
		held := name.FindAllStringSubmatch(cells[2], -1)
		if len(held) == 0 {
			t.Errorf("nothing holds%s", cells[0])
		}
		for _, m := range held {
			if !tests[m[1]] {
				t.Errorf("there is no test %s, which is to hold%s", m[1], cells[0])
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
}

// allTests are the names of the Go tests and of the scripts of cmd/ycbot.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	scripts, err := filepath.Glob("../../cmd/ycbot/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		found[filepath.Base(file)] = true
	}
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				found[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
