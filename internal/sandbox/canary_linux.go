package sandbox

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runCanaries tries what a shell cannot try and prints "key=value" lines: system
// calls that must be refused, and the limits that hold. Arguments: a directory
// that only Landlock keeps from being written, and a process outside.
func runCanaries(args []string, out io.Writer) int {
	if len(args) != 2 {
		return shimFailed
	}
	outside, err := strconv.Atoi(args[1])
	if err != nil {
		return shimFailed
	}
	answer := func(key string, err error) {
		if err == nil {
			fmt.Fprintf(out, "%s=worked\n", key)
			return
		}
		fmt.Fprintf(out, "%s=%v\n", key, err)
	}
	answer("landlock_write", os.WriteFile(args[0]+"/landlock", nil, 0o600))
	answer("keyring", try(unix.KeyctlInt(unix.KEYCTL_GET_KEYRING_ID, unix.KEY_SPEC_SESSION_KEYRING, 0, 0, 0)))
	answer("socket_family", closing(unix.Socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)))
	answer("raw_socket", closing(unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)))
	answer("unshare", unix.Unshare(unix.CLONE_NEWUTS))
	answer("other_limits", unix.Prlimit(outside, unix.RLIMIT_CORE, nil, &unix.Rlimit{}))
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		answer("io_uring", errno)
	} else {
		answer("io_uring", closing(int(fd), nil))
	}
	for key, resource := range map[string]int{
		"procs": unix.RLIMIT_NPROC, "file": unix.RLIMIT_FSIZE, "open": unix.RLIMIT_NOFILE, "core": unix.RLIMIT_CORE,
	} {
		var l unix.Rlimit
		if unix.Getrlimit(resource, &l) == nil {
			fmt.Fprintf(out, "limit_%s=%d\n", key, l.Max)
		}
	}
	fmt.Fprintln(out, "done=yes")
	return 0
}

func try(_ int, err error) error { return err }

// closing closes what should not have been opened.
func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}
