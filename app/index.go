package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

const (
	indexedAtOnce = 100 // runs
	maxIndexed    = 300 // tests of a run: one that breaks more is not found by each of them
	maxTestName   = 500 // bytes
)

// Index stores what runs that ended said of tests, so that they are found by them. It does
// what is left: runs of earlier versions, and those whose worker died at that moment.
func (w *Worker) Index(ctx context.Context) error {
	for {
		runs, err := w.DB.Unindexed(ctx, indexedAtOnce)
		if err != nil || len(runs) == 0 {
			return err
		}
		for _, run := range runs {
			if err := w.index(ctx, run); err != nil {
				return err
			}
		}
	}
}

func (w *Worker) index(ctx context.Context, run store.Run) error {
	body, err := w.DB.File(ctx, run.ID, "report.json")
	if errors.Is(err, store.ErrNotFound) {
		return w.DB.SaveTests(ctx, run, false, nil)
	}
	if err != nil {
		return err
	}
	rep, err := report.Parse(body)
	if err != nil { // of another version
		return w.DB.SaveTests(ctx, run, false, nil)
	}
	return w.DB.SaveTests(ctx, run, rep.Tests != nil, testResults(rep))
}

// testResults is what a report says of tests that did not just pass, the gravest first.
func testResults(rep *report.Report) []store.TestResult {
	if rep.Tests == nil {
		return nil
	}
	detail := map[string]string{}
	for _, s := range rep.Statistics {
		detail[s.Test] = fmt.Sprintf("failed of runs: %s on the head, %s on the base", s.Head, s.Base)
	}
	var out []store.TestResult
	seen := map[string]bool{}
	t := rep.Tests
	for _, l := range []struct {
		outcome store.Outcome
		tests   []string
	}{
		{store.Broken, t.Regressed},
		{store.NewFailing, t.NewFailing},
		{store.Flaky, t.Flaky},
		{store.PreExisting, t.PreExisting},
		{store.Fixed, t.Fixed},
		{store.NotRun, t.NotRun},
		{store.Removed, t.Removed},
	} {
		for _, test := range l.tests {
			if len(out) == maxIndexed {
				return out
			}
			if seen[test] || len(test) > maxTestName || strings.ContainsRune(test, 0) { // which PostgreSQL does not store
				continue
			}
			seen[test] = true
			out = append(out, store.TestResult{Test: test, Outcome: l.outcome, Detail: detail[test]})
		}
	}
	return out
}
