package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A Replica is a folder, To, that is to hold what another one holds, From, and is
// brought back to that after commands have worked in it. Only what was touched on
// either side is copied again.
//
// Who worked in it is hostile. That something was not touched is seen by inode and
// change time, which no one but the system's clock sets: a change time that is too
// near to when it was looked at says nothing, and neither does a file system whose
// habits are not known. A folder keeps nothing but its place: modes, times,
// attributes and flags are put right.
type Replica struct {
	From, To string
	Skip     string // an entry at the top that is not copied, and left alone where not all of To is made again
	limit    limits // zero: the usual one
	mu       sync.Mutex
	made     *replicaDir // nil: To is copied from nothing
}

// A mark reports whether something was touched.
type mark struct {
	ino   uint64
	ctime int64
}

func markOf(st *unix.Stat_t) mark { return mark{st.Ino, st.Ctim.Nano()} }

// A replicaDir is what a folder had on both sides when they were the same.
type replicaDir struct {
	path  string // in the copy: empty, or with a slash at its end
	mu    sync.Mutex
	dir   [2]mark // of the folder itself: from, to
	files map[string][2]mark
	dirs  map[string]*replicaDir
}

func newReplicaDir() *replicaDir {
	return &replicaDir{files: map[string][2]mark{}, dirs: map[string]*replicaDir{}}
}

func (d *replicaDir) file(name string, from, to *unix.Stat_t) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[name] = [2]mark{markOf(from), markOf(to)}
}

// folder is the record of a folder in this one.
func (d *replicaDir) folder(name string) *replicaDir {
	d.mu.Lock()
	defer d.mu.Unlock()
	sub := newReplicaDir()
	sub.path = d.path + name + "/"
	d.dirs[name] = sub
	return sub
}

func (d *replicaDir) self(from, to *unix.Stat_t) {
	d.dir = [2]mark{markOf(from), markOf(to)}
}

// tick is how old a change time must be to be distinguished from a later one.
const tick = 30 * time.Millisecond

// settled forgets what was changed so shortly before now that another change need
// not show.
func (d *replicaDir) settled(now int64) {
	old := func(m mark) bool { return m.ctime%int64(time.Second) != 0 && now-m.ctime > int64(tick) }
	for name, pair := range d.files {
		if !old(pair[0]) || !old(pair[1]) {
			delete(d.files, name)
		}
	}
	if !old(d.dir[0]) || !old(d.dir[1]) {
		d.dir = [2]mark{}
	}
	for _, sub := range d.dirs {
		sub.settled(now)
	}
}

// flip is the record seen from the other side.
func (d *replicaDir) flip() *replicaDir {
	out := newReplicaDir()
	out.dir = [2]mark{d.dir[1], d.dir[0]}
	for name, pair := range d.files {
		out.files[name] = [2]mark{pair[1], pair[0]}
	}
	for name, sub := range d.dirs {
		out.dirs[name] = sub.flip()
	}
	return out
}

// Flip is the replica in the other direction, with what is known of both folders.
func (r *Replica) Flip() *Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &Replica{From: r.To, To: r.From, Skip: r.Skip, limit: r.limit}
	if r.made != nil {
		out.made = r.made.flip()
	}
	return out
}

// Reset makes To what From is. To need not be there. No command may be at work in
// either.
func (r *Replica) Reset(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.made
	r.made = nil // until it is done
	if was == nil || !timely(r.From) || !timely(r.To) {
		return r.Copy(ctx)
	}
	made := newReplicaDir()
	err := r.each(ctx, func(c *copier, src, dst int) error { return c.sync(src, dst, 0, was, made) })
	if errors.Is(err, errAttributes) {
		return r.Copy(ctx)
	}
	if err != nil {
		return err
	}
	return r.note(made)
}

// Copy makes all of To again.
func (r *Replica) Copy(ctx context.Context) error {
	if err := RemoveAll(ctx, r.To); err != nil {
		return err
	}
	if err := os.Mkdir(r.To, 0o700); err != nil {
		return err
	}
	made := newReplicaDir()
	if err := r.each(ctx, func(c *copier, src, dst int) error { return c.folder(src, dst, 0, made) }); err != nil {
		return err
	}
	return r.note(made)
}

// note keeps what both sides look like now that they are the same.
func (r *Replica) note(made *replicaDir) error {
	now, err := Clock(filepath.Dir(r.To))
	if err != nil {
		return err
	}
	made.settled(now.UnixNano())
	r.made = made
	return nil
}

// each opens both folders for f, which closes them.
func (r *Replica) each(ctx context.Context, f func(c *copier, src, dst int) error) error {
	src, err := unix.Open(r.From, OpenDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: r.From, Err: err}
	}
	if info, err := os.Lstat(r.To); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		if err := os.Chmod(r.To, 0o700); err != nil { // a command took away the way in
			unix.Close(src)
			return err
		}
	}
	dst, err := unix.Open(r.To, OpenDir, 0)
	if err != nil {
		unix.Close(src)
		return &os.PathError{Op: "open", Path: r.To, Err: err}
	}
	root, err := unix.FcntlInt(uintptr(dst), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, unix.Close(src), unix.Close(dst))
	}
	defer unix.Close(root)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	c := &copier{ctx: ctx, group: group, skip: r.Skip, root: root, room: &Budget{limit: r.limit}}
	if c.room.limit == (limits{}) {
		c.room.limit = limits{bytes: maxCopyBytes, entries: maxCopyEntries}
	}
	group.Go(func() error { return f(c, src, dst) })
	if err := group.Wait(); err != nil {
		return fmt.Errorf("copy %s: %w", r.From, err)
	}
	return c.settle()
}

// errAttributes means that a folder has attributes that cannot be taken from it.
var errAttributes = errors.New("attributes of a folder cannot be put right")

// sync makes the folder dst what src is, and closes both.
func (c *copier) sync(src, dst, depth int, was, made *replicaDir) error {
	in, out := os.NewFile(uintptr(src), ""), os.NewFile(uintptr(dst), "")
	defer in.Close()
	defer out.Close()
	if err := c.ctx.Err(); err != nil {
		return err
	}
	var before unix.Stat_t
	if err := unix.Fstat(dst, &before); err != nil {
		return err
	}
	names, err := in.Readdirnames(-1)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(names)) // in src; true: in dst too
	for _, n := range names {
		there[n] = false
	}
	if err := c.removeOthers(out, depth, there); err != nil {
		return err
	}
	for _, n := range names {
		if depth == 0 && n == c.skip {
			continue
		}
		if err := c.syncEntry(src, dst, n, there[n], depth, was, made); err != nil {
			return err
		}
	}
	return c.settleDir(src, dst, was.dir[1] == markOf(&before), made)
}

// removeOthers removes from a folder what names does not have, and marks what is
// there. There may be any number of them.
func (c *copier) removeOthers(dir *os.File, depth int, names map[string]bool) error {
	for {
		have, err := dir.Readdirnames(1000)
		for _, n := range have {
			if _, ok := names[n]; ok || depth == 0 && n == c.skip {
				names[n] = true
				continue
			}
			if err := RemoveAt(c.ctx, int(dir.Fd()), n); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// syncEntry makes one entry of dst what it is in src. What cannot be shown to be
// untouched is removed and copied.
func (c *copier) syncEntry(src, dst int, name string, there bool, depth int, was, made *replicaDir) error {
	var from, to unix.Stat_t
	if err := unix.Fstatat(src, name, &from, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if there {
		if err := unix.Fstatat(dst, name, &to, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		isDir := uint32(from.Mode)&unix.S_IFMT == unix.S_IFDIR
		if sub := was.dirs[name]; isDir && uint32(to.Mode)&unix.S_IFMT == unix.S_IFDIR && sub != nil {
			return c.syncFolder(src, dst, name, &from, &to, depth, sub, made)
		}
		if pair, ok := was.files[name]; ok && !isDir && pair == [2]mark{markOf(&from), markOf(&to)} {
			made.file(name, &from, &to)
			return nil
		}
		if err := RemoveAt(c.ctx, dst, name); err != nil {
			return err
		}
	}
	return c.entry(src, dst, name, depth, made)
}

func (c *copier) syncFolder(src, dst int, name string, from, to *unix.Stat_t, depth int, was, made *replicaDir) error {
	for _, side := range []struct {
		at   int
		st   *unix.Stat_t
		need uint32
	}{{src, from, 0o500}, {dst, to, 0o700}} {
		if mode := uint32(side.st.Mode); mode&side.need != side.need {
			if err := unix.Fchmodat(side.at, name, mode&0o777|side.need, 0); err != nil {
				return err
			}
		}
	}
	in, err := OpenAt(src, name, OpenDir, 0)
	if err != nil {
		return err
	}
	out, err := OpenAt(dst, name, OpenDir, 0)
	if err != nil {
		unix.Close(in)
		return err
	}
	sub := made.folder(name)
	syncIt := func() error { return c.sync(in, out, depth+1, was, sub) }
	if c.group.TryGo(syncIt) {
		return nil
	}
	return syncIt()
}

// settleDir gives a folder mode and times of another. Attributes and flags that
// only it has are taken from it, unless it is known to be untouched.
func (c *copier) settleDir(src, dst int, untouched bool, made *replicaDir) error {
	var from, to unix.Stat_t
	if err := unix.Fstat(src, &from); err != nil {
		return err
	}
	if !untouched {
		if !sameFlags(src, dst) {
			return errAttributes
		}
		if err := dropAttributes(dst); err != nil {
			return err
		}
	}
	if err := unix.Fstat(dst, &to); err != nil {
		return err
	}
	if to.Mode != from.Mode&^(unix.S_ISUID|unix.S_ISGID) || to.Mtim != from.Mtim {
		if err := unix.Fchmod(dst, uint32(from.Mode)&0o1777); err != nil {
			return err
		}
		if err := setTimes(dst, &from); err != nil {
			return err
		}
		if err := unix.Fstat(dst, &to); err != nil {
			return err
		}
	}
	made.self(&from, &to)
	return nil
}
