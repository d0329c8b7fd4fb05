package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Whatever a command does to HEAD, the index and the refs is seen, named and put
// back; what git does by itself while it looks at files is not.
func TestMoved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(t *testing.T, tree *Tree)
		want []string
	}{
		"nothing": {func(*testing.T, *Tree) {}, nil},
		"looks": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"README": "two\n"})
			user(t, tree.Dir, "update-index", "--refresh", "--really-refresh", "-q", "--unmerged")
		}, nil},
		"status": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "status")
			user(t, tree.Dir, "diff")
		}, nil},
		"commit": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"README": "x"})
			user(t, tree.Dir, "commit", "-qam", "mine")
		}, []string{"HEAD", "index"}},
		"empty commit": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "commit", "-q", "--allow-empty", "-m", "mine")
		}, []string{"HEAD"}},
		"branch": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "branch", "a/b")
		}, []string{"refs/heads/a/b"}},
		"checkout": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "checkout", "-q", "-b", "x")
		}, []string{"HEAD", "refs/heads/x"}},
		"tag moved": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "tag", "-f", "v1", "HEAD~1")
		}, []string{"refs/tags/v1"}},
		"tag removed": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "tag", "-d", "v1")
		}, []string{"refs/tags/v1"}},
		"packed": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "branch", "packed")
			user(t, tree.Dir, "pack-refs", "--all")
		}, []string{"refs/heads/packed"}},
		"stash": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"README": "x"})
			user(t, tree.Dir, "stash", "-q")
		}, []string{"refs/stash"}},
		"staged": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"new": "x"})
			user(t, tree.Dir, "add", "new")
		}, []string{"index"}},
		"asked not to look": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "update-index", "--assume-unchanged", "README")
		}, []string{"index"}},
		"no index": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := os.Remove(tree.indexPath()); err != nil {
				t.Fatal(err)
			}
			symlinkOver(t, "/dev/zero", tree.indexPath())
		}, []string{"index"}},
		"no worktree any more": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.mirror.home(), "worktree", "remove", "--force", tree.Dir)
		}, []string{"HEAD", "commondir", "gitdir", "index"}},
		"bisection": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "update-ref", "refs/bisect/bad", "HEAD")
		}, []string{"refs/bisect/bad"}},
		"mirror's HEAD": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.mirror.home(), map[string]string{"HEAD": "ref: refs/heads/evil\n"})
		}, []string{"HEAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			_, m, head := imported(t, dir)
			tree := must[*Tree](t)(worktree(t, m, "first", head).Copy(t.Context(), filepath.Join(runDir(m, "run1"), "copy")))
			defer tree.Close()
			before := user(t, "/", "--git-dir="+m.home(), "for-each-ref")
			tt.do(t, tree)
			if d := cmp.Diff(tt.want, must[[]string](t)(tree.Moved(t.Context()))); d != "" {
				t.Errorf("moved (-want +got):\n%s", d)
			}
			if got := must[[]string](t)(tree.Moved(t.Context())); len(got) > 0 {
				t.Errorf("not put back: %q", got)
			}
			if d := cmp.Diff(before, user(t, "/", "--git-dir="+m.home(), "for-each-ref")); d != "" {
				t.Errorf("refs (-before +after):\n%s", d)
			}
			if _, err := os.Stat(tree.Dir); err == nil {
				must[[]string](t)(tree.Restore(t.Context()))
				if got := user(t, tree.Dir, "status", "--porcelain", "--untracked-files=no"); got != "" {
					t.Errorf("git sees a change: %s", got)
				}
			}
		})
	}
}

// Commits that the harness brings while a tree is open are no change of a
// command's; what a command moved meanwhile is still found afterwards.
func TestMovedBesideImport(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	_, m, head := imported(t, dir)
	tree := worktree(t, m, "t", head)
	user(t, tree.Dir, "branch", "evil")
	user(t, dir, "tag", "v2")
	next := commit(t, dir, "more")
	r := must[*repository.Repository](t)(repository.Discover(t.Context(), newGit(t), dir)) // as the next run does: its refs are of when it was found
	if err := m.Import(t.Context(), r, next); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"refs/heads/evil"}, must[[]string](t)(tree.Moved(t.Context()))); d != "" {
		t.Errorf("moved (-want +got):\n%s", d)
	}
	if got := user(t, "/", "--git-dir="+m.Dir, "tag"); got != "v1\nv2" {
		t.Errorf("tags %q", got)
	}
	if err := os.Remove(m.Dir + recordName); err != nil { // as by an import that was killed
		t.Fatal(err)
	}
	if got := must[[]string](t)(tree.Moved(t.Context())); len(got) > 0 {
		t.Errorf("moved %q", got)
	}
}
