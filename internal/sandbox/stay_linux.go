package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killed is the exit code of a shim that ended its command because the program
// that started it is gone.
const killed = 128 + int(unix.SIGKILL)

// keepWatch prepares a shim that stays: it adopts what the command orphans, and everything ends when the lifeline does. It
// starts the threads for that before the limits count them.
func (s *shim) keepWatch() error {
	if s.lifeline == nil {
		return errors.New("no lifeline")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	debug.SetGCPercent(-1) // collecting would want threads, and there is little to collect
	s.gone, s.started, s.ended = make(chan struct{}), make(chan int, 1), make(chan syscall.WaitStatus, 1)
	go func() {
		// Any end of it is the end.
		_, _ = io.Copy(io.Discard, s.lifeline)
		close(s.gone)
	}()
	go s.reap()
	return nil
}

// stay runs the command as a child and returns when nothing of it is alive. All
// signals are sent from here: with older Landlock each thread has a domain of
// its own, and the command is in the one of this thread.
func (s *shim) stay() int {
	pid, err := s.start()
	if err != nil {
		s.notExecuted(err)
		return shimFailed
	}
	s.started <- pid
	select {
	case <-s.gone:
		endDescendants()
		return killed
	case status := <-s.ended:
		endDescendants()
		code := status.ExitStatus()
		end := said{Ended: &code}
		if status.Signaled() {
			code = 128 + int(status.Signal())
			end.Signal = int(status.Signal())
		}
		s.say(end)
		return code
	}
}

// reap takes the exit states of the command and of what it orphaned.
func (s *shim) reap() {
	command := <-s.started
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // there are no children any more
		case pid == command:
			s.ended <- status
		}
	}
}

// start starts the command in a session of its own, so that what it sends to
// its group does not reach the shim.
func (s *shim) start() (pid int, err error) {
	program, err := lookup(s.p.Argv[0], s.p.Dir, s.p.Env)
	if err != nil {
		return 0, err
	}
	s.say(said{Layers: s.layers})
	attr := &syscall.ProcAttr{
		Env: s.p.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	pid, err = syscall.ForkExec(program, s.p.Argv, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		pid, err = syscall.ForkExec("/bin/sh", s.script(program), attr)
	}
	return pid, err
}

// endDescendants kills everything below this process and returns when nothing
// is left.
func endDescendants() {
	self := os.Getpid()
	for pause := 100 * time.Microsecond; !childless(); pause = min(2*pause, 10*time.Millisecond) {
		procs := processes()
		for pid, p := range procs {
			if pid != self && p.state != 'Z' && procs.depth(pid, self) <= len(procs) {
				_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
			}
		}
		<-time.After(pause)
	}
}
