package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"golang.org/x/sys/unix"
)

// idleTime is how long a shim waits for a command.
const idleTime = 20 * time.Second

// A waiting shim has been started and not been given its policy. It does nothing
// but wait for that, with an environment that is empty, and ends by itself when
// this program does.
type waiting struct {
	*shimmed
	give  *os.File // the policy goes here
	cmd   *exec.Cmd
	proc  *process
	group *cgroup.Group
	sent  bool // and is someone's to wait for
}

// startWaiting starts the shim of m.
func startWaiting(m means) (_ *waiting, err error) {
	w := &waiting{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	r, give, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	w.give = give
	if w.shimmed, err = newShimmed(r, true); err != nil {
		return nil, err
	}
	if w.group, err = m.cgroups.Open(m.limits.Memory, m.limits.Processes); err != nil {
		return nil, err
	}
	const policyFD, statusFD, lifelineFD = "3", "4", "5"
	w.cmd = &exec.Cmd{
		Path: m.shim[0], Args: slices.Concat([]string{"init"}, m.shim[1:], []string{policyFD, statusFD, lifelineFD}), // its command can read them
		Env: []string{}, Dir: "/", ExtraFiles: w.files,
	}
	w.proc, err = job{cmd: w.cmd, stays: true, cgroup: w.group}.start()
	w.handed()
	return w, err
}

// send gives the shim its policy; marker stands in the environment of the
// command. With an error no command was started.
func (w *waiting) send(p policy, marker string) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	family.mark(w.proc.member, marker)
	_, err = w.give.Write(data)
	if err = errors.Join(err, w.give.Close()); err != nil { // a shim that has not seen the end starts nothing
		return fmt.Errorf("policy: %w", err)
	}
	w.sent = true
	return nil
}

// close ends the shim, unless it was given its policy, and closes its files.
func (w *waiting) close() {
	if w.give != nil {
		w.give.Close()
	}
	if w.proc != nil {
		if !w.sent {
			_ = unix.Kill(w.proc.member.pid, unix.SIGKILL) // not reaped, so the number is its own
			_ = w.cmd.Wait()
			family.forget(w.proc.member)
		}
		w.proc.close()
	}
	w.group.Close()
	if w.shimmed != nil {
		w.shimmed.close()
	}
}

// A standby has one shim started for the next command: starting a program of this
// size takes as long as all that the shim does. It is safe for concurrent use.
type standby struct {
	start func() (*waiting, error)
	wait  time.Duration // for a command

	mu       sync.Mutex
	next     *waiting // nil: none waits
	idle     *time.Timer
	starting bool
}

// withdraw takes the shim that waits, if one does.
func (r *standby) withdraw() *waiting {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.next
	if w != nil {
		r.idle.Stop()
	}
	r.next = nil
	return w
}

// refill starts the next shim, in a goroutine that ends when that is done. A shim
// that no one took for a while is ended. One that cannot be started is missed by
// the command that needs it, which says why.
func (r *standby) refill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != nil || r.starting {
		return
	}
	r.starting = true
	go func() {
		w, err := r.start()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.starting = false
		if err != nil {
			return
		}
		r.next = w
		r.idle = time.AfterFunc(r.wait, func() { r.expire(w) })
	}()
}

// expire ends w if it still waits.
func (r *standby) expire(w *waiting) {
	r.mu.Lock()
	waits := r.next == w
	if waits {
		r.next = nil
	}
	r.mu.Unlock()
	if waits {
		w.close()
	}
}

// hand starts the command of p in a shim that waits or, where that one has ended
// meanwhile, in a new one.
func (r *standby) hand(p policy, marker string) (*waiting, error) {
	for {
		waited := true
		w := r.withdraw()
		if w == nil {
			waited = false
			var err error
			if w, err = r.start(); err != nil {
				return nil, err
			}
		}
		err := w.send(p, marker)
		if err == nil {
			return w, nil
		}
		w.close()
		if !waited || !errors.Is(err, unix.EPIPE) {
			return nil, err
		}
	}
}
