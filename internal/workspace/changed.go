package workspace

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A want is what one tracked path must be.
type want struct {
	objects.Entry
	from  string // commit that it comes from
	sum   string // id of the content as it lies on disk: OID, unless it was converted
	laid  int64  // how long that is; a file of another length is another one, and need not be read
	stamp stamp  // as it was seen to be right; zero: must be read
}

// A stamp shows by what stat says whether a file was touched. The change time
// cannot be set by the file's owner.
type stamp struct {
	ino          uint64
	size         int64
	mtime, ctime unix.Timespec
	mode         uint32
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{ino: st.Ino, size: st.Size, mtime: st.Mtim, ctime: st.Ctim, mode: uint32(st.Mode)}
}

// settle is how old a change time must be to be distinguished from a later one: file
// systems take it from a clock that ticks up to a hundred times a second.
const settle = 100 * time.Millisecond

// visit calls f for each want with the open folder it lies in, or with the
// error that its folder cannot be reached. No symbolic link is followed. f is
// called by several goroutines, once for each index.
func visit(ctx context.Context, dir string, wants []want, f func(i, at int, name string, err error)) error {
	root, err := unix.Open(dir, folder.OpenDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(root)
	var group errgroup.Group
	n := runtime.NumCPU()
	size := (len(wants) + n - 1) / n
	for from := 0; from < len(wants); from += size {
		to := min(from+size, len(wants))
		group.Go(func() error {
			w := &walker{root: root}
			defer w.cut(0)
			for i := from; i < to; i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				parent, name := splitPath(wants[i].Path)
				at, err := w.enter(parent)
				f(i, at, name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// A walker keeps the folders on the way to the last path open.
type walker struct {
	root  int
	names []string
	fds   []int
}

func (w *walker) enter(dir string) (int, error) {
	var names []string
	if dir != "" {
		names = strings.Split(dir, "/")
	}
	same := 0
	for same < len(names) && same < len(w.names) && names[same] == w.names[same] {
		same++
	}
	w.cut(same)
	at := w.root
	if same > 0 {
		at = w.fds[same-1]
	}
	for _, name := range names[same:] {
		if name == "" || name == "." || name == ".." {
			return -1, unix.EINVAL
		}
		fd, err := folder.OpenAt(at, name, folder.OpenDir, 0)
		if err != nil {
			return -1, err
		}
		if err := enterable(fd); err != nil {
			unix.Close(fd)
			return -1, err
		}
		w.names = append(w.names, name)
		w.fds = append(w.fds, fd)
		at = fd
	}
	return at, nil
}

// enterable says why the commands that work in a tree cannot use a folder of it:
// root gets everywhere, and they are not root.
func enterable(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&0o500 != 0o500 {
		return unix.EACCES
	}
	return nil
}

// cut closes all but the first n folders.
func (w *walker) cut(n int) {
	for _, fd := range w.fds[n:] {
		unix.Close(fd)
	}
	w.fds, w.names = w.fds[:n], w.names[:n]
}

// baseline notes how the files look right after they were written. Content of
// another length than the object's was converted, so it is read, and so is what stands in
// the place of a pointer.
func (t *Tree) baseline(ctx context.Context) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var first error
	err = visit(ctx, t.Dir, t.wants, func(i, at int, name string, err error) {
		w := &t.wants[i]
		if err == nil {
			err = w.note(ctx, at, name, now, t.mirror.Format)
		}
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = fmt.Errorf("%q was not written: %w", w.Path, err)
		}
	})
	if err != nil {
		return err
	}
	return first
}

func (w *want) note(ctx context.Context, at int, name string, now time.Time, format string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if w.isFile() && (st.Size != w.Size || w.sum == "") {
		sum, err := sumFile(ctx, at, name, st.Size, format)
		if err != nil {
			return err
		}
		w.sum = sum
	}
	w.laid = st.Size
	w.trust(&st, now)
	return nil
}

func (w *want) isFile() bool { return w.Mode == objects.ModeFile || w.Mode == objects.ModeExec }

// trust lets a file that is right now pass by its stamp the next time. One that
// was touched just before could be touched again without a trace.
func (w *want) trust(st *unix.Stat_t, now time.Time) {
	w.stamp = stamp{}
	if w.Mode != objects.ModeGitlink && now.Sub(time.Unix(st.Ctim.Unix())) > settle {
		w.stamp = stampOf(st)
	}
}

// clock returns the time as the tree's file system has it.
func (t *Tree) clock() (time.Time, error) { return folder.Clock(filepath.Dir(t.Dir)) }

// Changed returns the tracked paths whose content, mode or kind is not what it
// must be, sorted, and ".git" when the file that leads to the mirror is not.
// Neither the index nor git is asked, so that nothing can be hidden in them.
func (t *Tree) Changed(ctx context.Context) ([]string, error) {
	if err := t.Lay(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed(ctx)
}

func (t *Tree) changed(ctx context.Context) ([]string, error) {
	if info, err := os.Lstat(t.Dir); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		if err := os.Chmod(t.Dir, 0o700); err != nil { // a command took away the way in
			return nil, err
		}
	}
	now, err := t.clock()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var out []string
	err = visit(ctx, t.Dir, t.wants, func(i, at int, name string, err error) {
		w := &t.wants[i]
		if err == nil && w.holds(ctx, at, name, now, t.mirror.Format) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		out = append(out, w.Path)
	})
	if err != nil {
		return nil, fmt.Errorf("compare %s with its commit: %w", t.Dir, err)
	}
	if err := ctx.Err(); err != nil { // what was not read to its end counts for nothing
		return nil, fmt.Errorf("compare %s with its commit: %w", t.Dir, err)
	}
	if !t.pointerHolds() {
		out = append(out, ".git")
	}
	slices.Sort(out)
	return out, nil
}

// pointerHolds reports whether .git is the file that git made.
func (t *Tree) pointerHolds() bool {
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(t.Dir, ".git"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	data, err := t.read(".git", len(t.pointer)+1)
	return err == nil && bytes.Equal(data, t.pointer)
}

// holds reports whether a path is what it must be. What cannot be read is not.
func (w *want) holds(ctx context.Context, at int, name string, now time.Time, format string) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return false
	}
	if w.stamp != (stamp{}) && stampOf(&st) == w.stamp {
		return true
	}
	sum := ""
	switch kind := uint32(st.Mode) & unix.S_IFMT; {
	case w.Mode == objects.ModeGitlink:
		return kind == unix.S_IFDIR
	case w.Mode == objects.ModeLink && kind == unix.S_IFLNK:
		sum, _ = sumLink(at, name, format)
	case w.isFile() && kind == unix.S_IFREG && st.Size == w.laid && (w.Mode == objects.ModeExec) == (st.Mode&0o100 != 0) && st.Mode&0o400 != 0:
		sum, _ = sumFile(ctx, at, name, st.Size, format)
	}
	if sum != w.sum {
		return false
	}
	w.trust(&st, now)
	return true
}

// blobHash begins the hash of a blob of n bytes, as git names it.
func blobHash(format string, n int64) hash.Hash {
	h := sha1.New() //nolint:gosec // git's object ids
	if format == "sha256" {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", n)
	return h
}

func sumFile(ctx context.Context, at int, name string, size int64, format string) (string, error) {
	fd, err := folder.OpenAt(at, name, folder.OpenFile, 0)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", unix.EINVAL
	}
	h := blobHash(format, size)
	if _, err := io.Copy(h, io.LimitReader(until{ctx, f}, size+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// until is a file that is read for as long as ctx lasts.
type until struct {
	ctx context.Context
	f   *os.File
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.f.Read(p)
}

func sumLink(at int, name, format string) (string, error) {
	to, err := folder.ReadlinkAt(at, name)
	if err != nil {
		return "", err
	}
	h := blobHash(format, int64(len(to)))
	io.WriteString(h, to) //nolint:errcheck // a hash takes everything
	return hex.EncodeToString(h.Sum(nil)), nil
}
