package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A merge has what both sides changed and is the same each time; conflicts are
// named, and nothing is made of them.
func TestMerge(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	start := user(t, dir, "rev-parse", "HEAD")
	commit := func(from string, files map[string]string) string {
		user(t, dir, "checkout", "-q", from)
		write(t, dir, files)
		user(t, dir, "add", "-A")
		user(t, dir, "commit", "-q", "-m", "one")
		return user(t, dir, "rev-parse", "HEAD")
	}
	ours := commit(start, map[string]string{"ours.txt": "ours\n", "both.txt": "ours\n"})
	theirs := commit(start, map[string]string{"theirs.txt": "theirs\n"})
	clash := commit(start, map[string]string{"both.txt": "theirs\n"})
	repo, m, _ := imported(t, dir)
	if err := m.Import(t.Context(), repo, ours, theirs, clash); err != nil {
		t.Fatal(err)
	}
	got := must[Merged](t)(m.Merge(t.Context(), ours, theirs))
	if len(got.Conflicts) > 0 || got.Commit == "" {
		t.Fatalf("merge: %+v", got)
	}
	tree := worktree(t, m, "merged", got.Commit)
	for _, name := range []string{"ours.txt", "theirs.txt"} {
		if _, err := os.Stat(filepath.Join(tree.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if again := must[Merged](t)(m.Merge(t.Context(), ours, theirs)); again.Commit != got.Commit {
		t.Errorf("merged again: %s, was %s", again.Commit, got.Commit)
	}
	if d := cmp.Diff(Merged{Conflicts: []string{"both.txt"}}, must[Merged](t)(m.Merge(t.Context(), ours, clash))); d != "" {
		t.Error(d)
	}
	if _, err := m.Merge(t.Context(), ours, "0000000000000000000000000000000000000001"); err == nil {
		t.Error("a commit that is not there was merged")
	}
}
