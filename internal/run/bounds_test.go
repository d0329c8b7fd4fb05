package run

import (
	"testing"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/detection.md has the bounds of what lies outside of a repository as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../docs/detection.md", map[string]bool{
		"three inside one another and 256 a side at most": moduleDepth == 3 && maxModules == 256,
		"4 GB a side at most":                             maxContents == 4<<30,
	})
}
