package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"golang.org/x/sys/unix"
)

// maxIndex is how large an index may be that is looked into.
const maxIndex = 1 << 30

// Moved puts back what git keeps of the tree beside its files: that HEAD is its
// commit, that the index is that of the commit, and the mirror's refs. It returns
// what was something else, by its name in git: "HEAD", "index", "refs/heads/x".
// Of refs, it may name one that a command in another tree of the mirror moved at
// the same moment. Git is not run in the tree.
func (t *Tree) Moved(ctx context.Context) ([]string, error) {
	if err := t.Lay(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	moved, err := t.restoreRegistry()
	if err != nil {
		return nil, fmt.Errorf("restore what git keeps of %s: %w", t.Dir, err)
	}
	if !t.indexHolds(ctx) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		moved = append(moved, "index")
		if err := t.freshIndex(ctx); err != nil {
			return nil, fmt.Errorf("restore the index of %s: %w", t.Dir, err)
		}
	}
	refs, err := restoreRefs(ctx, t.mirror.Dir)
	if err != nil {
		return nil, fmt.Errorf("restore refs: %w", err)
	}
	moved = append(moved, refs...)
	if s := t.mirror.showing(); s != nil {
		if refs, err = s.restoreRefs(ctx); err != nil {
			return nil, fmt.Errorf("restore refs: %w", err)
		}
		moved = append(moved, refs...)
	}
	slices.Sort(moved)
	return slices.Compact(moved), nil
}

// restoreRegistry looks at the worktree's own folder in the mirror.
func (t *Tree) restoreRegistry() ([]string, error) {
	if err := os.MkdirAll(t.registry, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.registry)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var moved []string
	for name, want := range t.registered() {
		if have, ok := text(root, name, 64<<10); ok && have == want {
			continue
		}
		moved = append(moved, name)
		if err := errors.Join(root.RemoveAll(name), root.WriteFile(name, []byte(want), 0o600)); err != nil {
			return nil, err
		}
	}
	refs, err := readRefs(t.registry) // such as those of a bisection
	if err != nil {
		return nil, err
	}
	for name := range refs {
		if name != "HEAD" {
			moved = append(moved, name)
		}
	}
	return moved, root.RemoveAll("refs")
}

func (t *Tree) indexPath() string { return filepath.Join(t.registry, "index") }

// noteIndex remembers the index as it is now, which is known to be right.
func (t *Tree) noteIndex() {
	var st unix.Stat_t
	t.index = stamp{}
	if unix.Lstat(t.indexPath(), &st) == nil {
		t.index = stampOf(&st)
	}
}

// indexHolds says whether the index has what the commit has. Git writes it again
// whenever it looks at files, so that its bytes say little.
func (t *Tree) indexHolds(ctx context.Context) bool {
	var st unix.Stat_t
	if unix.Lstat(t.indexPath(), &st) != nil {
		return false
	}
	if t.index != (stamp{}) && stampOf(&st) == t.index {
		return true
	}
	have, err := t.indexed(ctx)
	if err != nil {
		return false
	}
	entries, err := t.mirror.Files(ctx, t.Commit)
	if err != nil {
		return false
	}
	var want bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&want, "H %s %s 0\t%s\x00", e.Mode, e.OID, e.Path)
	}
	if !bytes.Equal(have, want.Bytes()) {
		return false
	}
	t.index = stampOf(&st)
	return true
}

// indexed lists what a copy of the index has, with the marks by which git learns
// not to look at a file.
func (t *Tree) indexed(ctx context.Context) ([]byte, error) {
	in, err := os.OpenFile(t.indexPath(), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, fmt.Errorf("%s is no index", t.indexPath())
	}
	dir, err := os.MkdirTemp(t.mirror.git.Temp, "ycbot-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "index")
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxIndex))
	if err := errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	return t.mirror.git.Run(ctx, git.Call{
		Dir: dir, GitDir: t.mirror.Dir, Env: []string{"GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + name},
		Args: []string{"-c", "core.bare=false", "ls-files", "-s", "-v", "-z"},
	})
}

// freshIndex makes the index again from the commit.
func (t *Tree) freshIndex(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(t.indexPath()), os.RemoveAll(t.indexPath()+".lock")); err != nil {
		return err
	}
	_, err := t.mirror.git.Run(ctx, git.Call{GitDir: t.mirror.Dir, Env: []string{"GIT_INDEX_FILE=" + t.indexPath()}, Args: []string{"read-tree", t.Commit}})
	if err != nil {
		return err
	}
	t.noteIndex()
	return nil
}
