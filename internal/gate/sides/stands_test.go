package sides

import (
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestOfGone: a row goes with the file that it is named after, and with no document that happens to have its name.
func TestOfGone(t *testing.T) {
	t.Parallel()
	row := func(name string) results.ID {
		return results.ID{Unit: ".", Package: "test_a.py", Test: "test_a[" + name + "]"}
	}
	for _, tt := range []struct {
		row, deleted string
		want         bool
	}{
		{"en", "locales/en.json", true},
		{"locales/en.json", "locales/en.json", true},
		{"en", "docs/en.md", false},
		{"en.md", "docs/en.md", true},
		{"en", "locales/fr.json", false},
		{"en", "tests/test_en.py", false},
	} {
		r := &Reader{
			Change: change.Change{Files: []change.File{{Path: tt.deleted, Status: change.Deleted}}},
			Suites: map[results.Side]results.Suite{results.Head: {row("other"): {Status: results.Passed}}},
		}
		if got := r.OfGone(row(tt.row)); got != tt.want {
			t.Errorf("%s of %s: %v", tt.row, tt.deleted, got)
		}
	}
}
