package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStd holds that a test which begins with what Std gives compiles and vets
// nothing of the standard library, in none of the ways that were asked for.
func TestStd(t *testing.T) {
	t.Parallel()
	modes := []string{Fuzz, Cover}
	if _, err := goCommand(t.Context(), "", nil, "list", "-race", "-export", "-f={{.Export}}", "runtime/race"); err == nil {
		modes = append(modes, Race)
	}
	cache, dir := t.TempDir(), t.TempDir()
	if err := Std(t.Context(), cache, modes...); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.21\n",
		"a.go":   "package m\n\nfunc One() int { return 1 }\n",
		"a_test.go": "package m\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(fmt.Sprint(os.Args))\n\t}\n}\n" +
			"\nfunc FuzzOne(f *testing.F) { f.Fuzz(func(t *testing.T, n int) {}) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range append([]string{"-v"}, modes...) {
		args := []string{"test", "-x", mode, "-exec=true", "."}
		if mode == Fuzz {
			args = []string{"test", "-x", "-c", "-vet=off", mode, "-o", os.DevNull, "."}
		}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOCACHE="+cache, "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "/compile") {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "/compile ") && strings.Contains(line, " -std ") {
				t.Errorf("go %s compiles\n%s", strings.Join(args, " "), line)
			}
		}
	}
}
