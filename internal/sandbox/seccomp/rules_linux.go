//go:build linux && (amd64 || arm64)

package seccomp

import "golang.org/x/sys/unix"

// refused are system calls that no build and no test needs, and that reach into
// other processes, into the kernel or around the other layers.
var refused = []uint32{
	// other processes
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	// interfaces that neither Landlock nor this filter can look into
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	// keys of the user
	unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY,
	// the file tree
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	// the machine
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
}

// newest is the last system call that these rules were decided for, of Linux 7.0. From
// 424 on all architectures have the same numbers.
const newest = unix.SYS_RSEQ_SLICE_YIELD

// A span of numbers, both ends included.
type span struct{ from, to uint32 }

// unknown are the numbers that these rules were not decided for: those that came later,
// and those between the architecture's own and the common ones, some of which are taken
// for calls of that architecture as time goes.
var unknown = []span{{lastOwn + 1, unix.SYS_PIDFD_SEND_SIGNAL - 1}, {newest + 1, 0xffffffff}}

// absent are calls that answer as on a kernel without them. Programs that use one have a way to
// do without. Of the calls since Linux 5.18 these are all that are refused; allowed are
// futex_waitv, set_mempolicy_home_node, cachestat, fchmodat2, map_shadow_stack,
// futex_wake, futex_wait, futex_requeue, lsm_get_self_attr, lsm_list_modules, mseal,
// setxattrat, getxattrat, listxattrat, removexattrat, file_getattr and rseq_slice_yield,
// which do what older calls do, or ask for what can be read elsewhere.
var absent = []uint32{
	unix.SYS_CLONE3,                                                                  // its flags lie behind a pointer; C libraries fall back to clone
	unix.SYS_MEMFD_SECRET,                                                            // memory that no limit counts as the command's
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_LISTNS, // mounts and namespaces, also of others
	unix.SYS_LSM_SET_SELF_ATTR,
	unix.SYS_FILE_SETATTR, // attributes of a file that cannot be opened; chattr falls back to ioctl
}

const newNamespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// dccp is a type of socket, which x/sys does not name.
const dccp = 6

// rules is the whole list. ptrace stays allowed, because leak checkers and
// debuggers need it; Landlock and the pid namespace keep it to the command's
// own processes.
func (f Filter) rules() []rule {
	var rs []rule
	eperm := refuse(unix.EPERM)
	for _, number := range refused {
		rs = append(rs, rule{number: number, answer: eperm})
	}
	for _, number := range absent {
		rs = append(rs, rule{number: number, answer: refuse(unix.ENOSYS)})
	}
	rs = append(rs,
		rule{unix.SYS_CLONE, eperm, []cond{anyBit(0, newNamespace)}},
		rule{unix.SYS_UNSHARE, eperm, []cond{anyBit(0, newNamespace|unix.CLONE_NEWTIME)}},
		// Typing into a terminal.
		rule{unix.SYS_IOCTL, eperm, []cond{is(1, unix.TIOCSTI)}},
		rule{unix.SYS_IOCTL, eperm, []cond{is(1, unix.TIOCLINUX)}},
		// Asking for it, plain Linux and no randomisation of addresses.
		rule{unix.SYS_PERSONALITY, eperm, []cond{isNot(0, 0xffffffff), isNot(0, 0), isNot(0, 0x0040000)}},
		// Limits of another process: Landlock does not see this call.
		rule{unix.SYS_PRLIMIT64, eperm, []cond{isNot(0, 0)}},
	)
	rs = append(rs, f.sockets()...)
	// A connection without connect.
	rs = append(rs,
		rule{unix.SYS_SENDTO, eperm, []cond{anyBit(3, unix.MSG_FASTOPEN)}},
		rule{unix.SYS_SENDMSG, eperm, []cond{anyBit(2, unix.MSG_FASTOPEN)}},
		rule{unix.SYS_SENDMMSG, eperm, []cond{anyBit(3, unix.MSG_FASTOPEN)}},
	)
	if f.Shared {
		for _, number := range []uint32{unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK} {
			rs = append(rs, rule{number: number, answer: eperm})
		}
	}
	return rs
}

// sockets allows the families that programs use, and of the internet ones plain
// TCP and UDP.
func (f Filter) sockets() []rule {
	const number = unix.SYS_SOCKET
	eperm, eproto := refuse(unix.EPERM), refuse(unix.EPROTONOSUPPORT)
	rs := []rule{{number, refuse(unix.EAFNOSUPPORT), []cond{
		isNot(0, unix.AF_UNIX), isNot(0, unix.AF_INET), isNot(0, unix.AF_INET6), isNot(0, unix.AF_NETLINK),
	}}}
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		of := is(0, family)
		rs = append(rs,
			rule{number, eperm, []cond{of, socketType(unix.SOCK_RAW)}},
			rule{number, eproto, []cond{of, socketType(unix.SOCK_STREAM), isNot(2, 0), isNot(2, unix.IPPROTO_TCP)}},
			rule{number, eproto, []cond{of, socketType(unix.SOCK_SEQPACKET)}},
			rule{number, eproto, []cond{of, socketType(dccp)}},
		)
		if f.NoUDP {
			rs = append(rs, rule{number, eperm, []cond{of, socketType(unix.SOCK_DGRAM)}})
		}
	}
	if f.NoUnix {
		rs = append(rs, rule{number, eperm, []cond{is(0, unix.AF_UNIX)}})
	}
	return rs
}
