package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
)

// CopyFiles copies the files of t to dir, which must not exist, to be changed freely: it is no
// worktree, and nothing in it leads to the repository.
func (t *Tree) CopyFiles(ctx context.Context, dir string) error {
	if err := t.Lay(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("copy files: %w", err)
	}
	// Under another name first: one that was broken off is no copy.
	r := &folder.Replica{From: t.Dir, To: dir + ".new", Skip: gitFile}
	if err := r.Copy(ctx); err != nil {
		return fmt.Errorf("copy files of %s: %w", t.Dir, err)
	}
	if err := os.Rename(r.To, dir); err != nil {
		return fmt.Errorf("copy files: %w", err)
	}
	return nil
}
