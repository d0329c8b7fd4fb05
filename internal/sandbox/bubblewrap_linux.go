package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/sandbox/seccomp"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"golang.org/x/sys/unix"
)

// boxedID is the uid and gid that commands have inside: an ordinary user's also
// when this program runs as root, because tests behave differently as root.
const boxedID = "1000"

// A bubblewrap sandbox runs each command in namespaces of its own.
//
// When this program is killed outright, the kernel kills bubblewrap and, with it,
// the first process inside and all others there, because both asked for that. While
// they are being started they have not yet, or wait for each other: then the
// guardian ends them. Bubblewrap gets its arguments, without which it does nothing,
// when the guardian knows of it.
type bubblewrap struct {
	o       Options
	means   means
	program string
	flags   []string // namespaces, as far as this bubblewrap knows the flags
	tools   []string // what is shown of toolchains, by all names
	private []string // what is hidden in the system directories and in toolchains
	passwd  []byte   // the host's users with the sandbox's own among them
	group   []byte
	status  Status
}

// newBubblewrap finds bubblewrap, runs the self-test and fails unless all that
// the tier promises holds. The tier is full with all layers of the shim, and
// basic without one of them; whole asks for the former.
func newBubblewrap(ctx context.Context, o Options, whole bool) (Sandbox, error) {
	program, err := findBubblewrap(o.PATH)
	if err != nil {
		return nil, err
	}
	m, err := meansOf(ctx, o)
	if err != nil {
		return nil, err
	}
	if whole && !m.whole() {
		return nil, m.errMissing()
	}
	b := &bubblewrap{
		o:       o,
		means:   m,
		program: program,
		flags: []string{
			"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
			"--uid", boxedID, "--gid", boxedID, "--die-with-parent", "--cap-drop", "ALL",
		},
		tools:   byBothNames(o.Toolchains.Read),
		private: o.Toolchains.Private(o.Hide),
		passwd:  accounts("/etc/passwd", userName+":x:"+boxedID+":"+boxedID+"::"+boxedHome+":/bin/sh"),
		group:   accounts("/etc/group", userName+":x:"+boxedID+":"),
	}
	if len(m.shim) == 0 {
		// The shim does that itself, later: a bubblewrap that is in a session of its own
		// before it is bound to its parent may be left by itself, out of the guardian's reach.
		b.flags = append(b.flags, "--new-session")
	}
	if err := b.trial(ctx); err != nil {
		return nil, err
	}
	if err := b.selfTest(ctx); err != nil {
		return nil, fmt.Errorf("self-test of bubblewrap: %w", err)
	}
	return b, nil
}

// findBubblewrap looks for bwrap in the system directories of path: a program
// from elsewhere may be the change's own.
func findBubblewrap(path string) (string, error) {
	file, err := systemProgram(path, "bwrap")
	if err != nil {
		return "", fmt.Errorf("no bubblewrap: %w; install the package bubblewrap", err)
	}
	return file, nil
}

// trial runs a program that does nothing through the whole set-up.
func (b *bubblewrap) trial(ctx context.Context) error {
	flags := b.flags
	b.flags = append(slices.Clip(flags), "--disable-userns")
	err := b.runTrue(ctx)
	if err != nil && strings.Contains(err.Error(), "Unknown option") {
		b.flags = flags
		err = b.runTrue(ctx)
	}
	if err != nil && strings.Contains(err.Error(), "Unknown option") {
		return fmt.Errorf("%s is too old: 0.7 or later is needed: %w", b.version(ctx), err)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errShim) {
		return fmt.Errorf("bubblewrap does not work here: %w; user namespaces must be allowed "+
			"(Ubuntu 24.04 and later: an AppArmor profile for bwrap with \"userns,\"; containers: a seccomp profile that permits them)", err)
	}
	return err
}

// version is what the program calls itself.
func (b *bubblewrap) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, b.program, "--version").Output()
	if text := strings.TrimSpace(string(out)); err == nil && text != "" && !strings.Contains(text, "\n") {
		return text
	}
	return b.program
}

func (b *bubblewrap) runTrue(ctx context.Context) error {
	res, err := b.Run(ctx, Command{Argv: []string{"/bin/true"}})
	if err == nil && res.Exit != 0 {
		err = fmt.Errorf("/bin/true: exit %d: %s", res.Exit, bytes.TrimSpace(res.Stderr.Bytes))
	}
	return err
}

// Status implements [Sandbox].
func (b *bubblewrap) Status() Status { return b.status }

// Run implements [Sandbox].
func (b *bubblewrap) Run(ctx context.Context, c Command) (Result, error) {
	res, _, err := b.run(ctx, c, trap{})
	return res, err
}

func (b *bubblewrap) run(ctx context.Context, c Command, t trap) (Result, report, error) {
	if err := c.check(); err != nil {
		return Result{Exit: -1}, report{}, err
	}
	l, err := b.launch(ctx, c, t)
	if err != nil {
		return Result{Exit: -1}, report{}, err
	}
	defer l.close()
	group, err := b.means.cgroups.Open(b.means.limits.Memory, b.means.limits.Processes)
	if err != nil {
		return Result{Exit: -1}, report{}, err
	}
	defer group.Close()
	res, err := watch(ctx, b.o, job{
		cmd: l.cmd, skip: 2, pidOne: l.pidOne, timeout: c.Timeout, tee: c.Stdout, cgroup: group,
		release: l.release,
		guard:   b.means.guard(group, b.o.Now, c.written()),
	})
	rep, repErr := l.report()
	switch {
	case err != nil:
		return res, rep, err
	case repErr != nil:
		return res, rep, repErr
	case rep.Exit != nil:
		res.Exit, res.Signal = *rep.Exit, ""
		if n := res.Exit - 128; n > 0 {
			res.Signal = unix.SignalName(syscall.Signal(n))
		}
	case res.TimedOut || res.Limit != "" || res.Signal != "":
		return res, rep, nil // bubblewrap was killed along
	default:
		return res, rep, notExecuted(&res, c.Argv[0])
	}
	if l.shimmed != nil {
		err = l.shimmed.conclude(&res, c.Argv[0], b.means.layers())
	}
	return res, rep, err
}

// A trap is what the self-test adds to a command, to try one layer alone.
type trap struct {
	locked string // mounted at boxedLocked to be written, and not granted by Landlock
	self   bool   // the command is the shim itself
}

// notExecuted recognises a program that could not be executed, which is a Result,
// from a set-up that went wrong. Only bubblewrap can have written the text.
func notExecuted(res *Result, program string) error {
	text := strings.TrimSpace(string(res.Stderr.Bytes))
	why, ok := strings.CutPrefix(text, "bwrap: execvp ")
	if !ok {
		res.Exit = -1
		return errors.New(text)
	}
	cause := error(fs.ErrInvalid)
	switch {
	case strings.HasSuffix(why, unix.ENOENT.Error()), strings.HasSuffix(why, "No such file or directory"):
		cause = fs.ErrNotExist
		if !strings.Contains(program, "/") {
			cause = exec.ErrNotFound
		}
	case strings.HasSuffix(why, "Permission denied"):
		cause = fs.ErrPermission
	}
	res.notRun(program, cause)
	return nil
}

// given are the numbers of the files that bubblewrap gets.
type given struct {
	passwd, group, status string
	hosts                 string // empty: none
	texts                 texts  // in the place of what is hidden
}

// args are bubblewrap's, but for the command itself, and what the shim
// gets.
func (b *bubblewrap) args(c Command, t trap, fds *given) ([]string, policy, error) {
	args := slices.Clone(b.flags)
	if c.Network != NetworkHost && c.Loopback.Shared() {
		args = append(args, "--unshare-net")
	}
	size := strconv.FormatInt(b.means.scratchSize(), 10)
	args = append(args, "--json-status-fd", fds.status)
	args = append(args, systemArgs()...)
	hide, err := fds.texts.hideArgs(slices.DeleteFunc(slices.Clone(b.private), func(path string) bool { return !toolchains.UnderSystem(path) }))
	if err != nil {
		return nil, policy{}, err
	}
	args = append(args, hide...)
	args = append(args,
		"--ro-bind-data", fds.passwd, "/etc/passwd", "--ro-bind-data", fds.group, "/etc/group",
		"--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm", "--proc", "/proc", "--dir", "/home", "--dir", "/var",
		"--perms", "1777", "--size", size, "--tmpfs", boxedTemp)
	home := c.Home
	if home == "" {
		home = boxedHome
		args = append(args, "--perms", "0700", "--size", size, "--tmpfs", home)
	}
	mounts, err := named(c, b.tools, b.private)
	if err != nil {
		return nil, policy{}, err
	}
	if mountsIn(mounts, systemTemp) { // behind a link no folder can be made to mount at
		args = append(args, "--perms", "1777", "--size", size, "--tmpfs", systemTemp)
	} else {
		args = append(args, "--symlink", boxedTemp, systemTemp)
	}
	if i := slices.IndexFunc(mounts, func(m mount) bool { return m.seen != nil }); i >= 0 && len(b.means.shim) == 0 {
		return nil, policy{}, fmt.Errorf("command %s: %s lies in the writable %s: without a shim no one sees whether it was exchanged before the mount", c.Argv[0], mounts[i].path, mounts[i].seen.Top)
	}
	binds, err := fds.texts.bindArgs(mounts)
	if err != nil {
		return nil, policy{}, err
	}
	args = append(args, binds...)
	if fds.hosts != "" {
		args = append(args, "--ro-bind-data", fds.hosts, "/etc/hosts")
	}
	if t.locked != "" {
		args = append(args, "--bind", t.locked, boxedLocked)
	}
	if len(b.means.shim) > 0 {
		args = append(args, "--ro-bind", b.means.shim[0], boxedShim)
	}
	args = append(args, "--remount-ro", "/", "--chdir", workingDir(c, home))
	env := environment(b.o, c, home, boxedTemp)
	if len(b.means.shim) > 0 {
		return args, b.policy(c, t, mounts, home, env), nil
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	return args, policy{}, nil
}

// systemTemp is the system's other folder for temporary files, in a command the same as
// [boxedTemp] but where something is mounted in it.
const systemTemp = "/var/tmp"

// mountsIn says whether something is mounted in dir.
func mountsIn(mounts []mount, dir string) bool {
	return slices.ContainsFunc(mounts, func(m mount) bool { return toolchains.Within(dir, m.path) })
}

// policy is what the shim enforces inside the namespaces.
func (b *bubblewrap) policy(c Command, t trap, mounts []mount, home string, env []string) policy {
	p := policy{
		Argv: c.Argv, Env: env, Dir: workingDir(c, home),
		Limits:  b.means.limits.kernel(c.Timeout, runtime.NumCPU(), 0),
		Seccomp: seccomp.Filter{On: b.means.seccomp},
		Net:     c.network(),
		Landlock: grants{
			ABI: b.means.abi, List: []string{"/"},
			Read:  append([]string{"/proc", "/dev"}, toolchains.SystemDirs()...),
			Write: append([]string{boxedTemp, home, "/dev/shm", "/dev/pts", "/dev/ptmx"}, devices...),
		},
	}
	if mountsIn(mounts, systemTemp) {
		p.Landlock.Write = append(p.Landlock.Write, systemTemp)
	}
	for _, m := range mounts {
		if m.seen != nil && m.access != hidden {
			p.Seen = append(p.Seen, m.seen)
		}
		switch m.access {
		case writable:
			p.Landlock.Write = append(p.Landlock.Write, m.path)
		case readable:
			p.Landlock.Read = append(p.Landlock.Read, m.path)
		}
	}
	if t.self {
		p.Landlock.Read = append(p.Landlock.Read, boxedShim)
	}
	return p
}

// passwdOf has the users with the home of a command for the sandbox's own: Java, and shells that
// resolve ~NAME, look there and not at HOME.
func (b *bubblewrap) passwdOf(home string) []byte {
	if home == "" || strings.ContainsAny(home, ":\n") {
		return b.passwd
	}
	return bytes.Replace(b.passwd, []byte("::"+boxedHome+":"), []byte("::"+home+":"), 1)
}
