package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// A largeRepo is served as GitHub does, and said to be large.
type largeRepo struct {
	dir        string
	from       git.Remote
	base, head string
}

// newLarge makes one in which some file contents are in old commits alone, and the
// change has a renamed file, a submodule and a pointer of Git LFS.
func newLarge(t *testing.T, initArgs ...string) largeRepo {
	t.Helper()
	dir := newRepo(t, initArgs...)
	user(t, dir, "config", "uploadpack.allowFilter", "true")
	user(t, dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	module := "160000," + strings.Repeat("7", len(user(t, dir, "rev-parse", "HEAD"))) + ",module"
	user(t, dir, "mv", "old.txt", "new.txt")
	write(t, dir, map[string]string{"big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", ".gitattributes": "*.bin filter=lfs\n"})
	user(t, dir, "add", "-A")
	user(t, dir, "update-index", "--add", "--cacheinfo", module)
	user(t, dir, "commit", "-q", "-m", "four")
	r := largeRepo{dir: dir, from: git.Remote{URL: "file://" + dir, Size: largeHistory}}
	r.base, r.head = user(t, dir, "rev-parse", "main"), user(t, dir, "rev-parse", "HEAD")
	return r
}

// mirror opens the mirror at path for this repository, as another process would.
func (r largeRepo) mirror(t *testing.T, path string) *Mirror {
	t.Helper()
	format := "sha1"
	if len(r.head) == 64 {
		format = "sha256"
	}
	return must[*Mirror](t)(OpenMirror(t.Context(), newGit(t), path, format))
}

// fetched is a new mirror with the change.
func (r largeRepo) fetched(t *testing.T) *Mirror {
	t.Helper()
	m := r.mirror(t, filepath.Join(t.TempDir(), "p", "mirror.git"))
	if err := m.Fetch(t.Context(), r.from, r.base, r.head); err != nil {
		t.Fatal(err)
	}
	return m
}

// blobs counts the file contents that a mirror has.
func blobs(t *testing.T, m *Mirror) int {
	t.Helper()
	return strings.Count(user(t, "/", "--git-dir="+m.Dir, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype)"), "blob")
}

// checkWhole fails unless all that the mirror's commits lead to is in it, and nothing in
// it says otherwise or says where it came from.
func checkWhole(t *testing.T, m *Mirror) {
	t.Helper()
	user(t, "/", "--git-dir="+m.Dir, "fsck", "--strict", "--full", "--connectivity-only")
	if m.partial() {
		t.Error("it still counts as partial")
	}
	if left, _ := filepath.Glob(m.path("objects/pack/*.promisor")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Stat(m.path("shallow")); err == nil {
		t.Error("its history counts as cut off")
	}
	if got := read(t, m.Dir, "config"); got != git.Config(m.Format, true) {
		t.Errorf("config:\n%s", got)
	}
}

// Of a large history the files come as they are needed: those of the diff, those of
// trees, and the rest when it is asked for. Then the mirror is as any other.
func TestFetchLarge(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newLarge(t, "--object-format="+format)
			m := r.fetched(t)
			if n := blobs(t, m); n != 0 || !m.partial() {
				t.Fatalf("%d file contents after the first fetch", n)
			}
			if got := read(t, m.Dir, "config"); got != git.Config(m.Format, true) {
				t.Errorf("config:\n%s", got)
			}
			merge := must[string](t)(m.MergeBase(t.Context(), r.base, r.head))
			var files []string
			for _, f := range must[[]change.File](t)(m.Diff(t.Context(), merge, r.head)) {
				files = append(files, string(f.Status)+" "+f.OldPath+">"+f.Path)
			}
			want := []string{"added >.gitattributes", "added >big.bin", "added >module", "renamed old.txt>new.txt", "modified >src/a.go", "added >src/b.go"}
			if d := cmp.Diff(want, files); d != "" {
				t.Errorf("diff (-want +got):\n%s", d)
			}
			patch := must[[]byte](t)(m.Patch(t.Context(), merge, r.head, 1<<20))
			if want := user(t, r.dir, "diff-tree", "-r", "-p", "-M", "--full-index", "--submodule=short", merge, r.head); strings.TrimSpace(string(patch)) != want {
				t.Errorf("patch:\n%s\nwant:\n%s", patch, want)
			}
			if n := blobs(t, m); n != 5 { // src/a.go has the contents of src/b.go, before
				t.Errorf("%d file contents after the diff", n)
			}
			if err := m.Trees(t.Context(), r.base, merge, r.head); err != nil {
				t.Fatal(err)
			}
			tree := worktree(t, m, "head", r.head)
			if read(t, tree.Dir, "README") != "two\n" || len(tree.Notes) != 2 {
				t.Errorf("README %q, notes %q", read(t, tree.Dir, "README"), tree.Notes)
			}
			if out, err := userMayFail(tree.Dir, "log", "-p", "--", "README"); err == nil {
				t.Errorf("old contents are here already:\n%s", out)
			}
			if err := m.Whole(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkWhole(t, m)
			if got := user(t, tree.Dir, "log", "-p", "--", "README"); !strings.Contains(got, "-one\n+two") {
				t.Errorf("git log -p:\n%s", got)
			}
			if moved := must[[]string](t)(tree.Moved(t.Context())); len(moved) > 0 {
				t.Errorf("moved %q", moved)
			}
			next := commit(t, r.dir, "five")
			if err := m.Fetch(t.Context(), r.from, next); err != nil {
				t.Fatal(err)
			}
			checkWhole(t, m)
		})
	}
}

// A small history, one of unknown size, and one that is added to come whole at once.
func TestFetchWhole(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	for _, size := range []int64{0, largeHistory - 1} {
		r.from.Size = size
		checkWhole(t, r.fetched(t))
	}
	m := r.fetched(t)
	r.from.Size = largeHistory
	write(t, r.dir, map[string]string{"README": "five\n"})
	next := commit(t, r.dir, "five")
	if err := m.Fetch(t.Context(), r.from, next); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, m)
}

// A server that leaves nothing out is no trouble.
func TestFetchLargeUnfiltered(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	user(t, r.dir, "config", "uploadpack.allowFilter", "false")
	m := r.fetched(t)
	user(t, r.dir, "config", "uploadpack.allowAnySHA1InWant", "false")
	must[[]byte](t)(m.Patch(t.Context(), r.base, r.head, 1<<20))
	worktree(t, m, "head", r.head)
	if err := m.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, m)
}

// Trees of many files come as a shallow clone has them, but for those of commits that
// the server does not have.
func TestFetchLargeTrees(t *testing.T) {
	variants.Only(t) // a tree of a hundred thousand files; TestFetchLarge has a smaller one
	t.Parallel()
	r := newLarge(t)
	files := map[string]string{}
	for i := range manyObjects {
		files[fmt.Sprintf("many/%04d", i)] = fmt.Sprint(i)
	}
	write(t, r.dir, files)
	r.head = commit(t, r.dir, "many")
	s := serve(t, r.dir)
	r.from.URL = s.URL
	m := r.fetched(t)
	fetches := s.fetches.Load()
	if err := m.Trees(t.Context(), r.base, r.head); err != nil {
		t.Fatal(err)
	}
	if n := s.fetches.Load() - fetches; n != 1 || !s.saw("deepen 1") {
		t.Errorf("%d fetches, want one of depth 1", n)
	}
	worktree(t, m, "head", r.head)

	other := r.fetched(t)
	own := must[string](t)(other.commit(t.Context(), user(t, r.dir, "rev-parse", r.head+"^{tree}"), r.head, "our own"))
	if err := other.Trees(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	worktree(t, other, "own", own)
	for _, m := range []*Mirror{m, other} {
		if err := m.Whole(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, m)
	}
}

// A credential is in no file, and in the end nothing is in the folder of short-lived ones.
func TestFetchLargeCredential(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	s := serve(t, r.dir)
	s.secret = "Basic c2VjcmV0"
	r.from.URL = s.URL
	r.from.Settings = []string{"http.extraheader=Authorization: " + s.secret}
	m := r.fetched(t)
	s.during = func() { // git is at work
		for _, dir := range []string{filepath.Dir(m.Dir), m.git.Temp} {
			for _, path := range holding(t, dir, "c2VjcmV0") {
				t.Errorf("%s has the credential", path)
			}
		}
	}
	worktree(t, m, "head", r.head)
	if err := m.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, m)
	if left, _ := os.ReadDir(m.git.Temp); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// holding are the files below dir that hold text.
func holding(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // git removes files meanwhile
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// When the server goes while the rest of the history comes, what there is can be used,
// and another process completes it later. The same holds where the first was killed.
func TestWholeBrokenOff(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	s := serve(t, r.dir)
	r.from.URL = s.URL
	m := r.fetched(t)
	worktree(t, m, "head", r.head)
	s.cut.Store(true)
	if err := m.Whole(t.Context()); err == nil {
		t.Error("the server was gone, and nothing was missing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Whole(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if !m.partial() {
		t.Fatal("it counts as whole")
	}
	must[[]byte](t)(m.Patch(t.Context(), r.base, r.head, 1<<20))
	s.cut.Store(false)

	write(t, m.Dir, map[string]string{"objects/pack/tmp_pack_x": "half of a pack"})
	write(t, r.dir, map[string]string{"README": "five\n"})
	later := r.mirror(t, m.Dir)
	if err := later.Whole(t.Context()); err == nil {
		t.Error("a mirror that was not fetched into knows from where")
	}
	r.head = commit(t, r.dir, "five")
	if err := later.Fetch(t.Context(), r.from, r.base, r.head); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(m.path("objects/pack/tmp_*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	worktree(t, later, "later", r.head)
	if err := later.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, later)
	if err := m.Whole(t.Context()); err != nil {
		t.Error(err)
	}
}

// What comes to a history that is not whole yet builds on nothing that is missing, as
// the difference to an older version of a file does.
func TestFetchLargeAgain(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	m := r.fetched(t)
	write(t, r.dir, map[string]string{"new.txt": strings.Repeat("a line that is kept\n", 20) + "and one more\n"})
	next := commit(t, r.dir, "five")
	again := r.mirror(t, m.Dir)
	if err := again.Fetch(t.Context(), r.from, r.head, next); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(must[[]byte](t)(again.Patch(t.Context(), r.head, next, 1<<20))), "+and one more") {
		t.Error("what differs is not there")
	}
	if err := again.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, again)
}

// A first fetch that fails leaves nothing that a later one of another size stumbles over.
func TestFetchLargeFails(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	m := r.mirror(t, filepath.Join(t.TempDir(), "p", "mirror.git"))
	if err := m.Fetch(t.Context(), git.Remote{URL: "file:///nowhere", Size: largeHistory}, r.head); err == nil || m.partial() {
		t.Errorf("partial %t, error %v", m.partial(), err)
	}
	r.from.Size = 0
	if err := m.Fetch(t.Context(), r.from, r.base, r.head); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, m)
}

// While one process completes the history, no one takes its half of a pack for a dead
// one's, and a commit that another brings meanwhile is completed too.
func TestWholeBesideFetch(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	s := serve(t, r.dir)
	r.from.URL = s.URL
	m := r.fetched(t)
	write(t, r.dir, map[string]string{"README": "five\n"})
	commit(t, r.dir, "five")
	write(t, r.dir, map[string]string{"README": "six\n"})
	next := commit(t, r.dir, "six")
	var began atomic.Bool
	s.during = func() {
		if began.Swap(true) {
			return
		}
		write(t, m.Dir, map[string]string{"objects/pack/tmp_pack_x": "half of a pack"})
		other := r.mirror(t, m.Dir)
		if err := other.Fetch(t.Context(), r.from, next); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(m.path("objects/pack/tmp_pack_x")); err != nil {
			t.Error("the pack that is being written was removed")
		}
	}
	if err := m.Whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.pins(), next) {
		t.Fatal("nothing was fetched meanwhile")
	}
	checkWhole(t, m)

	m = r.fetched(t)
	if err := m.settle(t.Context(), []string{r.base}); err != nil || !m.partial() { // the head came after it was looked what is missing
		t.Errorf("partial %t, %v", m.partial(), err)
	}
}

// Many at once open one mirror, fetch, lay out and complete.
func TestWholeConcurrent(t *testing.T) {
	t.Parallel()
	r := newLarge(t)
	path := filepath.Join(t.TempDir(), "p", "mirror.git")
	var wg sync.WaitGroup
	for i := range 6 {
		head := user(t, r.dir, "rev-parse", fmt.Sprintf("HEAD~%d", i%3))
		m := r.mirror(t, path)
		wg.Go(func() {
			err := m.Fetch(t.Context(), r.from, r.base, head)
			if err == nil {
				_, err = m.Patch(t.Context(), r.base, head, 1<<20)
			}
			var tree *Tree
			if err == nil {
				tree, err = m.Worktree(t.Context(), filepath.Join(runDir(m, fmt.Sprint(i)), "t"), head)
			}
			if err == nil {
				err = errors.Join(m.Whole(t.Context()), tree.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkWhole(t, r.mirror(t, path))
}

// Whole waits for another process that is at it, as long as it may, and no longer than
// there is something to do.
func TestWholeLock(t *testing.T) {
	t.Parallel()
	m := newLarge(t).fetched(t)
	lock := must[*Lock](t)(tryAcquire(m.Dir+wholeLock, syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Whole(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside another: %v", err)
	}
	lock.Release()
	if err := m.Whole(t.Context()); err != nil {
		t.Error(err)
	}
}
