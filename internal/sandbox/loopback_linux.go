package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"golang.org/x/sys/unix"
)

// holdTime is how long the program may take that makes the namespaces.
const holdTime = 10 * time.Second

// OpenLoopback has bubblewrap make a user namespace with a network namespace in it, and
// keeps both open: they need no process. A command that uses them is started in them by
// nsenter and is otherwise contained like any other: in a user namespace of its own below
// that one, where it has no right to the network that it is given.
func (b *bubblewrap) OpenLoopback(ctx context.Context) (_ *Loopback, err error) {
	if len(b.means.shim) == 0 {
		return nil, errors.New("it needs the shim, which makes sure that a command has that network and no other")
	}
	l := &Loopback{}
	if l.enter, err = systemProgram(b.o.PATH, "nsenter"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	// The program inside answers once the interface is up, and ends with its input.
	cmd := exec.CommandContext(ctx, b.program, "--unshare-user", "--unshare-net", "--uid", boxedID, "--gid", boxedID,
		"--cap-drop", "ALL", "--ro-bind", "/", "/", "--json-status-fd", "3", "--", "/bin/cat")
	cmd.Env, cmd.Dir = []string{}, "/"
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	status, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer status.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	err = l.take(in, out, status)
	in.Close()
	if waited := cmd.Wait(); err != nil || waited != nil {
		return nil, fmt.Errorf("bubblewrap: %w: %s", errors.Join(err, waited), bytes.TrimSpace(said.Bytes()))
	}
	return l, nil
}

// take opens the namespaces of the program that in and out lead to.
func (l *Loopback) take(in io.Writer, out, status io.Reader) error {
	if _, err := in.Write([]byte("\n")); err != nil {
		return err
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		return err
	}
	line := make([]byte, 512)
	n, err := status.Read(line)
	if err != nil {
		return err
	}
	pid, err := childPID(line[:n])
	if err != nil {
		return err
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if l.net, err = os.Open(filepath.Join(proc, "ns/net")); err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(l.net.Fd()), &stat); err != nil {
		return err
	}
	l.inode = stat.Ino
	if own, err := os.Stat("/proc/self/ns/net"); err != nil || own.Sys().(*syscall.Stat_t).Ino == l.inode {
		return errors.Join(errors.New("the network is the host's"), err)
	}
	// The program may be in a namespace below the one that the network belongs to.
	fd, err := unix.IoctlRetInt(int(l.net.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return fmt.Errorf("owner of the network: %w", err)
	}
	l.user = os.NewFile(uintptr(fd), "user namespace")
	// An open table stays that of its network, whatever becomes of the process.
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(filepath.Join(proc, "net", name))
		if err != nil {
			if name == "tcp6" && errors.Is(err, os.ErrNotExist) {
				continue
			}
			return err
		}
		l.tables = append(l.tables, f)
	}
	return nil
}

// childPID is the process that bubblewrap names in its first document.
func childPID(doc []byte) (int, error) {
	_, after, ok := strings.Cut(string(doc), `"child-pid":`)
	digits := strings.TrimLeft(after, " ")
	digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	if !ok || digits == "" {
		return 0, fmt.Errorf("no process in %q", doc)
	}
	return strconv.Atoi(digits)
}

// systemProgram looks a program up in the system directories of path.
func systemProgram(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); slices.Contains(toolchains.SystemBin(), filepath.Clean(dir)) && executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("no %s in the system directories of PATH", name)
}

// listed looks for a listening socket in the tables of the network.
func (l *Loopback) listed(port int) (bool, error) {
	const listen = "0A" // the state, in hexadecimal as everything there
	want := fmt.Sprintf(":%04X", port)
	for _, f := range l.tables {
		data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
		if err != nil {
			return false, fmt.Errorf("table of sockets: %w", err)
		}
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) > 3 && fields[3] == listen && strings.HasSuffix(fields[1], want) {
				return true, nil
			}
		}
	}
	return false, nil
}

// entering are the words that start a program in the namespaces of l, which are handed
// to it as files from number first on.
func (l *Loopback) entering(first int) (argv []string, files []*os.File) {
	return []string{
		"nsenter", fmt.Sprintf("--user=/proc/self/fd/%d", first), fmt.Sprintf("--net=/proc/self/fd/%d", first+1), "--preserve-credentials", "--",
	}, []*os.File{l.user, l.net}
}

// network is the inode of the network that the command shares, 0 where it has its own
// or the host's.
func (c Command) network() uint64 {
	if c.Network == NetworkHost || c.Loopback.Shared() {
		return 0
	}
	return c.Loopback.inode
}

// confirmNetwork fails unless this process is in the network that the policy names.
func (p *policy) confirmNetwork() error {
	if p.Net == 0 {
		return nil
	}
	info, err := os.Stat("/proc/self/ns/net")
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if ino := info.Sys().(*syscall.Stat_t).Ino; ino != p.Net {
		return errors.New("network: it is not the one that the command was given")
	}
	return nil
}
