package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// The caches of the go command, none of which code of a change ever writes for
// others to read:
//
//   - The module cache is one for all projects. It is filled in the setup phase
//     by "go mod download", which runs no code of the change and checks what it
//     fetches, and is read-only afterwards.
//   - The build cache of a project is written by compiling its base, which runs
//     no code either. It begins as a copy of a seed: what the first project
//     needed, the standard library above all.
//   - Each side tests with a cache of its own that begins with what is in that one,
//     because tests do run code, and so does each agent. These caches end with the
//     run. What they begin with is lent and not copied: links to files that
//     commands can read and not write.
func (g *Gate) modCache() string     { return filepath.Join(g.Shared, "go-mod") }
func (g *Gate) seed() string         { return filepath.Join(g.Shared, "go-build") }
func (g *Gate) projectCache() string { return filepath.Join(g.CacheDir, "go-build") }
func (g *Gate) buildCache(side Side) string {
	return filepath.Join(g.Scratch, string(side), "go-build")
}

// maxSeed bounds the seed, in bytes: a copy of it must not be slower than
// compiling the standard library.
const maxSeed = 512 << 20

// seedCache gives a new project the seed to begin with.
func (g *Gate) seedCache() error {
	if g.goTools() == nil || exists(g.projectCache()) || !exists(g.seed()) {
		return nil
	}
	return copyWhole(g.seed(), g.projectCache())
}

// splitCache gives each side its copy of the project's cache, and keeps the
// first one of all as the seed.
func (g *Gate) splitCache() error {
	if !exists(g.projectCache()) {
		return mkdirs(g.buildCache(Base), g.buildCache(Head))
	}
	since := g.Now()
	if err := g.splitAhead()(); err != nil {
		return err
	}
	return g.splitRest(since)
}

// splitAhead copies for each side what is in the project's cache now, in goroutines
// that have ended when what it returns has been called.
func (g *Gate) splitAhead() (wait func() error) {
	var both errgroup.Group
	if !exists(g.projectCache()) {
		return both.Wait
	}
	for _, side := range []Side{Base, Head} {
		both.Go(func() error {
			if err := g.lendCache(g.buildCache(side) + ahead); err != nil {
				return fmt.Errorf("build cache of %s: %w", side, err)
			}
			return nil
		})
	}
	return both.Wait
}

// ahead ends the name of a cache that is not complete yet.
const ahead = ".ahead"

// splitRest puts what splitAhead copied at the time since into place, with what has
// come since then. Commands of the base may have begun another cache there.
func (g *Gate) splitRest(since time.Time) error {
	for _, side := range []Side{Base, Head} {
		cache := g.buildCache(side)
		if !exists(cache + ahead) { // there was nothing yet
			return g.splitCache()
		}
		err := os.RemoveAll(cache)
		if err == nil {
			err = os.Rename(cache+ahead, cache)
		}
		if err == nil {
			err = g.lend(cache, since.Add(-time.Second)) // time stamps are coarser than the clock
		}
		if err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return g.keepSeed()
}

func (g *Gate) keepSeed() error {
	if exists(g.seed()) || size(g.projectCache()) > maxSeed {
		return nil
	}
	return copyWhole(g.projectCache(), g.seed())
}

// lent is what the caches of sides and agents lead to.
func (g *Gate) lent() []string {
	if !exists(g.projectCache()) {
		return nil
	}
	return []string{g.projectCache()}
}

// lentFor is how old a file of the project's cache may be that is lent. The go
// command removes what nothing used for five days, and a link to what is gone would
// be in the way of the file that is made again.
const lentFor = 4 * 24 * time.Hour

// lendCache makes a cache that begins with what is in the project's. Outputs, which
// have the name of their content and are never written twice, are links; the small
// entries that say which output an action had may change, and are copies.
func (g *Gate) lendCache(to string) error {
	return whole(to, func(temp string) error { return g.lend(temp, time.Time{}) })
}

// lend adds to a cache what the project's has got after since.
func (g *Gate) lend(to string, since time.Time) error {
	from, oldest := g.projectCache(), g.Now().Add(-lentFor)
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return gone(err)
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if d.IsDir() {
			return mkdirs(at)
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return gone(err)
		case info.ModTime().Before(oldest) || info.ModTime().Before(since) || !info.Mode().IsRegular():
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

// whole has a folder filled so that it is there whole or not at all. Where somebody
// else was faster, theirs stays.
func whole(to string, fill func(temp string) error) error {
	if err := mkdirs(filepath.Dir(to)); err != nil {
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
		if exists(to) {
			return nil
		}
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// size adds up the files below a folder; what cannot be read counts nothing.
func size(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
