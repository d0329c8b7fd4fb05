package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/change"
)

// Copy makes a tree in dir, which must not exist, with everything that lies in
// t: build output too, with modes and times. Files share their blocks where the
// file system can do that and are otherwise their own; a file with several names in
// t is one in the copy, and never one with anything outside of it. Sockets, pipes and
// devices are left out. The copy is as independent of t as a worktree of its
// own. What was changed in t is changed in the copy.
func (t *Tree) Copy(ctx context.Context, dir string) (*Tree, error) {
	c, err := t.CopyLater(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := c.Lay(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Reset makes t what from is, a tree of the same commit, in the same folder, so that
// build output that names it stays right. Only what was touched since t was last
// known to be like from is copied; nothing that commands left in t stays.
func (t *Tree) Reset(ctx context.Context, from *Tree) error {
	if t == from || t.Commit != from.Commit {
		return fmt.Errorf("reset worktree of %s to one of %s: %w", change.Short(t.Commit), change.Short(from.Commit), os.ErrInvalid)
	}
	if err := t.reset(ctx, from); err != nil {
		return fmt.Errorf("reset worktree of %s: %w", change.Short(t.Commit), err)
	}
	return nil
}

func (t *Tree) reset(ctx context.Context, from *Tree) error {
	if err := layBoth(ctx, t, from); err != nil {
		return err
	}
	if err := t.adjoin(from).Reset(ctx); err != nil {
		return err
	}
	if err := t.point(ctx); err != nil {
		return err
	}
	if err := t.tidyRegistry(); err != nil {
		return err
	}
	from.mu.Lock()
	wants := slices.Clone(from.wants)
	from.mu.Unlock()
	t.mu.Lock()
	seen := make(map[string]want, len(t.wants))
	for _, w := range t.wants {
		seen[w.Path] = w
	}
	for i, w := range wants {
		// What was right and was not touched is right; all else is read when it is asked for.
		wants[i].stamp = stamp{}
		if was := seen[w.Path]; was.Entry == w.Entry && was.from == w.from && was.sum == w.sum {
			wants[i].stamp = was.stamp
		}
	}
	t.wants = wants
	t.mu.Unlock()
	return t.takeIndex(ctx, from)
}

// gitFile leads from a worktree to the mirror. No copy takes it along.
const gitFile = ".git"

// point writes the file that leads to the mirror again.
func (t *Tree) point(ctx context.Context) error {
	name := filepath.Join(t.Dir, gitFile)
	if err := removeAll(ctx, name); err != nil {
		return err
	}
	return os.WriteFile(name, t.pointer, 0o644)
}

// adjoin is what is known of t beside from.
func (t *Tree) adjoin(from *Tree) *Replica {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.twin == nil || t.twin.From != from.Dir {
		t.twin = &Replica{From: from.Dir, To: t.Dir, skip: gitFile}
	}
	return t.twin
}

// tidyRegistry removes from the worktree's own folder in the mirror whatever git
// did not put there: settings, hooks, an index that was begun.
func (t *Tree) tidyRegistry() error {
	entries, err := os.ReadDir(t.registry)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "HEAD", "commondir", "gitdir", "index":
		default:
			if err := os.RemoveAll(filepath.Join(t.registry, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(t.registry, "HEAD"), []byte(t.Commit+"\n"), 0o600)
}

// takeIndex gives t the index of from, which holds for a copy: see configText.
func (t *Tree) takeIndex(ctx context.Context, from *Tree) error {
	from.mu.Lock()
	holds := from.indexHolds(ctx)
	from.mu.Unlock()
	if !holds {
		return t.freshIndex(ctx)
	}
	if err := copyIfThere(from.indexPath(), t.indexPath()); err != nil {
		return err
	}
	t.noteIndex()
	return nil
}

func (t *Tree) copyFrom(ctx context.Context, from *Tree) error {
	if err := t.takeIndex(ctx, from); err != nil {
		return err
	}
	r := t.adjoin(from)
	if err := errors.Join(r.copyAll(ctx), t.point(ctx)); err != nil {
		return err
	}
	from.mu.Lock()
	if from.twin == nil { // so that it can be brought back to what its copy is
		from.twin = r.Flip()
	}
	from.mu.Unlock()
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

// maxCopyDepth bounds how deep folders may lie: each holds two files open.
const maxCopyDepth = 200

type copier struct {
	ctx     context.Context
	group   *errgroup.Group
	skip    string      // an entry at the top that is left alone
	noClone atomic.Bool // the file system cannot share blocks
	buffers sync.Pool
	root    int // the copy, for the names of links
	budget  budget
	links   links
}

// folder copies a folder's content and closes both. What it makes is noted in made.
func (c *copier) folder(src, dst, depth int, made *replicaDir) error {
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
			if depth == 0 && name == c.skip {
				continue
			}
			if err := c.entry(src, dst, name, depth, made); err != nil {
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
	if err := setTimes(dst, &st); err != nil {
		return err
	}
	var to unix.Stat_t
	if err := unix.Fstat(dst, &to); err != nil {
		return err
	}
	made.self(&st, &to)
	return nil
}

func (c *copier) entry(src, dst int, name string, depth int, made *replicaDir) error {
	var st unix.Stat_t
	if err := unix.Fstatat(src, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		if err := c.budget.entry(); err != nil {
			return err
		}
		if st.Nlink > 1 {
			return c.linked(src, dst, name, inodeOf(&st), made)
		}
		_, err := c.file(src, dst, name, made)
		return err
	case unix.S_IFLNK:
		if err := c.budget.entry(); err != nil {
			return err
		}
		to, err := readlinkat(src, name)
		if err != nil {
			return err
		}
		if err := unix.Symlinkat(to, dst, name); err != nil {
			return err
		}
		if err := unix.UtimesNanoAt(dst, name, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		var copied unix.Stat_t
		if err := unix.Fstatat(dst, name, &copied, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		made.file(name, &st, &copied)
		return nil
	case unix.S_IFDIR:
		if err := c.budget.entry(); err != nil {
			return err
		}
		return c.subfolder(src, dst, name, &st, depth, made)
	}
	return nil
}

func (c *copier) subfolder(src, dst int, name string, st *unix.Stat_t, depth int, made *replicaDir) error {
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
	sub := made.folder(name)
	copyIt := func() error { return c.folder(in, out, depth+1, sub) }
	if c.group.TryGo(copyIt) {
		return nil
	}
	return copyIt()
}

// file copies a regular file and returns what it is copied from.
func (c *copier) file(src, dst int, name string, made *replicaDir) (from unix.Stat_t, err error) {
	fd, err := openat(src, name, openFile, 0)
	if errors.Is(err, unix.EACCES) { // without permission to read: ours to give
		if err = unix.Fchmodat(src, name, 0o600, 0); err == nil {
			fd, err = openat(src, name, openFile, 0)
		}
	}
	if err != nil {
		return from, err
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	if err := unix.Fstat(fd, &from); err != nil {
		return from, err
	}
	if from.Mode&unix.S_IFMT != unix.S_IFREG {
		return from, unix.EINVAL
	}
	to, err := openat(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return from, err
	}
	out := os.NewFile(uintptr(to), name)
	defer out.Close()
	if err := c.content(in, out, &from); err != nil {
		return from, err
	}
	if err := unix.Fchmod(to, uint32(from.Mode)&0o777); err != nil {
		return from, err
	}
	if err := setTimes(to, &from); err != nil {
		return from, err
	}
	var copied unix.Stat_t
	if err := unix.Fstat(to, &copied); err != nil {
		return from, err
	}
	made.file(name, &from, &copied)
	return from, nil
}

func (c *copier) content(in, out *os.File, st *unix.Stat_t) error {
	if st.Size == 0 {
		return nil
	}
	if !c.noClone.Load() {
		if err := cloneFile(out, in); err == nil {
			return nil // it takes no room
		}
		c.noClone.Store(true)
	}
	if err := c.budget.take(min(st.Size, st.Blocks*512)); err != nil {
		return err
	}
	if st.Blocks*512 < st.Size {
		return copySparse(out, in, st.Size)
	}
	if st.Size > 128<<10 {
		_, err := io.Copy(out, io.LimitReader(in, st.Size)) // in the kernel where it can be
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
func CopyFolder(ctx context.Context, from, to string) error {
	r := &Replica{From: from, To: to}
	return r.each(ctx, func(c *copier, src, dst int) error { return c.folder(src, dst, 0, newReplicaDir()) })
}
