package pairs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A moduleFiles says where a version of a module lies. The names are those of
// "go mod download -json".
type moduleFiles struct {
	Dir   string // its files
	GoMod string // its go.mod, also where the module has none itself
}

// A repo is a git repository that holds releases of a module.
type repo struct {
	dir string
	env []string
}

func newRepo(t *testing.T, env []string) repo {
	t.Helper()
	r := repo{dir: t.TempDir(), env: env}
	r.git(t, "init", "-q", "-b", "main")
	return r
}

func (r repo) git(t *testing.T, args ...string) string {
	t.Helper()
	return string(bytes.TrimSpace(command(t, r.dir, r.env, append([]string{"git", "-c", "core.autocrlf=false"}, args...)...)))
}

// commit writes a working tree, commits it and tags it. It says whether there
// was a difference to the commit before.
func (r repo) commit(t *testing.T, tag string, write func()) bool {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	write()
	r.git(t, "add", "--all", "--force")
	changed := r.git(t, "status", "--porcelain") != ""
	r.git(t, "commit", "-q", "--allow-empty", "-m", tag)
	r.git(t, "tag", tag)
	return changed
}

// fill copies a version into the working tree.
func (r repo) fill(t *testing.T, m moduleFiles) {
	t.Helper()
	if err := os.CopyFS(r.dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		copyFile(t, m.GoMod, filepath.Join(r.dir, "go.mod"))
	}
}

// undo makes the working tree that of to with the sources of from: tests, their
// data, go.mod and documents stay.
func (r repo) undo(t *testing.T, from, to moduleFiles) {
	t.Helper()
	r.fill(t, to)
	for _, name := range sources(t, r.dir) {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range sources(t, from.Dir) {
		copyFile(t, filepath.Join(from.Dir, name), filepath.Join(r.dir, name))
	}
}

// sources lists the files below dir that are compiled and are no tests.
func sources(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case !d.IsDir() && source(name):
			out = append(out, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func source(name string) bool {
	switch path.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	case ".s", ".h", ".c":
		return true
	}
	return false
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUndo holds what "undone" means: sources as before, added ones gone and
// removed ones back; tests, their data and go.mod as after.
func TestUndo(t *testing.T) {
	t.Parallel()
	write := func(files map[string]string) moduleFiles {
		m := moduleFiles{Dir: t.TempDir()}
		for name, text := range files {
			temp := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			copyFile(t, temp, filepath.Join(m.Dir, name))
		}
		return m
	}
	from := write(map[string]string{"go.mod": "module m // 1", "a.go": "package a // 1", "a_test.go": "package a // 1", "gone/g.go": "package g", "testdata/x.go": "1"})
	to := write(map[string]string{"go.mod": "module m // 2", "a.go": "package a // 2", "a_test.go": "package a // 2", "new.go": "package a", "testdata/x.go": "2", ".gitignore": "a.go"})
	r := newRepo(t, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"))
	r.commit(t, "one", func() { r.fill(t, from) })
	r.commit(t, "two", func() { r.fill(t, to) })
	if !r.commit(t, "undone", func() { r.undo(t, from, to) }) {
		t.Error("undone: no difference")
	}
	want := "M\ta.go\nA\tgone/g.go\nD\tnew.go"
	if diff := cmp.Diff(want, r.git(t, "diff", "--no-renames", "--name-status", "two", "undone")); diff != "" {
		t.Errorf("two to undone (-want +got):\n%s", diff)
	}
	if got := r.git(t, "diff", "--name-only", "one", "undone", "--", "a.go", "gone"); got != "" {
		t.Errorf("sources that are not as before: %s", got)
	}
	if r.commit(t, "same", func() { r.undo(t, from, to) }) {
		t.Error("undone twice: a difference")
	}
}
