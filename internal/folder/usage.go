package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free is how much room the disk of dir has for this user. A folder that is not there
// yet is on the disk of the one above it.
func Free(dir string) (int64, error) {
	for at := dir; ; at = filepath.Dir(at) {
		var s syscall.Statfs_t
		err := syscall.Statfs(at, &s)
		if err == nil {
			return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert,nolintlint // the types differ between systems
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return 0, &os.PathError{Op: "statfs", Path: at, Err: err}
		}
	}
}

// Usage is how much of the disk the files below some folders take, each file counted
// once. What cannot be read, or goes while it is looked at, does not count.
func Usage(ctx context.Context, dirs ...string) (int64, error) {
	var sum int64
	type inode struct{ dev, ino uint64 }
	seen := map[inode]bool{} // of files with several names
	for _, dir := range dirs {
		Each(dir, func(st *unix.Stat_t, unseen bool) bool {
			if unseen || ctx.Err() != nil {
				return ctx.Err() == nil
			}
			if st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 {
				id := inode{uint64(st.Dev), st.Ino} //nolint:unconvert,gosec,nolintlint // the types differ between systems
				if seen[id] {
					return true
				}
				seen[id] = true
			}
			sum += st.Blocks * 512
			return true
		})
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return sum, nil
}
