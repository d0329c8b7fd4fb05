package runs

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFlakeFile holds that flips are counted by programs, from one run to the next, and
// forgotten after a while.
func TestFlakeFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := FlakeFile{Path: filepath.Join(t.TempDir(), "cache", "flakes.json"), Now: func() time.Time { return now }}
	want := func(programs string, runs int, flips map[string]int) {
		t.Helper()
		n, have, err := f.Load(t.Context(), programs)
		if err != nil || n != runs || !maps.Equal(have, flips) {
			t.Errorf("%s: %d runs, %v, %v; want %d, %v", programs, n, have, err, runs, flips)
		}
	}
	add := func(programs string, flipped ...string) {
		t.Helper()
		if err := f.Add(t.Context(), programs, flipped); err != nil {
			t.Fatal(err)
		}
	}
	want("go1", 0, map[string]int{})
	add("go1", "a", "b")
	add("go1", "a")
	add("go2")
	want("go1", 2, map[string]int{"a": 2, "b": 1})
	want("go2", 1, map[string]int{})
	now = now.Add(flakeAge - time.Hour)
	add("go1", "a")
	now = now.Add(2 * time.Hour)
	want("go1", 3, map[string]int{"a": 3})
	for _, programs := range []string{"3", "4", "5", "6", "7", "8", "9"} {
		now = now.Add(time.Minute)
		add(programs)
	}
	want("go2", 0, map[string]int{})
	if err := os.WriteFile(f.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Load(t.Context(), "go1"); err == nil {
		t.Error("a damaged record is no error")
	}
	add("go1", "a")
	want("go1", 1, map[string]int{"a": 1})
}
