package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// topLevel is everything that stands at the top of the repository, beside
// files whose names begin with a dot. What does not exist yet may be missing.
const topLevel = "cmd action app agent agents internal docs test action.yml Dockerfile Makefile go.mod go.sum README.md LICENSE SECURITY.md CONTRIBUTING.md"

// TestTopLevel holds that nothing else stands at the top, except what git
// ignores there: a built program, a profile.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	ignore, err := fs.ReadFile(root(t), ".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(root(t), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && !slices.Contains(strings.Fields(topLevel), name) && !ignored(string(ignore), name) {
			t.Errorf("%s at the top of the repository: it belongs below one of %s", name, topLevel)
		}
	}
}

// ignored reports whether a line of .gitignore means name at the top. Lines
// here are plain names and patterns without folders.
func ignored(gitignore, name string) bool {
	for line := range strings.Lines(gitignore) {
		pattern := strings.Trim(strings.TrimSpace(line), "/")
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// A source is one Go file of the module, whatever its build tags say.
type source struct {
	name    string // path from the top
	pkg     string // its folder
	clause  string // the name in its package clause
	imports []imported
	inits   []int // lines of init functions
}

type imported struct {
	path  string
	blank bool
}

// root is the top of the repository.
func root(t *testing.T) fs.FS {
	t.Helper()
	if _, err := os.Stat("../../../go.mod"); err != nil {
		t.Fatal(err)
	}
	return os.DirFS("../../..")
}

// sources reads the Go files of the module: no test data, no folders that the
// go command passes over, no modules within.
func sources(t *testing.T) []source {
	t.Helper()
	top := root(t)
	var out []source
	err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && passedOver(top, name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"):
			return nil
		}
		text, err := fs.ReadFile(top, name)
		if err != nil {
			return err
		}
		s, err := read(name, text)
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no Go files found")
	}
	return out
}

func passedOver(top fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(top, path.Join(dir, "go.mod"))
	return err == nil
}

func read(name string, text []byte) (source, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{name: name, pkg: path.Dir(name), clause: f.Name.Name}
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported{p, imp.Name != nil && imp.Name.Name == "_"})
	}
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			s.inits = append(s.inits, files.Position(fn.Pos()).Line)
		}
	}
	return s, nil
}
