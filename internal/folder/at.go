package folder

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// How folders and files are opened that commands may have made: no symbolic link is
// followed, and no named pipe waited for.
const (
	OpenDir  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	OpenFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
)

// OpenAt is unix.Openat, again when a signal came between.
func OpenAt(at int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags, mode)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// ReadlinkAt returns what a symbolic link holds.
func ReadlinkAt(at int, name string) (string, error) {
	buf := make([]byte, 8<<10) // the longest target that Linux knows has half of it
	n, err := unix.Readlinkat(at, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// Clock returns the time as a folder's file system has it.
func Clock(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".clock-")
	if err != nil {
		return time.Time{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
