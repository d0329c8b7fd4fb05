package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
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
	if got := leaves(dir, []string{"a.py"}); !slices.Equal(got, []string{".npmrc", "pytest.ini"}) {
		t.Errorf("left are %q", got)
	}
}
