package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/ycbot/ycbot/internal/change"
)

// A Pool keeps copies of trees that are not needed any more for who needs a copy of
// the same tree next: bringing one back costs what was touched in it, and making
// one costs all of it. It is safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle map[*Tree][]*Tree // by what they are copies of
}

// maxIdle is how many copies of one tree are kept.
const maxIdle = 4

// Copy is [Tree.Copy] of a tree, by one that was put back where there is one.
func (p *Pool) Copy(ctx context.Context, of *Tree, dir string) (*Tree, error) {
	p.mu.Lock()
	list := p.idle[of]
	var t *Tree
	if len(list) > 0 {
		// One that lies in dir is in the way of all others.
		at := max(0, slices.IndexFunc(list, func(t *Tree) bool { return t.Dir == dir }))
		t = list[at]
		p.idle[of] = slices.Delete(list, at, at+1)
	}
	p.mu.Unlock()
	if t != nil {
		err := t.move(ctx, dir)
		if err == nil {
			err = t.Reset(ctx, of)
		}
		if err == nil {
			return t, nil
		}
		of.mirror.git.Log.WarnContext(ctx, "worktree could not be used again", "commit", change.Short(of.Commit), "error", errors.Join(err, t.Close()))
	}
	return of.Copy(ctx, dir)
}

// Put gives back a copy of a tree, in which no command is at work any more.
func (p *Pool) Put(t, of *Tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle[of]) >= maxIdle {
		if err := t.Close(); err != nil {
			t.mirror.git.Log.Warn("worktree could not be removed", "dir", t.Dir, "error", err)
		}
		return
	}
	if p.idle == nil {
		p.idle = map[*Tree][]*Tree{}
	}
	p.idle[of] = append(p.idle[of], t)
}

// Close removes what was put back.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, list := range p.idle {
		for _, t := range list {
			errs = append(errs, t.Close())
		}
	}
	p.idle = nil
	return errors.Join(errs...)
}

// move gives the tree another folder, which must not exist.
func (t *Tree) move(ctx context.Context, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil || abs == t.Dir {
		return err
	}
	lock, err := LockRun(ctx, filepath.Dir(abs))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(abs); err == nil {
		lock.Release()
		return &os.PathError{Op: "move worktree", Path: abs, Err: os.ErrExist}
	}
	registry, err := acquire(ctx, t.mirror.Dir+registryLock, syscall.LOCK_EX)
	if err != nil {
		lock.Release()
		return err
	}
	defer registry.Release()
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Lstat(t.Dir)
	switch {
	case err == nil && !info.IsDir():
		err = &os.PathError{Op: "move worktree", Path: t.Dir, Err: syscall.ENOTDIR}
	case err == nil && info.Mode().Perm()&0o700 != 0o700: // a command took away the way in
		err = os.Chmod(t.Dir, 0o700)
	}
	if err == nil {
		err = os.Rename(t.Dir, abs)
	}
	if err != nil {
		lock.Release()
		return err
	}
	t.lock.Release()
	t.Dir, t.lock = abs, lock
	if t.twin != nil {
		t.twin.To = abs
	}
	return os.WriteFile(filepath.Join(t.registry, "gitdir"), []byte(filepath.Join(abs, gitFile)+"\n"), 0o600)
}
