package repository

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ycbot/ycbot/internal/workspace/git"
)

// Uncommitted counts the tracked files in r's work tree or index that differ from
// HEAD. It runs no filter, so that a file with
// one counts as changed where it was only touched.
func (r *Repository) Uncommitted(ctx context.Context) (n int, err error) {
	v, err := r.View(ctx)
	if err != nil {
		return 0, err
	}
	defer v.Close()
	x, err := r.Index(v, "")
	if err != nil {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	// It fails where something differs, or lies unmerged.
	if _, err := r.git.Run(ctx, x.Call("update-index", "-q", "--refresh")); err != nil && git.ExitCode(err) != 1 {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	out, err := r.git.Run(ctx, x.Call("diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", "HEAD"))
	if err != nil {
		return 0, fmt.Errorf("uncommitted changes of %s: %w", r.Root, err)
	}
	return bytes.Count(out, []byte{0}), nil
}
