package checks

import (
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/behave"
	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/gate.md has the bounds of the checks as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../../docs/gate.md", map[string]bool{
		"ten seconds each at most, six of them, and no more than an eighth of the time": fuzzEach == 10*time.Second && maxTargets == 6 && fuzzShare == 8,
		"At most 40 mutants":                                               maxMutants == 40,
		"a fourth of the time that the run has left":                       mutationShare == 4,
		"Tests that take over 20 seconds are not run for mutants":          slowTests == 20*time.Second,
		"as many as there are processors (at most four;":                   mutationWindow == 4,
		"20 functions in a package, ten packages":                          behave.MaxFunctions == 20 && maxCompared == 10,
		"does not return (10 seconds and 100 times as long as on the base": callLimit == 10*time.Second && hangTimes == 100,
		"and an eighth of the time that is left. Two fifths of that":       behaviourShare == 8 && sideShare == 5,
		"in the folder. Five at most.":                                     maxPrograms == 5,
		"20 of a program at most":                                          maxLines == 20,
		"takes more than five seconds on the base":                         lineLimit == 5*time.Second,
		"20 at most, those in files near what changed first":               maxRequests == 20,
		"two ways to start a program are tried":                            maxServers == 2,
		"up to 64 KiB, by the rules above":                                 maxAnswer == 64<<10,
		"has three times as long as the head took":                         baseTime == 3,
	})
}
