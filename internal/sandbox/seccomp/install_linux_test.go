//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"runtime"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// answer is what a filter says to a system call without arguments.
func answer(t *testing.T, f Filter, arch, number uint32) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(program(f.rules()))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, offArgs+6*8)
	binary.BigEndian.PutUint32(data[offNumber:], number) // the machine of the package reads network order
	binary.BigEndian.PutUint32(data[offArch:], arch)
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// What came after this program was written does not exist for commands, so that the
// fallbacks of their libraries run; what was refused on purpose stays so; all that
// programs are known to use goes through.
func TestFilterOfTheFuture(t *testing.T) {
	t.Parallel()
	arch, other := uint32(unix.AUDIT_ARCH_X86_64), uint32(unix.AUDIT_ARCH_I386)
	if runtime.GOARCH == "arm64" {
		arch, other = unix.AUDIT_ARCH_AARCH64, unix.AUDIT_ARCH_ARM
	}
	enosys, eperm := refuse(unix.ENOSYS), refuse(unix.EPERM)
	for _, f := range []Filter{{}, {Shared: true, NoUDP: true, NoUnix: true}} {
		for number, want := range map[uint32]uint32{
			newest + 1: enosys, newest + 2: enosys, 512: enosys, 547: enosys, 600: enosys, 1000: enosys, 0x3fffffff: enosys,
			0x40000000: enosys, 0x40000000 + unix.SYS_OPENAT: enosys, 0x7fffffff: enosys, 0xffffffff: enosys,
			lastOwn + 1: enosys, unix.SYS_PIDFD_SEND_SIGNAL - 1: enosys,
			unix.SYS_OPEN_TREE_ATTR: enosys, unix.SYS_STATMOUNT: enosys, unix.SYS_LISTMOUNT: enosys, unix.SYS_LISTNS: enosys,
			unix.SYS_LSM_SET_SELF_ATTR: enosys, unix.SYS_FILE_SETATTR: enosys, unix.SYS_MEMFD_SECRET: enosys, unix.SYS_CLONE3: enosys,
			unix.SYS_OPEN_TREE: eperm, unix.SYS_MOUNT_SETATTR: eperm, unix.SYS_FSOPEN: eperm, unix.SYS_IO_URING_SETUP: eperm,
			newest: allow, lastOwn: allowOwn(), unix.SYS_PIDFD_SEND_SIGNAL: allow, unix.SYS_READ: allow, unix.SYS_RSEQ: allow,
			unix.SYS_FUTEX_WAITV: allow, unix.SYS_FUTEX_WAKE: allow, unix.SYS_FUTEX_WAIT: allow, unix.SYS_FUTEX_REQUEUE: allow,
			unix.SYS_CACHESTAT: allow, unix.SYS_FCHMODAT2: allow, unix.SYS_MAP_SHADOW_STACK: allow, unix.SYS_MSEAL: allow,
			unix.SYS_SETXATTRAT: allow, unix.SYS_GETXATTRAT: allow, unix.SYS_LISTXATTRAT: allow, unix.SYS_REMOVEXATTRAT: allow,
			unix.SYS_FILE_GETATTR: allow, unix.SYS_LSM_GET_SELF_ATTR: allow, unix.SYS_LSM_LIST_MODULES: allow,
			unix.SYS_OPENAT2: allow, unix.SYS_CLOSE_RANGE: allow, unix.SYS_FACCESSAT2: allow, unix.SYS_EPOLL_PWAIT2: allow,
			unix.SYS_LANDLOCK_CREATE_RULESET: allow, unix.SYS_PIDFD_OPEN: allow,
		} {
			if got := answer(t, f, arch, number); got != want {
				t.Errorf("%+v: call %d: %#x, want %#x", f, number, got, want)
			}
		}
		if got := answer(t, f, other, unix.SYS_READ); got != kill {
			t.Errorf("another architecture: %#x", got)
		}
	}
}

// allowOwn is the answer to the last call that is an architecture's own.
func allowOwn() uint32 {
	if runtime.GOARCH == "arm64" {
		return refuse(unix.EPERM) // kexec_file_load
	}
	return allow
}
