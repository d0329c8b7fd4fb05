package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/ycbot/ycbot/internal/blobs"
)

// A faulty bucket does what another does until its turn comes to fail. Half of the failures
// come when the bytes are there already, as where an answer is lost.
type faulty struct {
	blobs.Bucket
	mu    sync.Mutex
	calls int
	every int // fails; 0: none do
}

var errBucket = errors.New("507 Insufficient Storage")

func (f *faulty) fails() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.every == 0 || f.calls%f.every != 0:
		return nil, nil
	case f.calls/f.every%2 == 0:
		return nil, errBucket
	}
	return errBucket, nil
}

func (f *faulty) set(every int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every = every
}

func (f *faulty) Put(ctx context.Context, key string, data []byte) error {
	before, after := f.fails()
	if before != nil {
		return before
	}
	return errors.Join(f.Bucket.Put(ctx, key, data), after)
}

func (f *faulty) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	before, after := f.fails()
	if err := errors.Join(before, after); err != nil {
		return nil, err
	}
	return f.Bucket.Get(ctx, key)
}

// withBucket opens the database at where with a bucket.
func withBucket(t *testing.T, where string, b blobs.Bucket) *DB {
	t.Helper()
	o := Options{Path: where, Now: time.Now, Bucket: b}
	if isPostgres(where) {
		o.URL, o.Path = where, ""
	}
	db, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// rowBytes is how much the rows of a run hold.
func rowBytes(t *testing.T, db *DB, run string) (bytes, rows int) {
	t.Helper()
	for _, table := range []string{"lines", "files"} {
		got, err := collect(t.Context(), db.Reader(), func(scan Scan) (n [2]int, err error) {
			err = scan(&n[0], &n[1])
			return n, err
		}, `select count(*), coalesce(sum(length(body) + length(digest) + 2 * length(run) + 60), 0) from `+table+` where run = $1`, run)
		if err != nil {
			t.Fatal(err)
		}
		rows, bytes = rows+got[0][0], bytes+got[0][1]
	}
	return bytes, rows
}

// A run of usual size whose bucket fails again and again: Sync and Finish fail or store all,
// nothing is lost or doubled, and when it is over the rows are few and short.
func TestFailingBucket(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, dir := t.Context(), t.TempDir()
		bucket := &faulty{Bucket: blobs.File{Dir: t.TempDir()}}
		db := withBucket(t, where, bucket)
		m := mirror(t, db, "r", dir)
		var journal, events, evidence strings.Builder
		failed := 0
		for n := range 60 {
			fmt.Fprintf(&journal, `{"seq":%d,"data":%q}`+"\n", n, strings.Repeat("an answer of the model ", 200))
			for range 20 {
				fmt.Fprintf(&events, `{"n":%d,"text":"something that an agent did, and what was said to it"}`+"\n", n)
			}
			out := fmt.Sprintf("spill/E%d.stdout", n)
			fmt.Fprintf(&evidence, `{"id":"E%d","stdout":{"spill":%q}}`+"\n", n, out)
			write(t, dir, out, strings.Repeat(fmt.Sprintf("line of the output of command %d\n", n), n*20))
			write(t, dir, "journal.jsonl", journal.String())
			write(t, dir, "events.jsonl", events.String())
			write(t, dir, "evidence.jsonl", evidence.String())
			bucket.set(n % 4)
			for err := m.Sync(ctx); err != nil; err = m.Sync(ctx) {
				if !errors.Is(err, ErrBlobsAway) || !errors.Is(err, errBucket) {
					t.Fatal(err)
				}
				failed++
				bucket.set(3 + n%4)
			}
		}
		write(t, dir, "report.json", strings.Repeat("{}", 5000))
		bucket.set(1)
		if err := m.Finish(ctx); !errors.Is(err, ErrBlobsAway) {
			t.Errorf("Finish into a bucket that is away: %v", err)
		}
		if _, err := db.File(ctx, "r", "report.json"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a file whose blob is not there: %v", err)
		}
		bucket.set(0)
		if err := m.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		if failed < 10 {
			t.Errorf("the bucket failed %d times, which shows little", failed)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		bucket.set(7)
		if err := db.Restore(ctx, "r", restored); !errors.Is(err, ErrBlobsAway) {
			t.Errorf("restored from a bucket that fails: %v", err)
		}
		if _, err := os.Stat(restored); err == nil {
			t.Error("a part of a run looks like the whole")
		}
		bucket.set(0)
		if err := db.Restore(ctx, "r", restored); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tree(t, dir), tree(t, restored)); d != "" {
			t.Error(d)
		}
		if bytes, rows := rowBytes(t, db, "r"); bytes > 15_000 || rows > 70 {
			t.Errorf("%d rows with %d bytes are left in the database", rows, bytes)
		}
		tails, err := db.Tails(ctx, "r", "spill/E59.", 40)
		if err != nil || len(tails) != 1 || string(tails[0].End) != "and 59\nline of the output of command 59\n" {
			t.Errorf("tails %v, %v", tails, err)
		}
	})
}

// A refusing bucket refuses one blob.
type refusing struct {
	faulty
	refused blobs.Digest
}

func (f *refusing) Put(ctx context.Context, key string, data []byte) error {
	if strings.Contains(key, f.refused.String()) {
		return errBucket
	}
	return f.faulty.Put(ctx, key, data)
}

// What a Finish that failed has stored is not stored again by the next.
func TestFinishGoesOn(t *testing.T) {
	t.Parallel()
	dir, bad := t.TempDir(), strings.Repeat("bad", 100)
	bucket := &refusing{faulty{Bucket: blobs.File{Dir: t.TempDir()}}, blobs.DigestOf([]byte(bad))}
	db := withBucket(t, filepath.Join(t.TempDir(), "db"), bucket)
	m := mirror(t, db, "r", dir)
	for n := range 20 {
		write(t, dir, fmt.Sprintf("spill/E%d.stdout", n), strings.Repeat(fmt.Sprint(n), 200))
	}
	write(t, dir, "spill/bad", bad)
	if err := m.Finish(t.Context()); !errors.Is(err, ErrBlobsAway) {
		t.Fatal(err)
	}
	before := bucket.calls
	bucket.refused = blobs.Digest{}
	if err := m.Finish(t.Context()); err != nil || bucket.calls != before+1 || before != 20 {
		t.Errorf("%v; first %d blobs were stored, then %d more", err, before, bucket.calls-before)
	}
}

// Long files are stored in parts, of which the last is enough for the end.
func TestParts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, dir := t.Context(), t.TempDir()
		counted := &faulty{Bucket: blobs.File{Dir: t.TempDir()}}
		db := withBucket(t, where, counted)
		m := mirror(t, db, "r", dir)
		var events strings.Builder
		for n := 0; events.Len() < 3*partSize/2; n++ {
			fmt.Fprintf(&events, "{\"n\":%d,\"text\":%q}\n", n, strings.Repeat("x", 1000))
		}
		long := strings.Repeat("y", 2*partSize) + "the end"
		write(t, dir, "events.jsonl", events.String())
		write(t, dir, "spill/E1.stdout", long)
		if err := m.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		before := counted.calls
		tails, err := db.Tails(ctx, "r", "spill/", 3)
		if err != nil || len(tails) != 1 || string(tails[0].End) != "end" || tails[0].Size != int64(len(long)) || counted.calls-before != 1 {
			t.Errorf("%v, %v, %d blobs were read", tails, err, counted.calls-before)
		}
		if got, err := db.File(ctx, "r", "spill/E1.stdout"); err != nil || string(got) != long {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		var got strings.Builder
		middle := int64(strings.LastIndexByte(events.String()[:partSize], '\n') + 1)
		for _, from := range []int64{0, middle} {
			got.Reset()
			got.WriteString(events.String()[:from])
			end, err := db.EachLine(ctx, "r", "events.jsonl", from, func(l Line) error {
				got.Write(append(l.Body, '\n'))
				return nil
			})
			if err != nil || end != int64(events.Len()) || got.String() != events.String() {
				t.Errorf("from %d: read to %d of %d, %v", from, end, events.Len(), err)
			}
		}
	})
}

// What an earlier version stored in rows is read before it is moved and after, also where
// moving it was interrupted; a run that goes on keeps its rows.
func TestMoveOld(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx := t.Context()
		db := openAt(t, where)
		err := db.migrate(ctx, func(ctx context.Context, p *goose.Provider) error {
			_, err := p.DownTo(ctx, 6)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"events.jsonl": "", "journal.jsonl": "", "report.json": strings.Repeat("{}", 1000), "SHA256SUMS": "short", "empty": ""}
		err = db.Write(ctx, func(tx *Tx) error {
			for n := range 50 {
				for _, file := range []string{"events.jsonl", "journal.jsonl"} {
					line := fmt.Sprintf(`{"seq":%d,"kind":"stage","key":"gate"}`, n)
					for _, run := range []string{"old", "works"} {
						if _, err := tx.Exec(ctx, `insert into lines (run, file, start_at, end_at, kind, name, body) values ($1, $2, $3, $4, 'stage', 'gate', $5)`,
							run, file, len(want[file]), len(want[file])+len(line)+1, []byte(line)); err != nil {
							return err
						}
					}
					want[file] += line + "\n"
				}
			}
			for _, name := range []string{"report.json", "SHA256SUMS", "empty"} {
				for _, run := range []string{"old", "works"} {
					if _, err := tx.Exec(ctx, `insert into files (run, name, body) values ($1, $2, $3)`, run, name, []byte(want[name])); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		bucket := &faulty{Bucket: blobs.File{Dir: t.TempDir()}}
		db = withBucket(t, where, bucket)
		for run, state := range map[string]RunState{"old": Finished, "works": Running} {
			if err := db.SaveRun(ctx, Run{ID: run, State: state, Ended: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		same := func(when string) {
			t.Helper()
			for _, run := range []string{"old", "works"} {
				dir := filepath.Join(t.TempDir(), run)
				if err := db.Restore(ctx, run, dir); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, tree(t, dir)); d != "" {
					t.Errorf("%s %s:\n%s", when, run, d)
				}
			}
		}
		same("before")
		for every := range 4 {
			bucket.set(every + 1)
			_ = db.TidyBlobs(ctx)
			bucket.set(0)
			same(fmt.Sprint("interrupted after ", every))
		}
		if err := db.TidyBlobs(ctx); err != nil {
			t.Fatal(err)
		}
		same("after")
		if _, rows := rowBytes(t, db, "old"); rows != 5 {
			t.Errorf("%d rows of the run that ended, want one a file", rows)
		}
		if _, rows := rowBytes(t, db, "works"); rows != 103 {
			t.Errorf("%d rows of the run that goes on, want them as they were", rows)
		}
		dir := filepath.Join(t.TempDir(), "works") // which another version goes on with
		if err := db.Restore(ctx, "works", dir); err != nil {
			t.Fatal(err)
		}
		m := mirror(t, db, "works", dir)
		write(t, dir, "events.jsonl", want["events.jsonl"]+"{}\n")
		syncNow(t, m)
		if got, err := db.Lines(ctx, "works", "events.jsonl", int64(len(want["events.jsonl"])), 2); err != nil || len(got) != 1 {
			t.Errorf("gone on with: %v, %v", got, err)
		}
	})
}

// Blobs that were in the database before a bucket was named are read there until they are moved.
func TestMoveToBucket(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, dir, first := t.Context(), t.TempDir(), openAt(t, where)
		first.blobs = &blobs.Store{Bucket: rowBucket{first}}
		write(t, dir, "report.json", strings.Repeat("{}", 1000))
		if err := first.Import(ctx, "r", dir); err != nil {
			t.Fatal(err)
		}
		db := withBucket(t, where, blobs.File{Dir: t.TempDir()})
		for _, when := range []string{"before", "after"} {
			if body, err := db.File(ctx, "r", "report.json"); err != nil || len(body) != 2000 {
				t.Errorf("%s: %d bytes, %v", when, len(body), err)
			}
			if err := db.TidyBlobs(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := collect(ctx, db.Reader(), scanOne[int], `select count(*) from blobs`); err != nil || n[0] != 0 {
			t.Errorf("%d blobs are left in the database, %v", n[0], err)
		}
	})
}

// Blobs go when no row names them: those that a run replaced a day after it ended, and all
// when its time is over. What is not named yet of a run that goes on stays.
func TestLooseBlobs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, dir, folder := t.Context(), t.TempDir(), t.TempDir()
		db := withBucket(t, where, blobs.File{Dir: folder})
		now := time.Now()
		db.now = func() time.Time { return now }
		run := Run{ID: "r", State: Running, Created: now, Started: now}
		save := func() {
			t.Helper()
			if err := db.SaveRun(ctx, run); err != nil {
				t.Fatal(err)
			}
		}
		there := func(when string, want int) {
			t.Helper()
			if err := db.TidyBlobs(ctx); err != nil {
				t.Fatal(err)
			}
			if got := len(tree(t, folder)); got != want {
				t.Errorf("%s: %d blobs, want %d", when, got, want)
			}
		}
		save()
		if _, err := db.blobs.Put(ctx, "r", []byte("stored, and not named yet")); err != nil {
			t.Fatal(err)
		}
		m := mirror(t, db, "r", dir)
		text := ""
		for n := range 3 {
			text += fmt.Sprintf("%d%s\n", n, strings.Repeat("x", looseBytes))
			write(t, dir, "events.jsonl", text)
			syncNow(t, m)
		}
		if err := m.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		now = now.Add(25 * time.Hour)
		there("while it goes on", 5)
		run.State, run.Ended = Finished, now
		save()
		there("a day after", 1)
		if lines, err := db.Lines(ctx, "r", "events.jsonl", 0, 10); err != nil || len(lines) != 3 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
		now = now.Add(1000 * time.Hour)
		if n, err := db.Sweep(ctx, now, 10); n != 1 || err != nil {
			t.Errorf("Sweep = %d, %v", n, err)
		}
		there("when its time is over", 0)
		if n, err := collect(ctx, db.Reader(), scanOne[int], `select count(*) from loose`); err != nil || n[0] != 0 {
			t.Errorf("%d runs are noted still, %v", n[0], err)
		}
	})
}

// losing is a bucket that has lost one of the blobs that were put there.
type losing struct {
	blobs.Bucket
	mu   sync.Mutex
	keys []string
}

func (l *losing) Put(ctx context.Context, key string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, key)
	return l.Bucket.Put(ctx, key, data)
}

func (l *losing) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == l.keys[0] {
		return nil, blobs.ErrNotFound
	}
	return l.Bucket.Get(ctx, key)
}

// Of several files those that are lost are named as such, and the others are read.
func TestTailsLost(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db, dir := withBucket(t, where, &losing{Bucket: blobs.File{Dir: t.TempDir()}}), t.TempDir()
		for _, name := range []string{"spill/E1.stdout", "spill/E2.stdout"} {
			write(t, dir, name, strings.Repeat(name+"\n", looseBytes))
		}
		if err := db.Import(t.Context(), "r1", dir); err != nil {
			t.Fatal(err)
		}
		got, err := db.Tails(t.Context(), "r1", "spill/", 4)
		if err != nil || len(got) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		lost := 0
		for _, tail := range got {
			switch {
			case tail.Lost && tail.End == nil:
				lost++
			case tail.Lost || string(tail.End) != "out\n":
				t.Errorf("%s: %q, lost %t", tail.Name, tail.End, tail.Lost)
			}
		}
		if lost != 1 {
			t.Errorf("%d are lost, want one", lost)
		}
	})
}

// The reason of a run that was skipped begins with a code, which people are not shown; that of another does not.
func TestWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		run  Run
		want string
	}{
		{Run{State: Skipped, Reason: "closed: the pull request is closed: see #4"}, "the pull request is closed: see #4"},
		{Run{State: Skipped, Reason: "no code"}, "no code"},
		{Run{State: Failed, Reason: "clone: exit 128"}, "clone: exit 128"},
		{Run{State: Finished}, ""},
	} {
		if got := tt.run.Why(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.run, got, tt.want)
		}
	}
}
