package queue

import (
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// How often a job is tried, with which pauses, and how long a silent worker counts as alive is
// what docs/operate.md says.
func TestDefaults(t *testing.T) {
	t.Parallel()
	o := Options{}.withDefaults(true)
	if o.Attempts != 3 || o.Starts != 25 || o.Lease != 10*time.Second || o.Poll != time.Second {
		t.Errorf("%d attempts, %d starts, %v, %v", o.Attempts, o.Starts, o.Lease, o.Poll)
	}
	if first, second := o.Backoff(1), o.Backoff(2); first != 10*time.Second || second != time.Minute {
		t.Errorf("tried again after %v and %v", first, second)
	}
	docstest.Says(t, "../../docs/operate.md", map[string]bool{
		"those that the viewer may see are listed, of the first 200": linePlaces == 200,
		"its workers have five seconds to report":                    regainWithin == 5*time.Second,
	})
}
