package conclude

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// TestInterfaces: what is gone for other modules stands in the report by its names, and what
// only behaves differently does not.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	got := interfaces(&gate.Behaviour{Differences: []gate.Difference{
		{Function: "Sum", Example: "Sum(1)", Test: "func TestSum…", Evidence: []string{"E1"}},
		{Function: "(*Till).Close, Twice", Gone: true, Symbols: []string{"(*Till).Close", "Twice"}, Test: "package m", Evidence: []string{"E2"}},
	}})
	want := []report.Interface{
		{Symbol: "(*Till).Close", Change: report.Removed, Witness: "package m", Evidence: []string{"E2"}},
		{Symbol: "Twice", Change: report.Removed, Witness: "package m", Evidence: []string{"E2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if interfaces(nil) != nil {
		t.Error("something is gone where nothing was called")
	}
}
