package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// Runs that ended are found by the tests that their reports name, also those of versions
// that did not store them, and each is looked at once.
func TestIndex(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "db"), Now: time.Now})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	save := func(id string, tests *report.Tests) {
		t.Helper()
		now := time.Now()
		if err := db.SaveRun(t.Context(), store.Run{ID: id, Job: id, Repo: "acme/w", RepoID: 9, State: store.Finished, Created: now, Ended: now}); err != nil {
			t.Fatal(err)
		}
		if tests == nil {
			return
		}
		rep := report.Report{Verdict: report.Fail, Outcome: report.Completed, Trigger: "cli", Trust: "local", Reasons: []string{"x"}, Tests: tests, Statistics: []report.Statistic{{Test: "p TestB", Head: "5/5", Base: "0/5"}}}
		body, err := rep.JSON()
		dir := t.TempDir()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "report.json"), body, 0o600)
		}
		if err == nil {
			err = db.Import(t.Context(), id, dir)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("1", &report.Tests{Regressed: []string{"p TestB", "p Test\x00"}, Flaky: []string{"p TestB", "p TestF"}, PreExisting: []string{"p TestP"}})
	save("2", nil)
	save("3", &report.Tests{HeadPassed: 3})
	w := &Worker{DB: db}
	for range 2 {
		if err := w.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range map[string]int{"testb": 1, "testp": 1, "testf": 0, "test": 1} {
		if runs, err := db.Runs(t.Context(), store.RunFilter{RepoIDs: []int64{9}, Failing: []string{part}}); err != nil || len(runs) != want {
			t.Errorf("%s: %d runs, %v; want %d", part, len(runs), err, want)
		}
	}
	history, err := db.TestRuns(t.Context(), 9, "p TestB", 10)
	if err != nil || len(history) != 2 || history[1].Outcome != store.Broken || history[1].Detail != "failed of runs: 5/5 on the head, 0/5 on the base" || history[0].Outcome != "" {
		t.Errorf("%+v, %v", history, err)
	}
	if left, err := db.Unindexed(t.Context(), 9); err != nil || len(left) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}
