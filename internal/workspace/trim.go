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
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sorted"
)

// trash begins the names of folders that are being removed.
const trash = ".trash-"

// Trim removes what the harness can make again below home until that frees want bytes:
// mirrors and caches of projects, those first that no run has used for longest, and at
// last the cache that all share. What a run is at work with is kept. It says how much
// it freed.
func Trim(ctx context.Context, home string, want int64, log *slog.Logger) (int64, error) {
	dirs, err := projectsByUse(home)
	if err != nil {
		return 0, fmt.Errorf("trim: %w", err)
	}
	t := &trimmer{ctx: ctx, home: home}
	busy := false
	for _, dir := range dirs {
		if t.freed >= want || ctx.Err() != nil {
			return t.freed, context.Cause(ctx)
		}
		before := t.freed
		switch err := t.project(dir); {
		case errors.Is(err, ErrBusy):
			busy = true
		case err != nil:
			log.WarnContext(ctx, "caches of a project are not removed", "dir", dir, "error", err)
		case t.freed > before:
			log.InfoContext(ctx, "caches of a project are removed", "dir", dir, "bytes", t.freed-before)
		}
	}
	if t.freed >= want || busy {
		return t.freed, nil
	}
	// A run has its lock before it looks at a cache, so none relies on this one by now.
	if err := errors.Join(t.remove(filepath.Join(home, "cache")), t.leavings(home)); err != nil {
		return t.freed, fmt.Errorf("trim: %w", err)
	}
	return t.freed, nil
}

// projectsByUse are the projects' folders, the one that was not used for longest first.
func projectsByUse(home string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(home, "projects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	type project struct {
		dir  string
		used time.Time
	}
	var all []project
	for _, e := range entries {
		dir := filepath.Join(home, "projects", e.Name())
		if !e.IsDir() {
			continue
		}
		p := project{dir: dir}
		for _, name := range []string{"", "worktrees"} { // in which every run makes a folder
			if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.ModTime().After(p.used) {
				p.used = info.ModTime()
			}
		}
		all = append(all, p)
	}
	sorted.By(all, func(a, b project) int { return a.used.Compare(b.used) })
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.dir
	}
	return out, nil
}

type trimmer struct {
	ctx   context.Context
	home  string
	freed int64
}

// SubmodulesDir is the folder of a project with the mirrors of its submodules.
const SubmodulesDir = "submodules"

// project removes a project's mirrors and cache, unless a run is at work with them: a run
// locks its worktrees before it opens a mirror.
func (t *trimmer) project(dir string) error {
	mirror := filepath.Join(dir, "mirror.git")
	lock, err := tryAcquire(mirror+".lock", syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := idle(dir); err != nil {
		return err
	}
	errs := []error{t.remove(mirror)}
	for _, name := range []string{historyDir, SubmodulesDir, "cache"} {
		errs = append(errs, t.remove(filepath.Join(dir, name)))
	}
	return errors.Join(append(errs, t.leavings(dir))...)
}

// idle returns ErrBusy where a run is at work.
func idle(project string) error {
	runs, err := os.ReadDir(filepath.Join(project, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, r := range runs {
		lock, err := tryAcquire(filepath.Join(project, "worktrees", r.Name(), lockName), syscall.LOCK_EX)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return err
		}
		lock.Release()
	}
	return nil
}

// remove takes a folder's name away, so that no one finds half of it, and then the folder.
func (t *trimmer) remove(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	size, err := folder.Usage(t.ctx, dir)
	if err != nil {
		return err
	}
	gone, err := os.MkdirTemp(filepath.Dir(dir), trash)
	if err != nil {
		return err
	}
	err = os.Rename(dir, filepath.Join(gone, "it"))
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(gone)
	}
	if err = errors.Join(err, folder.RemoveAll(t.ctx, gone)); err == nil {
		t.freed += size
	}
	return err
}

// leavings removes what was being removed when the process ended.
func (t *trimmer) leavings(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), trash) {
			errs = append(errs, folder.RemoveAll(t.ctx, filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
