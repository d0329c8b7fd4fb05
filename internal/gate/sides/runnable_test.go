package sides

import (
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// TestEmbedded holds that documentation that a program carries is not only read
// by people.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	packages := []ecosystem.Package{{Dir: "a"}, {Dir: "b", EmbedFiles: []string{"help/x.md"}}, {Dir: ".", EmbedFiles: []string{"top.md"}}}
	for name, want := range map[string]bool{"b/help/x.md": true, "top.md": true, "a/help/x.md": false, "help/x.md": false} {
		if embedded(packages, name) != want {
			t.Errorf("%s embedded: %v", name, !want)
		}
	}
}

// TestRunnableFile holds what counts as a line that can run without a look into
// the file.
func TestRunnableFile(t *testing.T) {
	t.Parallel()
	r, packages := &Reader{}, []ecosystem.Package{{Dir: ".", EmbedFiles: []string{"help.md"}}}
	for _, tt := range []struct {
		f    change.File
		want bool
	}{
		{change.File{Path: "a.go", Status: change.Added}, true},
		{change.File{Path: "a.go", Status: change.Deleted}, true},
		{change.File{Path: "Makefile", Status: change.Modified}, true},
		{change.File{Path: "README.md", Status: change.Modified}, false},
		{change.File{Path: "help.md", Status: change.Modified}, true},
		{change.File{Path: ".golangci.yml", Status: change.Added}, false},
		{change.File{Path: "web/eslint.config.mjs", Status: change.Modified}, false},
		{change.File{Path: "config.yml", Status: change.Added}, true},
		{change.File{Path: "a_test.go", Status: change.Modified}, false},
		{change.File{Path: "a_test.go", Status: change.Deleted}, false},
		{change.File{Path: "b/a.go", OldPath: "a/a.go", Status: change.Renamed}, true},
		{change.File{Path: "a_linux.go", OldPath: "a.go", Status: change.Renamed}, true},
		{change.File{Path: "a_test.go", OldPath: "a.go", Status: change.Renamed}, true},
		{change.File{Path: "b_test.go", OldPath: "a_test.go", Status: change.Renamed}, false},
		{change.File{Path: "a_test.go", OldPath: "a.go", Status: change.Copied}, false},
		{change.File{Path: "a.go", Status: change.Retyped}, true},
	} {
		if got := r.runnableFile(t.Context(), tt.f, packages); got != tt.want {
			t.Errorf("%s %s→%s: runnable %v", tt.f.Status, tt.f.OldPath, tt.f.Path, got)
		}
	}
}
