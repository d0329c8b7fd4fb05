package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"golang.org/x/sys/unix"
)

// drainTime is how long the pipes of a dead command may stay open: something
// outside its process tree was given one of them.
const drainTime = 2 * time.Second

// dieTime is how long killed processes may take to disappear.
const dieTime = 10 * time.Second

// A job is one process to start and to watch until its tree has ended.
type job struct {
	cmd     *exec.Cmd
	process *process      // cmd, where it was started before; nil: it is started now
	marker  string        // stands in the environment of the tree's processes; empty: none does
	skip    int           // generations at the top of the tree that are ours: no SIGTERM for them
	stays   bool          // the first process ends the rest itself when this program is killed
	release func()        // lets the command go on, which is guarded until then and later; nil: it is not guarded
	guard   *guard        // nil: nothing is watched
	pidOne  func() int    // the first process of a pid namespace that holds the tree, 0: none; called when cmd has ended; may be nil
	cgroup  *cgroup.Group // what the tree is in; nil: none
	timeout time.Duration
	tee     io.Writer
}

// watch starts j and returns when no process of it is alive. An error of
// starting matches [errNotStarted].
func watch(ctx context.Context, o Options, j job) (out Result, _ error) {
	res := Result{Exit: -1, Started: o.Now()}
	defer func() { out.Duration = o.Now().Sub(out.Started) }()
	if j.process == nil && ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	// The kernel kills the command when the *thread* that started it ends
	// (golang/go#27505), so this goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := j.process
	if p == nil {
		var err error
		if p, err = j.start(); err != nil {
			return res, errors.Join(errNotStarted, err)
		}
		defer p.close()
	}
	member, stdout, stderr := p.member, p.stdout, p.stderr
	over := make(chan struct{}, 2)
	overflow := func() { over <- struct{}{} }
	stdout.copy(&capture{tee: j.tee, limit: o.OutputLimit, over: overflow})
	stderr.copy(&capture{limit: o.OutputLimit, over: overflow})
	waited := make(chan error, 1)
	go func() { waited <- j.cmd.Wait() }()

	waitErr, err := o.await(ctx, j, member, &res, waited, over)
	if err == nil {
		err = j.end(member)
	}
	j.guard.settle(res.Limit)
	family.forget(member)
	stdout.drain()
	stderr.drain()
	res.Stdout, res.Stderr = stdout.capture.output(), stderr.capture.output()
	res.exited(j.cmd.ProcessState)
	if res.Limit == "" && j.cgroup.OutOfMemory() {
		res.Limit = "memory"
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		err = errors.Join(err, waitErr)
	}
	if stdout.capture.teeErr != nil {
		err = errors.Join(err, fmt.Errorf("pass standard output on: %w", stdout.capture.teeErr))
	}
	return res, err
}

// A process is one that was started, with the pipes of what it writes.
type process struct {
	member         *member
	stdout, stderr *stream
}

func (j job) start() (_ *process, err error) {
	p := &process{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.stdout, err = newStream(); err != nil {
		return nil, err
	}
	if p.stderr, err = newStream(); err != nil {
		return nil, err
	}
	j.cmd.Stdout, j.cmd.Stderr = p.stdout.w, p.stderr.w
	if j.release != nil {
		p.member, err = family.startGuarded(j.cmd, j.cgroup, j.release)
	} else {
		p.member, err = family.start(j.cmd, j.marker, j.stays, j.cgroup)
	}
	if err != nil {
		return nil, err
	}
	p.stdout.w.Close() // the process has its own
	p.stderr.w.Close()
	return p, nil
}

func (p *process) close() {
	for _, s := range []*stream{p.stdout, p.stderr} {
		if s != nil {
			s.close()
		}
	}
}

// end ends what the command left behind.
func (j job) end(m *member) error {
	j.cgroup.Kill()
	if j.pidOne != nil {
		if pid := j.pidOne(); pid > 0 {
			return family.endInit(pid, dieTime)
		}
	}
	return family.end(m, dieTime)
}

var errNotStarted = errors.New("not started")

// await waits for the end of the command's first process, and brings it about
// when the time, the context or the output says so.
func (o Options) await(ctx context.Context, j job, m *member, res *Result, waited <-chan error, over <-chan struct{}) (waitErr, err error) {
	var timeout <-chan time.Time
	if j.timeout > 0 {
		t := time.NewTimer(j.timeout)
		defer t.Stop()
		timeout = t.C
	}
	var tick <-chan time.Time
	if j.guard != nil {
		t := time.NewTicker(guardEvery)
		defer t.Stop()
		tick = t.C
	}
	for watching := true; watching; {
		watching = false
		select {
		case err := <-waited:
			return err, nil
		case <-over:
			res.Limit = LimitOutput
		case <-timeout:
			res.TimedOut = true
		case <-ctx.Done():
		case <-tick:
			res.Limit = j.guard.exceeded(m)
			watching = res.Limit == ""
		}
	}
	if res.Limit == "" {
		family.terminate(m, j.skip)
		grace := time.NewTimer(o.Grace)
		defer grace.Stop()
		select {
		case err := <-waited:
			return err, nil
		case <-over:
		case <-grace.C:
		}
	}
	j.cgroup.Kill()
	if err := family.end(m, dieTime); err != nil {
		return nil, err
	}
	select {
	case err := <-waited:
		return err, nil
	case <-time.After(dieTime):
		return nil, fmt.Errorf("process %d: killed and still there", m.pid)
	}
}

// exited fills in how the first process ended; nil leaves the Result as it is.
func (r *Result) exited(state *os.ProcessState) {
	if state == nil {
		return
	}
	r.Exit = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Exit = 128 + int(ws.Signal())
		r.Signal = unix.SignalName(ws.Signal())
	}
}

// notRun is the Result of a command that could not be executed, in the words
// and with the codes of a shell.
func (r *Result) notRun(program string, cause error) {
	why := "cannot execute"
	r.Exit = 126
	switch {
	case errors.Is(cause, exec.ErrNotFound):
		r.Exit, why = 127, "command not found"
	case errors.Is(cause, fs.ErrNotExist):
		r.Exit, why = 127, "No such file or directory"
	case errors.Is(cause, fs.ErrPermission):
		why = "Permission denied"
	}
	text := fmt.Appendf(nil, "%s: %s\n", program, why)
	r.Signal = ""
	r.Stderr = Output{Bytes: text, Total: int64(len(text))}
}

// A stream is a pipe from the command and what is kept of it.
type stream struct {
	capture *capture // nil: it is not read yet
	r, w    *os.File
	done    chan struct{} // closed when the pipe is read to its end
}

func newStream() (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	return &stream{r: r, w: w}, nil
}

// copy reads the pipe into c, in a goroutine that ends with it.
func (s *stream) copy(c *capture) {
	s.capture, s.done = c, make(chan struct{})
	go func() {
		defer close(s.done)
		// The errors of reading are the end of the command, too.
		_, _ = io.Copy(s.capture, s.r)
	}()
}

func (s *stream) drain() {
	t := time.AfterFunc(drainTime, func() { s.r.Close() })
	defer t.Stop()
	<-s.done
}

func (s *stream) close() {
	s.w.Close()
	s.r.Close()
}
