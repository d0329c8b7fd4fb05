package disk_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/disk"
)

// A shelf is a folder with files that are trimmed in the order of their names.
type shelf struct {
	*disk.Keeper
	dir  string
	free int64
	now  time.Time
}

const block = 64 << 10 // what a file takes

func newShelf(t *testing.T, files ...string) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir(), free: 1 << 40, now: time.Unix(1, 0)}
	for _, name := range files {
		s.put(t, name)
	}
	s.Keeper = &disk.Keeper{
		Dir: s.dir, Trimmers: []disk.Trimmer{s.trim}, Free: func(string) (int64, error) { return s.free, nil },
		Now: func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
	}
	return s
}

func (s *shelf) put(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), make([]byte, block), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trim keeps what is named "keep…".
func (s *shelf) trim(_ context.Context, want int64) (freed int64, err error) {
	for _, name := range strings.Fields(s.names()) {
		if freed >= want || strings.HasPrefix(name, "keep") {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			return freed, err
		}
		freed += block
		s.free += block
	}
	return freed, nil
}

func (s *shelf) names() string {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// What is over the quota goes, the oldest first, and no more than that.
func TestTidyQuota(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "b", "c", "d")
	s.Quota = 3*block - block/2 // with the folder itself: two files fit
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.names(); got != "c d" {
		t.Errorf("left is %q, want c and d", got)
	}
	if err := s.Room(t.Context()); err != nil {
		t.Errorf("there is no room: %v", err)
	}
}

// Where nothing can be removed any more nothing is begun, until there is room; that is
// looked for again after a while.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "keep1", "keep2", "keep3")
	s.Quota = 2 * block
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Room(t.Context()); err == nil || !strings.Contains(err.Error(), "are allowed") || s.Status().Full == nil {
		t.Fatalf("over the quota: %v", err)
	}
	if err := os.Remove(filepath.Join(s.dir, "keep1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "keep2")); err != nil {
		t.Fatal(err)
	}
	if err := s.Room(t.Context()); err == nil {
		t.Error("it is measured each time")
	}
	s.now = s.now.Add(time.Hour)
	if err := s.Room(t.Context()); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// Below the floor room is made at once, and nothing is begun where that does not help.
func TestFloor(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "b", "c")
	s.Floor = 10 * block
	if err := s.Tidy(t.Context()); err != nil || s.names() != "a b c" {
		t.Fatalf("there was room: %v, left is %s", err, s.names())
	}
	s.free = 9*block + block/2
	if err := s.Room(t.Context()); err != nil || strings.HasPrefix(s.names(), "a") {
		t.Errorf("%v, left is %q", err, s.names())
	}
	s.free = 0
	if err := s.Room(t.Context()); err == nil || s.names() != "" {
		t.Errorf("a full disk: %v, left is %q", err, s.names())
	}
}

// A run that writes more than it may gets an error, and one that does not is left alone.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "a", "b")
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var over *disk.OverError
	if err := s.Watch(ctx, time.Millisecond, block, s.dir, filepath.Join(s.dir, "nothing")); !errors.As(err, &over) {
		t.Errorf("over its bound: %v", err)
	}
	s.Floor, s.free = 100, 49
	if err := s.Watch(ctx, time.Millisecond, 0, s.dir); !errors.As(err, &over) {
		t.Errorf("the disk is full: %v", err)
	}
	s.free = 50
	ended, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if err := s.Watch(ended, time.Millisecond, 10*block, s.dir); err != nil {
		t.Errorf("within its bound: %v", err)
	}
}

// Sizes are read as people write them.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "500": 500, "20GB": 20e9, "1.5GiB": 3 << 29, "10k": 10_000, "3 T": 3e12, "7MiB": 7 << 20, "5B": 5} {
		if got, err := disk.Parse(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1", "20 %", "1e9", "99999999999T"} {
		if got, err := disk.Parse(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
