package golang

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProgramFlags holds which flags of "go test" a test program is given.
func TestProgramFlags(t *testing.T) {
	t.Parallel()
	got := programFlags([]string{"-race", "-short", "-tags", "a,b", "--parallel=2", "-run", "TestA", "-timeout=5m", "-count=1", "-v"})
	if diff := cmp.Diff([]string{"-test.short=true", "-test.parallel=2", "-test.run=TestA"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
