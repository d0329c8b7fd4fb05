package attack

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An attack is run inside the sandbox and says what it got; an error is how it
// was stopped. What it wrote is judged from outside: see written.
type attack struct {
	id, name string
	alone    bool // it may end the whole command
	never    bool // tier none stops it, too
	run      func(t target) error
	written  func(t target) bool // nil: what run says counts
}

var errBlocked = errors.New("blocked")

// attacks is the list of the threat study, A, in which numbers that are missing need
// no test of their own, and of public escapes, P.
func attacks() []attack {
	all := processAttacks()
	all = append(all, leftoverAttacks()...)
	all = append(all, fileAttacks()...)
	all = append(all, networkAttacks()...)
	all = append(all, kernelAttacks()...)
	all = append(all, callAttacks()...)
	all = append(all, publicAttacks()...)
	all = append(all, floodAttacks()...)
	return append(all, entryAttacks()...) // last: what they leave makes measuring slow
}

func reads(path string) error {
	text, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(text, []byte(secretMark)) {
		err = errBlocked
	}
	return err
}

func readsAny(pattern string) error {
	files, err := filepath.Glob(pattern)
	for _, file := range files {
		if reads(file) == nil {
			return nil
		}
	}
	return errors.Join(errBlocked, err)
}

// readsOneOf is for files whose names are known.
func readsOneOf(files []string) error {
	for _, file := range files {
		if reads(file) == nil {
			return nil
		}
	}
	return errBlocked
}

func appends(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("pwned\n")
	return err
}

func pwned(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text, []byte("pwned"))
}

func isThere(path string) bool { _, err := os.Lstat(path); return err == nil }

// visible guards against numbers that mean another process in a pid namespace.
func (t target) visible() error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", t.Harness))
	if err == nil && !bytes.Contains(text, []byte(roleSuite)) {
		err = errBlocked
	}
	return err
}

func processAttacks() []attack {
	of := func(f func(t target) error) func(t target) error {
		return func(t target) error {
			if err := t.visible(); err != nil {
				return err
			}
			return f(t)
		}
	}
	return []attack{
		{id: "A01", name: "secrets in the own environment", never: true, run: func(target) error { return reads("/proc/self/environ") }},
		{id: "A03", name: "environment of the harness", run: of(func(t target) error { return reads(fmt.Sprintf("/proc/%d/environ", t.Harness)) })},
		{id: "A04", name: "environments of all processes", run: func(target) error { return readsAny("/proc/[0-9]*/environ") }},
		{id: "A05", name: "memory of the harness", run: of(func(t target) error {
			f, err := os.Open(fmt.Sprintf("/proc/%d/mem", t.Harness))
			if err == nil {
				return f.Close()
			}
			var b [8]byte
			_, err = unix.ProcessVMReadv(t.Harness, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
			return err
		})},
		{id: "A06", name: "files and root of the harness in /proc", run: of(func(t target) error {
			if reads(fmt.Sprintf("/proc/%d/root%s/.ssh/id_rsa", t.Harness, t.Home)) == nil {
				return nil
			}
			_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", t.Harness))
			return err
		})},
		{id: "A08", name: "trace the harness", run: of(func(t target) error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := unix.PtraceAttach(t.Harness); err != nil {
				return err
			}
			if _, err := unix.Wait4(t.Harness, nil, unix.WALL, nil); err != nil {
				return err
			}
			return unix.PtraceDetach(t.Harness)
		})},
		{id: "A09", name: "take a file of the harness by pidfd", run: of(func(t target) error {
			fd, err := unix.PidfdOpen(t.Harness, 0)
			if err == nil {
				_, err = unix.PidfdGetfd(fd, 1, 0)
			}
			return err
		})},
		{id: "A10", name: "kill a process outside", run: func(t target) error {
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.Decoy)); err != nil || string(text) != "sleep\n" {
				return errBlocked
			}
			return unix.Kill(t.Decoy, unix.SIGKILL)
		}},
	}
}

// leftoverAttacks go for what a command was given or leaves behind.
func leftoverAttacks() []attack {
	return []attack{
		{id: "A42", name: "set a limit of the harness", run: func(t target) error {
			if err := t.visible(); err != nil {
				return err
			}
			var old unix.Rlimit
			return unix.Prlimit(t.Harness, unix.RLIMIT_NOFILE, nil, &old)
		}},
		{id: "A43", name: "inherited files", never: true, run: func(target) error {
			for fd := 3; fd < 20; fd++ {
				file := fmt.Sprintf("/proc/self/fd/%d", fd)
				if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && reads(file) == nil {
					return nil
				}
			}
			return errBlocked
		}},
		{id: "A44", name: "type into the terminal", run: func(target) error {
			f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			c := byte('x')
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&c))); errno != 0 {
				return errno
			}
			return nil
		}},
		{id: "A49", name: "daemon that outlives the command", alone: true, never: true, run: func(t target) error {
			c := exec.Command(t.Self[0], append(t.Self[1:], roleDaemon, t.Beat)...) //nolint:noctx // it ends with the command
			c.Env = []string{}
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := c.Start(); err != nil {
				return err
			}
			for !isThere(t.Beat) {
				<-time.After(time.Millisecond)
			}
			return nil
		}, written: func(t target) bool {
			before, err := os.ReadFile(t.Beat)
			<-time.After(300 * time.Millisecond)
			after, _ := os.ReadFile(t.Beat)
			return err == nil && !bytes.Equal(before, after)
		}},
		// Not in the study: what bubblewrap itself was started with.
		{id: "A50", name: "environment that the sandbox was started with", run: func(target) error {
			if reads("/proc/1/environ") == nil {
				return nil
			}
			return reads(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
		}},
	}
}

func fileAttacks() []attack {
	return []attack{
		{id: "A02", name: "environment of process 1", run: func(target) error { return reads("/proc/1/environ") }},
		{id: "A11", name: "credentials in the home", run: func(t target) error { return readsAny(t.Home + "/.*/*") }},
		{id: "A61", name: "credentials beside the operator's tools", run: func(t target) error { return readsOneOf(t.Beside) }},
		{id: "A62", name: "credentials among the operator's tools", run: func(t target) error { return readsOneOf(t.Among) }},
		{id: "A63", name: "credentials and work of a runner", run: func(t target) error { return readsOneOf(t.Work) }},
		{id: "A12", name: "the App's private key", run: func(t target) error { return reads(t.Key) }},
		{id: "A13", name: "write ~/.bashrc", run: func(t target) error { return appends(t.Home + "/.bashrc") }, written: func(t target) bool { return pwned(t.Home + "/.bashrc") }},
		{id: "A14", name: "write hooks and config of the repository", run: func(t target) error {
			return errors.Join(appends(t.Git+"/hooks/post-checkout"), appends(t.Git+"/config"))
		}, written: func(t target) bool { return pwned(t.Git+"/config") || pwned(t.Git+"/hooks/post-checkout") }},
		{id: "A15", name: "replace the .git pointer of the tree", run: func(t target) error {
			return os.Rename(t.Pristine+"/.git", t.Pristine+"/.git_x")
		}, written: func(t target) bool { return !isThere(t.Pristine + "/.git") }},
		{id: "A16", name: "change a tracked file", run: func(t target) error { return appends(t.Pristine + "/main.go") }, written: func(t target) bool { return pwned(t.Pristine + "/main.go") }},
		{id: "A17", name: "swap a tracked directory", run: func(t target) error {
			return os.Rename(t.Pristine+"/pkg", t.Pristine+"/pkg_x")
		}, written: func(t target) bool { return !isThere(t.Pristine + "/pkg") }},
		{id: "A18", name: "change a tracked file through links", run: func(t target) error {
			file := t.Pristine + "/util.go"
			hard, soft := t.Build+"/hard", t.Build+"/soft"
			fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			return errors.Join(os.Link(file, hard), appends(hard), os.Symlink(file, soft), appends(soft), err, appends(fmt.Sprintf("/proc/self/fd/%d", fd)))
		}, written: func(t target) bool { return pwned(t.Pristine + "/util.go") }},
		{id: "A19", name: "read another worktree", run: func(t target) error { return reads(t.Other + "/secret.txt") }},
		{id: "A20", name: "write another worktree", run: func(t target) error { return appends(t.Other + "/main.go") }, written: func(t target) bool { return pwned(t.Other + "/main.go") }},
		{id: "A21", name: "read through a link in the own tree", run: func(t target) error {
			link := t.Build + "/link"
			return errors.Join(os.Symlink(t.Home+"/.ssh/id_rsa", link), reads(link))
		}},
		{id: "A35", name: "persist in /dev/shm and elsewhere", run: func(t target) error {
			return errors.Join(appends(t.Persist), appends(t.Outside+"/persist"))
		}, written: func(t target) bool { return pwned(t.Persist) || pwned(t.Outside+"/persist") }},
		{id: "A38", name: "poison the build cache", run: func(t target) error { return appends(t.Cache + "/poison") }, written: func(t target) bool { return pwned(t.Cache + "/poison") }},
		{id: "A39", name: "replace the program of the harness", run: func(t target) error { return appends(t.Program) }, written: func(t target) bool { return pwned(t.Program) }},
		{id: "A40", name: "write the runner's command file", run: func(t target) error { return appends(t.CommandFile) }, written: func(t target) bool { return pwned(t.CommandFile) }},
	}
}

func kernelAttacks() []attack {
	return []attack{
		{id: "A32", name: "io_uring", run: func(target) error {
			var params [120]byte
			fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		}},
		{id: "A33", name: "program that is setuid root", run: func(t target) error {
			out, err := exec.Command(t.Suid, "/proc/self/status").Output() //nolint:noctx // it ends with the command
			if err != nil || !bytes.Contains(out, []byte("CapEff:")) || bytes.Contains(out, []byte("CapEff:\t0000000000000000\n")) {
				return errors.Join(errBlocked, err)
			}
			return nil
		}},
		{id: "A34", name: "make namespaces", run: func(target) error {
			c := exec.Command("/bin/true") //nolint:noctx // it ends with the command
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
			return c.Run()
		}},
		{id: "A36", name: "shared memory of the host", run: func(t target) error {
			id, _, errno := unix.Syscall(unix.SYS_SHMGET, uintptr(t.Shm), 64, 0)
			if errno != 0 {
				return errno
			}
			_, _, errno = unix.Syscall(unix.SYS_SHMAT, id, 0, unix.SHM_RDONLY)
			if errno != 0 {
				return errno
			}
			return nil
		}},
		{id: "A37", name: "keyring of the user", run: func(target) error {
			_, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "ycbot:test", 0)
			return err
		}},
		{id: "A41", name: "leave the own cgroup", run: func(target) error {
			files, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
			err = errors.Join(errBlocked, err)
			for _, file := range append(files, "/sys/fs/cgroup/cgroup.procs") {
				if os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0) == nil {
					return nil
				}
			}
			return err
		}},
	}
}

func floodAttacks() []attack {
	return []attack{
		{id: "A45", name: "very many processes", alone: true, run: func(t target) error {
			for range t.Processes {
				c := exec.Command("/bin/sleep", "20") //nolint:noctx // it ends with the command
				if err := c.Start(); err != nil {
					return err
				}
				defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
			}
			<-time.After(2 * time.Second) // to be of use they must last
			return nil
		}},
		{id: "A46", name: "fill the scratch space", alone: true, run: func(t target) error { return fill(variable("TMPDIR"), t.Fill) }},
		{id: "A47", name: "fill the worktree", alone: true, run: func(t target) error { return fill(t.Build, t.Fill) }},
		{id: "A48", name: "more memory than the limit", alone: true, run: func(t target) error {
			b, err := unix.Mmap(-1, 0, t.Memory<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				return err
			}
			for at := 0; at < len(b); at += os.Getpagesize() { // what is not written to takes no memory
				b[at] = 1
			}
			<-time.After(time.Second) // to be of use it must last
			return unix.Munmap(b)
		}},
	}
}

// fill writes files of 16 MB, not faster than a disk does.
func fill(dir string, megabytes int) error {
	signal.Ignore(syscall.SIGXFSZ)
	part := bytes.Repeat([]byte("x"), 1<<20)
	for n := range megabytes {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("fill%d", n/16)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(part)
		f.Close()
		if err != nil {
			return err
		}
		<-time.After(5 * time.Millisecond)
	}
	return nil
}

// variable is one of this process's environment, as it was started.
func variable(name string) string {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return ""
	}
	for kv := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
