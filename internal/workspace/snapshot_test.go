package workspace

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

func TestSnapshot(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{".gitignore": "*.log\n/build/\n", "both": "b\n", "kept.log": "tracked\n"})
	user(t, dir, "add", "-f", "kept.log")
	head := commit(t, dir, "more")
	r, m, _ := imported(t, dir)

	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if s.Dirty || s.Commit != head || len(s.Notes) > 0 {
		t.Errorf("a clean tree: %+v", s)
	}

	if err := os.Remove(filepath.Join(dir, "old.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"README": "changed\n", "kept.log": "changed\n", "src/new/n.go": "package n\n", "a.log": "ignored", "build/x": "ignored",
		"secret.txt": "excluded", "mine.txt": "excluded by the operator", "staged": "s\n", "old.txt/inside": "a folder now\n",
	})
	write(t, dir, map[string]string{".git/info/exclude": "secret.txt\n"})
	m.git.Excludes = filepath.Join(t.TempDir(), "ignore")
	write(t, filepath.Dir(m.git.Excludes), map[string]string{"ignore": "mine.txt\n"})
	user(t, dir, "add", "staged")
	user(t, dir, "add", "-N", "src/new/n.go")
	user(t, dir, "rm", "-q", "--cached", "both") // and still there: untracked
	symlinkOver(t, "/etc/passwd", filepath.Join(dir, "link"))
	if err := errors.Join(os.Chmod(filepath.Join(dir, "run.sh"), 0o644), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)); err != nil {
		t.Fatal(err)
	}
	s = must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip\n"))
	want := []change.File{
		{Path: "README", Status: change.Modified, Added: 1, Deleted: 1},
		{Path: "kept.log", Status: change.Modified, Added: 1, Deleted: 1},
		{Path: "link", Status: change.Modified, Added: 1, Deleted: 1},
		{Path: "old.txt", Status: change.Deleted, Deleted: 20},
		{Path: "old.txt/inside", Status: change.Added, Added: 1},
		{Path: "run.sh", Status: change.Modified},
		{Path: "src/new/n.go", Status: change.Added, Added: 1},
		{Path: "staged", Status: change.Added, Added: 1},
	}
	if d := cmp.Diff(want, must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	c := must[Commit](t)(m.Describe(t.Context(), s.Commit))
	if !s.Dirty || c.Subject != "wip" || !cmp.Equal(c.Parents, []string{head}) {
		t.Errorf("%+v %+v", s, c)
	}
	if again := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip\n")); again.Commit != s.Commit {
		t.Errorf("the same content gave %s and %s", s.Commit, again.Commit)
	}
	// A snapshot can be imported again, although the user's repository lacks it.
	if err := m.Import(t.Context(), r, s.Commit, head); err != nil {
		t.Error(err)
	}
	if out := user(t, dir, "count-objects", "-v"); strings.Contains(out, s.Commit) {
		t.Error("written into the user's repository")
	}
}

// What the user's own git ignores is no part of a snapshot, in whichever file the pattern stands.
func TestSnapshotIgnores(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string // of HOME
		env   []string
		local string // core.excludesFile of the repository
		want  []string
	}{
		"nothing":           {want: []string{".env", "x.mine"}},
		"the usual place":   {files: map[string]string{".config/git/ignore": ".env\n"}, want: []string{"x.mine"}},
		"XDG_CONFIG_HOME":   {files: map[string]string{"xdg/git/ignore": ".env\n"}, env: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: []string{"x.mine"}},
		"named by the user": {files: map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/.mine\n", ".mine": ".env\n", ".config/git/ignore": "*.mine\n"}, want: []string{"x.mine"}},
		"named by an include": {files: map[string]string{
			".gitconfig": "[include]\n\tpath = more\n", "more": "[core]\n\texcludesfile = ~/.mine\n", ".mine": ".env\n",
		}, want: []string{"x.mine"}},
		"GIT_CONFIG_GLOBAL": {
			files: map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/.mine\n", "other": "[core]\n\texcludesFile = ~/.others\n", ".mine": ".env\n", ".others": "*.mine\n"},
			env:   []string{"GIT_CONFIG_GLOBAL=HOME/other"}, want: []string{".env"},
		},
		"the machine's":           {files: map[string]string{"etc": "[core]\n\texcludesFile = ~/.mine\n", ".mine": ".env\n"}, env: []string{"GIT_CONFIG_SYSTEM=HOME/etc"}, want: []string{"x.mine"}},
		"named by the repository": {files: map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/.mine\n", ".mine": ".env\n", "here": "*.mine\n"}, local: "~/here", want: []string{".env"}},
		"that is none":            {files: map[string]string{".gitconfig": "[core]\n\texcludesFile = /dev/null\n", ".config/git/ignore": ".env\n"}, want: []string{".env", "x.mine"}},
		"that is not there":       {files: map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/.mine\n", ".config/git/ignore": ".env\n"}, want: []string{".env", "x.mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home := newRepo(t), t.TempDir()
			write(t, home, tt.files)
			if tt.local != "" {
				user(t, dir, "config", "core.excludesFile", tt.local)
			}
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_SYSTEM=/dev/null"}
			for _, kv := range tt.env {
				env = append(env, strings.ReplaceAll(kv, "HOME/", home+"/"))
			}
			g := must[*git.Git](t)(git.New("git", env, slog.New(slog.DiscardHandler)))
			g.Temp = t.TempDir()
			r, m := open(t, g, dir)
			head := must[string](t)(r.Resolve(t.Context(), "HEAD"))
			write(t, dir, map[string]string{".env": "STRIPE=rk_live\n", "x.mine": "mine\n"})
			s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
			var got []string
			for _, f := range must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)) {
				got = append(got, f.Path)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// Patterns that are no file are an error: a pipe would be waited for.
func TestSnapshotIgnoresNoPipe(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	if err := syscall.Mkfifo(filepath.Join(dir, ".git", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	user(t, dir, "config", "core.excludesFile", filepath.Join(dir, ".git", "pipe"))
	r, m, _ := imported(t, dir)
	if s, err := m.Snapshot(t.Context(), r, "wip"); err == nil || !strings.Contains(err.Error(), "core.excludesFile") {
		t.Errorf("%+v, %v", s, err)
	}
}

// A change of the same size in the second in which the index was written is
// seen, also when it is looked for later.
func TestSnapshotRacy(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	second := func(name string) int64 {
		return must[os.FileInfo](t)(os.Stat(filepath.Join(dir, name))).ModTime().Unix()
	}
	for try := 0; ; try++ {
		write(t, dir, map[string]string{"README": "two\n"})
		first := second("README")
		user(t, dir, "add", "README")
		write(t, dir, map[string]string{"README": "owt\n"})
		if first == second("README") && first == second(".git/index") {
			break
		}
		if try == 100 {
			t.Skip("the machine is too slow to do two things in a second")
		}
	}
	for later := second("README"); later == second("README"); {
		write(t, dir, map[string]string{".git/now": ""})
		later = second(".git/now")
	}
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if got := must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// What a sparse checkout left out is not deleted, and what it did not is taken.
func TestSnapshotSparse(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "sparse-checkout", "set", "--no-cone", "/*", "!/src/")
	r, m, head := imported(t, dir)
	if s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip")); s.Dirty {
		t.Errorf("a clean sparse checkout: %+v", must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)))
	}
	write(t, dir, map[string]string{"README": "x\n", "src/a.go": "made again\n"})
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if got := must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)); len(got) != 2 || got[0].Path != "README" || got[1].Path != "src/a.go" {
		t.Errorf("got %+v", got)
	}
}

func TestSnapshotConflict(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{"README": "topic\n"})
	head := commit(t, dir, "topic")
	user(t, dir, "checkout", "-q", "main")
	write(t, dir, map[string]string{"README": "main\n"})
	commit(t, dir, "main")
	user(t, dir, "checkout", "-q", "topic")
	if _, err := userMayFail(dir, "merge", "main"); err == nil {
		t.Fatal("no conflict")
	}
	write(t, dir, map[string]string{"README": "resolved\n"})
	r, m, _ := imported(t, dir)
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if got := must[[]byte](t)(m.ReadFile(t.Context(), s.Commit, "README")); string(got) != "resolved\n" {
		t.Errorf("README is %q", got)
	}
	if got := must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// Filters are not run: LFS content becomes its pointer, secrets stay out, the
// rest is taken plainly, line endings as always.
func TestSnapshotFilters(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	pointer := pointerHead + "oid sha256:03b7c0d2d2d7f5dba4e4b1a1e17dbb0e1d4d4d5f3e8fd2b4a3d0fd0c0a4d1b77\nsize 5\n"
	write(t, dir, map[string]string{"a.bin": pointer, "b.bin": pointer, "k.key": "\x00GITCRYPT", "n.nb": "clean\n", "t.txt": "one\n"})
	commit(t, dir, "content")
	write(t, dir, map[string]string{".gitattributes": "*.bin filter=lfs -text\n*.key filter=git-crypt\n*.nb filter=strip\n*.txt text\n"})
	head := commit(t, dir, "attributes")
	write(t, dir, map[string]string{"a.bin": "hello", "k.key": "plain secret", "new.key": "plain secret", "n.nb": "dirty\n", "t.txt": "one\r\ntwo\r\n"})
	r, m, _ := imported(t, dir)
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	var got []string
	for _, f := range must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)) {
		got = append(got, f.Path)
	}
	if d := cmp.Diff([]string{"a.bin", "n.nb", "t.txt"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	want := pointerHead + "oid sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\nsize 5\n"
	if got := must[[]byte](t)(m.ReadFile(t.Context(), s.Commit, "a.bin")); string(got) != want {
		t.Errorf("a.bin is %q", got)
	}
	if got := must[[]byte](t)(m.ReadFile(t.Context(), s.Commit, "t.txt")); string(got) != "one\ntwo\n" {
		t.Errorf("t.txt is %q", got)
	}
	if len(s.Notes) != 3 {
		t.Errorf("notes: %q", s.Notes)
	}
}

// A new commit in a submodule is part of the change, what is dirty in it is not,
// and a repository that is no submodule is left out.
func TestSnapshotSubmodule(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "submodule", "--quiet", "add", newRepo(t), "mod")
	head := commit(t, dir, "module")
	mod := filepath.Join(dir, "mod")
	write(t, mod, map[string]string{"README": "dirty\n"})
	user(t, dir, "init", "-q", filepath.Join(dir, "other"))
	write(t, dir, map[string]string{"other/file": "x"})
	commit(t, filepath.Join(dir, "other"), "x")
	r, m, _ := imported(t, dir)
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if s.Dirty || len(s.Notes) != 1 {
		t.Errorf("got %+v", s)
	}
	commit(t, mod, "moved")
	s = must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	if got := must[[]change.File](t)(m.Diff(t.Context(), head, s.Commit)); len(got) != 1 || got[0].Path != "mod" {
		t.Errorf("got %+v", got)
	}
}

func TestSnapshotUnborn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	user(t, dir, "init", "-q", "-b", "main")
	r, m := open(t, newGit(t), dir)
	if _, err := m.Snapshot(t.Context(), r, "wip"); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("got %v", err)
	}
}

// The commit that holds nothing has the id that is known before it is made.
func TestNothing(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		dir := newRepo(t, "--object-format="+format)
		_, m := open(t, newGit(t), dir)
		oid := must[string](t)(m.Nothing(t.Context()))
		if want := NothingID(format); oid != want {
			t.Errorf("%s: got %s, want %s", format, oid, want)
		}
		if files := must[[]objects.Entry](t)(m.Files(t.Context(), oid)); len(files) > 0 {
			t.Errorf("%s: it holds %+v", format, files)
		}
	}
}
