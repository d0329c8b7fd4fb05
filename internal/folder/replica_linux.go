package folder

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// timely says whether a folder lies on a file system that is known to keep change
// times finely and to set them whenever something changes.
func timely(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	switch int64(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

// sameFlags compares what chattr sets. File systems without such flags have none.
func sameFlags(a, b int) bool {
	x, errA := unix.IoctlGetInt(a, unix.FS_IOC_GETFLAGS)
	y, errB := unix.IoctlGetInt(b, unix.FS_IOC_GETFLAGS)
	return (errA == nil) == (errB == nil) && x == y
}

// dropAttributes takes all attributes from a folder, access lists too, but for
// what the system's own security modules keep there.
func dropAttributes(fd int) error {
	buf := make([]byte, 4<<10)
	n, err := unix.Flistxattr(fd, buf)
	if errors.Is(err, unix.ENOTSUP) || err == nil && n == 0 {
		return nil
	}
	if err != nil {
		return errAttributes
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if strings.HasPrefix(name, "security.") || strings.HasPrefix(name, "trusted.overlay.") {
			continue
		}
		if err := unix.Fremovexattr(fd, name); err != nil && !errors.Is(err, unix.ENODATA) {
			return errAttributes
		}
	}
	return nil
}
