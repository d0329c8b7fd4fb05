package ecosystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages and files beside the change are planted before others, and not too many of either.
func TestPlantBounds(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	var passing []string
	for i := range 2 * MaxPlanted {
		dir := []string{"far", "near"}[i%2]
		name := filepath.Join(dir, "test_"+strings.Repeat("a", i+1)+".py")
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		passing = append(passing, name, name+".gone")
	}
	l := Copied(func(_, _, name string) string { return name })
	p := Planting{Tree: tree, Passing: passing, Name: "qz", Near: func(file string) bool { return strings.HasPrefix(file, "near/") }}
	got := l.files(Command{}, p)
	if len(got) != MaxPlanted+MaxPlantedOther || !strings.HasPrefix(got[0].Path, "near/") || !strings.HasPrefix(got[MaxPlanted].Path, "far/") {
		t.Errorf("%d files: %+v", len(got), got)
	}
	names := map[string]bool{}
	for _, f := range got { // what has the same name in one process would stand for it
		if names[f.Text] || !strings.Contains(f.Text, "qz") {
			t.Errorf("%s: %q is there already, or has not the name", f.Path, f.Text)
		}
		names[f.Text] = true
	}
}
