// Package tester runs the tests of both sides of a change, and finds out by more runs what
// the sides disagree about.
//
// What a command reports is a suite: one result for each test, or one for the command where it
// names none. Each run begins from what setup and build left. Which tests are run is said
// by their identities; where a runner cannot name a part, all of its tests run.
package tester

import (
	"time"

	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// A Tester runs tests of both sides: all that a command has, a part of them, or again until
// it is settled what the sides disagree about. It is not safe for concurrent use.
type Tester struct {
	Executor  *execution.Executor
	Sides     *sides.Reader
	Limits    Limits
	Limit     time.Duration // of the whole gate
	Share     int           // of limit, in percent: what the step that is at work may come to
	Longest   time.Duration // the slowest package of the base's tests
	ProbeRuns int           // how many times as long as the tests themselves a command of probes may take
	Flakes    *runs.Ledger
	Phantoms  *runs.Phantoms // tests that fail inside of passing ones on the base

	Note           func(format string, args ...any) // says something once
	NotCoveredOnce func(format string, args ...any) // says once what could not be found out

	// What its runs came to.
	Statistics []runs.Statistic // of tests that were run again because the sides disagree
	Doubted    bool             // runs of base's tests disagreed

	reportedBy map[results.ID][]string // labels of the commands that have reported on a package or file of tests in this run
}

// Measure keeps how long the slowest of the base's tests took.
func (t *Tester) Measure() {
	for _, test := range t.Sides.Suites[results.Base] {
		t.Longest = max(t.Longest, test.Elapsed)
	}
}

// Logged is how long all commands took so far. It is in the log, so that a run
// that is driven again decides the same.
func (t *Tester) Logged() time.Duration {
	var sum time.Duration
	for _, s := range t.Executor.Steps {
		sum += s.Duration
	}
	return sum
}
