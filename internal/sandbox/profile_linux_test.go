package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A profile is what Docker and Kubernetes read.
type profile struct {
	DefaultAction   string
	DefaultErrnoRet int
	Syscalls        []struct {
		Names  []string
		Action string
		Args   []struct {
			Index uint32
			Value uint64
			Op    string
		}
		Includes, Excludes map[string]any
	}
}

func readProfile(file string) (p profile, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p, err
}

const shippedProfile = "../../docs/seccomp-worker.json"

// bubblewrapCalls are what the profile allows beyond Docker's own.
var bubblewrapCalls = []string{"clone", "clone3", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "setns", "umount2", "unshare"}

// The profile for containers refuses what it does not name, names what
// bubblewrap and the shim need, and nothing that reaches the kernel or the machine.
func TestShippedProfile(t *testing.T) {
	t.Parallel()
	p, err := readProfile(shippedProfile)
	if err != nil {
		t.Fatal(err)
	}
	if p.DefaultAction != "SCMP_ACT_ERRNO" || p.DefaultErrnoRet != 1 {
		t.Errorf("default: %s, %d", p.DefaultAction, p.DefaultErrnoRet)
	}
	allowed := map[string]bool{}
	for _, rule := range p.Syscalls {
		if rule.Action != "SCMP_ACT_ALLOW" || len(rule.Includes)+len(rule.Excludes) > 0 {
			t.Errorf("%q: %s", rule.Names, rule.Action)
		}
		for _, name := range rule.Names {
			if allowed[name] && len(rule.Args) == 0 {
				t.Errorf("%s is there twice", name)
			}
			allowed[name] = true
		}
	}
	for _, name := range append(slices.Clone(bubblewrapCalls), "landlock_restrict_self", "seccomp", "prctl", "execve", "close_range") {
		if !allowed[name] {
			t.Errorf("%s is not allowed", name)
		}
	}
	for _, name := range []string{
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "bpf", "perf_event_open", "userfaultfd",
		"io_uring_setup", "add_key", "keyctl", "request_key", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "iopl", "ioperm",
		"open_by_handle_at", "fanotify_init", "lookup_dcookie", "kcmp", "pidfd_getfd", "process_vm_readv", "process_vm_writev", "process_madvise",
		"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "vhangup", "chroot", "nfsservctl", "uselib", "vm86", "memfd_secret",
	} {
		if allowed[name] {
			t.Errorf("%s is allowed", name)
		}
	}
}

// Under the profile tier full works, with its self-test; without what it adds to
// Docker's own it does not.
func TestShippedProfileWorks(t *testing.T) {
	t.Parallel()
	detect(t, "full", nil)
	if _, err := callNumbers(); err != nil {
		t.Skip(err)
	}
	p, err := readProfile(shippedProfile)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Syscalls {
		p.Syscalls[i].Names = slices.DeleteFunc(p.Syscalls[i].Names, func(name string) bool {
			return slices.Contains(bubblewrapCalls, name) && name != "clone"
		})
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	without := filepath.Join(t.TempDir(), "without.json")
	if err := os.WriteFile(without, text, 0o600); err != nil {
		t.Fatal(err)
	}
	shipped, err := filepath.Abs(shippedProfile)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for file, works := range map[string]bool{shipped: true, without: false} {
		cmd := exec.Command(exe, "/bin/true")
		cmd.Env = []string{"SANDBOX_TEST_ROLE=harness-full", "SANDBOX_TEST_PROFILE=" + file, "TMPDIR=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); (err == nil) != works {
			t.Errorf("%s: %v: %s", filepath.Base(file), err, out)
		}
	}
}

// callNumbers is the table of the kernel's headers.
func callNumbers() (map[string]uint32, error) {
	const header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
	text, err := os.ReadFile(header)
	if runtime.GOARCH != "amd64" || err != nil {
		return nil, errors.New("no table of system calls: " + header)
	}
	numbers := map[string]uint32{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || !strings.HasPrefix(f[1], "__NR_") {
			continue
		}
		if n, err := strconv.ParseUint(f[2], 10, 32); err == nil {
			numbers[strings.TrimPrefix(f[1], "__NR_")] = uint32(n)
		}
	}
	return numbers, nil
}

// enterProfile puts this process under a profile, as a container runtime does.
func enterProfile(file string) error {
	p, err := readProfile(file)
	if err != nil {
		return err
	}
	numbers, err := callNumbers()
	if err != nil {
		return err
	}
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AUDIT_ARCH_X86_64, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: 0, Size: 4},
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	plain := map[uint32]bool{}
	for _, rule := range p.Syscalls {
		for _, name := range rule.Names {
			n, known := numbers[name]
			if !known {
				continue // container runtimes leave out what the machine does not have
			}
			if len(rule.Args) == 0 {
				plain[n] = true
				continue
			}
			a := rule.Args[0] // the profile has rules with one condition
			test, found := map[string]bpf.JumpTest{"SCMP_CMP_EQ": bpf.JumpEqual, "SCMP_CMP_NE": bpf.JumpNotEqual}[a.Op]
			if !found || len(rule.Args) > 1 {
				return fmt.Errorf("%s: a condition that this test does not know", name)
			}
			code = append(code,
				bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 4},
				bpf.LoadAbsolute{Off: 16 + 8*a.Index, Size: 4},
				bpf.JumpIf{Cond: test, Val: uint32(a.Value), SkipFalse: 1},
				allow,
				bpf.LoadAbsolute{Off: 0, Size: 4})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(plain)) {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 1}, allow)
	}
	raw, err := bpf.Assemble(append(code, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(p.DefaultErrnoRet)}))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
