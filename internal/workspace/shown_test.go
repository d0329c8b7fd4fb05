package workspace

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// allObjects lists all objects that lie in a git directory's own store or in one that it borrows.
func allObjects(t *testing.T, dir string) string {
	t.Helper()
	return user(t, "/", "--git-dir="+dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
}

// Commands see the history of base and head and the tags that point into it. What other
// runs brought, snapshots of working trees and the rest of the mirror are not in any file
// that they can read.
func TestShownHistory(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	base := user(t, dir, "rev-parse", "main")
	head := user(t, dir, "rev-parse", "topic")
	user(t, dir, "tag", "-a", "-m", "a tag of a tag", "v1-signed", "v1")
	user(t, dir, "checkout", "-q", "-b", "other", "main")
	write(t, dir, map[string]string{"theirs.txt": "of another pull request\n"})
	other := commit(t, dir, "theirs")
	user(t, dir, "tag", "-a", "-m", "a secret message", "theirs")
	user(t, dir, "checkout", "-q", "topic")
	write(t, dir, map[string]string{"notes.txt": "S3CR3T that was never committed\n"})
	r, m := open(t, newGit(t), dir)
	if err := m.Import(t.Context(), r, base, head, other); err != nil {
		t.Fatal(err)
	}
	dirty := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if err := os.Remove(filepath.Join(dir, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	secret := user(t, "/", "--git-dir="+m.Dir, "rev-parse", dirty.Commit+":notes.txt")
	tag := user(t, dir, "rev-parse", "theirs")

	for round, commits := range [][]string{{base, base, head}, {head, head}, {base, base, head}} { // from nothing, from what is kept, as kept
		where := filepath.Join(runDir(m, "run"+string(rune('1'+round))), "history")
		show(t, m, where, commits...)
		tree := worktree(t, m, "t"+string(rune('1'+round)), head)
		common := user(t, tree.Dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if shown := must[string](t)(m.Shown(t.Context())); shown != where || common != where {
			t.Fatalf("shown %s, git uses %s, want %s", shown, common, where)
		}
		for _, oid := range []string{other, dirty.Commit, secret, tag} {
			if out, err := userMayFail(tree.Dir, "cat-file", "-p", oid); err == nil {
				t.Errorf("%s can be read: %s", oid, out)
			}
		}
		reach := user(t, dir, "rev-list", "--objects", "--no-object-names", base, head, "v1-signed")
		if d := cmp.Diff(ordered(reach), ordered(allObjects(t, where))); d != "" {
			t.Errorf("round %d: objects (-reached +shown):\n%s", round, d)
		}
		if _, err := os.Stat(filepath.Join(where, "objects", "info", "alternates")); err == nil {
			t.Error("objects of another store can be read")
		}
		if got := user(t, tree.Dir, "for-each-ref", "--format=%(refname)"); got != "refs/tags/v1\nrefs/tags/v1-signed" {
			t.Errorf("refs %q", got)
		}
		if got := user(t, tree.Dir, "describe"); !strings.HasPrefix(got, "v1-2-g") && !strings.HasPrefix(got, "v1-signed-2-g") {
			t.Errorf("git describe: %s", got)
		}
		if got := user(t, tree.Dir, "log", "--format=%s"); got != "three\ntwo\none" {
			t.Errorf("git log: %q", got)
		}
		if got := user(t, tree.Dir, "merge-base", base, "HEAD"); got != base {
			t.Errorf("git merge-base: %s", got)
		}
		if got := user(t, tree.Dir, "blame", "-l", "README"); !strings.HasPrefix(got, base) {
			t.Errorf("git blame: %s", got)
		}
		user(t, tree.Dir, "fsck", "--full")
	}
}

func ordered(lines string) map[string]bool {
	out := map[string]bool{}
	for _, l := range strings.Fields(lines) {
		out[l] = true
	}
	return out
}

// A run of uncommitted changes sees its own snapshot, and no other.
func TestShownSnapshot(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	var snaps []string
	for _, text := range []string{"first\n", "second\n"} {
		write(t, dir, map[string]string{"wip.txt": text})
		snaps = append(snaps, must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip")).Commit)
	}
	show(t, m, filepath.Join(runDir(m, "run2"), "history"), head, head, snaps[1])
	tree := worktree(t, m, "t", snaps[1])
	if got := user(t, tree.Dir, "show", "HEAD:wip.txt"); got != "second" {
		t.Errorf("its own snapshot: %q", got)
	}
	if out, err := userMayFail(tree.Dir, "cat-file", "-p", snaps[0]); err == nil {
		t.Errorf("an earlier snapshot can be read: %s", out)
	}
	// What was not said at the beginning comes with the tree that is made of it.
	merged := must[Merged](t)(m.Merge(t.Context(), snaps[0], head))
	if merged.Commit == "" {
		t.Fatalf("conflicts: %q", merged.Conflicts)
	}
	after := worktree(t, m, "merged", merged.Commit)
	if got := user(t, after.Dir, "log", "-1", "--format=%H"); got != merged.Commit {
		t.Errorf("git log of the merge: %s", got)
	}
	user(t, after.Dir, "fsck", "--full")
}

// Of a shallow clone commands see where the history ends.
func TestShownShallow(t *testing.T) {
	t.Parallel()
	from := newRepo(t)
	dir := filepath.Join(t.TempDir(), "shallow")
	user(t, "/", "clone", "-q", "--depth=2", "file://"+from, dir)
	_, m, head := imported(t, dir)
	tree := worktree(t, m, "t", head)
	if got := user(t, tree.Dir, "log", "--format=%s"); got != "three\ntwo" {
		t.Errorf("git log: %q", got)
	}
	user(t, tree.Dir, "fsck", "--full")
	if kept, err := os.ReadDir(filepath.Join(filepath.Dir(m.Dir), historyDir)); err == nil && len(kept) > 0 {
		t.Errorf("history that may become longer is kept: %v", kept)
	}
}

// Objects of a snapshot go from the mirror once nothing leads to it any more.
func TestPruneSnapshots(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	write(t, dir, map[string]string{"notes.txt": "S3CR3T\n"})
	dirty := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	secret := user(t, "/", "--git-dir="+m.Dir, "rev-parse", dirty.Commit+":notes.txt")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(m.path(pinsDir+"/"+dirty.Commit), old, old); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(m.Dir)))
	log := slog.New(slog.DiscardHandler)
	must[Swept](t)(Sweep(t.Context(), home, 24*time.Hour, time.Now(), log))
	busy := must[*Lock](t)(LockRun(t.Context(), runDir(m, "busy")))
	if n := must[int](t)(Prune(t.Context(), m.git, home, log)); n != 0 {
		t.Error("a mirror was pruned that a run is at work with")
	}
	busy.Release()
	if n := must[int](t)(Prune(t.Context(), m.git, home, log)); n != 1 {
		t.Errorf("%d mirrors were pruned, want 1", n)
	}
	if out, err := userMayFail("/", "--git-dir="+m.Dir, "cat-file", "-p", secret); err == nil {
		t.Errorf("the mirror still has %q", out)
	}
	user(t, "/", "--git-dir="+m.Dir, "fsck", "--full")
	user(t, "/", "--git-dir="+m.Dir, "log", head)
	again := must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, m.Format))
	if err := again.Import(t.Context(), r, head); err != nil {
		t.Fatal(err)
	}
	if n := must[int](t)(Prune(t.Context(), m.git, home, log)); n != 0 {
		t.Error("a mirror was pruned twice")
	}
}

// While a partial history comes, commands see what is there; after it, all of it.
func TestShownPartial(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	m := r.fetched(t)
	if err := m.Trees(t.Context(), r.base, r.head); err != nil {
		t.Fatal(err)
	}
	where := filepath.Join(runDir(m, "run1"), "history")
	show(t, m, where, r.base, r.head)
	tree := worktree(t, m, "t", r.head)
	old := user(t, r.dir, "rev-parse", "main~1:README")
	if got := user(t, tree.Dir, "log", "--format=%s"); got != "four\nthree\ntwo\none" {
		t.Errorf("git log: %q", got)
	}
	if _, err := userMayFail(tree.Dir, "cat-file", "-p", old); err == nil {
		t.Error("the mirror was to lack old contents")
	}
	if err := m.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	must[string](t)(m.Shown(t.Context()))
	if got := user(t, tree.Dir, "cat-file", "-p", old); got != "one" {
		t.Errorf("old contents: %q", got)
	}
	user(t, tree.Dir, "fsck", "--full")
}
