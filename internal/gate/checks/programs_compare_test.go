package checks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/workspace"
)

// TestLinesOfTheHead: a difference of a command line is at the line of the head on which it
// stands, the one nearest to where it was, and nowhere where the head does not have it.
func TestLinesOfTheHead(t *testing.T) {
	t.Parallel()
	base, head := t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const text = "# tool\n\n    $ tool sum 1 2\n\nMore.\n"
	for name, is := range map[string]string{"same.md": text, "moved.md": "$ tool sum 1 2\n\n\n\n" + text, "less.md": "# tool\n"} {
		put(base, name, text)
		put(head, name, is)
	}
	put(base, "gone.md", text)
	u := &use{check: &check{in: &Subject{Base: &workspace.Tree{Dir: base}, Head: &workspace.Tree{Dir: head}}}}
	for name, want := range map[string]struct {
		path   string
		at     int
		stands bool
	}{
		"same.md": {"same.md", 3, true}, "moved.md": {"moved.md", 1, true}, "less.md": {"less.md", 0, false}, "gone.md": {"", 0, false}, "": {"", 0, false},
	} {
		var d LineDifference
		if stands, _ := u.stands(line{path: name, at: 3}, &d); d.Path != want.path || d.At != want.at || stands != want.stands {
			t.Errorf("%q: %s:%d, %v", name, d.Path, d.At, stands)
		}
	}
}
