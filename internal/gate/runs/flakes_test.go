package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
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

// TestFlakeFileBounds holds how old, how many and of how many sets of programs records are
// when they are kept still, and that they are not beyond that.
func TestFlakeFileBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what  string
		fill  func(add func(programs string, flipped ...string), wait func(time.Duration))
		first bool // "first" of programs "go" is there still
	}{
		{"of the greatest age", func(_ func(string, ...string), wait func(time.Duration)) { wait(flakeAge) }, true},
		{"of the greatest age, when another is added", func(add func(string, ...string), wait func(time.Duration)) { wait(flakeAge); add("go", "x") }, true},
		{"older", func(_ func(string, ...string), wait func(time.Duration)) { wait(flakeAge + 1) }, false},
		{"as many as there may be", func(add func(string, ...string), _ func(time.Duration)) {
			add("go", numbered(maxFlakes-1)...)
			add("go", "1")
		}, true},
		{"one more", func(add func(string, ...string), _ func(time.Duration)) { add("go", numbered(maxFlakes)...) }, false},
		{"as many sets as there may be", func(add func(string, ...string), wait func(time.Duration)) {
			for _, programs := range numbered(maxFlakeSet - 1) {
				wait(1)
				add(programs)
			}
		}, true},
		{"one set more", func(add func(string, ...string), wait func(time.Duration)) {
			for _, programs := range numbered(maxFlakeSet) {
				wait(1)
				add(programs)
			}
		}, false},
	} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		f := FlakeFile{Path: filepath.Join(t.TempDir(), "flakes.json"), Now: func() time.Time { return now }}
		add := func(programs string, flipped ...string) {
			if err := f.Add(t.Context(), programs, flipped); err != nil {
				t.Fatal(err)
			}
		}
		add("go", "first")
		tt.fill(add, func(d time.Duration) { now = now.Add(d) })
		_, flips, err := f.Load(t.Context(), "go")
		if got := flips["first"] > 0; err != nil || got != tt.first {
			t.Errorf("%s: there %v, %v", tt.what, got, err)
		}
		if len(flips) > maxFlakes {
			t.Errorf("%s: %d are kept", tt.what, len(flips))
		}
	}
}

// numbered are so many names.
func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// What is on record of a program of Rust by its number in a workspace is of no test that is called
// by its source.
func TestFlakeKey(t *testing.T) {
	t.Parallel()
	for pkg, same := range map[string]bool{"src/lib.rs": false, "tests/test_a.py": true} {
		id := results.ID{Unit: ".", Package: pkg, Test: "works"}
		sum := sha256.Sum256([]byte(strings.Join([]string{id.Unit, id.Package, id.Test, id.Command}, "\x00")))
		if old := hex.EncodeToString(sum[:16]); (FlakeKey(id) == old) != same {
			t.Errorf("%s: %s, and before %s", pkg, FlakeKey(id), old)
		}
	}
}
