package seccomp

import "golang.org/x/sys/unix"

// lastOwn is the last of the numbers of system calls that other architectures do not share.
const lastOwn = unix.SYS_UPROBE
