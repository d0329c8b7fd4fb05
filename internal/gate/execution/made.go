package execution

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// builds says whether a command is one of setup or build that may write into the tree.
func builds(c ecosystem.Command) bool {
	return (c.Stage == results.StageSetup || c.Stage == results.StageBuild) && c.Data == nil && !c.Seals() && !c.FillsModCache()
}

// watchMade returns what finds, when a command of setup or build of the base has ended, the
// files that it wrote, also as they were. It does the same with tests that count as one, as
// what calls others by the times of files, such as make, leaves tests out by these.
func (e *Executor) watchMade(side results.Side, tree *workspace.Tree, c ecosystem.Command) (func(), error) {
	into := e.made
	if (c.Stage == results.StageTest || c.Stage == results.StageRerun) && c.Results == nil {
		into = e.left
	} else if !builds(c) {
		into = nil
	}
	if side != results.Base || tree != e.Base || into == nil {
		return func() {}, nil
	}
	before, err := folder.Clock(filepath.Dir(tree.Dir))
	if err != nil {
		return nil, err
	}
	return func() {
		_ = fs.WalkDir(os.DirFS(tree.Dir), ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read is not found
			switch {
			case err != nil, d.IsDir() && name != "." && slices.Contains(notMade, d.Name()):
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			if info, err := d.Info(); err == nil && !info.ModTime().Before(before) {
				into[name] = true
			}
			return nil
		})
	}, nil
}

// notMade are folders of what is installed and of caches.
var notMade = []string{".git", "node_modules", ".venv", "venv", "__pycache__", ".pytest_cache", ".tox", ".nox"}

// Made says whether setup or build of the base writes a file, which is no test, no data of
// tests and nothing that steers these.
func (e *Executor) Made(name string) bool {
	return e.made[name] && !languages.IsTestFile(name) && !languages.Steers(name)
}

// LeftBehind are the files that tests of the base write that count as one.
func (e *Executor) LeftBehind() []string { return slices.Sorted(maps.Keys(e.left)) }

// maxMade bounds a file that is kept, in bytes.
const maxMade = 64 << 20

// keepMade lets tracked files stand as a command of setup or build has made them, where the
// base's does so too: tests of a tree with its own build output in it run what the build makes
// of its sources, and not what was made of them some time before.
func (e *Executor) keepMade(ctx context.Context, side results.Side, tree *workspace.Tree, c ecosystem.Command) error {
	if len(e.made) == 0 || !builds(c) {
		return nil
	}
	changed, err := tree.Changed(ctx)
	if err != nil {
		return err
	}
	changed = slices.DeleteFunc(changed, func(name string) bool { return !e.Made(name) })
	if len(changed) == 0 {
		return nil
	}
	root, err := os.OpenRoot(tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var puts []workspace.Put
	var paths []string
	for _, name := range changed {
		p := workspace.Put{Path: name}
		switch info, err := root.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist): // the build removes it
		case err != nil, !info.Mode().IsRegular(), info.Size() > maxMade:
			continue
		default:
			if p.Data, err = root.ReadFile(name); err != nil {
				continue
			}
			p.Exec = info.Mode()&0o100 != 0
		}
		puts, paths = append(puts, p), append(paths, name)
	}
	for _, name := range paths {
		if !slices.Contains(e.remade[side], name) {
			e.remade[side] = append(e.remade[side], name)
		}
	}
	return e.lay(ctx, tree, puts, paths)
}

// Remade are the tracked files that stand as setup or build of the head has made them, where
// those of the base leave them as they are.
func (e *Executor) Remade() []string {
	return slices.DeleteFunc(slices.Clone(e.remade[results.Head]), func(name string) bool { return slices.Contains(e.remade[results.Base], name) })
}

func (e *Executor) lay(ctx context.Context, tree *workspace.Tree, puts []workspace.Put, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	commit, err := e.Mirror.Compose(ctx, tree.Commit, puts)
	if err != nil {
		return err
	}
	return tree.Overlay(ctx, commit, paths)
}

// MadeAgain says whether setup or build of the head has made a file which the change adds, so that the
// change's own is used nowhere.
func (e *Executor) MadeAgain(name string) bool { return e.again[name] }

// WithoutMade takes files out of the head's tree that the change adds and the base's build makes,
// so that its own build makes them again. put puts those back that it did not make.
func (e *Executor) WithoutMade(ctx context.Context, changed []change.File) (put func(context.Context) error, err error) {
	var puts []workspace.Put
	var paths []string
	for _, f := range changed {
		if f.Status == change.Added && e.Made(f.Path) {
			puts, paths = append(puts, workspace.Put{Path: f.Path}), append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return func(context.Context) error { return nil }, nil
	}
	if err := e.lay(ctx, e.Head, puts, paths); err != nil {
		return nil, err
	}
	e.Note("the change adds %s, which the base's build makes: the head's build makes %s again", results.Listed(paths, 3), results.Plural(len(paths), "it", "them"))
	return func(ctx context.Context) error {
		left := slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
			_, err := os.Lstat(filepath.Join(e.Head.Dir, filepath.FromSlash(name)))
			e.again[name] = err == nil
			return err == nil
		})
		if len(left) == 0 {
			return nil
		}
		return e.Head.Overlay(ctx, e.Head.Commit, left)
	}, nil
}
