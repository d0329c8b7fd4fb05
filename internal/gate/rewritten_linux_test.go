package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestLeftBehind: a pipe that a build leaves is not waited for, and very many files hide nothing
// that steers tests.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxLeft + 1 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pytest.ini", "a.py"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".npmrc"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &runner{
		plan:     map[Side]*sides.Plan{Base: {Files: []string{"a.py"}}, Head: {Files: []string{"a.py"}}},
		prepared: map[Side]*snapshot{Head: {tree: &workspace.Tree{Dir: dir}}},
	}
	if got := r.leaves(Head); !slices.Equal(got, []string{".npmrc", "pytest.ini"}) {
		t.Errorf("left are %q", got)
	}
}
