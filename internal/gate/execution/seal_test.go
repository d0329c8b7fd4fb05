package execution

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSealOf holds that a change of a mode, of times or of content below a folder is
// seen, also where the times are put back.
func TestSealOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	lay(t, file, "x")
	lay(t, filepath.Join(dir, "b/c"), "y")
	seal := func() string {
		s, err := sealOf([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	last := seal()
	if seal() != last {
		t.Fatal("the same files have two seals")
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"mode":    func() error { return os.Chmod(file, 0o600) },
		"times":   func() error { return os.Chtimes(file, info.ModTime(), info.ModTime()) },
		"content": func() error { return os.WriteFile(file, []byte("z"), 0o600) },
		"removal": func() error { return os.Remove(filepath.Join(dir, "b/c")) },
	} {
		for deadline := time.Now().Add(5 * time.Second); ; { // the clock of the file system is coarse
			if err := change(); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if now := seal(); now != last {
				last = now
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not seen", what)
			}
		}
	}
}
