package web

import (
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/operate.md has the bounds of the pages as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../docs/operate.md", map[string]bool{
		"of these 100 that wait at most":                         queueShown == 100,
		"of the last 100 runs that compared tests":               testRuns == 100,
		"has 160 kB of them, of failed commands first":           shownOutputs == 160<<10,
		"GitHub is asked again after a minute":                   accessTime == time.Minute,
		"one waits for 5 seconds, and those of the next 10":      askTime == 5*time.Second && awayTime == 10*time.Second,
		"500; 300 of these without a login, 30 of an address":    streamsAtOnce == 500 && strangersAtOnce == 300 && perAddress == 30,
		"no proxy's, 5 minutes each time":                        strangerTime == 5*time.Minute,
		"**Sessions** last for eight hours at most":              sessionTime == 8*time.Hour,
		"longer than the 15 seconds after which the server says": heartbeat == 15*time.Second,
	})
}
