package mutate

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const schemaSource = `package p // a package

import "strings"

func One(n int) int {
	if n > 2 {
		return n // big
	}
	return 2 * n
}

func Shout(s string) string { return strings.ToUpper(s) }

func Labelled(list []int) int {
top:
	for i, n := range list {
		if n == 0 {
			continue top
		}
		return i
	}
	return -1
}

func Loop(n int) int {
	for {
		if n++; n > 9 {
			continue
		}
		return n
	}
}
`

// TestSchema holds which mutants one source can hold, that each body is the text that its
// function has with the mutant, and that lines keep their numbers.
func TestSchema(t *testing.T) {
	t.Parallel()
	src := []byte(schemaSource)
	s := NewSchema("RUN")
	inside := map[int]Mutant{}
	for i, m := range Of("d/p.go", src, all(src)) {
		if s.Add(i+1, m, src) {
			inside[i+1] = m
		} else if !strings.Contains(m.Was, "strings.") && (m.Line < 14 || m.Line > 22) {
			t.Errorf("%s is not in it", m)
		}
	}
	for n, m := range inside {
		if m.Line >= 14 && m.Line <= 22 || strings.Contains(m.Was, "strings.") {
			t.Errorf("M%d %s is in it", n, m)
		}
		if !s.Has(n) {
			t.Errorf("it does not have M%d", n)
		}
	}
	text := string(s.Files()["d/p.go"])
	fset := token.NewFileSet()
	if _, err := parser.ParseFile(fset, "p.go", text, 0); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for n, m := range inside {
		mutated := string(m.Apply(src))
		from := strings.LastIndex(mutated[:m.at], "\nfunc ")
		open := from + strings.Index(mutated[from:], "{")
		body := mutated[open+1:]
		body = body[:strings.Index(body, "\n}\n")]
		if !strings.Contains(text, body) {
			t.Errorf("M%d %s: its body is not there:\n%s\n%s", n, m, body, text)
		}
	}
	for i, line := range strings.Split(schemaSource, "\n") {
		at := strings.Index(text, strings.TrimPrefix(line, "package p"))
		if strings.HasPrefix(line, "func ") {
			file, _ := parser.ParseFile(fset, "p.go", text, 0)
			if got := fset.Position(file.Pos() + token.Pos(at)).Line; got != i+1 {
				t.Errorf("%s is in line %d, want %d", line, got, i+1)
			}
		}
	}
	s.Drop(1)
	if s.Has(1) {
		t.Error("M1 is still in it")
	}
}

// TestSchemaFailing holds that the compiler's complaints lead to mutants: by the bodies that
// they are in, else by the function.
func TestSchemaFailing(t *testing.T) {
	t.Parallel()
	src := []byte(schemaSource)
	s := NewSchema("RUN")
	leaves := 0
	for i, m := range Of("d/p.go", src, all(src)) {
		if s.Add(i+1, m, src) && m.Now == "break" {
			leaves = i + 1
		}
	}
	broken, doubtful := s.Failing("# m/d\nd/variant-2/p.go:7:3: declared and not used: x\nd/p.go:32:1: missing return\nd/other.go:1:1: no\n", ".")
	if !slices.Equal(broken, []int{2}) || !slices.Equal(doubtful, []int{leaves}) {
		t.Errorf("broken %v, doubtful %v, want [2] and [%d]", broken, doubtful, leaves)
	}
}

// TestSchemaSamples compiles what there is of samples that are whole packages.
func TestSchemaSamples(t *testing.T) {
	t.Parallel()
	gofmt, err := exec.LookPath("gofmt")
	if err != nil {
		t.Skip("gofmt is needed")
	}
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			s := NewSchema("RUN")
			for i, m := range Of(f.Name, f.Data, all(f.Data)) {
				s.Add(i+1, m, f.Data)
			}
			for name, text := range s.Files() {
				cmd := exec.CommandContext(t.Context(), gofmt, "-e")
				cmd.Stdin = strings.NewReader(string(text))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			}
		}
	}
}
