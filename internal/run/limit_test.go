package run

import (
	"testing"
	"time"
)

// TestTimeLimit holds how a limit reads that ended a run.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		40 * time.Second: "40s", 30 * time.Minute: "30m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 10 * time.Hour: "10h", 2500 * time.Millisecond: "2.5s",
	} {
		if got := (&timeLimit{d}).Error(); got != "the time limit of "+want+" was reached" {
			t.Errorf("%s: %s", d, got)
		}
	}
}
