package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callAttacks use system calls that are newer than most lists of refused ones.
func callAttacks() []attack {
	return []attack{
		{id: "A64", name: "open_tree_attr", run: func(t target) error {
			path, err := unix.BytePtrFromString("/")
			if err != nil {
				return err
			}
			fd, _, errno := unix.Syscall6(unix.SYS_OPEN_TREE_ATTR, 0, uintptr(unsafe.Pointer(path)), 0, 0, 0, 0) // a full path needs no folder
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		}},
		{id: "A65", name: "statmount and listmount", run: func(target) error {
			// struct mnt_id_req for the root of the namespace: LSMT_ROOT
			request, ids := [3]uint64{24, 0xffffffffffffffff}, [64]uint64{}
			_, _, errno := unix.Syscall6(unix.SYS_LISTMOUNT, uintptr(unsafe.Pointer(&request)), uintptr(unsafe.Pointer(&ids)), uintptr(len(ids)), 0, 0, 0)
			if errno != 0 {
				return errno
			}
			return nil
		}},
		// A kernel may have it one day. Until then no tier can show that it is refused;
		// what the filter answers is shown by TestFilterOfTheFuture.
		{id: "A66", name: "a system call that no kernel has", run: func(target) error {
			if _, _, errno := unix.Syscall(1000, 0, 0, 0); errno != 0 {
				return errno
			}
			return nil
		}},
	}
}

// entryAttacks take what a file system has besides room.
func entryAttacks() []attack {
	return []attack{
		{id: "A67", name: "very many files", alone: true, run: func(t target) error {
			return entries(t, "many", func(name string, n int) error { return os.WriteFile(name, nil, 0o600) })
		}},
		{id: "A68", name: "very many names of one file", alone: true, run: func(t target) error {
			first := filepath.Join(t.Build, "named")
			if err := os.WriteFile(first, nil, 0o600); err != nil {
				return err
			}
			return entries(t, "names", func(name string, n int) error {
				err := os.Link(first, name)
				if errors.Is(err, unix.EMLINK) { // ext4 ends at 65 000
					first = name
					err = os.WriteFile(name, nil, 0o600)
				}
				return err
			})
		}},
	}
}

// floodEntries is how many files the attacks make; their sandbox allows a third.
const floodEntries = 9_000

// entries makes very many of something, and stays to see whether that is noticed.
func entries(t target, dir string, add func(name string, n int) error) error {
	for n := range floodEntries {
		folder := filepath.Join(t.Build, dir, fmt.Sprint(n/1000))
		if n%1000 == 0 {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
		}
		if err := add(filepath.Join(folder, fmt.Sprint(n)), n); err != nil {
			return err
		}
	}
	if t.Measured {
		<-time.After(8 * time.Second) // names of one file are found when the folders are measured
	}
	return nil
}
