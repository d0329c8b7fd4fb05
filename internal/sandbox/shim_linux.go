package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// RunShim is the whole of the hidden command "sandbox-exec", whose arguments
// are args: it puts this process under the policy that it reads from the file
// descriptor args[0], says on args[1] what is in force, and becomes the
// command. It returns the exit code of a shim that did not.
//
// A program whose Options name itself as Shim calls this before it does
// anything else: what it starts before, and the time that takes, is the
// command's. With "canary" for args it tries what must not work in a sandbox
// and prints that to stdout.
func RunShim(args []string, stdout io.Writer) int {
	runtime.LockOSThread() // capabilities and the parent of a command belong to a thread
	if len(args) > 0 && args[0] == canaryArg {
		return runCanaries(args[1:], stdout)
	}
	s, err := newShim(args)
	if err != nil {
		return shimFailed // there is no one to report to
	}
	if err := s.confine(); err != nil {
		s.say(said{Failed: err.Error()})
		return shimFailed
	}
	if s.p.Stay {
		return s.stay()
	}
	s.become()
	return shimFailed
}

// A shim is the process between the sandbox and its command.
type shim struct {
	p        policy
	status   *os.File
	lifeline *os.File // ends when the program that started us does
	layers   []string

	// Of a shim that stays.
	gone    chan struct{}           // closed when the lifeline has ended
	started chan int                // gets the command's process
	ended   chan syscall.WaitStatus // gets how it ended
}

// newShim reads the policy; args are the numbers of the files for it, for the
// status and, where it stays, for the lifeline.
func newShim(args []string) (*shim, error) {
	var files []*os.File
	for _, arg := range args {
		fd, err := strconv.Atoi(arg)
		if err != nil {
			return nil, err
		}
		unix.CloseOnExec(fd)
		files = append(files, os.NewFile(uintptr(fd), "shim"))
	}
	if len(files) < 2 {
		return nil, errors.New("want the numbers of two files")
	}
	s := &shim{status: files[1]}
	if len(files) > 2 {
		s.lifeline = files[2]
		// It may have to wait for its policy, beside commands of others.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return nil, fmt.Errorf("not dumpable: %w", err)
		}
		warm()
	}
	data, err := io.ReadAll(files[0])
	if err != nil {
		return nil, err
	}
	files[0].Close()
	return s, json.Unmarshal(data, &s.p)
}

// warm does once, while there is time, what is slow the first time because its pages
// have to be read: nothing comes of it.
func warm() {
	var p policy
	_ = json.Unmarshal([]byte(`{"argv":["true"],"env":["PATH=/usr/bin"],"dir":"/","stay":true,"limits":{"data":1},"landlock":{"abi":1,"list":["/"],"read":["/"],"write":["/"]},"seccomp":{"on":true,"shared":true,"no_udp":true,"no_unix":true}}`), &p)
	_, _ = p.Seccomp.Assemble()
	_, _ = lookup(p.Argv[0], p.Dir, p.Env)
	_ = json.NewEncoder(io.Discard).Encode(said{Layers: []string{layerLimits}})
}

// say writes to the sandbox; one that is gone needs to know nothing.
func (s *shim) say(what said) {
	_ = json.NewEncoder(s.status).Encode(what)
}

// confine applies the policy. The order matters: capabilities go before Landlock
// and seccomp, which are entered without them, and the limits come last,
// because they count what this process itself uses.
func (s *shim) confine() error {
	if s.p.Stay {
		if err := os.Chdir(s.p.Dir); err != nil {
			return err
		}
	} else if _, err := unix.Setsid(); err != nil { // one that stays gives the command a session itself
		return fmt.Errorf("setsid: %w", err)
	}
	if err := s.p.confirmNetwork(); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	s.layers = append(s.layers, "no new privileges")
	if s.p.Stay {
		if err := s.keepWatch(); err != nil {
			return err
		}
	}
	if s.p.Services != nil {
		if err := s.p.Services.give(); err != nil {
			return err
		}
	}
	if err := s.p.hold(); err != nil {
		return err
	}
	if s.p.Landlock.ABI > 0 {
		if err := s.p.Landlock.restrict(); err != nil {
			return err
		}
		s.layers = append(s.layers, layerLandlock)
	}
	if s.p.Seccomp.On {
		if err := s.p.Seccomp.Install(); err != nil {
			return err
		}
		s.layers = append(s.layers, layerSeccomp)
	}
	// The files of this process end with it; so do those that it was handed.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	if err := s.p.Limits.set(); err != nil {
		return err
	}
	s.layers = append(s.layers, layerLimits)
	return nil
}

// hold opens what was seen, which must be what it was, and has Landlock allow that. It
// stays open until this process is the command.
func (p *policy) hold() error {
	for _, seen := range p.Seen {
		fd, err := seen.again()
		if err != nil {
			return err
		}
		for _, list := range [][]string{p.Landlock.Read, p.Landlock.Write} {
			if i := slices.Index(list, seen.Path); i >= 0 {
				list[i] = fmt.Sprintf("/proc/self/fd/%d", fd)
			}
		}
	}
	return nil
}

// dropPrivileges gives up groups, capabilities and the means to get any. Inside
// bubblewrap there is nothing left to give up.
func dropPrivileges() error {
	if os.Geteuid() == 0 {
		// Inside a user namespace groups cannot be changed, and are no one's.
		_ = unix.Setgroups(nil)
	}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil; c++ {
		// Without CAP_SETPCAP the set stays, and no_new_privs makes it worthless.
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
			break
		}
	}
	// Kernels without ambient capabilities have none to clear.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return nil
}

// set sets the limits, soft and hard ones; a lower one that is there stays.
func (l limits) set() error {
	for _, x := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"open files", unix.RLIMIT_NOFILE, l.Open},
		{"file size", unix.RLIMIT_FSIZE, l.File},
		{"processor time", unix.RLIMIT_CPU, l.CPU},
		{"processes", unix.RLIMIT_NPROC, l.Procs},
	} {
		if x.value == 0 {
			continue
		}
		if err := lower(x.resource, x.value); err != nil {
			return fmt.Errorf("limit %s: %w", x.name, err)
		}
	}
	if l.Core {
		// 1 and not 0: with 0 a handler that core_pattern names still runs.
		if err := lower(unix.RLIMIT_CORE, 1); err != nil {
			return fmt.Errorf("limit core: %w", err)
		}
	}
	return nil
}

func lower(resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}

// become executes the command in this process.
func (s *shim) become() {
	program, err := lookup(s.p.Argv[0], s.p.Dir, s.p.Env)
	if err == nil {
		s.say(said{Layers: s.layers})
		err = syscall.Exec(program, s.p.Argv, s.p.Env)
		if errors.Is(err, syscall.ENOEXEC) {
			err = syscall.Exec("/bin/sh", s.script(program), s.p.Env)
		}
	}
	s.notExecuted(err)
}

// script is the command for a script without a first line that names its
// interpreter, as a shell does it.
func (s *shim) script(program string) []string {
	return append([]string{"sh", program}, s.p.Argv[1:]...)
}

func (s *shim) notExecuted(err error) {
	what := said{Layers: s.layers, Failed: err.Error(), Exec: true, Lost: errors.Is(err, exec.ErrNotFound)}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		what.Errno = int(errno)
	case errors.Is(err, fs.ErrPermission):
		what.Errno = int(unix.EACCES)
	}
	s.say(what)
}
