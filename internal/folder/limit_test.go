package folder

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func inodeAt(t *testing.T, path string) (inode, uint64) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return inodeOf(&st), uint64(st.Nlink) //nolint:unconvert,nolintlint // the types differ between systems
}

// A file with many names is one file in a copy too, and takes its room once. Names that
// it has elsewhere, in a cache or in another tree, do not come to lead to the copy.
func TestCopyKeepsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &Replica{From: filepath.Join(dir, "from"), To: filepath.Join(dir, "to"), limit: limits{bytes: 12 << 20, entries: 1000}}
	write(t, r.From, map[string]string{"first": strings.Repeat("x", 4<<20), "alone": "y"})
	for n := range 60 {
		at := filepath.Join(r.From, fmt.Sprintf("d%d", n%3), fmt.Sprint(n))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Link(filepath.Join(r.From, "first"), at)); err != nil {
			t.Fatal(err)
		}
	}
	cache := filepath.Join(dir, "cache")
	if err := os.Link(filepath.Join(r.From, "alone"), cache); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if err := r.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		one, names := inodeAt(t, filepath.Join(r.To, "first"))
		if names != 61 {
			t.Errorf("%d names, want 61", names)
		}
		for n := range 60 {
			if got, _ := inodeAt(t, filepath.Join(r.To, fmt.Sprintf("d%d", n%3), fmt.Sprint(n))); got != one {
				t.Fatalf("name %d is another file", n)
			}
		}
		if used, err := Usage(t.Context(), r.To); err != nil || used > 6<<20 {
			t.Errorf("the copy takes %d bytes, %v", used, err)
		}
		if _, names := inodeAt(t, filepath.Join(r.To, "alone")); names != 1 {
			t.Error("the copy shares a file with a cache")
		}
	}
	check()
	// What all names look like is known, so that nothing is copied that no one touched.
	made := newReplicaDir()
	if err := os.RemoveAll(r.To); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.To, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.each(t.Context(), func(c *copier, src, dst int) error { return c.folder(src, dst, 0, made) }); err != nil {
		t.Fatal(err)
	}
	kept, _ := inodeAt(t, filepath.Join(r.To, "first"))
	rested(t, r, made)
	check()
	if again, _ := inodeAt(t, filepath.Join(r.To, "first")); again != kept {
		t.Error("what was not touched was copied again")
	}
	// A command writes through one name, takes away another and makes a third.
	write(t, r.To, map[string]string{"d1/1": "changed"})
	if err := errors.Join(os.Remove(filepath.Join(r.To, "d2/2")), os.Link(filepath.Join(r.To, "first"), filepath.Join(r.To, "more"))); err != nil {
		t.Fatal(err)
	}
	check()
	if got := read(t, r.To, "first"); len(got) != 4<<20 {
		t.Errorf("%d bytes, want what the original has", len(got))
	}
	write(t, r.To, map[string]string{"first": "changed", "alone": "changed"})
	if read(t, r.From, "alone") != "y" || read(t, cache) != "y" {
		t.Error("a copy was written through")
	}
}

// rested is r as if the last reset were long ago.
func rested(t *testing.T, r *Replica, was *replicaDir) {
	t.Helper()
	start := must[time.Time](t)(Clock(filepath.Dir(r.To)))
	for must[time.Time](t)(Clock(filepath.Dir(r.To))).Sub(start) < 2*tick { // the clock goes on by itself
	}
	r.made = was
	r.made.settled(must[time.Time](t)(Clock(filepath.Dir(r.To))).UnixNano())
}

// A copy ends with an error that says what was too much and where, and leaves what lies
// outside alone.
func TestCopyLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit limits
		fill  func(t *testing.T, dir string)
		want  string // empty: it is copied
	}{
		"bytes": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			for n := range 3 {
				write(t, dir, map[string]string{fmt.Sprintf("d/%d", n): strings.Repeat("x", 500<<10)})
			}
		}, "too much for a copy: more than 1 MiB"},
		"entries": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			for n := range 101 {
				write(t, dir, map[string]string{fmt.Sprintf("d/%d", n): ""})
			}
		}, "too much for a copy: more than 100 files and folders"},
		"names of one file": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, map[string]string{"d/x": ""})
			for n := range 101 {
				if err := os.Link(filepath.Join(dir, "d/x"), filepath.Join(dir, "d", fmt.Sprint(n))); err != nil {
					t.Fatal(err)
				}
			}
		}, "more than 100 files and folders"},
		"links": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			for n := range 101 {
				symlink(t, "x", filepath.Join(dir, fmt.Sprint(n)))
			}
		}, "more than 100 files and folders"},
		"holes": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, map[string]string{"sparse": "x"})
			if err := os.Truncate(filepath.Join(dir, "sparse"), 1<<40); err != nil {
				t.Skip(err)
			}
		}, ""},
		"no files": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			for n := range 200 {
				if err := unix.Mkfifo(filepath.Join(dir, fmt.Sprint(n)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, ""},
		"attributes": {limits{1 << 20, 100}, func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, map[string]string{"x": "x"})
			if err := unix.Setxattr(filepath.Join(dir, "x"), "user.big", bytes.Repeat([]byte("x"), 2<<10), 0); err != nil {
				t.Skip(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &Replica{From: filepath.Join(dir, "from"), To: filepath.Join(dir, "to"), limit: tt.limit}
			if err := os.Mkdir(r.From, 0o755); err != nil {
				t.Fatal(err)
			}
			tt.fill(t, r.From)
			err := r.Reset(t.Context())
			if tt.want == "" {
				if used, uerr := Usage(t.Context(), r.To); err != nil || uerr != nil || used > 1<<20 {
					t.Errorf("%v; the copy takes %d bytes, %v", err, used, uerr)
				}
				return
			}
			if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "copy "+r.From+": ") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
