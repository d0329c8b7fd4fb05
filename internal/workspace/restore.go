package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// ErrLink means that a symbolic link stands where a folder was to be.
var ErrLink = errors.New("a symbolic link stands in the way")

// Restore puts everything back that Changed would name, and returns what that
// was. Whatever stands in the place of a tracked file or of a folder on the way
// to it is removed, never followed.
func (t *Tree) Restore(ctx context.Context) ([]string, error) {
	if err := t.Lay(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	paths, err := t.changed(ctx)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	p, err := t.patcher(ctx)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", t.Dir, err)
	}
	defer p.close()
	if err := t.restore(ctx, p, paths); err != nil {
		return nil, fmt.Errorf("restore %s: %w", t.Dir, err)
	}
	return paths, nil
}

func (t *Tree) restore(ctx context.Context, p *patcher, paths []string) error {
	bad := map[string]bool{}
	for _, path := range paths {
		bad[path] = true
	}
	from := map[string][]want{}
	for _, w := range t.wants {
		if bad[w.Path] {
			from[w.from] = append(from[w.from], w)
		}
	}
	for commit, wants := range from {
		if err := p.put(ctx, commit, wants, true); err != nil {
			return err
		}
	}
	if bad[".git"] {
		if err := p.clear(".git"); err != nil {
			return err
		}
		return p.root.WriteFile(".git", t.pointer, 0o644)
	}
	return nil
}

// Overlay writes paths as they are in another commit over the tree and removes
// those that the commit does not have. From then on that is what Changed and
// Restore hold them to be. It refuses to write through a symbolic link.
func (t *Tree) Overlay(ctx context.Context, from string, paths []string) error {
	if err := t.Lay(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.overlay(ctx, from, paths); err != nil {
		return fmt.Errorf("lay %s over %s: %w", change.Short(from), t.Dir, err)
	}
	return nil
}

func (t *Tree) overlay(ctx context.Context, from string, paths []string) error {
	entries, err := t.mirror.Files(ctx, from)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, path := range paths {
		if !objects.ValidPath(path) || path == ".git" || strings.HasPrefix(path, ".git/") {
			return fmt.Errorf("%q is not a path of a tree", path)
		}
		named[path] = true
	}
	var wants []want
	there := map[string]bool{}
	for _, e := range entries {
		if named[e.Path] {
			there[e.Path] = true
			wants = append(wants, want{Entry: e, from: from, sum: e.OID})
		}
	}
	p, err := t.patcher(ctx)
	if err != nil {
		return err
	}
	defer p.close()
	for _, path := range slices.Sorted(slices.Values(paths)) { // a link in the place of a folder before what was in that
		if there[path] {
			continue
		}
		if err := p.removeFile(path); err != nil {
			return err
		}
	}
	if err := p.put(ctx, from, wants, false); err != nil {
		return err
	}
	t.wants = slices.DeleteFunc(t.wants, func(w want) bool { return named[w.Path] })
	t.wants = append(t.wants, wants...)
	sorted.By(t.wants, func(a, b want) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// A patcher writes files of commits into a tree.
type patcher struct {
	ctx    context.Context
	mirror *Mirror
	root   *os.Root
	temp   string
}

func (t *Tree) patcher(ctx context.Context) (*patcher, error) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(t.mirror.git.Temp, "ycbot-files-")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &patcher{ctx: ctx, mirror: t.mirror, root: root, temp: temp}, nil
}

func (p *patcher) close() {
	p.root.Close()
	_ = os.RemoveAll(p.temp)
}

// put writes what wants name and corrects their sums. Git lays the files out in
// a private folder first, so that line endings are as in a checkout. With force,
// what is no folder on the way is removed; otherwise it is an error.
func (p *patcher) put(ctx context.Context, commit string, wants []want, force bool) error {
	var files strings.Builder
	for _, w := range wants {
		if w.Mode != objects.ModeGitlink {
			files.WriteString(w.Path + "\x00")
		}
	}
	dir := filepath.Join(p.temp, commit)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	env := []string{"GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + dir + ".index"}
	if _, err := p.mirror.git.Run(ctx, git.Call{Dir: dir, GitDir: p.mirror.Dir, Env: env, Args: []string{"read-tree", commit}}); err != nil {
		return err
	}
	_, err := p.mirror.git.Run(ctx, git.Call{
		Dir: dir, GitDir: p.mirror.Dir, Env: env, Stdin: strings.NewReader(files.String()),
		Args: []string{"-c", "core.bare=false", "checkout-index", "-q", "-f", "-z", "--stdin"},
	})
	if err != nil {
		return err
	}
	if p.mirror.usesContents() {
		if _, _, err := p.mirror.layContents(dir, wants); err != nil {
			return err
		}
	}
	made, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer made.Close()
	for i := range wants {
		if err := p.putOne(made, &wants[i], force); err != nil {
			return fmt.Errorf("%q: %w", wants[i].Path, err)
		}
	}
	return nil
}

func (p *patcher) putOne(made *os.Root, w *want, force bool) error {
	if err := p.makeParents(w.Path, force); err != nil {
		return err
	}
	if w.Mode == objects.ModeGitlink {
		if info, err := p.root.Lstat(w.Path); err == nil && info.IsDir() {
			return nil
		}
	}
	if err := p.clear(w.Path); err != nil {
		return err
	}
	switch w.Mode {
	case objects.ModeGitlink:
		return p.root.Mkdir(w.Path, 0o755)
	case objects.ModeLink:
		to, err := made.Readlink(w.Path)
		if err != nil {
			return err
		}
		return p.root.Symlink(to, w.Path)
	}
	return p.putFile(made, w)
}

func (p *patcher) putFile(made *os.Root, w *want) error {
	in, err := made.Open(w.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := p.root.OpenFile(w.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	h := blobHash(p.mirror.Format, info.Size())
	if _, err := io.Copy(io.MultiWriter(out, h), in); err != nil {
		return err
	}
	w.sum, w.laid = fmt.Sprintf("%x", h.Sum(nil)), info.Size()
	if err := out.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	return out.Close()
}

// makeParents makes the folders on the way to path, all of them real ones.
func (p *patcher) makeParents(path string, force bool) error {
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		info, err := p.root.Lstat(dir)
		switch {
		case err == nil && info.IsDir():
			if info.Mode().Perm()&0o700 != 0o700 {
				if err := p.root.Chmod(dir, info.Mode().Perm()|0o700); err != nil {
					return err
				}
			}
			continue
		case err == nil && !force && info.Mode()&os.ModeSymlink != 0:
			return fmt.Errorf("%w: %q", ErrLink, dir)
		case err == nil && !force:
			return fmt.Errorf("%q is not a folder", dir)
		case err == nil:
			if err := p.clear(dir); err != nil {
				return err
			}
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
		if err := p.root.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// clear removes whatever is at path, whose parents are known to be folders.
func (p *patcher) clear(path string) error {
	parent, name := splitPath(path)
	if parent == "" {
		parent = "."
	}
	dir, err := p.root.Open(parent)
	if err != nil {
		return err
	}
	defer dir.Close()
	return folder.RemoveAt(p.ctx, int(dir.Fd()), name)
}

// removeFile removes path unless a folder on the way is missing. Folders that
// it leaves empty go too, as with git.
func (p *patcher) removeFile(path string) error {
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		info, err := p.root.Lstat(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			return fmt.Errorf("%w: %q", ErrLink, dir)
		case !info.IsDir():
			return nil
		}
	}
	if info, err := p.root.Lstat(path); err != nil || info.IsDir() {
		return nil //nolint:nilerr // what is not there, or is a folder of other files, stays
	}
	if err := p.clear(path); err != nil {
		return err
	}
	for i := len(parts) - 1; i > 0; i-- {
		if p.root.Remove(strings.Join(parts[:i], "/")) != nil {
			break
		}
	}
	return nil
}
