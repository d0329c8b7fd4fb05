//go:build !linux

package sandbox

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"golang.org/x/sys/unix"
)

// prepareProcess has nothing to do: there is no subreaper here.
func prepareProcess() error { return nil }

// family ends commands by their process group, which is all that this system
// offers: a daemon that leaves the group survives, and Status says so.
var family processFamily

type processFamily struct{}

type member struct{ pid int }

func (processFamily) start(cmd *exec.Cmd, _ string, _ bool, _ *cgroup.Group) (*member, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &member{pid: cmd.Process.Pid}, nil
}

func (k processFamily) startGuarded(cmd *exec.Cmd, c *cgroup.Group, release func()) (*member, error) {
	m, err := k.start(cmd, "", false, c)
	if err == nil {
		release()
	}
	return m, err
}

func (processFamily) forget(*member) {}

func (processFamily) terminate(m *member, _ int) { _ = unix.Kill(-m.pid, unix.SIGTERM) }

func (processFamily) end(m *member, _ time.Duration) error {
	_ = unix.Kill(-m.pid, unix.SIGKILL) // the group may be empty by now
	return nil
}

func (processFamily) endInit(int, time.Duration) error { return nil } // no namespaces here
