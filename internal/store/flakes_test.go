package store

import (
	"maps"
	"testing"
	"time"
)

// Flips of tests are counted for all workers, by repository and by programs, and are
// forgotten when a test did not flip for long.
func TestFlakes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db, other := t.Context(), openAt(t, where), openAt(t, where)
		add := func(db *DB, repo, programs string, flipped ...string) {
			t.Helper()
			if err := db.Flakes(repo).Add(ctx, programs, flipped); err != nil {
				t.Fatal(err)
			}
		}
		want := func(repo, programs string, runs int, flips map[string]int) {
			t.Helper()
			n, have, err := db.Flakes(repo).Load(ctx, programs)
			if err != nil || n != runs || !maps.Equal(have, flips) {
				t.Errorf("%s with %s: %d runs, %v, %v; want %d, %v", repo, programs, n, have, err, runs, flips)
			}
		}
		want("1", "go1", 0, map[string]int{})
		add(db, "1", "go1", "a", "b")
		add(other, "1", "go1", "a")
		add(other, "1", "go1")
		add(db, "1", "go2", "c")
		add(db, "2", "go1")
		want("1", "go1", 3, map[string]int{"a": 2, "b": 1})
		want("1", "go2", 1, map[string]int{"c": 1})
		want("2", "go1", 1, map[string]int{})
		now := time.Now()
		db.now = func() time.Time { return now.Add(flakeAge + time.Hour) }
		add(db, "1", "go1", "b")
		want("1", "go1", 4, map[string]int{"b": 2})
		if _, err := db.Sweep(ctx, now.Add(2*flakeAge), 10); err != nil {
			t.Fatal(err)
		}
		want("1", "go1", 0, map[string]int{})
	})
}
