package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// droppedFile exists in a mirror that holds objects of commits that [Sweep] let go.
const droppedFile = "ycbot-dropped"

// Prune removes the objects of commits that [Sweep] let go from the mirrors below home,
// such as snapshots of working trees. A mirror that a run is at work with is left for the
// next time. It returns how many were pruned.
func Prune(ctx context.Context, g *git.Git, home string, log *slog.Logger) (int, error) {
	marks, err := filepath.Glob(filepath.Join(globQuote(home), "projects", "*", "mirror.git", droppedFile))
	if err != nil {
		return 0, fmt.Errorf("prune mirrors: %w", err)
	}
	n := 0
	for _, mark := range marks {
		m := &Mirror{Dir: filepath.Dir(mark), git: g}
		switch err := m.prune(ctx); {
		case errors.Is(err, ErrBusy):
		case ctx.Err() != nil:
			return n, fmt.Errorf("prune mirrors: %w", context.Cause(ctx))
		case err != nil:
			log.WarnContext(ctx, "mirror was not pruned", "dir", m.Dir, "error", err)
		default:
			n++
		}
	}
	return n, nil
}

// prune writes what pins and tags reach into a new object store. A run locks its
// worktrees before it opens the mirror, so none is at work with the old one.
func (m *Mirror) prune(ctx context.Context) error {
	lock, err := tryAcquire(m.Dir+".lock", syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := idle(filepath.Dir(m.Dir)); err != nil {
		return err
	}
	out, err := m.run(ctx, "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return err
	}
	fresh, gone := m.path("objects.new"), m.path("objects.old")
	for _, dir := range []string{fresh, gone} { // of a process that was killed
		if err := folder.RemoveAll(ctx, dir); err != nil {
			return err
		}
	}
	for _, d := range []string{"pack", "info"} {
		if err := os.MkdirAll(filepath.Join(fresh, d), 0o700); err != nil {
			return err
		}
	}
	if err := m.pack(ctx, fresh, packing{want: strings.Fields(string(out))}); err != nil {
		return errors.Join(err, folder.RemoveAll(context.WithoutCancel(ctx), fresh))
	}
	// A process that is killed between the two leaves a mirror that is made again.
	if err := errors.Join(os.Rename(m.path("objects"), gone), os.Rename(fresh, m.path("objects"))); err != nil {
		return err
	}
	return errors.Join(os.Remove(m.path(droppedFile)), folder.RemoveAll(ctx, gone))
}

// histories removes what is kept of the history of bases and was not used for long.
func (w *sweeper) histories() error {
	root := filepath.Join(w.dir, historyDir)
	lock, err := tryAcquire(filepath.Join(w.dir, "mirror.git")+historyLock, syscall.LOCK_EX)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	kept, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, k := range kept {
		if dir := filepath.Join(root, k.Name()); w.old(dir) {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}
