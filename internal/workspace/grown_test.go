package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A tracked file that a command has made huge is found to be another one without being read, and
// is put back.
func TestGrownIsNotRead(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{".gitattributes": "*.bat text eol=crlf\n", "a.bat": "one\ntwo\n"})
	head := commit(t, dir, "attributes")
	_, m, _ := imported(t, dir)
	tree := worktree(t, m, "t", head)
	settled(t, tree)
	for _, name := range []string{"README", "a.bat"} {
		if err := os.Truncate(filepath.Join(tree.Dir, name), 1<<42); err != nil {
			t.Skip(err) // a file system that takes none of this size
		}
	}
	begun := time.Now()
	if d := cmp.Diff([]string{"README", "a.bat"}, must[[]string](t)(tree.Restore(t.Context()))); d != "" {
		t.Error(d)
	}
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 || time.Since(begun) > time.Minute {
		t.Errorf("still changed: %q after %s", got, time.Since(begun))
	}
}

// Who ends a run does not wait for a file to be read to its end.
func TestSumEnds(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40)); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := sumFile(ctx, -100, name, 1<<40, "sha1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
