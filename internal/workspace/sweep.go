package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
)

// Swept is what Sweep did.
type Swept struct {
	Runs   int // folders of runs that ended without cleaning up
	Live   int // folders kept because a run is at work in them
	Young  int // folders kept because they are not old enough
	Refs   int // commits that mirrors need not keep any longer
	Broken int // folders that could not be removed; the log says why
}

// Sweep removes the worktrees that broken-off runs left below home, when
// no one holds their lock and they were last used more than maxAge before now.
// Mirrors let the commits of runs as old go, whose objects [Prune] removes; a
// mirror that is in use at that moment is left for the next time.
func Sweep(ctx context.Context, home string, maxAge time.Duration, now time.Time, log *slog.Logger) (Swept, error) {
	var s Swept
	projects, err := os.ReadDir(filepath.Join(home, "projects"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("sweep: %w", err)
	}
	for _, p := range projects {
		if !p.IsDir() {
			continue
		}
		w := &sweeper{dir: filepath.Join(home, "projects", p.Name()), before: now.Add(-maxAge), log: log, swept: &s}
		if err := w.runs(ctx); err != nil {
			return s, fmt.Errorf("sweep %s: %w", p.Name(), err)
		}
		if err := w.mirror(); err != nil {
			log.WarnContext(ctx, "mirror was not swept", "dir", w.dir, "error", err)
		}
	}
	return s, ctx.Err()
}

type sweeper struct {
	dir    string
	before time.Time
	log    *slog.Logger
	swept  *Swept
}

func (w *sweeper) runs(ctx context.Context) error {
	runs, err := os.ReadDir(filepath.Join(w.dir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.IsDir() {
			continue
		}
		dir := filepath.Join(w.dir, "worktrees", r.Name())
		if err := w.run(ctx, dir); err != nil {
			w.swept.Broken++
			w.log.WarnContext(ctx, "worktrees were not removed", "dir", dir, "error", err)
		}
	}
	return nil
}

func (w *sweeper) run(ctx context.Context, dir string) error {
	used, err := lastUse(dir)
	if err != nil {
		return err
	}
	if used.After(w.before) {
		w.swept.Young++
		return nil
	}
	lock, err := tryAcquire(filepath.Join(dir, lockName), syscall.LOCK_EX)
	if errors.Is(err, ErrBusy) {
		w.swept.Live++
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := folder.RemoveAll(ctx, dir); err != nil {
		return err
	}
	w.swept.Runs++
	return nil
}

// lastUse is when a run last took its lock, or made its folder.
func lastUse(dir string) (time.Time, error) {
	info, err := os.Lstat(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// mirror makes a project's mirror forget what is gone or old.
func (w *sweeper) mirror() error {
	dir := filepath.Join(w.dir, "mirror.git")
	if _, err := os.Stat(filepath.Join(dir, stampFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := tryAcquire(dir+".lock", syscall.LOCK_EX)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	done, err := altering(dir)
	if err != nil {
		return err
	}
	return errors.Join(w.pins(dir), w.histories(), done())
}

func (w *sweeper) old(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.ModTime().After(w.before)
}

// pins removes old ones. The newest stays, so that the next import needs to
// bring the difference only.
func (w *sweeper) pins(mirror string) error {
	dir := filepath.Join(mirror, filepath.FromSlash(pinsDir))
	pins, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	newest, newestTime := "", time.Time{}
	for _, p := range pins {
		if info, ierr := p.Info(); ierr == nil && info.ModTime().After(newestTime) {
			newest, newestTime = p.Name(), info.ModTime()
		}
	}
	for _, p := range pins {
		path := filepath.Join(dir, p.Name())
		if p.Name() == newest || !w.old(path) {
			continue
		}
		if rerr := os.Remove(path); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		w.swept.Refs++
		err = errors.Join(err, os.WriteFile(filepath.Join(mirror, droppedFile), nil, 0o600))
	}
	return err
}

// TempAge is longer than any run: what is older in the folder for short-lived files is no
// one's.
const TempAge = 24 * time.Hour

// SweepTemp removes what killed runs left in the folder for short-lived files: what was
// last written before a time.
func SweepTemp(ctx context.Context, dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if statErr != nil || !info.ModTime().Before(before) {
			continue // gone, or in use
		}
		err = errors.Join(err, folder.RemoveAll(ctx, filepath.Join(dir, e.Name())))
	}
	return err
}
