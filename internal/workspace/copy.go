package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/change"
)

// Copy makes a tree in dir, which must not exist, with everything that lies in
// t: build output too, with modes and times. Files share their blocks where the
// file system can do that and are otherwise their own; sockets, pipes and
// devices are left out. The copy is as independent of t as a worktree of its
// own. What was changed in t is changed in the copy.
func (t *Tree) Copy(ctx context.Context, dir string) (*Tree, error) {
	c, err := t.mirror.register(ctx, dir, t.Commit)
	if err != nil {
		return nil, fmt.Errorf("copy worktree of %s: %w", change.Short(t.Commit), err)
	}
	c.Notes = slices.Clone(t.Notes)
	t.mu.Lock()
	c.wants = slices.Clone(t.wants)
	t.mu.Unlock()
	if err := c.copyFrom(ctx, t); err != nil {
		return nil, errors.Join(fmt.Errorf("copy worktree of %s: %w", change.Short(t.Commit), err), c.Close())
	}
	return c, nil
}

// Reset makes t what from is, a tree of the same commit: what lies in it goes, and
// a copy of what lies in from comes, so that build output that names t's folder
// stays right.
func (t *Tree) Reset(ctx context.Context, from *Tree) error {
	if t == from || t.Commit != from.Commit {
		return fmt.Errorf("reset worktree of %s to one of %s: %w", change.Short(t.Commit), change.Short(from.Commit), os.ErrInvalid)
	}
	err := removeAll(ctx, t.Dir)
	if err == nil {
		err = os.Mkdir(t.Dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(t.Dir, ".git"), t.pointer, 0o644)
	}
	if err == nil {
		from.mu.Lock()
		wants := slices.Clone(from.wants)
		from.mu.Unlock()
		t.mu.Lock()
		t.wants = wants
		t.mu.Unlock()
		err = t.copyFrom(ctx, from)
	}
	if err != nil {
		return fmt.Errorf("reset worktree of %s: %w", change.Short(t.Commit), err)
	}
	return nil
}

func (t *Tree) copyFrom(ctx context.Context, from *Tree) error {
	// The index holds for the copy: see configText.
	from.mu.Lock()
	holds := from.indexHolds(ctx)
	from.mu.Unlock()
	if holds {
		if err := copyIfThere(from.indexPath(), t.indexPath()); err != nil {
			return err
		}
		t.noteIndex()
	} else if err := t.freshIndex(ctx); err != nil {
		return err
	}
	if err := copyTree(ctx, from.Dir, t.Dir); err != nil {
		return err
	}
	right := make([]bool, len(t.wants))
	err := visit(ctx, from.Dir, t.wants, func(i, at int, name string, err error) {
		var st unix.Stat_t
		if err == nil && unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			right[i] = t.wants[i].stamp != (stamp{}) && t.wants[i].stamp == stampOf(&st)
		}
	})
	if err != nil {
		return err
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	return visit(ctx, t.Dir, t.wants, func(i, at int, name string, err error) {
		w := &t.wants[i]
		w.stamp = stamp{}
		var st unix.Stat_t
		if err == nil && right[i] && unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			w.trust(&st, now)
		}
	})
}

// copyTree copies what lies in one folder into another, except their .git.
func copyTree(ctx context.Context, from, to string) error {
	src, err := unix.Open(from, openDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: from, Err: err}
	}
	dst, err := unix.Open(to, openDir, 0)
	if err != nil {
		unix.Close(src)
		return &os.PathError{Op: "open", Path: to, Err: err}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	c := &copier{ctx: ctx, group: group}
	group.Go(func() error { return c.folder(src, dst, 0) })
	return group.Wait()
}

// maxCopyDepth bounds how deep folders may lie: each holds two files open.
const maxCopyDepth = 200

type copier struct {
	ctx     context.Context
	group   *errgroup.Group
	noClone atomic.Bool // the file system cannot share blocks
	buffers sync.Pool
}

// folder copies a folder's content and closes both.
func (c *copier) folder(src, dst, depth int) error {
	in := os.NewFile(uintptr(src), "")
	defer in.Close()
	defer unix.Close(dst)
	if depth > maxCopyDepth {
		return fmt.Errorf("folders lie deeper than %d", maxCopyDepth)
	}
	for {
		names, err := in.Readdirnames(1000)
		for _, name := range names {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if depth == 0 && name == ".git" {
				continue
			}
			if err := c.entry(src, dst, name, depth); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(src, &st); err != nil {
		return err
	}
	if err := unix.Fchmod(dst, uint32(st.Mode)&0o1777); err != nil {
		return err
	}
	return setTimes(dst, &st)
}

func (c *copier) entry(src, dst int, name string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(src, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		return c.file(src, dst, name)
	case unix.S_IFLNK:
		to, err := readlinkat(src, name)
		if err != nil {
			return err
		}
		if err := unix.Symlinkat(to, dst, name); err != nil {
			return err
		}
		return unix.UtimesNanoAt(dst, name, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
	case unix.S_IFDIR:
		return c.subfolder(src, dst, name, &st, depth)
	}
	return nil
}

func (c *copier) subfolder(src, dst int, name string, st *unix.Stat_t, depth int) error {
	if st.Mode&0o500 != 0o500 { // a folder without a way in: ours to open
		if err := unix.Fchmodat(src, name, uint32(st.Mode)&0o777|0o500, 0); err != nil {
			return err
		}
	}
	in, err := openat(src, name, openDir, 0)
	if err != nil {
		return err
	}
	if err := unix.Mkdirat(dst, name, 0o700); err != nil {
		unix.Close(in)
		return err
	}
	out, err := openat(dst, name, openDir, 0)
	if err != nil {
		unix.Close(in)
		return err
	}
	copyIt := func() error { return c.folder(in, out, depth+1) }
	if c.group.TryGo(copyIt) {
		return nil
	}
	return copyIt()
}

func (c *copier) file(src, dst int, name string) error {
	fd, err := openat(src, name, openFile, 0)
	if errors.Is(err, unix.EACCES) { // without permission to read: ours to give
		if err = unix.Fchmodat(src, name, 0o600, 0); err == nil {
			fd, err = openat(src, name, openFile, 0)
		}
	}
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EINVAL
	}
	to, err := openat(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(to), name)
	defer out.Close()
	if err := c.content(in, out, &st); err != nil {
		return err
	}
	if err := unix.Fchmod(to, uint32(st.Mode)&0o777); err != nil {
		return err
	}
	return setTimes(to, &st)
}

func (c *copier) content(in, out *os.File, st *unix.Stat_t) error {
	if st.Size == 0 {
		return nil
	}
	if !c.noClone.Load() {
		if err := cloneFile(out, in); err == nil {
			return nil
		}
		c.noClone.Store(true)
	}
	if st.Blocks*512 < st.Size {
		return copySparse(out, in, st.Size)
	}
	if st.Size > 128<<10 {
		_, err := io.Copy(out, in) // in the kernel where it can be
		return err
	}
	buf, _ := c.buffers.Get().(*[]byte)
	if buf == nil {
		b := make([]byte, 128<<10)
		buf = &b
	}
	defer c.buffers.Put(buf)
	for {
		n, err := unix.Read(int(in.Fd()), *buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return nil
		default:
			if _, err := out.Write((*buf)[:n]); err != nil {
				return err
			}
		}
	}
}

// CopyFolder copies what lies in a folder that commands may have filled into
// another one, which must be there: modes, times and symbolic links too, nothing
// through a link. Sockets, pipes and devices are left out.
func CopyFolder(ctx context.Context, from, to string) error { return copyTree(ctx, from, to) }
