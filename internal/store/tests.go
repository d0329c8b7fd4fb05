package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// An Outcome is what a run said of a test. The strings are stored: do not change them.
type Outcome string

// The outcomes. Of a test that a run says nothing of none is stored.
const (
	Broken      Outcome = "broken"       // passes on the base, fails on the head
	NewFailing  Outcome = "new_failing"  // only on the head, and fails there
	PreExisting Outcome = "pre_existing" // fails on both
	Fixed       Outcome = "fixed"        // fails on the base, passes on the head
	Flaky       Outcome = "flaky"        // both results on the same code
	NotRun      Outcome = "not_run"      // did not run on the head
	Removed     Outcome = "removed"      // only on the base
)

// failing are the outcomes of tests that fail on the head, for statements.
const failing = `'broken', 'new_failing', 'pre_existing'`

// Fails reports whether the test failed on the head.
func (o Outcome) Fails() bool { return o == Broken || o == NewFailing || o == PreExisting }

// A TestResult is what a run said of a test that did not just pass.
type TestResult struct {
	Test    string // as reports name it
	Outcome Outcome
	Detail  string // for people, such as how often it failed; may be empty
}

// Unindexed returns runs that ended and whose tests are not stored yet, the newest first.
func (db *DB) Unindexed(ctx context.Context, limit int) ([]Run, error) {
	runs, err := collect(ctx, db.Reader(), scanRun, `select `+runColumns+` from runs where indexed = 0 and ended <> 0 order by created desc limit $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("list runs without test results: %w", err)
	}
	return runs, nil
}

// SaveTests stores what a run that ended said of tests, in the place of what was stored of
// it. Compared says that the run compared tests at all.
func (db *DB) SaveTests(ctx context.Context, r Run, compared bool, results []TestResult) error {
	indexed := 1
	if compared {
		indexed = 2
	}
	err := db.Write(ctx, func(tx *Tx) error {
		if n, err := tx.Exec(ctx, `update runs set indexed = $2 where id = $1`, r.ID, indexed); err != nil || n == 0 {
			return err // one that is gone has no tests
		}
		if _, err := tx.Exec(ctx, `delete from test_results where run = $1`, r.ID); err != nil {
			return err
		}
		for _, t := range results {
			if _, err := tx.Exec(ctx, `insert into tests (repo_id, name, folded) values ($1, $2, $3) on conflict (repo_id, name) do nothing`, r.RepoID, t.Test, strings.ToLower(t.Test)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `insert into test_results (test, run, outcome, detail, created)
				select id, $3, $4, $5, $6 from tests where repo_id = $1 and name = $2 on conflict (test, run) do nothing`,
				r.RepoID, t.Test, r.ID, string(t.Outcome), t.Detail, Micros(r.Created))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save test results of run %s: %w", r.ID, err)
	}
	return nil
}

// A TestRun is a run that compared tests, and what it said of one.
type TestRun struct {
	Run
	Outcome Outcome // empty: it did not say that the test failed or flaked
	Detail  string
}

// TestRuns returns the newest runs of a repository that compared tests, and what each said
// of a test.
func (db *DB) TestRuns(ctx context.Context, repo int64, test string, limit int) ([]TestRun, error) {
	const known = `select id from tests where repo_id = $1 and name = $2`
	runs, err := collect(ctx, db.Reader(), func(scan Scan) (t TestRun, err error) {
		t.Run, err = scanRun(func(dest ...any) error { return scan(append(dest, &t.Outcome, &t.Detail)...) })
		return t, err
	}, `select `+runColumns+`, coalesce((select outcome from test_results t where t.run = runs.id and t.test = (`+known+`)), ''),
			coalesce((select detail from test_results t where t.run = runs.id and t.test = (`+known+`)), '')
		from runs where repo_id = $1 and indexed = 2 order by created desc, id desc limit $3`, repo, test, limit)
	if err != nil {
		return nil, fmt.Errorf("runs with a test: %w", err)
	}
	return runs, nil
}

// A TestSummary counts what runs of a repository said of a test.
type TestSummary struct {
	Test          string
	Failed, Flaky int       // runs
	Last          time.Time // when the last of them was made
}

// Tests returns the tests of a repository that failed or flaked, those first that did so last.
func (db *DB) Tests(ctx context.Context, repo int64, limit int) ([]TestSummary, error) {
	tests, err := collect(ctx, db.Reader(), func(scan Scan) (t TestSummary, err error) {
		var last int64
		err = scan(&t.Test, &t.Failed, &t.Flaky, &last)
		t.Last = FromMicros(last)
		return t, err
	}, `select name, count(case when outcome <> 'flaky' then 1 end), count(case when outcome = 'flaky' then 1 end), max(created)
		from tests join test_results on test = tests.id where repo_id = $1 and outcome in (`+failing+`, 'flaky') group by name order by 4 desc, 1 limit $2`, repo, limit)
	if err != nil {
		return nil, fmt.Errorf("list tests: %w", err)
	}
	return tests, nil
}

// Keys returns under what results are kept, the newest first.
func (b *BaseResults) Keys(ctx context.Context, limit int) ([]string, error) {
	names, err := collect(ctx, b.db.Reader(), scanOne[string], `select name from base_results where repo = $1 order by created desc, name limit $2`, b.repo, limit)
	if err != nil {
		return nil, fmt.Errorf("results of bases of %s: %w", b.repo, err)
	}
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, b.name(""))
	}
	return names, nil
}

// A Flake is how often a test flipped, with one set of programs.
type Flake struct {
	Flips, Runs int
	Last        time.Time // when it flipped last
}

// Of returns how often a test flipped, by its key, for each set of programs with which it did.
func (f *Flakes) Of(ctx context.Context, key string) ([]Flake, error) {
	flakes, err := collect(ctx, f.db.Reader(), func(scan Scan) (k Flake, err error) {
		var last int64
		err = scan(&k.Flips, &last, &k.Runs)
		k.Last = FromMicros(last)
		return k, err
	}, `select t.times, t.last, coalesce((select r.times from flakes r where r.repo = t.repo and r.programs = t.programs and r.test = $3), 0)
		from flakes t where t.repo = $1 and t.test = $2 and t.last >= $4 order by t.last desc`, f.repo, key, allRuns, Micros(f.db.now().Add(-flakeAge)))
	if err != nil {
		return nil, fmt.Errorf("flips of a test of %s: %w", f.repo, err)
	}
	return flakes, nil
}
