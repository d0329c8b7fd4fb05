package own

import (
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/detection.md has the bounds of the time of own commands as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../../docs/detection.md", map[string]bool{
		"Not where the base's tests take more than a minute":                                    ownLeast == time.Minute,
		"in four times the time of the base's tests":                                            ownShare == 4,
		"Three such calls are always tried, sixteen at most as long as all take twenty seconds": givenAlways == 3 && givenMost == 16 && givenShare == 20*time.Second,
	})
}
