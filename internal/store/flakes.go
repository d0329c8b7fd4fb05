package store

import (
	"context"
	"fmt"
	"time"
)

// Bounds for what is kept of flaky tests.
const (
	flakeAge  = 90 * 24 * time.Hour // what did not flip for so long may be repaired
	maxFlakes = 5000                // tests of a repository: the oldest go
)

// Flakes keeps in how many of a repository's runs each of its tests gave both results
// on the same code, for all workers, and for each set of programs on its own.
type Flakes struct {
	db   *DB
	repo string
}

// Flakes are those of a repository, by what it is known by.
func (db *DB) Flakes(repo string) *Flakes { return &Flakes{db, repo} }

// allRuns is in place of a test in the row that counts runs.
const allRuns = ""

// Load returns how many runs there were with these programs, and in how many of them
// each test flipped, by its key.
func (f *Flakes) Load(ctx context.Context, programs string) (runs int, flips map[string]int, err error) {
	flips = map[string]int{}
	err = f.db.Reader().Each(ctx, func(scan Scan) error {
		var test string
		var times int
		if err := scan(&test, &times); err != nil {
			return err
		}
		if test == allRuns {
			runs = times
			return nil
		}
		flips[test] = times
		return nil
	}, `select test, times from flakes where repo = $1 and programs = $2 and last >= $3`, f.repo, programs, Micros(f.db.now().Add(-flakeAge)))
	if err != nil {
		return 0, nil, fmt.Errorf("flaky tests of %s: %w", f.repo, err)
	}
	return runs, flips, nil
}

// Add counts a run in which these tests flipped, by their keys.
func (f *Flakes) Add(ctx context.Context, programs string, flipped []string) error {
	err := f.db.Write(ctx, func(tx *Tx) error {
		for _, test := range append([]string{allRuns}, flipped...) {
			_, err := tx.Exec(ctx, `insert into flakes (name, repo, programs, test, times, last) values ($1, $2, $3, $4, 1, $5)
				on conflict (name) do update set times = flakes.times + 1, last = excluded.last`,
				f.repo+" "+programs+" "+test, f.repo, programs, test, Micros(f.db.now()))
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `delete from flakes where repo = $1 and name not in
			(select name from flakes where repo = $1 order by last desc, name limit $2)`, f.repo, maxFlakes)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep flaky tests of %s: %w", f.repo, err)
	}
	return nil
}
