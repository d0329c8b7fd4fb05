package imports

import (
	"io/fs"
	"strings"
	"testing"
)

// TestArchitectureIsWhole: docs/architecture.md names every package that the table has.
func TestArchitectureIsWhole(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(root(t), "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		if !strings.HasSuffix(r.pkg, "...") && !strings.Contains(string(text), "`"+r.pkg+"`") {
			t.Errorf("docs/architecture.md does not name %s", r.pkg)
		}
	}
}
