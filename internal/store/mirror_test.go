package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree is the files of a directory and what is in them.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var data []byte
			data, err = os.ReadFile(filepath.Join(dir, name))
			out[name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mirror(t *testing.T, db *DB, run, dir string) *Mirror {
	t.Helper()
	m, err := db.Mirror(t.Context(), run, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func syncNow(t *testing.T, m *Mirror) {
	t.Helper()
	if err := m.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Whole lines are copied and torn ones are not; what evidence names goes along; a
// finished directory comes back byte for byte.
func TestMirror(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db, dir := t.Context(), openAt(t, where), t.TempDir()
		m := mirror(t, db, "r", dir)
		syncNow(t, m) // of an empty directory
		want := map[string]string{
			"journal.jsonl":      `{"seq":1,"kind":"stage","key":"gate","data":1}` + "\n" + `{"seq":2,"kind":"stage","key":"gate","data":2}` + "\n",
			"events.jsonl":       "{\"x\":\"\x00 \xff é\"}\n\n",
			"evidence.jsonl":     `{"id":"E1","stdout":{"spill":"spill/E1.stdout"},"stderr":{"spill":"spill/E1.stderr"}}` + "\n",
			"spill/E1.stdout":    "out\x00\xff",
			"spill/E1.stderr":    "",
			"brief.md":           "brief",
			"subagents/deep/a.m": "a",
		}
		for name, data := range want {
			write(t, dir, name, data)
		}
		write(t, dir, "journal.jsonl", want["journal.jsonl"]+`{"seq":3,"ki`)
		write(t, dir, "draft", "draft")
		write(t, dir, "spill/E2.stdout", "of a record that is not written yet")
		syncNow(t, m)
		restored := filepath.Join(t.TempDir(), "new")
		if err := db.Restore(ctx, "r", restored); err != nil {
			t.Fatal(err)
		}
		live := map[string]string{"draft": "draft"}
		for name, data := range want {
			if !strings.HasPrefix(name, "subagents") {
				live[name] = data
			}
		}
		if d := cmp.Diff(live, tree(t, restored)); d != "" {
			t.Errorf("in the middle:\n%s", d)
		}
		if err := db.Restore(ctx, "r", restored); !errors.Is(err, errNotEmpty) {
			t.Errorf("into a directory that is not empty: %v", err)
		}

		for _, name := range []string{"draft", "spill/E2.stdout"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, dir, "journal.jsonl", want["journal.jsonl"]) // the torn line was cut
		if err := m.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		whole := filepath.Join(t.TempDir(), "whole")
		if err := db.Restore(ctx, "r", whole); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, tree(t, whole)); d != "" {
			t.Errorf("at the end:\n%s", d)
		}
	})
}

// A server shows a run while it goes, from any line on.
func TestShow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db, dir := t.Context(), openAt(t, where), t.TempDir()
		m := mirror(t, db, "r", dir)
		write(t, dir, "events.jsonl", "1\n22\n")
		write(t, dir, "journal.jsonl", `{"seq":1,"kind":"stage","key":"gate","data":1}`+"\n"+`{"seq":2,"kind":"stage","key":"gate","data":2}`+"\n")
		syncNow(t, m)
		write(t, dir, "events.jsonl", "1\n22\n333\n")
		syncNow(t, m)
		syncNow(t, m)
		var got []string
		for from := int64(0); ; {
			lines, err := db.Lines(ctx, "r", "events.jsonl", from, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) == 0 {
				break
			}
			for _, l := range lines {
				got = append(got, string(l.Body))
				from = l.End
			}
		}
		if d := cmp.Diff([]string{"1", "22", "333"}, got); d != "" {
			t.Error(d)
		}
		if _, err := db.File(ctx, "r", "none"); !errors.Is(err, ErrNotFound) {
			t.Errorf("no file: %v", err)
		}
	})
}

// Of two workers on one run one goes on and the other is asked to stop; a worker that
// comes back to an old directory continues from where the other one was, and one that
// was killed before it could copy loses nothing of what is on its disk.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db, a, b := t.Context(), openAt(t, where), t.TempDir(), t.TempDir()
		ma := mirror(t, db, "r", a)
		write(t, a, "journal.jsonl", `{"seq":1}`+"\n")
		syncNow(t, ma)
		mb := mirror(t, db, "r", b)
		write(t, b, "journal.jsonl", `{"seq":1}`+"\n"+`{"seq":2,"key":"by b"}`+"\n")
		write(t, a, "journal.jsonl", `{"seq":1}`+"\n"+`{"seq":2,"key":"by a, and longer"}`+"\n")
		syncNow(t, mb)
		for range 2 {
			if err := ma.Sync(ctx); !errors.Is(err, ErrDiverged) {
				t.Errorf("two workers continue one run: %v", err)
			}
		}
		mirror(t, db, "r", a)
		if d := cmp.Diff(tree(t, b), tree(t, a)); d != "" {
			t.Errorf("the old directory was not replaced:\n%s", d)
		}

		more := `{"seq":1}` + "\n" + `{"seq":2,"key":"by b"}` + "\n" + `{"seq":3}` + "\n"
		write(t, b, "journal.jsonl", more)
		mirror(t, db, "r", b) // as after kill -9
		if got := tree(t, b)["journal.jsonl"]; got != more {
			t.Errorf("what was not copied yet is lost: %q", got)
		}
	})
}

// What a Sync stored whose answer was lost is found to be stored: the next goes on behind it.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db, dir := openAt(t, where), t.TempDir()
		m, lost := mirror(t, db, "r", dir), mirror(t, db, "r", dir)
		write(t, dir, "events.jsonl", "1\n")
		syncNow(t, lost)
		write(t, dir, "events.jsonl", "1\n2\n")
		syncNow(t, m)
		if lines, err := db.Lines(t.Context(), "r", "events.jsonl", 0, 10); err != nil || len(lines) != 2 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	})
}

// mirrorChild appends numbered lines to two files and syncs after each, until it is
// killed. It says on standard output what the store has acknowledged.
func mirrorChild(where, dir string) error {
	ctx := context.Background()
	db, err := openWhere(ctx, where)
	if err != nil {
		return err
	}
	m, err := db.Mirror(ctx, "r", dir)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	n := bytes.Count(data[:whole], []byte("\n"))
	events, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	journal, err := os.OpenFile(filepath.Join(dir, journalFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := journal.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := journal.Seek(int64(whole), 0); err != nil {
		return err
	}
	for {
		n++
		if _, err := fmt.Fprintf(events, "{\"n\":%d}\n", n); err != nil {
			return err
		}
		for _, part := range []string{`{"seq":`, fmt.Sprint(n), `,"kind":"answer","key":"`, fmt.Sprint(n), "\"}\n"} { // so that lines are torn
			if _, err := journal.WriteString(part); err != nil {
				return err
			}
		}
		if err := m.Sync(ctx); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, n)
	}
}

// A worker is killed at random points and the run continues elsewhere, again and again:
// each entry that was acknowledged is there once and in order, no line is torn, and no
// entry of the journal is there without what was written before it.
func TestRestoreAfterKill(t *testing.T) {
	variants.Only(t) // a database is killed and restored
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db := t.Context(), openAt(t, where)
		random := rand.New(rand.NewPCG(1, 2))
		acknowledged := 0
		for range 6 {
			cmd := start(t, "mirror", "YCBOT_TEST_DB="+where, "YCBOT_TEST_DIR="+t.TempDir())
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for range 1 + random.IntN(20) {
				if !lines.Scan() {
					t.Fatal("the worker ended by itself")
				}
				if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() { // what it said before it died
				_, _ = fmt.Sscan(lines.Text(), &acknowledged)
			}
			_ = cmd.Wait()
		}
		dir := filepath.Join(t.TempDir(), "restored")
		if err := db.Restore(ctx, "r", dir); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		var want strings.Builder
		n := strings.Count(files[journalFile], "\n")
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&want, `{"seq":%d,"kind":"answer","key":"%d"}`+"\n", i, i)
		}
		if d := cmp.Diff(want.String(), files[journalFile]); d != "" {
			t.Error(d)
		}
		if n < acknowledged {
			t.Errorf("%d entries are there, %d were acknowledged", n, acknowledged)
		}
		for i := 1; i <= n; i++ {
			if !strings.Contains(files["events.jsonl"], fmt.Sprintf("{\"n\":%d}\n", i)) {
				t.Errorf("event %d of the entry is missing", i)
			}
		}
	})
}
