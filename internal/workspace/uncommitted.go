package workspace

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ycbot/ycbot/internal/workspace/git"
)

// Uncommitted counts the tracked files in r's work tree or index that differ from
// HEAD. It reads like [Mirror.Snapshot] and runs no filter either, so that a file with
// one counts as changed where it was only touched.
func (r *Repository) Uncommitted(ctx context.Context) (n int, err error) {
	v, err := r.view(ctx)
	if err != nil {
		return 0, err
	}
	defer v.close()
	w := &stage{r: r, v: v}
	if err := w.copyIndex(); err != nil {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	// It fails where something differs, or lies unmerged.
	if _, err := r.git.Run(ctx, w.call("update-index", "-q", "--refresh")); err != nil && git.ExitCode(err) != 1 {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	out, err := r.git.Run(ctx, w.call("diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", "HEAD"))
	if err != nil {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	return bytes.Count(out, []byte{0}), nil
}
