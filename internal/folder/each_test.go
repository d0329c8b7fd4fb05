package folder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// deep makes folders in one another below dir, with a file of a megabyte in the last one. Their
// path may be longer than what the kernel takes at once.
func deep(t *testing.T, dir, name string, levels int) {
	t.Helper()
	at, err := OpenAt(unix.AT_FDCWD, dir, OpenDir, 0)
	for range levels {
		if err == nil {
			err = unix.Mkdirat(at, name, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		var next int
		next, err = OpenAt(at, name, OpenDir, 0)
		unix.Close(at)
		at = next
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(at)
	fd, err := OpenAt(at, "file", unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, []byte(strings.Repeat("x", 1<<20))); err != nil || n != 1<<20 {
		t.Fatal(n, err)
	}
	t.Cleanup(func() { // t.TempDir's own takes paths
		if err := RemoveAll(context.Background(), filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	})
}

// What lies deeper than a path can say counts, and what is not looked at is said.
func TestEachBelowLongPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		levels int
		seen   bool
	}{{strings.Repeat("a", 200), 25, true}, {"b", 3000, true}, {strings.Repeat("c", 200), 500, false}} {
		dir := t.TempDir()
		deep(t, dir, tt.name, tt.levels)
		var bytes int64
		entries, hidden := 0, 0
		Each(dir, func(st *unix.Stat_t, unseen bool) bool {
			if unseen {
				hidden++
				return true
			}
			entries++
			bytes += st.Blocks * 512
			return true
		})
		all := entries == tt.levels+2 && bytes >= 1<<20
		if all != tt.seen || (hidden > 0) == tt.seen {
			t.Errorf("%d levels of %.1s…: %d entries of %d bytes, %d folders were not looked into", tt.levels, tt.name, entries, bytes, hidden)
		}
		if used, err := Usage(t.Context(), dir); err != nil || (used >= 1<<20) != tt.seen {
			t.Errorf("%d levels of %.1s…: usage %d, %v", tt.levels, tt.name, used, err)
		}
	}
}

// It ends when the caller has enough, a link is not followed, and a missing folder is nothing.
func TestEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "d", "link")); err != nil {
		t.Fatal(err)
	}
	count := func(dir string, most int) (n int) {
		Each(dir, func(*unix.Stat_t, bool) bool { n++; return n < most })
		return n
	}
	for most, want := range map[int]int{100: 6, 3: 3, 1: 1} {
		if got := count(dir, most); got != want {
			t.Errorf("%d entries, want %d", got, want)
		}
	}
	if n := count(filepath.Join(dir, "none"), 100); n != 0 {
		t.Errorf("%d entries of what is not there", n)
	}
	if n := count(filepath.Join(dir, "d", "link"), 100); n != 1 {
		t.Errorf("%d entries behind a link", n)
	}
}
