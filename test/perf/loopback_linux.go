package main

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// loopbackOnly leaves the calling goroutine, and the programs that it starts, no
// network but a loopback of its own. What listens must be opened by it too. The
// thread is never given back: it ends with the goroutine.
func loopbackOnly() error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network of its own: %w", err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set up the loopback: %w", err)
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("set up the loopback: %w", err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("set up the loopback: %w", err)
	}
	return nil
}
