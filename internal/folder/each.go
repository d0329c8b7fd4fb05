package folder

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// How deep folders are followed by holding them open; how many that lie deeper are come back
// to, and how long their paths may be, each of which is gone through from the first folder.
const (
	maxHeld  = 200
	maxLater = 1000
	maxBelow = 32 << 10
)

// Each calls fn with the state of a folder and of all that lies below it, until fn says no.
// Commands may be at work there: no link is followed, the kernel's limit of a path is none,
// and what goes meanwhile is left out. Where a part of a folder cannot be looked at, fn is called
// with the state of the folder once more, and unseen.
func Each(dir string, fn func(st *unix.Stat_t, unseen bool) bool) {
	e := &each{fn: fn, later: []string{""}}
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil || !fn(&st, false) || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	for len(e.later) > 0 && !e.enough {
		below := e.later[len(e.later)-1]
		e.later = e.later[:len(e.later)-1]
		fd, err := openBelow(dir, below)
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		e.folder(fd, err, &st, below, 0)
	}
}

type each struct {
	fn     func(st *unix.Stat_t, unseen bool) bool
	later  []string // folders that lie deep, by their paths below the first one
	enough bool
}

// folder goes through the folder that was opened as fd, which it closes.
func (e *each) folder(fd int, err error, of *unix.Stat_t, below string, depth int) {
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		e.missed(of, err)
		return
	}
	dir := os.NewFile(uintptr(fd), below)
	defer dir.Close()
	for !e.enough {
		names, err := dir.Readdirnames(1000)
		for _, name := range names {
			e.entry(fd, name, of, below, depth)
			if e.enough {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				e.missed(of, err)
			}
			return
		}
	}
}

func (e *each) entry(at int, name string, of *unix.Stat_t, below string, depth int) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		e.missed(of, err)
		return
	}
	if !e.fn(&st, false) {
		e.enough = true
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	below += "/" + name
	switch {
	case depth < maxHeld:
		fd, err := OpenAt(at, name, OpenDir, 0)
		e.folder(fd, err, &st, below, depth+1)
	case len(e.later) < maxLater && len(below) < maxBelow:
		e.later = append(e.later, below)
	default:
		e.missed(&st, unix.EMFILE)
	}
}

// missed says that a part of a folder was not looked at, unless that is gone or another now.
func (e *each) missed(of *unix.Stat_t, err error) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return
	}
	e.enough = e.enough || !e.fn(of, true)
}

// maxPath is how much of a path is opened at once: the kernel takes 4095 bytes.
const maxPath = 3000

// openBelow opens a folder below dir, however long its path is.
func openBelow(dir, below string) (int, error) {
	fd, err := OpenAt(unix.AT_FDCWD, dir, OpenDir, 0)
	for err == nil && below != "" {
		part := below
		if len(part) > maxPath {
			part = part[:strings.LastIndexByte(part[:maxPath], '/')]
		}
		below = below[len(part):]
		var next int
		next, err = OpenAt(fd, strings.TrimPrefix(part, "/"), OpenDir, 0)
		unix.Close(fd)
		fd = next
	}
	return fd, err
}
