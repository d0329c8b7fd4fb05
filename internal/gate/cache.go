package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
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
//     needed, the standard library above all, as vet knows it, plain and for the race detector.
//   - Each side has a cache that begins with what is in that one, and is written by
//     compiling the side alone, which runs no code.
//   - Each command that may run code has a cache of its own, which is brought back to
//     what its side's has before the next: nothing that one command leaves decides what
//     a later one does. Agents have one each.
//
// What a cache begins with is not copied: links to files that commands can read and
// not write.

func (g *Gate) seed() string { return filepath.Join(g.Shared, "go-build") }

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
			if err := g.linkCache(g.buildCache(side) + ahead); err != nil {
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
			err = g.link(g.projectCache(), cache, since.Add(-time.Second)) // time stamps are coarser than the clock
		}
		if err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	return g.keepSeed(since.Add(-time.Second))
}

// keepSeed keeps what the first project of a go command compiled.
func (g *Gate) keepSeed(since time.Time) error {
	if exists(g.seed()) {
		return g.growSeed("tests", since)
	}
	if size(g.projectCache()) > maxSeed {
		return nil
	}
	if err := copyWhole(g.projectCache(), g.seed()); err != nil {
		return err
	}
	return g.growSeed("tests", g.Now().Add(time.Hour))
}

// growSeed adds to the seed what has come into the project's cache since, once for each go
// command and way of compiling ("tests", "lint", "race"): the standard library is compiled in each
// of them by the first project that needs it, and by no other.
func (g *Gate) growSeed(way string, since time.Time) error {
	tools := g.goTools()
	if tools == nil || !exists(g.seed()) {
		return nil
	}
	done := g.seed() + "." + way + "." + strings.ReplaceAll(tools.Version, string(filepath.Separator), "_")
	if exists(done) || size(g.seed()) > maxSeed {
		return nil
	}
	if err := copySince(g.projectCache(), g.seed(), since); err != nil {
		return fmt.Errorf("seed of build caches: %w", err)
	}
	return os.WriteFile(done, nil, 0o600)
}

// copySince copies to a cache what another has got since, each file whole or not at all.
func copySince(from, to string, since time.Time) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return gone(err)
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		info, err := d.Info()
		if err != nil || info.ModTime().Before(since) || exists(at) {
			return gone(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return gone(err)
		}
		if err := mkdirs(filepath.Dir(at)); err != nil {
			return err
		}
		part, err := os.CreateTemp(filepath.Dir(at), "part-")
		if err != nil {
			return err
		}
		_, err = part.Write(data)
		if err = errors.Join(err, part.Close()); err == nil {
			err = os.Rename(part.Name(), at)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
		return err
	})
}

// linked is what the caches of sides and agents lead to.
func (g *Gate) linked() []string {
	if !exists(g.projectCache()) {
		return nil
	}
	return []string{g.projectCache()}
}

// linkedFor is how old a file of the project's cache may be that is linked to. The go
// command removes what nothing used for five days, and a link to what is gone would
// be in the way of the file that is made again.
const linkedFor = 4 * 24 * time.Hour

// linkCache makes a cache that begins with what is in the project's. Outputs, which
// have the name of their content and are never written twice, are links; the small
// entries that say which output an action had may change, and are copies.
func (g *Gate) linkCache(to string) error {
	return whole(to, func(temp string) error { return g.link(g.projectCache(), temp, time.Time{}) })
}

// ownCache makes the cache of one command at a place of a side what the side's is. What an
// earlier command left there is gone; what it did not touch stays.
func (r *runner) ownCache(ctx context.Context, side Side, at spot) (string, error) {
	from, to := r.buildCache(side), at.home+"-go-build"
	if r.goTools() == nil || !r.caches() || !exists(from) {
		from = filepath.Join(r.Scratch, "no-cache")
	}
	if err := mkdirs(from, filepath.Dir(to)); err != nil {
		return "", err
	}
	if err := r.copyAt(from, to).Reset(ctx); err != nil {
		return "", fmt.Errorf("build cache of a command: %w", err)
	}
	return to, nil
}

// copyAt is the copy of a folder at a place, with what is known of it.
func (r *runner) copyAt(from, to string) *folder.Replica {
	r.copying.Lock()
	defer r.copying.Unlock()
	c := r.copied[to]
	if c == nil || c.From != from {
		if r.copied == nil {
			r.copied = map[string]*folder.Replica{}
		}
		c = &folder.Replica{From: from, To: to}
		r.copied[to] = c
	}
	return c
}

// link adds to a cache what another has got after since. The folders that a cache
// consists of are independent of one another.
func (g *Gate) link(from, to string, since time.Time) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return gone(err)
	}
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for _, e := range entries {
		all.Go(func() error { return g.linkFolder(from, to, e.Name(), since) })
	}
	return all.Wait()
}

func (g *Gate) linkFolder(from, to, folder string, since time.Time) error {
	oldest := g.Now().Add(-linkedFor)
	return filepath.WalkDir(filepath.Join(from, folder), func(name string, d fs.DirEntry, err error) error {
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
