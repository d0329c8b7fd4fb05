package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// roomInMemory is how much has to be free, in bytes, for temporary files to be kept in
// memory: some three times what the tests have there at once.
const roomInMemory = 10 << 30

// memoryDir makes a folder in dir where that is memory with much room. It is empty where
// it is not: then temporary files lie where they always do.
func memoryDir(dir string) string {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Type != unix.TMPFS_MAGIC || fs.Flags&unix.ST_NOEXEC != 0 {
		return ""
	}
	available, err := memAvailable()
	if err != nil || fs.Bavail*uint64(fs.Bsize) < roomInMemory || available < roomInMemory {
		return ""
	}
	made, err := os.MkdirTemp(dir, "t")
	if err == nil {
		err = os.Chmod(made, 0o755) // some tests start programs in it as another user
	}
	if err != nil {
		return ""
	}
	return made
}

// memAvailable is what the kernel could give without swapping; see proc_meminfo(5).
func memAvailable() (uint64, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for {
		var name, unit string
		var n uint64
		if _, err := fmt.Fscan(f, &name, &n); err != nil {
			return 0, err
		}
		if name == "MemAvailable:" {
			return n << 10, nil
		}
		_, _ = fmt.Fscanln(f, &unit)
	}
}
