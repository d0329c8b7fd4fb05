package orchestrator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// An agent is given the programs that its commands find, in the environment's own search
// path where it has one.
func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"usual/jq": 0o755, "usual/curl": 0o644, "own/psql": 0o755, "usual/unheard-of": 0o755} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "usual", "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	search := []string{filepath.Join(dir, "missing"), filepath.Join(dir, "usual")}
	if diff := cmp.Diff([]string{"jq"}, programs(sandbox.Command{}, search)); diff != "" {
		t.Error(diff)
	}
	c := sandbox.Command{Env: []string{"PATH=" + filepath.Join(dir, "own") + ":/missing"}}
	if diff := cmp.Diff([]string{"psql"}, programs(c, search)); diff != "" {
		t.Error(diff)
	}
}
