package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/workspace"
)

const (
	diskTime  = 5 * time.Minute // how often the data are measured
	writeTime = 5 * time.Second // how often it is looked at what a run wrote
)

// newKeeper makes what looks after the data of a process that works.
func (s *service) newKeeper() *disk.Keeper {
	return &disk.Keeper{
		Dir: s.o.Data, Quota: s.o.DiskQuota, Floor: s.o.DiskFree, Now: s.m.Now, Log: s.log,
		Trimmers: []disk.Trimmer{
			s.trimRuns,
			func(ctx context.Context, want int64) (int64, error) {
				s.tidy.Lock()
				defer s.tidy.Unlock()
				return workspace.Trim(ctx, s.runner.Home, want, s.log)
			},
		},
	}
}

// trimRuns removes directories of runs that have ended, the oldest first. They are
// exports: what the database holds of the runs stays.
func (s *service) trimRuns(ctx context.Context, want int64) (freed int64, err error) {
	runs := filepath.Join(s.o.Data, "runs")
	dirs, err := exportsOf(runs)
	if err != nil {
		return 0, err
	}
	busy, err := s.atWork(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	removed := 0
	for _, d := range dirs {
		if freed >= want || ctx.Err() != nil {
			break
		}
		if slices.Contains(busy, filepath.Dir(d.name)) { // a run may look at the one before
			continue
		}
		if _, id, _ := strings.Cut(filepath.Base(d.name), "-"); !s.ended(ctx, id) {
			continue
		}
		size, err := folder.Usage(ctx, filepath.Join(runs, d.name))
		if err == nil {
			err = folder.RemoveAll(ctx, filepath.Join(runs, d.name))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		freed += size
		removed++
	}
	if removed > 0 {
		s.log.InfoContext(ctx, "directories of runs are removed to make room", "runs", removed, "bytes", freed)
	}
	return freed, errors.Join(errs...)
}

// atWork names the pull requests, as folders of runs, in which a run is at work.
func (s *service) atWork(ctx context.Context) ([]string, error) {
	running, err := s.db.Runs(ctx, store.RunFilter{State: store.Running, Limit: 10_000})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range running {
		out = append(out, filepath.Join(filepath.FromSlash(r.Repo), fmt.Sprint(r.Number)))
	}
	return out, nil
}

// ended reports whether a run is over, or not known any more.
func (s *service) ended(ctx context.Context, id string) bool {
	run, err := s.db.Run(ctx, id)
	return errors.Is(err, store.ErrNotFound) || err == nil && run.State != store.Running
}

// An export is the directory of a run.
type export struct {
	name string // owner/repository/pull request/run
	used time.Time
}

// exportsOf are the directories of runs, the one that was not written to for longest first.
func exportsOf(runs string) ([]export, error) {
	names, err := fs.Glob(os.DirFS(runs), "*/*/*/*")
	if err != nil {
		return nil, err
	}
	var out []export
	for _, name := range names {
		name = filepath.FromSlash(name)
		if info, err := os.Lstat(filepath.Join(runs, name)); err == nil && info.IsDir() {
			out = append(out, export{name, info.ModTime()})
		}
	}
	sorted.By(out, func(a, b export) int { return a.used.Compare(b.used) })
	return out, nil
}

// sweepRuns removes the run directories in which nothing was written since before.
func sweepRuns(ctx context.Context, runs string, before time.Time) error {
	dirs, err := exportsOf(runs)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range dirs {
		if d.used.Before(before) {
			errs = append(errs, folder.RemoveAll(ctx, filepath.Join(runs, d.name)))
		}
	}
	return errors.Join(errs...)
}

// bounded does what a run does, and ends it when it has written too much to some folders.
func (s *service) bounded(ctx context.Context, dirs []string, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan error, 1)
	go func() {
		over := s.keeper.Watch(ctx, writeTime, s.o.RunDisk, dirs...)
		if over != nil {
			cancel(over)
		}
		watched <- over
	}()
	err := do(ctx)
	cancel(nil)
	if over := <-watched; over != nil {
		return &app.Permanent{Err: over}
	}
	return err
}
