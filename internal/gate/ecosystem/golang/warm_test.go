package golang

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
)

// After warming, "go test" compiles nothing that it does not test, and vet does not look at
// it either.
func TestWarmGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain")
	}
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                 "module example.com/m\n\ngo 1.21\n",
		"a/a.go":                 "package a\n\nimport \"example.com/m/b\"\n\nvar A = b.B + 2\n",
		"a/a_test.go":            "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A != 3 {\n\t\tt.Fatal(A)\n\t}\n}\n",
		"a/b_test.go":            "package a_test\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n",
		"b/b.go":                 "package b\n\nimport \"example.com/m/b/internal/c\"\n\nvar B = c.C + c.C - 1\n",
		"b/internal/c/c.go":      "package c\n\nvar C = 1\n",
		"cmd/p/main.go":          "package main\n\nfunc main() {}\n",
		"broken/broken.go":       "package broken\n\nimport _ \"example.com/none\"\n",
		"b/internal/c/c_test.go": "package c\n",
		"top/top.go":             "package top\n\nimport \"example.com/m/top/internal/d\"\n\nvar Top = d.D\n",
		"top/top_test.go":        "package top\n\nimport \"testing\"\n\nfunc TestTop(t *testing.T) {}\n",
		"top/internal/d/d.go":    "package d\n\nvar D = 1\n",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := gotest.Std(t.Context(), cache); err != nil {
		t.Fatal(err)
	}
	run := func(env []string, argv ...string) string {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "GOCACHE="+cache, "GOWORK=off", "GOFLAGS="), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		return string(out)
	}
	c := goModule{Dir: ".", version: runtime.Version()}.warmGo(false, "./...")
	warm := func() (vetted []string) {
		t.Helper()
		if out := run(c.Env, c.Argv...); strings.Contains(out, "=\t") || !strings.Contains(out, "example.com/none") {
			t.Errorf("warming says %q, want what cannot be built and no list", out)
		}
		files, err := filepath.Glob(filepath.Join(cache, "vetted-*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files { // two, where one period begins after the cache was made
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if name, _, _ := strings.Cut(line, " "); strings.HasPrefix(name, "example.com") {
					vetted = append(vetted, name)
				}
			}
		}
		slices.Sort(vetted)
		return vetted
	}
	if diff := cmp.Diff([]string{"example.com/m/b", "example.com/m/top"}, warm()); diff != "" {
		t.Errorf("vet has looked at (-want +got):\n%s", diff)
	}
	for dir, own := range map[string]int{"./a": 2, "./top": 1} { // a has a package of tests beside it
		out := run(nil, "go", "test", "-x", "-count=1", dir)
		var looked []string
		for line := range strings.Lines(out) {
			if strings.Contains(line, "/vet ") && strings.Contains(line, "vet.cfg") {
				looked = append(looked, line)
			}
			if strings.Contains(line, "/compile ") && !strings.Contains(line, "/main.") && !strings.Contains(line, "_testmain.go") {
				t.Errorf("compiled again: %s", line)
			}
		}
		if len(looked) > own {
			t.Errorf("vet looked at %d packages, want those that are tested in %s:\n%s", len(looked), dir, strings.Join(looked, ""))
		}
	}
	// What has not changed since is not looked at again, and what has is.
	if err := os.WriteFile(filepath.Join(dir, "top/internal/d/d.go"), []byte("package d\n\nvar D = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/m/b", "example.com/m/top", "example.com/m/top"}, warm()); diff != "" {
		t.Errorf("vet has looked at (-want +got):\n%s", diff)
	}
}

// Where the configuration names packages, these are compiled ahead, not all of the module.
func TestWarmFor(t *testing.T) {
	t.Parallel()
	eco := New()
	p := ecosystem.Project{Eco: eco}
	addGo(&p, goModule{Dir: ".", Path: "m"}, true)
	all := []string{"go list -e -export -test -deps ./... && go test \"$DEPENDENCIES\"", "go list -e -export -test -deps -f={{with .Error}}{{.}}{{end}} -race ./..."}
	for _, c := range []struct {
		tests []string
		want  []string
	}{
		{[]string{"go test -short -timeout 2m ./a ./b/...", "go test ./c"}, []string{
			"go list -e -export -test -deps ./a ./b/... ./c && go test \"$DEPENDENCIES\"",
			"go list -e -export -test -deps -f={{with .Error}}{{.}}{{end}} -race ./a ./b/... ./c",
		}},
		{[]string{"go test ./..."}, all},
		{[]string{"go test"}, all},
		{[]string{"go test ./a", "make check"}, all},
		{[]string{"cd a && go test ./b"}, all},
		{[]string{"pytest ./a"}, all},
		{nil, all},
	} {
		var tests []ecosystem.Command
		for _, text := range c.tests {
			tests = append(tests, ecosystem.CommandOf(results.StageTest, text, New()))
		}
		var got []string
		for _, w := range warmFor(p, tests) {
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.tests, diff)
		}
	}
	p.Own = goModule{Dir: "sub", Path: "m"}
	if got := warmFor(p, []ecosystem.Command{ecosystem.CommandOf(results.StageTest, "go test ./a", New())}); len(got) > 0 {
		t.Errorf("in another folder: %v", got)
	}
	p.Own = goModule{Dir: "sub", Path: "m", workspace: true}
	if got := warmFor(p, []ecosystem.Command{ecosystem.CommandOf(results.StageTest, "go test ./a", New())}); len(got) != len(all) {
		t.Errorf("in a workspace: %v", got)
	}
}
