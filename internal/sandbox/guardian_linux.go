package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardianScript gets process groups, "+ 12" when one is there and "- 12" when
// it has ended, and kills those that are left when no one can name them any more.
// Who asks this program to end does not mean the guardian, which ends with it.
const guardianScript = `trap '' HUP INT QUIT TERM
all=' '
while read -r what group; do
	case $what in
	+) all="$all$group " ;;
	*) all="${all%% "$group" *} ${all#* "$group" }" ;;
	esac
done
for group in $all; do kill -s KILL -- "-$group"; done`

// A guardian is one small process beside this program, which kills what is left
// of guarded commands when this program is killed. A process of bubblewrap that
// waits for another, which was killed along with this program, waits for ever, and
// no request to the kernel that bubblewrap makes in time prevents it: but all of
// them are in the group that bubblewrap leads from its start, which only the shim
// leaves (without a shim bubblewrap's first process inside leaves it, too).
type guardian struct {
	member *member
	input  *os.File // ends when this program does, however it does
}

func newGuardian() (*guardian, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guardian: pipe: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", guardianScript}, Env: []string{}, Dir: "/", Stdin: r,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // what ends this program's group must not end it
	}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	go func() { _ = cmd.Wait() }() // it is replaced when it is needed and is gone
	return &guardian{member: &member{pid: cmd.Process.Pid}, input: w}, nil
}

// watch has the guardian kill the group that m leads, should this program be gone.
// The lock must be held. A guardian that is gone is replaced.
func (k *processFamily) watch(m *member) error {
	if k.guardian != nil {
		err := k.guardian.say("+", m)
		if !errors.Is(err, unix.EPIPE) {
			return err
		}
		delete(k.members, k.guardian.member.pid)
		k.guardian.input.Close()
		k.guardian = nil
	}
	g, err := newGuardian()
	if err != nil {
		return err
	}
	k.guardian = g
	k.members[g.member.pid] = g.member // it is no orphan
	for _, other := range k.members {
		if other.guarded && other != m {
			err = errors.Join(err, g.say("+", other))
		}
	}
	return errors.Join(err, g.say("+", m))
}

func (g *guardian) say(what string, m *member) error {
	_, err := fmt.Fprintf(g.input, "%s %d\n", what, m.pid)
	return err
}
