package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// maxCopyDepth bounds how deep folders may lie: each holds two files open.
const maxCopyDepth = 200

type copier struct {
	ctx     context.Context
	group   *errgroup.Group
	skip    string      // an entry at the top that is left alone
	noClone atomic.Bool // the file system cannot share blocks
	buffers sync.Pool
	root    int // the copy, for the names of links
	room    *Budget
	links   links
	files   bool // files and folders alone, to be changed
}

// folder copies a folder's content and closes both. What it makes is noted in made.
func (c *copier) folder(src, dst, depth int, made *replicaDir) error {
	in := os.NewFile(uintptr(src), "")
	defer in.Close()
	defer unix.Close(dst)
	if depth > maxCopyDepth {
		if c.files {
			return nil
		}
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
	if err := unix.Fchmod(dst, uint32(st.Mode)&0o1777|c.own(0o700)); err != nil {
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
		if err := c.room.Entry(); err != nil {
			return err
		}
		if st.Nlink > 1 {
			return c.linked(src, dst, name, inodeOf(&st), made)
		}
		_, err := c.file(src, dst, name, made)
		return err
	case unix.S_IFLNK:
		if c.files {
			return nil
		}
		if err := c.room.Entry(); err != nil {
			return err
		}
		to, err := ReadlinkAt(src, name)
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
		if err := c.room.Entry(); err != nil {
			return err
		}
		return c.subfolder(src, dst, name, &st, depth, made)
	}
	return nil
}

// own is what its owner may do with what is made, beside what the mode says.
func (c *copier) own(mode uint32) uint32 {
	if c.files {
		return mode
	}
	return 0
}

func (c *copier) subfolder(src, dst int, name string, st *unix.Stat_t, depth int, made *replicaDir) error {
	if st.Mode&0o500 != 0o500 { // a folder without a way in: ours to open
		if err := unix.Fchmodat(src, name, uint32(st.Mode)&0o777|0o500, 0); err != nil {
			return err
		}
	}
	in, err := OpenAt(src, name, OpenDir, 0)
	if err != nil {
		return err
	}
	if err := unix.Mkdirat(dst, name, 0o700); err != nil {
		unix.Close(in)
		return err
	}
	out, err := OpenAt(dst, name, OpenDir, 0)
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
	fd, err := OpenAt(src, name, OpenFile, 0)
	if errors.Is(err, unix.EACCES) { // without permission to read: ours to give
		if err = unix.Fchmodat(src, name, 0o600, 0); err == nil {
			fd, err = OpenAt(src, name, OpenFile, 0)
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
	to, err := OpenAt(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return from, err
	}
	out := os.NewFile(uintptr(to), name)
	defer out.Close()
	if err := c.content(in, out, &from); err != nil {
		return from, err
	}
	if err := unix.Fchmod(to, uint32(from.Mode)&0o777|c.own(0o600)); err != nil {
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
	if err := c.room.Take(min(st.Size, st.Blocks*512)); err != nil {
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

// Copy copies what lies in a folder that commands may have filled into
// another one, which must be there: modes, times and symbolic links too, nothing
// through a link. Sockets, pipes and devices are left out.
func Copy(ctx context.Context, from, to string) error {
	return copyOf(ctx, from, to, false)
}

// CopyFiles is Copy for a folder whose copy is to be changed: links stay behind, as do
// folders that lie too deep, and their owner may write to what is copied.
func CopyFiles(ctx context.Context, from, to string) error {
	return copyOf(ctx, from, to, true)
}

func copyOf(ctx context.Context, from, to string, files bool) error {
	r := &Replica{From: from, To: to}
	return r.each(ctx, func(c *copier, src, dst int) error {
		c.files = files
		return c.folder(src, dst, 0, newReplicaDir())
	})
}
