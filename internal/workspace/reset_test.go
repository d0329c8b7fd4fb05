package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A worktree that was reset leads to its own place in the mirror, with the index
// and the settings that git made, whatever was done to them.
func TestResetOfGitsFiles(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "head", head)
	snap := must[*Tree](t)(tree.Copy(t.Context(), filepath.Join(runDir(m, "run1"), "prepared")))
	defer snap.Close()
	for name, attack := range map[string]func() error{
		"another repository": func() error {
			return errors.Join(os.Remove(filepath.Join(tree.Dir, ".git")), os.MkdirAll(filepath.Join(tree.Dir, ".git/hooks"), 0o700), os.WriteFile(filepath.Join(tree.Dir, ".git/config"), []byte("[core]\n\tfsmonitor = false\n"), 0o600))
		},
		"a link to another file": func() error {
			return errors.Join(os.Remove(filepath.Join(tree.Dir, ".git")), os.Symlink("/dev/zero", filepath.Join(tree.Dir, ".git")))
		},
		"marks in the index": func() error {
			cmd := exec.Command("git", "update-index", "--assume-unchanged", "README")
			cmd.Dir, cmd.Env = tree.Dir, userEnv
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			cmd = exec.Command("git", "update-index", "--skip-worktree", "README")
			cmd.Dir, cmd.Env = tree.Dir, userEnv
			return cmd.Run()
		},
		"settings of the worktree": func() error {
			return errors.Join(os.WriteFile(filepath.Join(tree.registry, "config.worktree"), []byte("[core]\n\thooksPath = /tmp\n"), 0o600),
				os.WriteFile(filepath.Join(tree.registry, "index.lock"), nil, 0o600), os.WriteFile(filepath.Join(tree.registry, "HEAD"), []byte("ref: refs/heads/x\n"), 0o600))
		},
	} {
		if err := attack(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := tree.Reset(t.Context(), snap); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		entries := must[[]os.DirEntry](t)(os.ReadDir(tree.registry))
		for _, e := range entries {
			if strings.Contains(e.Name(), "lock") || strings.Contains(e.Name(), "config") {
				t.Errorf("%s: %s is still there", name, e.Name())
			}
		}
		if got := userIn(t, append([]string{"GIT_OPTIONAL_LOCKS=0"}, userEnv...), tree.Dir, "status", "--porcelain"); got != "" {
			t.Errorf("%s: git status:\n%s", name, got)
		}
		write(t, tree.Dir, map[string]string{"README": "owt\n"})
		if got := userIn(t, append([]string{"GIT_OPTIONAL_LOCKS=0"}, userEnv...), tree.Dir, "status", "--porcelain"); got != " M README" && got != "M README" {
			t.Errorf("%s: a change is hidden: %q", name, got)
		}
		if got := userIn(t, userEnv, tree.Dir, "rev-parse", "HEAD"); got != head {
			t.Errorf("%s: HEAD is %s", name, got)
		}
	}
}

// plain is what a folder holds but for what leads to the mirror: modes, sizes and contents by path.
func plain(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == gitFile {
			return err
		}
		rel, info, says := must[string](t)(filepath.Rel(dir, path)), must[fs.FileInfo](t)(d.Info()), ""
		switch {
		case info.Mode().IsRegular():
			says = info.ModTime().String() + read(t, path)
		case !d.IsDir():
			says = must[string](t)(os.Readlink(path))
		}
		out[rel] = info.Mode().String() + " " + says
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Who asks for the places of before gets them again, in whatever order they were put back.
func TestPoolOfSamePlaces(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	snap := worktree(t, m, "prepared", head)
	var p Pool
	place := func(n int) string { return filepath.Join(runDir(m, "again"), strconv.Itoa(n)) }
	for range 3 {
		var trees []*Tree
		for n := range 3 {
			tree := must[*Tree](t)(p.Copy(t.Context(), snap, place(n)))
			if tree.Dir != place(n) {
				t.Errorf("it lies in %s, want %s", tree.Dir, place(n))
			}
			trees = append(trees, tree)
		}
		for _, tree := range trees {
			p.Put(tree, snap)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// A tree of the pool is at its new place what a copy would be: nothing of who had
// it before is in it, git works there, and the mirror knows of it.
func TestPool(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	snap := worktree(t, m, "prepared", head)
	write(t, snap.Dir, map[string]string{"build/out.o": "obj"})
	var p Pool
	place := func(name string) string { return filepath.Join(runDir(m, "again"), name) }
	first := must[*Tree](t)(p.Copy(t.Context(), snap, place("one")))
	write(t, first.Dir, map[string]string{"README": "owt\n", "left/over": "x", "build/out.o": "changed"})
	if err := os.Chmod(first.Dir, 0); err != nil {
		t.Fatal(err)
	}
	p.Put(first, snap)
	second := must[*Tree](t)(p.Copy(t.Context(), snap, place("two")))
	third := must[*Tree](t)(p.Copy(t.Context(), snap, place("three")))
	if second != first || third == first {
		t.Error("the tree that was put back is to be used once")
	}
	for _, tree := range []*Tree{second, third} {
		if d := cmp.Diff(plain(t, snap.Dir), plain(t, tree.Dir)); d != "" {
			t.Errorf("%s\n%s", tree.Dir, d)
		}
		if got := userIn(t, append([]string{"GIT_OPTIONAL_LOCKS=0"}, userEnv...), tree.Dir, "status", "--porcelain"); got != "?? build/" {
			t.Errorf("git status:\n%s", got)
		}
		if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
			t.Errorf("%q are not what they were", got)
		}
		if listed := userIn(t, userEnv, m.home(), "worktree", "list"); !strings.Contains(listed, tree.Dir+" ") {
			t.Errorf("the mirror does not know of %s:\n%s", tree.Dir, listed)
		}
		p.Put(tree, snap)
	}
	if _, err := os.Lstat(place("one")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left at the first place: %v", err)
	}
	// A folder that was replaced is not used, and nothing it leads to is touched.
	fourth := must[*Tree](t)(p.Copy(t.Context(), snap, place("four")))
	outside := t.TempDir()
	write(t, outside, map[string]string{"f": "f"})
	if err := errors.Join(os.RemoveAll(fourth.Dir), os.Symlink(outside, fourth.Dir)); err != nil {
		t.Fatal(err)
	}
	p.Put(fourth, snap)
	fifth := must[*Tree](t)(p.Copy(t.Context(), snap, place("five")))
	if d := cmp.Diff(plain(t, snap.Dir), plain(t, fifth.Dir)); d != "" || read(t, outside, "f") != "f" {
		t.Errorf("after a link in place of the folder:\n%s", d)
	}
	if err := errors.Join(fifth.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if entries := must[[]os.DirEntry](t)(os.ReadDir(runDir(m, "again"))); len(entries) > 1 { // the lock
		t.Errorf("the pool left %v", entries)
	}
}
