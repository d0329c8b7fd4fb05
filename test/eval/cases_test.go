package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

func allSeeds(t *testing.T) []seed {
	t.Helper()
	all, err := seeds(seededFiles)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSeeds holds what the made cases are: enough of them, half good and half
// bad, and in nothing that a model is given does one differ from the other.
func TestSeeds(t *testing.T) {
	t.Parallel()
	good, bad, of := 0, 0, map[string]int{}
	for _, s := range allSeeds(t) {
		of[s.kind]++
		pair := s.cases()
		if len(pair) != 2 || pair[0].Bad || !pair[1].Bad {
			t.Errorf("%s: want a good case and a bad one", s.name)
			continue
		}
		if pair[0].Title != pair[1].Title || pair[0].Task != pair[1].Task || pair[0].project != pair[1].project {
			t.Errorf("%s: title, task or project give away which attempt is bad", s.name)
		}
		good, bad = good+1, bad+1
	}
	if good < 40 || bad < 40 {
		t.Errorf("%d good and %d bad cases", good, bad)
	}
	for _, kind := range kinds {
		if of[kind] == 0 {
			t.Errorf("no case is of kind %s", kind)
		}
	}
}

// TestSizeIsDocumented: docs/eval.md says how many cases there are, and of which kinds.
func TestSizeIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/eval.md")
	if err != nil {
		t.Fatal(err)
	}
	n := len(allSeeds(t))
	for _, words := range append([]string{fmt.Sprintf("There are %d seeded pairs", n), fmt.Sprintf("of %d bad changes", n)}, kinds...) {
		if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), words) {
			t.Errorf("docs/eval.md does not say %q", words)
		}
	}
	if all := 2*n + len(releaseCases(nil)); all < 140 || all > 160 || !strings.Contains(string(page), "some 150 cases") {
		t.Errorf("%d cases", all)
	}
}

// TestParseSeed holds that a mistake in a case is an error that names it.
func TestParseSeed(t *testing.T) {
	t.Parallel()
	const files = "-- base/a --\n-- good/a --\n-- bad/a --\n-- proof/a --\n"
	for text, want := range map[string]string{
		"Title: a\nTask: b\nWrong: c\nKind: page\n" + files:                       "",
		"Title: a\nTask: b\n  and more\nWrong: c\nKind: page\nNew: yes\n" + files: "",
		"Title: a\nTask: b\n" + files:                                             "want Title, Task and Wrong",
		"Title: a\nTask: b\nWrong: c\nKind: bad\n" + files:                        "header Kind",
		"Title: a\nTask: b\nWrong: c\nSort: bad\n" + files:                        "header Sort",
		"words\n" + files: "header",
		"Title: a\nTask: b\nWrong: c\nKind: page\n-- base/a --\n":                    "want files below",
		"Title: a\nTask: b\nWrong: c\nKind: page\n" + files + "-- head/a --\n":       "file head/a",
		"Title: a\nTask: b\nWrong: c\nKind: page\n" + files + "-- base/../../a --\n": "file base/../../a",
	} {
		_, err := parseSeed("x", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestProofs holds that each made case in Go is what it says: its own tests and those
// of the change pass in both attempts, and the proof, which no model sees,
// passes on base and in the good attempt and fails in the bad one. All trees are
// packages of one module here, so that one go command can run them.
//
// It holds what lies in testdata, which nothing else alters.
func TestProofs(t *testing.T) {
	variants.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("builds some forty test programs")
	}
	dir := t.TempDir()
	want := map[string]bool{} // package and whether its proof passes
	for _, s := range allSeeds(t) {
		if s.file("base/go.mod") == "" {
			continue
		}
		for tree, layers := range map[string][]string{"base": {"base", "proof"}, "good": {"base", "change", "good", "proof"}, "bad": {"base", "change", "bad", "proof"}} {
			if tree == "base" && s.isNew {
				layers = layers[:1]
			} else {
				want["all/"+s.name+"/"+tree] = tree != "bad"
			}
			plant(t, s, filepath.Join(dir, s.name, tree), "all/"+s.name+"/"+tree, layers)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module all\n\ngo 1.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for test, action := range goTest(t, dir) {
		pkg, name, _ := strings.Cut(test, " ")
		passes := action == "pass" || action == "skip"
		if name == "TestProof" {
			if passes != want[pkg] {
				t.Errorf("%s: the proof passes: %v, want %v", pkg, passes, want[pkg])
			}
			delete(want, pkg)
		} else if !passes {
			t.Errorf("%s: %s", test, action)
		}
	}
	for pkg := range want {
		t.Errorf("%s: no proof ran", pkg)
	}
}

// TestScriptProofs holds the same of the cases in other languages: the command of their
// configuration passes in both attempts, and the proof is a program that fails in the
// bad one alone.
func TestScriptProofs(t *testing.T) {
	variants.Only(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("runs some hundred small programs")
	}
	for _, s := range allSeeds(t) {
		if s.file("base/go.mod") != "" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			proof := []string{"sh", "proof.sh"}
			if s.file("proof/proof.py") != "" {
				proof = []string{"python3", "-B", "proof.py"}
			} else if s.file("proof/proof.js") != "" {
				proof = []string{"node", "proof.js"}
			}
			if _, err := exec.LookPath(proof[0]); err != nil {
				t.Skipf("%s is missing", proof[0])
			}
			_, tests, ok := strings.Cut(s.file("base/.github/ycbot.yml"), "test: ")
			if !ok {
				t.Fatal("the configuration names no tests")
			}
			for tree, layers := range map[string][]string{"base": {"base"}, "good": {"base", "change", "good"}, "bad": {"base", "change", "bad"}} {
				dir := t.TempDir()
				if err := s.write(dir, layers...); err != nil {
					t.Fatal(err)
				}
				run(t, dir, true, tree+": its tests", strings.Fields(strings.TrimSuffix(tests, "}"))...)
				if tree == "base" && s.isNew {
					continue
				}
				if err := s.write(dir, "proof"); err != nil {
					t.Fatal(err)
				}
				run(t, dir, tree != "bad", tree+": the proof", proof...)
			}
		})
	}
}

func run(t *testing.T, dir string, passes bool, what string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); (err == nil) != passes {
		t.Errorf("%s: %v, want it to pass: %v\n%s", what, err, passes, out)
	}
}

// plant writes the layers of a seed as a package of the module "all".
func plant(t *testing.T, s seed, dir, pkg string, layers []string) {
	t.Helper()
	if err := s.write(dir, layers...); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	old, _, _ := strings.Cut(strings.TrimPrefix(string(mod), "module "), "\n")
	if err := os.Remove(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, bytes.ReplaceAll(text, []byte(`"`+old+`"`), []byte(`"`+pkg+`"`)), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goTest runs the tests of a module and returns how each one ended.
func goTest(t *testing.T, dir string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-vet=off", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output() // fails, as some proofs do
	ended := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			ended[fmt.Sprintf("%s %s", e.Package, e.Test)] = e.Action
		}
	}
	if len(ended) == 0 {
		t.Fatalf("go test: %v\n%s%s", err, stderr.Bytes(), out)
	}
	return ended
}
