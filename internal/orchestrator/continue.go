package orchestrator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/rundir"
)

// SetAside moves the trees that agents had in an earlier attempt at the run out
// of the way. Of an agent whose earlier tree is there still, the tree in its
// place is one into which restoreAdded has not moved everything.
func SetAside(ctx context.Context, l rundir.Layout) error {
	current, earlier := filepath.Join(l.Trees, rundir.AgentTrees), filepath.Join(l.Trees, rundir.EarlierTrees)
	trees, err := os.ReadDir(current)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(earlier, 0o700); err != nil {
		return err
	}
	for _, d := range trees {
		from, to := filepath.Join(current, d.Name()), filepath.Join(earlier, d.Name())
		move := func() error { return os.Rename(from, to) }
		if _, err := os.Lstat(to); err == nil {
			move = func() error { return folder.RemoveAll(ctx, from) }
		}
		if err := move(); err != nil {
			return err
		}
	}
	return nil
}

// restoreAdded moves what an agent had added to its tree in an earlier attempt at
// the run, such as a test beside the code, into the tree that it has now. What
// the head has stays as it is there.
func restoreAdded(ctx context.Context, trees, id string) error {
	earlier := filepath.Join(rundir.EarlierTrees, id)
	root, err := os.OpenRoot(trees) // so that no link in a tree leads out of them
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(earlier); err != nil {
		return nil //nolint:nilerr // there was no earlier attempt
	}
	err = fs.WalkDir(root.FS(), filepath.ToSlash(earlier), func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(earlier, name)
		if err != nil || relErr != nil || rel == "." || rel == ".git" {
			return nil //nolint:nilerr // what its owner made unreadable stays behind
		}
		to := filepath.Join(rundir.AgentTrees, id, rel)
		if _, err := root.Lstat(to); err == nil {
			return nil
		}
		if err := root.Rename(name, to); err != nil || !d.IsDir() {
			return nil //nolint:nilerr // as above
		}
		return fs.SkipDir
	})
	return errors.Join(err, folder.RemoveAll(ctx, filepath.Join(trees, earlier)))
}
