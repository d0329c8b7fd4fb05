package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// TestCompose holds that a composed commit has what was put, also in place of a
// folder or a link, and that laying it over a tree gives the same.
func TestCompose(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	symlink(t, "src", filepath.Join(dir, "linked"))
	write(t, dir, map[string]string{"data/x": "x\n"})
	before := commit(t, dir, "before")
	if err := os.Remove(filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"linked/a.txt": "a\n", "added": "new\n", "both": "head\n", "run.sh": "other\n"})
	commit(t, dir, "after")
	_, m, head := imported(t, dir)
	puts := []Put{
		{Path: "linked", From: before},
		{Path: "linked/a.txt", From: before},
		{Path: "added", From: before},
		{Path: "both", Data: []byte("merged\n")},
		{Path: "run.sh", From: before},
		{Path: "moved", From: before, At: "data/x"},
	}
	made := must[string](t)(m.Compose(t.Context(), head, puts))
	if again := must[string](t)(m.Compose(t.Context(), head, puts)); again != made {
		t.Errorf("composed twice: %s and %s", made, again)
	}
	modes := map[string]string{}
	for _, e := range must[[]objects.Entry](t)(m.Files(t.Context(), made)) {
		modes[e.Path] = e.Mode
	}
	for path, want := range map[string]string{"linked": objects.ModeLink, "linked/a.txt": "", "added": "", "both": "100644", "run.sh": "100755", "moved": "100644"} {
		if modes[path] != want {
			t.Errorf("%s has mode %q, want %q", path, modes[path], want)
		}
	}
	tree := worktree(t, m, "head", head)
	var paths []string
	for _, p := range puts {
		paths = append(paths, p.Path)
	}
	if err := tree.Overlay(t.Context(), made, paths); err != nil {
		t.Fatal(err)
	}
	if to := must[string](t)(os.Readlink(filepath.Join(tree.Dir, "linked"))); to != "src" {
		t.Errorf("the link leads to %q", to)
	}
	if d := cmp.Diff("merged\n", string(must[[]byte](t)(os.ReadFile(filepath.Join(tree.Dir, "both"))))); d != "" {
		t.Error(d)
	}
}
