package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

func ids(runs []Run) string {
	var out []string
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

// Runs are found by each thing that they can be looked for by, by several at once, and in
// the given repositories alone.
func TestSearch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db, at := openAt(t, where), time.Now()
		for i, r := range []Run{
			{ID: "a", Repo: "acme/old", RepoID: 1, Number: 12, Actor: "Maria", HeadSHA: "abc1", State: Finished, Verdict: "FAIL", Installation: 7},
			{ID: "b", Repo: "acme/box", RepoID: 1, Number: 12, Actor: "maria", HeadSHA: "abc2", State: Finished, Verdict: "PASS", Installation: 7},
			{ID: "c", Repo: "acme/gate", RepoID: 2, Number: 12, Actor: "jo", HeadSHA: "abc3", State: Finished, Verdict: "FAIL", Installation: 9},
			{ID: "d", Repo: "acme/gate", RepoID: 2, Number: 13, Actor: "jo", HeadSHA: "def1", State: Running, Installation: 9},
			{ID: "e", Repo: "acme/secret", RepoID: 3, Number: 12, Actor: "maria", HeadSHA: "abc4", State: Finished, Verdict: "FAIL", Installation: 12},
		} {
			r.Job, r.Created = r.ID, at.Add(time.Duration(i)*time.Second)
			if r.State != Running {
				r.Ended = r.Created
			}
			if err := db.SaveRun(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		index := func(run string, compared bool, results ...TestResult) {
			t.Helper()
			r, err := db.Run(t.Context(), run)
			if err == nil {
				err = db.SaveTests(t.Context(), r, compared, results)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		index("a", true, TestResult{Test: "x TestSell_100%", Outcome: Broken}, TestResult{Test: "x TestFlips", Outcome: Flaky})
		index("b", true, TestResult{Test: "x TestSell_100%", Outcome: Fixed})
		index("c", true, TestResult{Test: "y TestSell1100", Outcome: PreExisting}, TestResult{Test: "y TestSell2", Outcome: Broken}, TestResult{Test: "y TestSell3", Outcome: Broken}, TestResult{Test: "y TestSell4", Outcome: Broken}, TestResult{Test: "y TestSell5", Outcome: Broken})
		index("e", true, TestResult{Test: "z TestSell_100%", Outcome: Broken})
		both := []int64{1, 2}
		for _, c := range []struct {
			f    RunFilter
			want string
		}{
			{RunFilter{}, "e d c b a"},
			{RunFilter{RepoIDs: []int64{}}, ""},
			{RunFilter{RepoIDs: both}, "d c b a"},
			{RunFilter{RepoIDs: both, Limit: 2}, "d c"},
			{RunFilter{RepoIDs: both, Number: 12}, "c b a"},
			{RunFilter{RepoIDs: both, Actor: "MARIA"}, "b a"},
			{RunFilter{RepoIDs: both, Commit: "abc"}, "c b a"},
			{RunFilter{RepoIDs: both, Commit: "abc3"}, "c"},
			{RunFilter{RepoIDs: both, Verdict: "FAIL"}, "c a"},
			{RunFilter{RepoIDs: both, State: Running}, "d"},
			{RunFilter{RepoIDs: both, Verdict: "FAIL", Actor: "maria", Number: 12, Commit: "ab"}, "a"},
			{RunFilter{RepoIDs: both, Failing: []string{"testsell"}}, "c a"},
			{RunFilter{RepoIDs: both, Failing: []string{"testsell"}, Limit: 2}, "c a"}, // more tests of c than are looked at at first
			{RunFilter{RepoIDs: both, Failing: []string{"testsell"}, Limit: 1}, "c"},
			{RunFilter{RepoIDs: both, Failing: []string{"SELL_100%"}}, "a"},
			{RunFilter{RepoIDs: both, Failing: []string{"sell", "y "}}, "c"},
			{RunFilter{RepoIDs: both, Failing: []string{"flips"}}, ""},
			{RunFilter{RepoIDs: both, Before: at.Add(2 * time.Second), BeforeID: "c"}, "b a"},
			{RunFilter{Repo: "acme/box"}, "b"},
		} {
			runs, err := db.Runs(t.Context(), c.f)
			if err != nil || ids(runs) != c.want {
				t.Errorf("%+v: %q, %v; want %q", c.f, ids(runs), err, c.want)
			}
		}
		names, err := db.RepoNames(t.Context(), []int64{1, 2, 99})
		if diff := cmp.Diff(map[int64]string{1: "acme/box", 2: "acme/gate"}, names); err != nil || diff != "" {
			t.Errorf("names: %v\n%s", err, diff)
		}
		installations, err := db.Installations(t.Context())
		if diff := cmp.Diff([]int64{7, 9, 12}, installations); err != nil || diff != "" {
			t.Errorf("installations: %v\n%s", err, diff)
		}
		if left, err := db.Unindexed(t.Context(), 10); err != nil || len(left) != 0 { // d is not over
			t.Errorf("left: %s, %v", ids(left), err)
		}
		history, err := db.TestRuns(t.Context(), 1, "x TestSell_100%", 10)
		var got []string
		for _, h := range history {
			got = append(got, fmt.Sprint(h.ID, " ", h.Outcome))
		}
		if diff := cmp.Diff([]string{"b fixed", "a broken"}, got); err != nil || diff != "" {
			t.Errorf("history: %v\n%s", err, diff)
		}
		tests, err := db.Tests(t.Context(), 1, 10)
		if err != nil || len(tests) != 2 || tests[0].Test != "x TestFlips" || tests[0].Flaky != 1 || tests[1].Failed != 1 {
			t.Errorf("tests: %+v, %v", tests, err)
		}
		if _, err := db.Sweep(t.Context(), at.Add(time.Hour), 2); err != nil {
			t.Fatal(err)
		}
		if rest, err := collect(t.Context(), db.Reader(), scanOne[string], `select run from test_results union all select name from tests`); err != nil || len(rest) != 0 {
			t.Errorf("test results of runs that are gone: %v, %v", rest, err)
		}
	})
}

// What a page lists of bases and of the ledger is there by the keys that runs used.
func TestTestLedgers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		for _, key := range []string{"k1", "k2"} {
			if err := db.BaseResults("1").Save(t.Context(), key, []byte(key)); err != nil {
				t.Fatal(err)
			}
		}
		keys, err := db.BaseResults("1").Keys(t.Context(), 10)
		if err != nil || len(keys) != 2 || !strings.HasPrefix(keys[0], "k") {
			t.Errorf("keys %q, %v", keys, err)
		}
		for _, flipped := range [][]string{{"t"}, nil, {"t", "u"}} {
			if err := db.Flakes("1").Add(t.Context(), "go1", flipped); err != nil {
				t.Fatal(err)
			}
		}
		flakes, err := db.Flakes("1").Of(t.Context(), "t")
		if err != nil || len(flakes) != 1 || flakes[0].Flips != 2 || flakes[0].Runs != 3 || flakes[0].Last.IsZero() {
			t.Errorf("flakes %+v, %v", flakes, err)
		}
	})
}

// A search by a test's name finds what was stored before its indexes were there, and on
// SQLite, which chooses by no statistics, looks into no table for the names and results that
// it goes through.
func TestSearchFailingReadsIndexesAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		err := db.migrate(t.Context(), func(ctx context.Context, p *goose.Provider) error {
			_, err := p.DownTo(ctx, 12)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := Run{ID: "a", Job: "a", RepoID: 1, Created: time.Now(), State: Finished}
		err = db.SaveRun(t.Context(), r)
		if err == nil {
			err = db.SaveTests(t.Context(), r, true, []TestResult{{Test: "x TestSell", Outcome: Broken}, {Test: "x TestSellTwice", Outcome: Flaky}})
		}
		if err == nil {
			err = db.Migrate(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		f := RunFilter{RepoIDs: []int64{1, 2}, Failing: []string{"testsell"}}
		runs, err := db.Runs(t.Context(), f)
		if err != nil || ids(runs) != "a" {
			t.Errorf("found %q, %v", ids(runs), err)
		}
		if db.Postgres() != nil {
			return
		}
		plan, err := collect(t.Context(), db.Reader(), func(scan Scan) (step string, err error) {
			var n int
			err = scan(&n, &n, &n, &step)
			return step, err
		}, "explain query plan "+db.candidates(f), "testsell", 0, "", 10)
		want := []string{
			"SEARCH tests USING COVERING INDEX tests_folded (repo_id=?)",
			"SEARCH test_results USING COVERING INDEX test_results_failing (test=?)",
			"USE TEMP B-TREE FOR ORDER BY",
		}
		if diff := cmp.Diff(want, plan); err != nil || diff != "" {
			t.Errorf("plan: %v\n%s", err, diff)
		}
	})
}
