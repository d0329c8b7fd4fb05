package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
//   - Each side tests with a copy of that, because tests do run code. The copies
//     end with the run.
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
	for _, side := range []Side{Base, Head} {
		if err := os.RemoveAll(g.buildCache(side)); err != nil {
			return err
		}
		if err := copyWhole(g.projectCache(), g.buildCache(side)); err != nil {
			return fmt.Errorf("build cache of %s: %w", side, err)
		}
	}
	if exists(g.seed()) || size(g.projectCache()) > maxSeed {
		return nil
	}
	return copyWhole(g.projectCache(), g.seed())
}

// copyWhole copies a folder so that to is there whole or not at all. Where
// somebody else was faster, theirs stays.
func copyWhole(from, to string) error {
	if err := mkdirs(filepath.Dir(to)); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".part-")
	if err != nil {
		return err
	}
	err = os.CopyFS(temp, os.DirFS(from))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // a run beside this one trimmed the cache
	}
	if err == nil {
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
