package tester

import (
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/gate.md has the bounds of runs as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../../docs/gate.md", map[string]bool{
		"Of more than twenty tests that disagree, twenty decide for all": maxSample == 20,
		"a round takes over a tenth of the time limit":                   roundShare == 10,
		"up to twenty more runs each, or a minute":                       moreRounds == 20 && Limits{}.WithDefaults().Random == time.Minute,
		"have 70 % of the time limit":                                    DecidesFirst == 70,
		"get half a minute together":                                     Limits{}.WithDefaults().Fuzz == 30*time.Second,
		"a minute and a half of machine time":                            Limits{}.WithDefaults().Mutation == 90*time.Second,
	})
}
