package releases

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module writes the files of a version as the module cache holds them.
func module(t *testing.T, files map[string]string) Files {
	t.Helper()
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	return Files{Dir: dir, GoMod: filepath.Join(dir, "go.mod")}
}

// versions makes a repository with the commits one and two of a module.
func versions(t *testing.T) (r Repo, from, to Files) {
	t.Helper()
	from = module(t, map[string]string{"go.mod": "module m // 1", "a.go": "package a // 1", "a_test.go": "package a // 1", "gone/g.go": "package g", "testdata/x.go": "1", "README.md": "1"})
	to = module(t, map[string]string{"go.mod": "module m // 2", "a.go": "package a // 2", "a_test.go": "package a // 2", "new.go": "package a", "testdata/x.go": "2", "README.md": "2", ".gitignore": "a.go"})
	r, err := NewRepo(t.Context(), t.TempDir(), GitEnv(os.Environ(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	commit(t, r, "one", func() error { return r.Fill(from) })
	commit(t, r, "two", func() error { return r.Fill(to) })
	return r, from, to
}

func commit(t *testing.T, r Repo, tag string, write func() error) bool {
	t.Helper()
	changed, err := r.Commit(t.Context(), tag, tag, write)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func git(ctx context.Context, t *testing.T, r Repo, args ...string) string {
	t.Helper()
	out, err := r.Git(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUndo holds what "undone" means: sources as before, added ones gone and
// removed ones back; tests, their data, go.mod and documents as after.
func TestUndo(t *testing.T) {
	t.Parallel()
	r, from, to := versions(t)
	if !commit(t, r, "undone", func() error { return r.Undo(from, to) }) {
		t.Error("undone: no difference")
	}
	want := "M\ta.go\nA\tgone/g.go\nD\tnew.go"
	if diff := cmp.Diff(want, git(t.Context(), t, r, "diff", "--no-renames", "--name-status", "two", "undone")); diff != "" {
		t.Errorf("two to undone (-want +got):\n%s", diff)
	}
	if got := git(t.Context(), t, r, "diff", "--name-only", "one", "undone", "--", "a.go", "gone"); got != "" {
		t.Errorf("sources that are not as before: %s", got)
	}
	if commit(t, r, "same", func() error { return r.Undo(from, to) }) {
		t.Error("undone twice: a difference")
	}
}

// TestPutBack holds that the tests and their data go back with the sources, and
// that go.mod and documents do not.
func TestPutBack(t *testing.T) {
	t.Parallel()
	r, from, to := versions(t)
	if !commit(t, r, "back", func() error { return r.PutBack(from, to) }) {
		t.Error("put back: no difference")
	}
	if diff := cmp.Diff("README.md\ngo.mod", git(t.Context(), t, r, "diff", "--name-only", "one", "back")); diff != "" {
		t.Errorf("one to back (-want +got):\n%s", diff)
	}
	if got := git(t.Context(), t, r, "diff", "--name-only", "two", "back", "--", "README.md", "go.mod"); got != "" {
		t.Errorf("not as after: %s", got)
	}
}

// TestSameCommits holds that the same files make the same commits, so that a
// run that was broken off finds its change again.
func TestSameCommits(t *testing.T) {
	t.Parallel()
	a, _, _ := versions(t)
	b, _, _ := versions(t)
	if one, other := git(t.Context(), t, a, "rev-parse", "two"), git(t.Context(), t, b, "rev-parse", "two"); one != other {
		t.Errorf("%s and %s", one, other)
	}
}
