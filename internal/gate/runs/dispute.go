package runs

import (
	"context"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A History is what every run of a side said of a test, the first one included.
type History map[results.Side][]results.Suite

// Count is how often a test failed on a side, in this run's log.
func (h History) Count(side results.Side, id results.ID) compare.Count {
	failed := Seen(h[side], id, results.Failed)
	return compare.Count{Failed: failed, Runs: failed + Seen(h[side], id, results.Passed)}
}

// A Dispute is the tests that both sides disagree about while they are run again.
type Dispute struct {
	Cases Comparison // in which lists they are so far
	// once runs tests again at a side.
	Once  func(ctx context.Context, side results.Side, ids []results.ID) (results.Suite, error)
	Runs  History
	Rule  compare.Rule
	Cost  time.Duration       // of the last round, both sides
	Asked map[results.ID]bool // the tests that decide; nil: each one does
	// rules are those of tests that other selections decided than that of the others.
	rules map[results.ID]compare.Rule
}

// SpareRounds are rounds beyond those that a rule needs, for tests that were not
// reported each time.
const SpareRounds = 2
