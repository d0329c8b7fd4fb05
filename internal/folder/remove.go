package folder

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDepth bounds how many folders are held open, one inside the other.
const maxDepth = 100

// RemoveAll removes a folder of trees and scratch files that commands may have
// filled, whatever they have done to its permissions. No symbolic link is
// followed. A missing folder is fine.
func RemoveAll(ctx context.Context, dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(dir), Err: err}
	}
	defer unix.Close(parent)
	return RemoveAt(ctx, parent, filepath.Base(dir))
}

// RemoveAt removes name in the folder at.
func RemoveAt(ctx context.Context, at int, name string) error {
	r := &remover{ctx: ctx, top: at}
	err := r.remove(at, name, 0)
	for err == nil && len(r.moved) > 0 {
		next := r.moved[len(r.moved)-1]
		r.moved = r.moved[:len(r.moved)-1]
		err = r.remove(at, next, 0)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Remake makes an empty folder, with those above it, below one that commands may have filled.
// A link or a file on the way is removed, and what was in the folder's place: what is then
// written there stays below home.
func Remake(ctx context.Context, home, part string) error {
	at, err := unix.Open(home, OpenDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: home, Err: err}
	}
	defer func() { unix.Close(at) }()
	names := strings.Split(filepath.ToSlash(part), "/")
	for i, name := range names {
		var st unix.Stat_t
		err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || i == len(names)-1:
			if err = RemoveAt(ctx, at, name); err == nil {
				err = unix.Mkdirat(at, name, 0o700)
			}
		case st.Mode&0o700 != 0o700: // a command took away the way in
			err = unix.Fchmodat(at, name, 0o700, 0)
		}
		if err != nil {
			return &os.PathError{Op: "make", Path: filepath.Join(home, part), Err: err}
		}
		next, err := OpenAt(at, name, OpenDir, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: filepath.Join(home, part), Err: err}
		}
		unix.Close(at)
		at = next
	}
	return nil
}

// A remover moves what lies too deep up to the top, to come back to it.
type remover struct {
	ctx   context.Context
	top   int
	count int
	moved []string
}

func (r *remover) remove(at int, name string, depth int) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	err := unix.Unlinkat(at, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	var st unix.Stat_t
	if serr := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); serr != nil {
		return &os.PathError{Op: "remove", Path: name, Err: serr}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	if depth >= maxDepth {
		if moved, err := r.moveUp(at, name); moved || err != nil {
			return err
		}
	}
	if st.Mode&0o700 != 0o700 {
		if err := unix.Fchmodat(at, name, 0o700, 0); err != nil {
			return &os.PathError{Op: "chmod", Path: name, Err: err}
		}
	}
	if err := r.empty(at, name, depth); err != nil {
		return err
	}
	if err := unix.Unlinkat(at, name, unix.AT_REMOVEDIR); err != nil {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func (r *remover) moveUp(at int, name string) (bool, error) {
	// A folder's own permissions matter too when it is moved to another parent.
	if err := unix.Fchmodat(at, name, 0o700, 0); err != nil {
		return false, &os.PathError{Op: "chmod", Path: name, Err: err}
	}
	for {
		to := ".removed-" + strconv.Itoa(unix.Getpid()) + "-" + strconv.Itoa(r.count)
		r.count++
		var st unix.Stat_t
		if err := unix.Fstatat(r.top, to, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
			continue // someone else's
		}
		if err := unix.Renameat(at, name, r.top, to); err != nil {
			return false, &os.PathError{Op: "rename", Path: name, Err: err}
		}
		r.moved = append(r.moved, to)
		return true, nil
	}
}

func (r *remover) empty(at int, name string, depth int) error {
	fd, err := OpenAt(at, name, OpenDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1000)
		for _, n := range names {
			if err := r.remove(fd, n, depth+1); err != nil {
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
