package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"golang.org/x/sys/unix"
)

func symlinkOver(t *testing.T, to, at string) {
	t.Helper()
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	symlink(t, to, at)
}

// settled waits until the file system's clock distinguishes a later change, so
// that the stamps are used and not the content.
func settled(t *testing.T, tree *Tree) {
	t.Helper()
	start := must[time.Time](t)(tree.clock())
	for now := start; now.Sub(start) <= 2*settle; now = must[time.Time](t)(tree.clock()) {
		select {
		case <-t.Context().Done():
		case <-time.After(settle / 4):
		}
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Fatalf("changed before anything was done: %q", got)
	}
}

// Whatever a command does to a tracked file is found and put back, and nothing
// outside is touched on the way.
func TestChangedAndRestore(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, map[string]string{"a.go": "package a\n\nvar X = 1\n", "b.go": "package a\n", "HEAD": "x"})
	for name, tt := range map[string]struct {
		do   func(t *testing.T, tree *Tree)
		want []string
	}{
		"nothing": {func(*testing.T, *Tree) {}, nil},
		"untracked": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"new": "x", "src/new": "x"})
		}, nil},
		"content, same size and time": {func(t *testing.T, tree *Tree) {
			t.Helper()
			path := filepath.Join(tree.Dir, "README")
			info := must[fs.FileInfo](t)(os.Stat(path))
			write(t, tree.Dir, map[string]string{"README": "owt\n"})
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, []string{"README"}},
		"hidden from git": {func(t *testing.T, tree *Tree) {
			t.Helper()
			user(t, tree.Dir, "update-index", "--assume-unchanged", "README")
			user(t, tree.Dir, "update-index", "--skip-worktree", "src/a.go")
			write(t, tree.Dir, map[string]string{"README": "x", "src/a.go": "x"})
		}, []string{"README", "src/a.go"}},
		"committed": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"README": "x"})
			user(t, tree.Dir, "commit", "-qam", "mine")
		}, []string{"README"}},
		"gone": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(tree.Dir, "src")); err != nil {
				t.Fatal(err)
			}
		}, []string{"src/a.go", "src/b.go"}},
		"mode": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := errors.Join(os.Chmod(filepath.Join(tree.Dir, "run.sh"), 0o644), os.Chmod(filepath.Join(tree.Dir, "README"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}, []string{"README", "run.sh"}},
		"link elsewhere": {func(t *testing.T, tree *Tree) {
			t.Helper()
			symlinkOver(t, "/etc/passwd", filepath.Join(tree.Dir, "link"))
		}, []string{"link"}},
		"file became link": {func(t *testing.T, tree *Tree) {
			t.Helper()
			symlinkOver(t, filepath.Join(outside, "a.go"), filepath.Join(tree.Dir, "src/a.go"))
		}, []string{"src/a.go"}},
		"folder became link with the same content": {func(t *testing.T, tree *Tree) {
			t.Helper()
			symlinkOver(t, outside, filepath.Join(tree.Dir, "src"))
		}, []string{"src/a.go", "src/b.go"}},
		"folder became file": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(tree.Dir, "src")); err != nil {
				t.Fatal(err)
			}
			write(t, tree.Dir, map[string]string{"src": "x"})
		}, []string{"src/a.go", "src/b.go"}},
		"file became folder": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := os.Remove(filepath.Join(tree.Dir, "README")); err != nil {
				t.Fatal(err)
			}
			write(t, tree.Dir, map[string]string{"README/x": "x"})
			symlink(t, outside, filepath.Join(tree.Dir, "README/out"))
		}, []string{"README"}},
		"file became pipe": {func(t *testing.T, tree *Tree) {
			t.Helper()
			path := filepath.Join(tree.Dir, "README")
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644)); err != nil {
				t.Fatal(err)
			}
		}, []string{"README"}},
		"unreadable": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{"README": "x"})
			if err := errors.Join(os.Chmod(filepath.Join(tree.Dir, "README"), 0), os.Chmod(filepath.Join(tree.Dir, "src"), 0o500), os.Chmod(tree.Dir, 0)); err != nil {
				t.Fatal(err)
			}
		}, []string{"README"}},
		"nothing but unreadable": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := errors.Join(os.Chmod(filepath.Join(tree.Dir, "README"), 0), os.Chmod(filepath.Join(tree.Dir, "src"), 0)); err != nil {
				t.Fatal(err)
			}
		}, []string{"README", "src/a.go", "src/b.go"}},
		"pointer to another repository": {func(t *testing.T, tree *Tree) {
			t.Helper()
			write(t, tree.Dir, map[string]string{".git": "gitdir: " + outside + "\n"})
		}, []string{".git"}},
		"pointer became repository": {func(t *testing.T, tree *Tree) {
			t.Helper()
			if err := os.Remove(filepath.Join(tree.Dir, ".git")); err != nil {
				t.Fatal(err)
			}
			user(t, tree.Dir, "init", "-q")
		}, []string{".git"}},
		"pointer became link": {func(t *testing.T, tree *Tree) {
			t.Helper()
			symlinkOver(t, filepath.Join(outside, "HEAD"), filepath.Join(tree.Dir, ".git"))
		}, []string{".git"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m, head := imported(t, newRepo(t))
			tree := worktree(t, m, "t", head)
			settled(t, tree)
			before := fingerprint(t, outside)
			tt.do(t, tree)
			if d := cmp.Diff(tt.want, must[[]string](t)(tree.Changed(t.Context()))); d != "" {
				t.Errorf("Changed (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tt.want, must[[]string](t)(tree.Restore(t.Context()))); d != "" {
				t.Errorf("Restore (-want +got)\n%s", d)
			}
			if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
				t.Errorf("still changed: %q", got)
			}
			if info, err := os.Lstat(filepath.Join(tree.Dir, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
				t.Errorf("run.sh: %v, %v", info, err)
			}
			if err := tree.Close(); err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(before, fingerprint(t, outside)); d != "" {
				t.Errorf("outside changed:\n%s", d)
			}
		})
	}
}

// Line endings are those of a checkout, and that is no change.
func TestConverted(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{".gitattributes": "*.bat text eol=crlf\n*.id ident\n", "a.bat": "one\ntwo\n", "c.id": "$Id$\n"})
	head := commit(t, dir, "attributes")
	_, m, _ := imported(t, dir)
	tree := worktree(t, m, "t", head)
	if got := read(t, tree.Dir, "a.bat"); got != "one\r\ntwo\r\n" {
		t.Errorf("a.bat is %q", got)
	}
	if got := user(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status: %q", got)
	}
	write(t, tree.Dir, map[string]string{"a.bat": "one\ntwo\n", "c.id": "x"})
	if d := cmp.Diff([]string{"a.bat", "c.id"}, must[[]string](t)(tree.Restore(t.Context()))); d != "" {
		t.Error(d)
	}
	if got := read(t, tree.Dir, "a.bat"); got != "one\r\ntwo\r\n" {
		t.Errorf("restored a.bat is %q", got)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Errorf("still changed: %q", got)
	}
	older := worktree(t, m, "older", user(t, dir, "rev-parse", "HEAD~1"))
	if err := older.Overlay(t.Context(), head, []string{"a.bat"}); err != nil {
		t.Fatal(err)
	}
	if got := must[[]string](t)(older.Changed(t.Context())); len(got) > 0 || read(t, older.Dir, "a.bat") != "one\r\ntwo\r\n" {
		t.Errorf("laid over another: changed %q", got)
	}
	if got := must[[]byte](t)(m.ReadFile(t.Context(), head, "a.bat")); string(got) != "one\ntwo\n" {
		t.Errorf("the object is %q", got)
	}
}

// The tests of one commit over the sources of another; what was laid over is
// then what the tree is held to.
func TestOverlay(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	_, m, head := imported(t, dir)
	base := user(t, dir, "rev-parse", "main")
	tree := worktree(t, m, "t", base)
	if err := tree.Overlay(t.Context(), head, []string{"src/b.go", "src/a.go", "old.txt"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, tree.Dir, "src/b.go"); got != "package a\n" {
		t.Errorf("b.go is %q", got)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Errorf("changed: %q", got)
	}
	write(t, tree.Dir, map[string]string{"src/b.go": "x", "README": "x"})
	if d := cmp.Diff([]string{"README", "src/b.go"}, must[[]string](t)(tree.Restore(t.Context()))); d != "" {
		t.Error(d)
	}
	if got := read(t, tree.Dir, "src/b.go"); got != "package a\n" {
		t.Errorf("restored b.go is %q", got)
	}
	// Back: what base does not have goes.
	if err := tree.Overlay(t.Context(), base, []string{"src/b.go", "src/a.go"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(tree.Dir, "src/b.go")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("b.go is still there: %v", err)
	}

	outside := t.TempDir()
	write(t, outside, map[string]string{"a.go": "mine", "b.go": "mine"})
	before := fingerprint(t, outside)
	symlinkOver(t, outside, filepath.Join(tree.Dir, "src"))
	for _, from := range []string{head, base} { // written, and removed
		if err := tree.Overlay(t.Context(), from, []string{"src/b.go"}); !errors.Is(err, ErrLink) {
			t.Errorf("through a link: %v, want ErrLink", err)
		}
	}
	for _, path := range []string{"../x", "/etc/x", ".git", ".git/config", "", "a/../b"} {
		if err := tree.Overlay(t.Context(), head, []string{path}); err == nil {
			t.Errorf("Overlay(%q) was taken", path)
		}
	}
	if d := cmp.Diff(before, fingerprint(t, outside)); d != "" {
		t.Errorf("outside changed:\n%s", d)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "t", head)
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(secret), map[string]string{"secret": "s"})
	symlink(t, secret, filepath.Join(tree.Dir, "out"))
	if err := syscall.Mkfifo(filepath.Join(tree.Dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", secret, "out", "pipe", "src", "nope"} {
		if f, err := tree.Open(name); err == nil {
			f.Close()
			t.Errorf("Open(%q) worked", name)
		}
	}
	f := must[*os.File](t)(tree.Open("link"))
	f.Close()
}

// What git ignores is what the files of the commit say, whatever lies in the tree.
func TestIgnored(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	paths := []string{"dist/cli.js", "src/gen/a.go", "src/gen/keep.go", "gen/a.go", "README", "with space/x.log", "\"quoted\n.log", ":(top)*.log"}
	_, m, head := imported(t, dir)
	if got, err := worktree(t, m, "none", head).Ignored(t.Context(), paths); err != nil || len(got) > 0 {
		t.Errorf("no such file: %v, %v", got, err)
	}
	write(t, dir, map[string]string{".gitignore": "dist/\n*.log\n", "src/.gitignore": "gen/*\n!gen/keep.go\n"})
	commit(t, dir, "ignore")
	_, m, head = imported(t, dir)
	tree := worktree(t, m, "t", head)
	write(t, tree.Dir, map[string]string{".gitignore": "*\n"})
	want := map[string]bool{"dist/cli.js": true, "src/gen/a.go": true, "with space/x.log": true, "\"quoted\n.log": true, ":(top)*.log": true}
	if got, err := tree.Ignored(t.Context(), paths); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := tree.Ignored(t.Context(), paths[2:5]); err != nil || len(got) > 0 {
		t.Errorf("none of them: %v, %v", got, err)
	}
}

// A copy has everything, is its own, and git works in it.
func TestCopy(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "prepared", head)
	write(t, tree.Dir, map[string]string{"build/out.o": "obj", "build/deep/er/x": "x", "empty/.keep": ""})
	symlink(t, "out.o", filepath.Join(tree.Dir, "build/latest"))
	if err := os.Link(filepath.Join(tree.Dir, "build/out.o"), filepath.Join(tree.Dir, "build/hard")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(tree.Dir, "build/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	then := time.Unix(1600000000, 123456000)
	for _, name := range []string{"build/out.o", "build/deep", "README"} {
		if err := os.Chtimes(filepath.Join(tree.Dir, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	sparse := must[*os.File](t)(os.Create(filepath.Join(tree.Dir, "build/sparse")))
	_, werr := sparse.WriteAt([]byte("end"), 1<<33)
	if err := errors.Join(werr, sparse.Close(), os.Chmod(filepath.Join(tree.Dir, "build/deep/er"), 0o555)); err != nil {
		t.Skipf("a file with a hole is needed: %v", err)
	}

	c := must[*Tree](t)(tree.Copy(t.Context(), filepath.Join(runDir(m, "run1"), "copy")))
	defer c.Close()
	for _, name := range []string{"build/out.o", "build/deep", "README"} {
		info := must[fs.FileInfo](t)(os.Stat(filepath.Join(c.Dir, name)))
		if !info.ModTime().Equal(then) {
			t.Errorf("%s has the time %v", name, info.ModTime())
		}
	}
	st := must[fs.FileInfo](t)(os.Stat(filepath.Join(c.Dir, "build/hard"))).Sys().(*syscall.Stat_t)
	if st.Nlink != 2 {
		t.Errorf("a file with two names has %d in the copy", st.Nlink)
	}
	if st := must[fs.FileInfo](t)(os.Stat(filepath.Join(c.Dir, "build/sparse"))).Sys().(*syscall.Stat_t); st.Size != 1<<33+3 || st.Blocks > 1000 {
		t.Errorf("the file with a hole has %d bytes in %d blocks", st.Size, st.Blocks)
	}
	if info := must[fs.FileInfo](t)(os.Stat(filepath.Join(c.Dir, "build/deep/er"))); info.Mode().Perm() != 0o555 {
		t.Errorf("mode %v", info.Mode())
	}
	if got := must[string](t)(os.Readlink(filepath.Join(c.Dir, "build/latest"))); got != "out.o" {
		t.Errorf("link to %q", got)
	}
	if _, err := os.Lstat(filepath.Join(c.Dir, "build/pipe")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pipe was copied: %v", err)
	}
	mirror := fingerprint(t, m.Dir)
	env := append([]string{"GIT_OPTIONAL_LOCKS=0"}, userEnv...)
	for _, dir := range []string{tree.Dir, c.Dir} {
		if got := userIn(t, env, dir, "status", "--porcelain"); got != "?? build/\n?? empty/" {
			t.Errorf("git status in %s:\n%s", dir, got)
		}
		if got := userIn(t, env, dir, "rev-parse", "HEAD"); got != head {
			t.Errorf("HEAD %s", got)
		}
		userIn(t, env, dir, "log", "-p")
	}
	if d := cmp.Diff(mirror, fingerprint(t, m.Dir)); d != "" {
		t.Errorf("looking wrote into the mirror:\n%s", d)
	}
	write(t, c.Dir, map[string]string{"README": "owt\n"})
	if got := userIn(t, env, c.Dir, "status", "--porcelain", "-uno"); got != " M README" {
		t.Errorf("git status after a change: %q", got)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Errorf("a change of the copy shows in its source: %q", got)
	}
	if d := cmp.Diff([]string{"README"}, must[[]string](t)(c.Changed(t.Context()))); d != "" {
		t.Error(d)
	}
	cc := must[*Tree](t)(c.Copy(t.Context(), filepath.Join(runDir(m, "run1"), "copy of the copy")))
	defer cc.Close()
	if d := cmp.Diff([]string{"README"}, must[[]string](t)(cc.Changed(t.Context()))); d != "" {
		t.Errorf("what was changed before the copy: %s", d)
	}
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	if got := must[[]string](t)(c.Restore(t.Context())); len(got) != 1 {
		t.Errorf("the copy depends on its source: %q", got)
	}
}

func TestCopySpeed(t *testing.T) {
	variants.Only(t) // a speed: TestCopy shows what a copy is
	t.Parallel()
	dir := t.TempDir()
	user(t, dir, "init", "-q", "-b", "main")
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%50, i%7, i)] = strings.Repeat(fmt.Sprintln(i), 200)
	}
	write(t, dir, files)
	head := commit(t, dir, "many")
	_, m, _ := imported(t, dir)
	start := time.Now()
	tree := worktree(t, m, "t", head)
	t.Logf("checkout %v", time.Since(start))
	start = time.Now()
	c := must[*Tree](t)(tree.Copy(t.Context(), filepath.Join(runDir(m, "run1"), "c")))
	t.Logf("copy %v", time.Since(start))
	for range 2 {
		start = time.Now()
		if got := must[[]string](t)(c.Changed(t.Context())); len(got) > 0 {
			t.Errorf("changed: %q", got)
		}
		t.Logf("changed %v", time.Since(start))
	}
	start = time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("close %v", time.Since(start))
}

// A tree goes away whatever a command did to it, and takes nothing along.
func TestClose(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	outside := t.TempDir()
	write(t, outside, map[string]string{"keep/me": "x"})
	before := fingerprint(t, outside)
	tree := worktree(t, m, "t", head)
	write(t, tree.Dir, map[string]string{"ro/a/b": "x"})
	symlink(t, outside, filepath.Join(tree.Dir, "ro/a/out"))
	symlinkOver(t, outside, filepath.Join(tree.Dir, "src"))
	deep := filepath.Join(tree.Dir, "deep")
	if err := os.Mkdir(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	at := must[int](t)(folder.OpenAt(unix.AT_FDCWD, deep, folder.OpenDir, 0))
	for range 3000 { // deeper than any path can be long
		if err := unix.Mkdirat(at, "d", 0o755); err != nil {
			t.Fatal(err)
		}
		next := must[int](t)(folder.OpenAt(at, "d", folder.OpenDir, 0))
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	for _, dir := range []string{"ro/a", "ro", "."} {
		if err := os.Chmod(filepath.Join(tree.Dir, dir), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := tree.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(tree.Dir); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
	if got := user(t, "/", "--git-dir="+m.home(), "worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
		t.Errorf("the mirror still knows it:\n%s", got)
	}
	if d := cmp.Diff(before, fingerprint(t, outside)); d != "" {
		t.Errorf("outside changed:\n%s", d)
	}
}

func TestWorktreeRefuses(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "t", head)
	if _, err := m.Worktree(t.Context(), tree.Dir, head); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if _, err := m.Worktree(t.Context(), filepath.Join(runDir(m, "run1"), "u"), strings.Repeat("4", 40)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing commit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Worktree(ctx, filepath.Join(runDir(m, "run1"), "v"), head); err == nil {
		t.Error("cancelled, yet made")
	}
	if left, _ := filepath.Glob(filepath.Join(runDir(m, "run1"), "[uv]")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Pointers and submodules stay what they are, and that is said.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "submodule", "--quiet", "add", newRepo(t), "mod")
	pointer := pointerHead + "oid sha256:" + strings.Repeat("a", 64) + "\nsize 12\n"
	write(t, dir, map[string]string{"big.bin": pointer, ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
	head := commit(t, dir, "odd")
	_, m, _ := imported(t, dir)
	tree := worktree(t, m, "t", head)
	want := []string{`submodules are empty folders: "mod"`, `files under Git LFS are pointers without their content: "big.bin"`}
	if d := cmp.Diff(want, tree.Notes); d != "" {
		t.Error(d)
	}
	if got := read(t, tree.Dir, "big.bin"); got != pointer {
		t.Errorf("big.bin is %q", got)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Errorf("changed: %q", got)
	}
	if err := os.Remove(filepath.Join(tree.Dir, "mod")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"mod"}, must[[]string](t)(tree.Restore(t.Context()))); d != "" {
		t.Error(d)
	}
}

// A tree that was reset is what the other one is, in its own folder: what
// commands left goes, build output comes, git works, and later changes show.
func TestReset(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "head", head)
	write(t, tree.Dir, map[string]string{"build/out.o": "obj"})
	snap := must[*Tree](t)(tree.Copy(t.Context(), filepath.Join(runDir(m, "run1"), "prepared")))
	defer snap.Close()
	write(t, tree.Dir, map[string]string{"README": "owt\n", "left/over": "x", "build/out.o": "changed"})
	if err := errors.Join(os.Remove(filepath.Join(tree.Dir, ".git")), os.Chmod(filepath.Join(tree.Dir, "left"), 0)); err != nil {
		t.Fatal(err)
	}
	if err := tree.Reset(t.Context(), snap); err != nil {
		t.Fatal(err)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 {
		t.Errorf("after the reset %q are not what they were", got)
	}
	if _, err := os.Lstat(filepath.Join(tree.Dir, "left")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is still there: %v", err)
	}
	if got := must[[]byte](t)(os.ReadFile(filepath.Join(tree.Dir, "build/out.o"))); string(got) != "obj" {
		t.Errorf("build output is %q", got)
	}
	if got := userIn(t, append([]string{"GIT_OPTIONAL_LOCKS=0"}, userEnv...), tree.Dir, "status", "--porcelain"); got != "?? build/" {
		t.Errorf("git status:\n%s", got)
	}
	write(t, tree.Dir, map[string]string{"README": "owt\n"})
	if d := cmp.Diff([]string{"README"}, must[[]string](t)(tree.Changed(t.Context()))); d != "" {
		t.Error(d)
	}
	if err := tree.Reset(t.Context(), tree); err == nil {
		t.Error("a tree was reset to itself")
	}
}
