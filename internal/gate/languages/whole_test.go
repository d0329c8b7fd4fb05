package languages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// TestNothingIsMissing says what a new ecosystem lacks: a name and its noun, a way to
// find projects, a class table, a row in the table of docs/detection.md, and a
// language that tries it or a word of docs/detection.md that there is none.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/detection.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob("../languages*_test.go")
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	var tried strings.Builder
	for _, name := range tables {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tried.Write(src)
	}
	var names []string
	for _, e := range languages.All() {
		if e.Name == "" || e.Units == "" {
			t.Errorf("%+v has no name or no word for its projects", e)
		}
		if slices.Contains(names, e.Name) {
			t.Errorf("%s is there twice", e.Name)
		}
		names = append(names, e.Name)
		for _, lack := range lacks(e) {
			t.Errorf("%s lacks %s", e.Name, lack)
		}
		row := "\n| " + strings.ReplaceAll(e.Name, "/", ", ")
		if !strings.Contains(string(page), row+" |") && !strings.Contains(string(page), row+", ") {
			t.Errorf("docs/detection.md has no row for %s in its table of what is detected", e.Name)
		}
		if e.Name != "Go" && !untried(string(page), e.Name) && !strings.Contains(tried.String(), "func "+triedBy[e.Name]+"() language") {
			t.Errorf("no language tries %s: add one to internal/gate/languages_more_test.go and its function to triedBy here, or say in docs/detection.md that it is untried", e.Name)
		}
	}
}

// triedBy are functions of the gate's languages_*_test.go that try each ecosystem. Go
// has the scenarios.
var triedBy = map[string]string{
	"Node.js": "nodeTestLanguage", "Python": "pytestLanguage", "Rust": "rustLanguage", "Java": "mavenLanguage", "C/C++": "cmakeLanguage",
	"Ruby": "rspecLanguage", "PHP": "phpLanguage", "Elixir": "elixirLanguage", "Make": "makeLanguage",
}

// untried says whether docs/detection.md has an ecosystem in its list of what is tried with
// recorded output alone.
func untried(page, name string) bool {
	_, after, ok := strings.Cut(page, "and with poetry, tox and nox. ")
	list, _, ends := strings.Cut(after, "are not run by them")
	return ok && ends && strings.Contains(list, name+",")
}

// TestNamesAreNotAskedFor holds that the gate asks what an ecosystem can do, and never
// which one it is: outside of their packages its files have no name of one but in prose.
func TestNamesAreNotAskedFor(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range languages.All() {
		names = append(names, e.Name)
	}
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../checks/*.go")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range slices.Concat(files, more) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && slices.Contains(names, s) {
					t.Errorf("%s names the ecosystem %s: give it a capability (capabilities.go) and ask for that", name, s)
				}
			}
			return true
		})
	}
	if looked < 20 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// lacks names what the functions that every ecosystem needs are missing of.
func lacks(e *ecosystem.Ecosystem) []string {
	var out []string
	if e.Find == nil {
		out = append(out, "a function that finds its projects")
	}
	if len(e.Programs) == 0 {
		out = append(out, "the programs that run its tests")
	}
	if e.Classes.Test == nil && e.Classes.Steering == nil {
		out = append(out, "a table of what files are to the tests")
	}
	return out
}

// TestEachPackageIsInTheList holds that the list has what each package of a language makes.
func TestEachPackageIsInTheList(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("languages.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../ecosystem/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if pkg := filepath.Base(filepath.Dir(name)); !strings.Contains(string(list), "\t"+pkg+".New(),\n") {
			t.Errorf("package %s is not in the list of languages.go", pkg)
		}
	}
}
