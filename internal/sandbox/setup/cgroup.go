package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
)

// delegated are the files that the kernel says are to be given to whom a cgroup
// is delegated; the limits of the cgroup itself stay root's.
var delegated = []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"}

// cgroup delegates a cgroup of version 2, which limits memory and processes of a
// whole command.
func (h Host) cgroup() (steps []Step, notes []string) {
	if h.Unit != "" {
		return h.unit()
	}
	_, mount := cgroup.Mount(h.Root)
	if mount == "" {
		return nil, []string{"no cgroup file system of version 2 is mounted, so memory is watched, and not limited by the kernel"}
	}
	at := filepath.Join(h.Root, mount)
	offered := cgroup.Words(at, "cgroup.controllers")
	if !slices.Contains(offered, "memory") && !slices.Contains(offered, "pids") {
		return nil, []string{mount + " has neither the controller memory nor pids (version 1 may have them), so memory is watched, and not limited by the kernel"}
	}
	dir := filepath.Join(at, cgroup.Name)
	if !h.delegated(dir) {
		whom := "root"
		if h.UID > 0 {
			whom = "user " + strconv.Itoa(h.UID)
		}
		steps = append(steps, Step{
			What: "make the cgroup " + filepath.Join(mount, cgroup.Name) + " and give it to " + whom + ", so that a command is limited as a whole (until the machine is started again)",
			Do:   func(context.Context, io.Writer) error { return h.delegate(at, dir) },
		})
	}
	if h.Process > 0 {
		inner := filepath.Join(dir, cgroup.Harness)
		steps = append(steps, Step{
			What: "move process " + strconv.Itoa(h.Process) + " into it",
			Do: func(context.Context, io.Writer) error {
				return cgroup.Write(inner, "cgroup.procs", strconv.Itoa(h.Process))
			},
		})
	}
	return steps, notes
}

// delegated reports whether dir is set up for h's user already.
func (h Host) delegated(dir string) bool {
	enabled := cgroup.Words(dir, "cgroup.subtree_control")
	if !slices.Contains(enabled, "memory") && !slices.Contains(enabled, "pids") {
		return false
	}
	for _, d := range []string{dir, filepath.Join(dir, cgroup.Harness)} {
		if owner, ok := ownerOf(filepath.Join(d, "cgroup.procs")); !ok || owner != h.UID {
			return false
		}
	}
	return true
}

func ownerOf(file string) (uid int, ok bool) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func (h Host) delegate(at, dir string) error {
	inner := filepath.Join(dir, cgroup.Harness)
	for _, d := range []string{dir, inner} {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	offered := cgroup.Words(at, "cgroup.controllers")
	for _, d := range []string{at, dir} {
		for _, name := range cgroup.Controllers() {
			if !slices.Contains(offered, name) {
				continue
			}
			if err := cgroup.Write(d, "cgroup.subtree_control", "+"+name); err != nil {
				return err
			}
		}
	}
	for _, d := range []string{dir, inner} {
		for _, file := range delegated {
			if err := os.Chown(filepath.Join(d, file), h.UID, h.GID); err != nil {
				return err
			}
		}
	}
	return nil
}

var unitName = pattern.New(`^[A-Za-z0-9:_.@-]+\.service$`)

const dropIn = `# Lets ycbot limit each command as a whole.
[Service]
Delegate=memory pids cpu
`

// unit has systemd delegate the cgroup of a service, for as long as the file is there.
func (h Host) unit() (steps []Step, notes []string) {
	if !unitName.MatchString(h.Unit) {
		return nil, []string{fmt.Sprintf("%q is not the name of a service, which ends in .service", h.Unit)}
	}
	name := "/etc/systemd/system/" + h.Unit + ".d/ycbot-delegate.conf"
	file := filepath.Join(h.Root, name)
	if text, err := os.ReadFile(file); err == nil && string(text) == dropIn {
		return nil, nil
	}
	return []Step{{
		What: "write " + name + ", by which systemd delegates the cgroup of " + h.Unit + " to it, and have systemd read it (restart the service then)",
		Do: func(ctx context.Context, out io.Writer) error {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(dropIn), 0o644); err != nil {
				return err
			}
			return h.command(ctx, out, []string{"systemctl", "daemon-reload"})
		},
	}}, nil
}
