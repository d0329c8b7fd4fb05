package caches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Seed is where the standard library lies, compiled for tests or for the race detector, that
// the caches of new projects begin with.
func (s Store) Seed(race bool) string {
	way := "tests"
	if race {
		way = "race"
	}
	return filepath.Join(s.Shared, "go-std", strings.ReplaceAll(s.Go.Version, string(filepath.Separator), "_"), way)
}

// ProjectCache is where the build cache of the project lies.
func (s Store) ProjectCache() string { return filepath.Join(s.Project, "go-build") }

// BuildCache is where that of a side lies, for this run.
func (s Store) BuildCache(side results.Side) string {
	return filepath.Join(s.Scratch, string(side), "go-build")
}

// FillSeed makes a seed where there is none. compile writes into a cache what the standard
// library comes to, and nothing of any project.
func (s Store) FillSeed(race bool, compile func(cache string) error) error {
	if folder.Exists(s.Seed(race)) {
		return nil
	}
	return whole(s.Seed(race), compile)
}

// SeedCache gives the project's cache what a seed has and it has not.
func (s Store) SeedCache(race bool) error {
	if s.Go == nil || !folder.Exists(s.Seed(race)) {
		return nil
	}
	if !folder.Exists(s.ProjectCache()) {
		return copyWhole(s.Seed(race), s.ProjectCache())
	}
	if err := copyMissing(s.Seed(race), s.ProjectCache()); err != nil {
		return fmt.Errorf("seed of build caches: %w", err)
	}
	return nil
}

// SplitCache gives each side its copy of the project's cache.
func (s Store) SplitCache() error {
	if !folder.Exists(s.ProjectCache()) {
		return folder.Make(s.BuildCache(results.Base), s.BuildCache(results.Head))
	}
	since := s.Now()
	if err := s.SplitAhead()(); err != nil {
		return err
	}
	return s.SplitRest(since)
}

// SplitAhead copies for each side what is in the project's cache now, in goroutines
// that have ended when what it returns has been called.
func (s Store) SplitAhead() (wait func() error) {
	var both errgroup.Group
	if !folder.Exists(s.ProjectCache()) {
		return both.Wait
	}
	for _, side := range []results.Side{results.Base, results.Head} {
		both.Go(func() error {
			if err := s.LinkCache(s.BuildCache(side) + ahead); err != nil {
				return fmt.Errorf("build cache of %s: %w", side, err)
			}
			return nil
		})
	}
	return both.Wait
}

// ahead ends the name of a cache that is not complete yet.
const ahead = ".ahead"

// SplitRest puts what splitAhead copied at the time since into place, with what has
// come since then. Commands of the base may have begun another cache there.
func (s Store) SplitRest(since time.Time) error {
	for _, side := range []results.Side{results.Base, results.Head} {
		cache := s.BuildCache(side)
		if !folder.Exists(cache + ahead) { // there was nothing yet
			return s.SplitCache()
		}
		err := os.RemoveAll(cache)
		if err == nil {
			err = os.Rename(cache+ahead, cache)
		}
		if err == nil {
			err = s.Link(s.ProjectCache(), cache, since.Add(-time.Second)) // time stamps are coarser than the clock
		}
		if err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return nil
}

// copyMissing copies to a cache what it lacks of another, each file whole or not at all.
func copyMissing(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return gone(err)
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if folder.Exists(at) {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return gone(err)
		}
		return folder.WriteWhole(at, data)
	})
}

// Linked is what the caches of sides and agents lead to.
func (s Store) Linked() []string {
	if !folder.Exists(s.ProjectCache()) {
		return nil
	}
	return []string{s.ProjectCache()}
}

// linkedFor is how old a file of the project's cache may be that is linked to. The go
// command removes what nothing used for five days, and a link to what is gone would
// be in the way of the file that is made again.
const linkedFor = 4 * 24 * time.Hour

// LinkCache makes a cache that begins with what is in the project's. Outputs, which
// have the name of their content and are never written twice, are links; the small
// entries that say which output an action had may change, and are copies.
func (s Store) LinkCache(to string) error {
	return whole(to, func(temp string) error { return s.Link(s.ProjectCache(), temp, time.Time{}) })
}

// Link adds to a cache what another has got after since. The folders that a cache
// consists of are independent of one another.
func (s Store) Link(from, to string, since time.Time) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return gone(err)
	}
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for _, e := range entries {
		all.Go(func() error { return s.linkFolder(from, to, e.Name(), since) })
	}
	return all.Wait()
}

func (s Store) linkFolder(from, to, sub string, since time.Time) error {
	oldest := s.Now().Add(-linkedFor)
	return filepath.WalkDir(filepath.Join(from, sub), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return gone(err)
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if d.IsDir() {
			return folder.Make(at)
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return gone(err)
		case info.ModTime().Before(oldest) || info.ModTime().Before(since):
			return nil
		case info.Mode()&fs.ModeSymlink != 0: // to a file of the project's
			target, err := os.Readlink(name)
			if err != nil {
				return gone(err)
			}
			if err := os.Symlink(target, at); !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		case !info.Mode().IsRegular():
			return nil
		case strings.HasSuffix(name, "-a") || filepath.Dir(name) == from:
			data, err := os.ReadFile(name)
			if err != nil {
				return gone(err)
			}
			return os.WriteFile(at, data, 0o600)
		}
		if err := os.Symlink(name, at); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// gone forgives that a run beside this one trimmed the cache.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyWhole copies a folder.
func copyWhole(from, to string) error {
	return whole(to, func(temp string) error { return gone(os.CopyFS(temp, os.DirFS(from))) })
}

// whole has a folder filled so that it is there whole or not at all. Where someone
// else was faster, theirs stays.
func whole(to string, fill func(temp string) error) error {
	if err := folder.Make(filepath.Dir(to)); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".part-")
	if err != nil {
		return err
	}
	if err = fill(temp); err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(temp))
		if folder.Exists(to) {
			return nil
		}
	}
	return err
}
