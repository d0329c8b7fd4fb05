package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// later is the laying out of a tree that was put off until its files are needed.
type later struct {
	do func(context.Context) error

	mu     sync.Mutex
	done   chan struct{} // closed when it was laid out, or could not be; nil: it was not begun
	stop   context.CancelFunc
	closed bool
	err    error // known when done is closed
}

// errClosed means that a tree was removed before it was laid out.
var errClosed = fmt.Errorf("the worktree was removed: %w", os.ErrClosed)

// begin starts to lay the tree out, once. It goes on when ctx ends: who waits for it
// may be another.
func (l *later) begin(ctx context.Context) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done != nil {
		return l.done
	}
	l.done = make(chan struct{})
	if l.closed {
		l.err = errClosed
		close(l.done)
		return l.done
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(l.done)
		l.err = l.do(ctx)
	}()
	return l.done
}

// end stops it and waits until nothing writes to the folder any more.
func (l *later) end() {
	l.mu.Lock()
	done, stop := l.done, l.stop
	l.closed = true
	l.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// Lay has the folder hold what it is to hold; other methods do so where they need it. It
// is for those who look into Dir themselves, and returns at once where nothing is left to
// be done. The folder is there before, and empty.
func (t *Tree) Lay(ctx context.Context) error {
	if t.later == nil {
		return nil
	}
	select {
	case <-t.later.begin(ctx):
		return t.later.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ahead starts what [Tree.Lay] waits for.
func (t *Tree) Ahead(ctx context.Context) {
	if t.later != nil {
		t.later.begin(ctx)
	}
}

// WorktreeLater is [Mirror.Worktree] of a tree that is laid out when its files are needed,
// see [Tree.Lay]. Where notes say what the folder does not hold it is laid out at once.
func (m *Mirror) WorktreeLater(ctx context.Context, dir, commit string) (*Tree, error) {
	all, err := m.holdsAll(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("worktree of %s: %w", change.Short(commit), err)
	}
	if !all {
		return m.Worktree(ctx, dir, commit)
	}
	t, err := m.register(ctx, dir, commit)
	if err != nil {
		return nil, fmt.Errorf("worktree of %s: %w", change.Short(commit), err)
	}
	t.later = &later{do: func(ctx context.Context) error {
		if err := t.checkout(ctx); err != nil {
			return fmt.Errorf("worktree of %s: %w", change.Short(commit), err)
		}
		return nil
	}}
	return t, nil
}

// maxAttributes bounds a file .gitattributes that is looked at.
const maxAttributes = 1 << 20

// lfsFilter stands in a .gitattributes by which files are under Git LFS.
const lfsFilter = "filter=lfs"

// holdsAll says whether a worktree of a commit holds all that it names: it has no
// submodules, and no file that may be under Git LFS.
func (m *Mirror) holdsAll(ctx context.Context, commit string) (bool, error) {
	entries, err := m.Files(ctx, commit)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Mode == objects.ModeGitlink {
			return false, nil
		}
		if filepath.Base(e.Path) != ".gitattributes" || e.Size > maxAttributes {
			continue
		}
		data, err := m.ReadFile(ctx, commit, e.Path)
		if err != nil || strings.Contains(string(data), lfsFilter) {
			return false, nil //nolint:nilerr // such as a symbolic link: the tree says
		}
	}
	return true, nil
}

// CopyLater is [Tree.Copy] of a tree that is copied when the copy's files are needed. t is
// to be left as it is until then.
func (t *Tree) CopyLater(ctx context.Context, dir string) (*Tree, error) {
	c, err := t.mirror.register(ctx, dir, t.Commit)
	if err != nil {
		return nil, fmt.Errorf("copy worktree of %s: %w", change.Short(t.Commit), err)
	}
	c.Notes = slices.Clone(t.Notes)
	c.later = &later{do: func(ctx context.Context) error { return c.fillFrom(ctx, t) }}
	return c, nil
}

// fillFrom makes a registered tree a copy of another one.
func (t *Tree) fillFrom(ctx context.Context, from *Tree) error {
	err := from.Lay(ctx)
	if err == nil {
		from.mu.Lock()
		t.wants = slices.Clone(from.wants)
		from.mu.Unlock()
		err = t.copyFrom(ctx, from)
	}
	if err != nil {
		return fmt.Errorf("copy worktree of %s: %w", change.Short(t.Commit), err)
	}
	return nil
}

// layBoth lays two trees out.
func layBoth(ctx context.Context, a, b *Tree) error {
	b.Ahead(ctx)
	return errors.Join(a.Lay(ctx), b.Lay(ctx))
}
