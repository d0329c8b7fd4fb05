package journal

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// What was done once is read back after a restart, not done again.
func TestOnceAcrossRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	calls := 0
	work := func() (map[string]int, error) { calls++; return map[string]int{"n": calls}, nil }
	for range 3 {
		j := open(t, path)
		got, err := Once(j, "stage", "checkout", work)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{"n": 1}, got); diff != "" {
			t.Error(diff)
		}
	}
	if calls != 1 {
		t.Errorf("done %d times, want 1", calls)
	}
}

// An error is not recorded: the next attempt does the work.
func TestOnceTriesErrorsAgain(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	boom := errors.New("boom")
	if _, err := Once(j, "stage", "gate", func() (int, error) { return 0, boom }); !errors.Is(err, boom) {
		t.Fatalf("err = %v, want %v", err, boom)
	}
	got, err := Once(j, "stage", "gate", func() (int, error) { return 7, nil })
	if got != 7 || err != nil {
		t.Errorf("got %d, %v; want 7", got, err)
	}
}

// A process that died in the middle of a line leaves a journal that opens at
// every possible length, keeps the whole lines and can be appended to.
func TestTornLastLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := open(t, path)
	for _, key := range []string{"a", "b"} {
		if err := j.Append("stage", key, key); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Index(string(whole), "\n") + 1
	for n := range len(whole) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		torn := open(t, path)
		want := 0
		if n >= first {
			want = 1
		}
		if got := len(torn.Entries("")); got != want {
			t.Fatalf("cut at %d: %d entries, want %d", n, got, want)
		}
		if err := torn.Append("stage", "c", 3); err != nil {
			t.Fatal(err)
		}
		if got := len(open(t, path).Entries("stage")); got != want+1 {
			t.Fatalf("cut at %d: %d entries after append, want %d", n, got, want+1)
		}
	}
}

// What could be written in part leaves nothing in the way of what comes when the disk has
// room again.
func TestFullDisk(t *testing.T) { //nolint:paralleltest // its limit holds for the whole process
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := open(t, path)
	if err := j.Append("stage", "a", "first"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	room := full(t, int64(len(before))+40)
	long := j.Append("stage", "b", strings.Repeat("x", 200))
	room()
	after, err := os.ReadFile(path)
	if long == nil || err != nil || !bytes.Equal(before, after) {
		t.Errorf("an entry on a full disk: %v; the journal has\n%s%v", long, after, err)
	}
	if err := j.Append("stage", "c", "later"); err != nil {
		t.Fatal(err)
	}
	if again, err := Open(path, clock); err != nil || len(again.Entries("")) != 2 {
		t.Errorf("after a full disk: %v", err)
	}
}

// full has writes of the process fail behind n bytes of a file, until room is called.
func full(t *testing.T, n int64) (room func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	set := func(to syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &to); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: uint64(n), Max: was.Max})
	return func() { set(was); signal.Reset(syscall.SIGXFSZ) }
}

// A damaged line that is not the last one is not passed over.
func TestDamagedLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, []byte("{\"seq\":1}\n{\"se\n{\"seq\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, clock)
	if err == nil || !strings.Contains(err.Error(), "journal.jsonl:2") {
		t.Errorf("err = %v, want one that names line 2", err)
	}
}

// The journal only grows: what was written stays, byte for byte.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var before []byte
	for i := range 5 {
		j := open(t, path)
		if err := j.Append("stage", "same", i); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(after), string(before)) || len(after) <= len(before) {
			t.Fatalf("append %d rewrote the file", i)
		}
		before = after
		if raw, _ := j.Lookup("stage", "same"); string(raw) != "0" {
			t.Errorf("lookup = %s, want the first entry", raw)
		}
	}
}

// What is kept elsewhere too is so before Append returns, and when it is on disk; where
// it could not be kept, Append fails.
func TestKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var seen int
	j.Kept = func() error {
		data, err := os.ReadFile(path)
		seen = bytes.Count(data, []byte("\n"))
		return err
	}
	if err := j.Append("a", "1", 1); err != nil || seen != 1 {
		t.Errorf("%d lines were on disk, %v; want 1", seen, err)
	}
	j.Kept = func() error { return os.ErrDeadlineExceeded }
	if _, err := Once(j, "a", "2", func() (int, error) { return 2, nil }); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// What is to come to disk with the next entry is there at once for this process and
// for one that opens the journal after it, and is kept elsewhere with the next entry.
func TestAppendSoon(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := open(t, path)
	kept := 0
	j.Kept = func() error { kept++; return nil }
	if err := j.AppendSoon("tool", "a/1.0", "read"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Journal{j, open(t, path)} {
		if raw, ok := r.Lookup("tool", "a/1.0"); !ok || string(raw) != `"read"` || kept != 0 {
			t.Errorf("%s %v, kept %d times", raw, ok, kept)
		}
	}
	if err := j.Append("model", "a/2", "answer"); err != nil || kept != 1 {
		t.Errorf("%v, kept %d times", err, kept)
	}
}

// What others keep is returned as they keep it, and not redacted, also to who opens the
// journal later; when they keep something else by then, what the journal has is.
func TestOnceGiven(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	kept := "test of hunter2"
	get := func(j *Journal) string {
		j.Redact = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[redacted]")) }
		v, err := OnceGiven(j, "gate", "base", func() (string, error) { return kept, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 2 {
		if got := get(open(t, path)); got != kept {
			t.Errorf("given %q", got)
		}
	}
	kept = "another one"
	if got := get(open(t, path)); got != "test of [redacted]" {
		t.Errorf("given %q, which the run was not given before", got)
	}
}
