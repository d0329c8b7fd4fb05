package behave

import (
	"testing"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/gate.md has the bounds of inputs as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../../docs/gate.md", map[string]bool{
		"At most 250 made ones for a function":       zzMost == 250,
		"100 different ones at most, of many tests":  zzTakes == 100,
		"Up to a thousand more are recorded ones":    zzVariations == 1000,
		"20 functions in a package, ten packages":    MaxFunctions == 20,
		"two for each changed one, six in a package": maxEach == 2 && maxThrough == 6,
	})
}
