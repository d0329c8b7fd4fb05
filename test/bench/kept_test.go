package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/test/bench"
)

// TestKept holds that what tests keep between runs is made once, is whole or not
// there, and is removed when no one has asked for it for long.
func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // decides on macOS
	made := 0
	fill := func(dir string) error {
		made++
		return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	}
	broken := errors.New("broken")
	dir, err := bench.Kept("one", func(dir string) error { return errors.Join(fill(dir), broken) })
	if _, missing := os.Stat(dir); !errors.Is(err, broken) || !errors.Is(missing, os.ErrNotExist) {
		t.Errorf("a fill that fails: %v, and the folder: %v", err, missing)
	}
	for range 2 {
		if dir, err = bench.Kept("one", fill); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
			t.Error(err)
		}
	}
	if made != 2 {
		t.Errorf("it was made %d times, want 2, once in vain", made)
	}

	old, recent := filepath.Join(filepath.Dir(dir), "old"), filepath.Join(filepath.Dir(dir), "recent")
	for at, age := range map[string]time.Duration{dir: 40, old: 31, recent: 29} {
		if at != dir {
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		then := time.Now().Add(-age * 24 * time.Hour)
		if err := os.Chtimes(at, then, then); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "another"} { // which asks for the first before something is made
		if _, err := bench.Kept(name, fill); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[string]bool{dir: true, old: false, recent: true} {
		if _, err := os.Stat(at); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(at), err == nil, want)
		}
	}
}
