package kept

import (
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/gate.md has the bound of a suite that is run as a whole as it is.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../../docs/gate.md", map[string]bool{
		"where all tests take two minutes at most": maxTogether == 2*time.Minute,
	})
}
