package mutate

import (
	"flag"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/gate/languages"
)

var update = flag.Bool("update", false, "write what the samples give into their files")

// all are the lines of a text.
func all(src []byte) map[int]bool {
	lines := map[int]bool{}
	for i := range strings.Count(string(src), "\n") + 1 {
		lines[i+1] = true
	}
	return lines
}

// without are ecosystems whose sources get no mutants, each with the reason.
var without = map[string]string{
	"Make": "it runs what is written in other languages",
}

// TestNothingIsMissing holds that there are operators for the sources of each ecosystem.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	endings := append(slices.Collect(maps.Keys(byEnding())), ".go")
	for _, e := range languages.All() {
		mutated := e.IsSource != nil && slices.ContainsFunc(endings, func(ending string) bool { return e.IsSource("a" + ending) })
		if mutated == (without[e.Name] != "") {
			t.Errorf("%s: add the endings of its sources to byEnding, or say here why they get no mutants", e.Name)
		}
	}
}

// Each sample of testdata says in its comment what it promises: what becomes of
// the file in it, mutant by mutant, is in "want".
func TestSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got, want strings.Builder
			for _, f := range ar.Files {
				if f.Name == "want" {
					want.Write(f.Data)
					continue
				}
				for _, m := range Of(f.Name, f.Data, all(f.Data)) {
					got.WriteString(m.String() + "\n")
					sound(t, f.Data, m)
				}
			}
			if *update {
				ar.Files = append(ar.Files[:len(ar.Files)-1:len(ar.Files)-1], txtar.File{Name: "want", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want.String(), got.String()); d != "" {
				t.Errorf("%s\n-want +got\n%s", ar.Comment, d)
			}
		})
	}
}

// sound checks what holds of every mutant: it differs from its source in one
// place, Go still parses, and its patch has the lines.
func sound(t *testing.T, src []byte, m Mutant) {
	t.Helper()
	out := m.Apply(src)
	if string(out) == string(src) {
		t.Errorf("%s changes nothing", m)
	}
	if len(out)-len(src) != len(m.Now)-len(m.Was) {
		t.Errorf("%s changes more than it says", m)
	}
	if strings.HasSuffix(m.Path, ".go") {
		if _, err := parser.ParseFile(token.NewFileSet(), m.Path, out, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s does not parse: %v\n%s", m, err, m.Diff(src))
		}
	}
	for _, want := range []string{"\n-", "\n+", "@@ -" + strconv.Itoa(max(1, m.Line-contextLines)) + ","} {
		if !strings.Contains(m.Diff(src), want) {
			t.Errorf("%s: the diff has no %q:\n%s", m, want, m.Diff(src))
		}
	}
}

// TestDiffApplies: "git apply" takes the patch of each mutant, at the ends of a file as well as
// in the middle, and without a newline at the end.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	const text = "def f(a, b):\n    return a + b\n\n\ndef g(a):\n    b = a * 2\n    return b < 3\n\n\ndef h(a):\n    return a == 1\n"
	for _, src := range []string{text, strings.TrimSuffix(text, "\n"), "f = lambda a: a + 1", "f = lambda a: a + 1\n", "f = lambda a: a + 1\n\n# end"} {
		list := Of("d/p.py", []byte(src), all([]byte(src)))
		if len(list) == 0 {
			t.Errorf("%q has no mutants", src)
		}
		for _, m := range list {
			dir := t.TempDir()
			name := filepath.Join(dir, "d", "p.py")
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(src), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "git", "apply")
			cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(m.Diff([]byte(src))), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			out, err := cmd.CombinedOutput()
			got, readErr := os.ReadFile(name)
			if err != nil || readErr != nil || string(got) != string(m.Apply([]byte(src))) {
				t.Errorf("%s: %v %v\n%s\n%s", m, err, readErr, out, m.Diff([]byte(src)))
			}
		}
	}
}

// Only the lines that were asked for are changed, and each of them once before
// one is changed again.
func TestOnlyTheseLines(t *testing.T) {
	t.Parallel()
	src := []byte("package p\n\nfunc F(a, b int) bool {\n\tif a < b && a > 1 {\n\t\treturn true\n\t}\n\treturn a == b\n}\n")
	var lines []int
	for _, m := range Of("p.go", src, map[int]bool{4: true, 7: true}) {
		lines = append(lines, m.Line)
	}
	if len(lines) < 3 || lines[0] != 4 || lines[1] != 7 || lines[2] != 4 {
		t.Errorf("lines %v: want 4, 7, 4, …", lines)
	}
}

// What a program wrote, what does not parse and what no operators are known for
// has no mutants.
func TestNothingToMutate(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"gen.go":      "// Code generated by stringer; DO NOT EDIT.\n\npackage p\n\nfunc F() bool { return 1 < 2 }\n",
		"gen.js":      "/**\n * @generated by a tool\n */\nif (a === b) { return true; }\n",
		"gen_pb2.py":  "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\nif a == b:\n    x = 1\n",
		"broken.go":   "package p\n\nfunc F( { return 1 < 2 }\n",
		"unknown.zig": "if (a == b) {}\n",
		"names.ex":    "defmodule A do\n  def a == b when is_integer(a), do: A.same(a, b)\nend\n",
	} {
		if got := Of(name, []byte(src), all([]byte(src))); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Knows("x.zig") || Knows("lib/index.d.ts") || Knows("index.d.mts") || !Knows("x.go") || !Knows("a/b.TS") || !Knows("add.ts") {
		t.Error("Knows does not know")
	}
}
