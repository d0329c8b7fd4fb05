package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A watcher of a run is woken by what this process stores of it, and by what another
// does where there is another.
func TestWatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		other := db
		if db.Postgres() != nil {
			var err error
			if other, err = openWhere(t.Context(), where); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = other.Close() })
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = db.Listen(ctx) }()
		t.Cleanup(func() { cancel(); <-ended })
		more, end := db.Watch("r1")
		defer end()
		dir := t.TempDir()
		m := mirror(t, other, "r1", dir)
		text := ""
		woken := func() bool {
			tick := time.NewTicker(300 * time.Millisecond)
			defer tick.Stop()
			timeout := time.After(5 * time.Minute)
			for { // listening begins some time
				text += "{}\n"
				write(t, dir, "events.jsonl", text)
				syncNow(t, m)
				select {
				case <-more:
					return true
				case <-timeout:
					return false
				case <-tick.C:
				}
			}
		}
		if !woken() {
			t.Fatal("lines that were stored wake no watcher")
		}
		if err := other.SaveRun(t.Context(), Run{ID: "r1", Repo: "a/b", State: Running}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-more:
		case <-time.After(5 * time.Minute):
			t.Fatal("a row that was stored wakes no watcher")
		}
	})
}

// Runs are listed by who may see them, by verdict, and page by page without a gap where
// several were made at the same time.
func TestRunsOfPages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		at := time.Unix(1000, 0).UTC()
		for _, r := range []Run{
			{ID: "a", RepoID: 1, Verdict: "PASS", Installation: 7},
			{ID: "b", RepoID: 1, Verdict: "FAIL", Title: "x"},
			{ID: "c", RepoID: 2, Verdict: "PASS", Installation: 8},
			{ID: "d", RepoID: 3, Verdict: "PASS", Installation: 7},
		} {
			r.Created, r.Repo, r.State = at, "acme/w", Finished
			if err := db.SaveRun(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		list := func(f RunFilter) string {
			runs, err := db.Runs(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			var ids strings.Builder
			for _, r := range runs {
				ids.WriteString(r.ID + r.Title)
			}
			return ids.String()
		}
		got := []string{
			list(RunFilter{}), list(RunFilter{RepoIDs: []int64{}}), list(RunFilter{RepoIDs: []int64{1, 2}}),
			list(RunFilter{RepoIDs: []int64{1, 2}, Verdict: "PASS"}), list(RunFilter{Limit: 2}), list(RunFilter{Limit: 2, Before: at, BeforeID: "c"}),
		}
		if diff := cmp.Diff([]string{"dcbxa", "", "cbxa", "ca", "dc", "bxa"}, got); diff != "" {
			t.Error(diff)
		}
		installations, err := db.Installations(t.Context())
		if diff := cmp.Diff([]int64{7, 8}, installations); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// Of long files the ends are read, and of other folders nothing.
func TestTails(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		dir := t.TempDir()
		write(t, dir, "spill/E1.stdout", "0123456789")
		write(t, dir, "spill/E1.stderr", "abc")
		write(t, dir, "spilled", "no")
		if err := db.Import(t.Context(), "r1", dir); err != nil {
			t.Fatal(err)
		}
		got, err := db.Tails(t.Context(), "r1", "spill/", 4)
		if err != nil {
			t.Fatal(err)
		}
		want := []Tail{{Name: "spill/E1.stderr", Size: 3, End: []byte("abc")}, {Name: "spill/E1.stdout", Size: 10, End: []byte("6789")}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
