package run

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Files by which a run that is alive is found and reached, in its folder of
// short-lived files (rundir.Layout.Temp): what it is, and the socket on which it listens.
// Only their owner can open that folder. Nothing is polled, and a run that was
// killed leaves a socket without an answer, which shows that it is gone.
const (
	liveFile   = "run.json"
	liveSocket = "control"
)

// errStopped is the cause of a run's end that someone asked for from outside.
var errStopped = errors.New("it was stopped by ycbot tasks stop")

// A Live is a run that is going on.
type Live struct {
	ID     string `json:"id"`
	Dir    string `json:"dir"` // run directory
	Root   string `json:"root"`
	PID    int    `json:"pid"`
	socket string
}

// An ask is what is asked of a live run, one JSON object a connection.
type ask struct {
	Task string `json:"task"` // to stop; empty: the whole run
}

// A response is what it answers.
type response struct {
	Stopped bool   `json:"stopped"`
	Error   string `json:"error,omitempty"`
}

// reachable lets people stop the run and its tasks until done is called; the
// context that it returns ends when the run is stopped. Where there can be no
// socket (a path that is too long) the run goes on without.
func (p *prepared) reachable(ctx context.Context) (_ context.Context, done func()) {
	if p.begun.repeats != nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l, err := p.openControl(ctx)
	if err != nil {
		p.runner.Log.WarnContext(ctx, "ycbot tasks stop cannot reach this run", "run", p.begun.dir.ID, "error", err)
		return ctx, func() { cancel(nil) }
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			served.Go(func() { p.serve(conn, cancel) })
		}
	})
	return ctx, func() {
		cancel(nil)
		_ = l.Close() // removes the socket
		_ = os.Remove(filepath.Join(p.begun.layout.Temp, liveFile))
		served.Wait()
	}
}

func (p *prepared) openControl(ctx context.Context) (net.Listener, error) {
	dir := p.begun.layout.Temp
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	live, err := json.Marshal(Live{ID: p.begun.dir.ID, Dir: p.begun.dir.Path, Root: p.begun.root, PID: os.Getpid()})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, liveFile), live, 0o600); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, liveSocket)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return nil, err
	}
	return (&net.ListenConfig{}).Listen(ctx, "unix", name)
}

// controlTime bounds one conversation with a live run.
const controlTime = 10 * time.Second

// serve answers one request.
func (p *prepared) serve(conn net.Conn, stop context.CancelCauseFunc) {
	defer conn.Close()
	_ = conn.SetDeadline(p.runner.Now().Add(controlTime))
	var in ask
	var answer response
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &in) != nil {
		return // only a look whether the run is there
	}
	if in.Task == "" {
		answer.Stopped = true
		stop(errStopped)
	} else if stopped, began := p.inbox.Cancel(in.Task); stopped {
		answer.Stopped = true
	} else if !began {
		answer.Error = "no agent is at work yet"
	} else {
		answer.Error = "no task that is running, or more than one, begins with " + in.Task
	}
	_ = json.NewEncoder(conn).Encode(answer)
}

// LiveRuns lists the runs below home that are going on now.
func LiveRuns(ctx context.Context, home string) ([]Live, error) {
	found, err := filepath.Glob(filepath.Join(home, "tmp", "y-*", liveFile))
	if err != nil {
		return nil, err
	}
	var out []Live
	for _, name := range found {
		data, err := os.ReadFile(name)
		live := Live{socket: filepath.Join(filepath.Dir(name), liveSocket)}
		if err != nil || json.Unmarshal(data, &live) != nil {
			continue // it ends just now
		}
		conn, err := live.dial(ctx)
		if err != nil {
			continue // it was killed
		}
		conn.Close()
		out = append(out, live)
	}
	return out, ctx.Err()
}

func (l Live) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: controlTime}).DialContext(ctx, "unix", l.socket)
}

// Stop stops a task of the run by its id or how that begins; with task "" the run
// itself. The run then ends in its own time, with a report that says so.
func (l Live) Stop(ctx context.Context, task string) error {
	conn, err := l.dial(ctx)
	if err != nil {
		return fmt.Errorf("run %s: %w", l.ID, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(ask{task}); err != nil {
		return fmt.Errorf("run %s: %w", l.ID, err)
	}
	var answer response
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("run %s: %w", l.ID, err)
	}
	if !answer.Stopped {
		return fmt.Errorf("run %s: %s", l.ID, answer.Error)
	}
	return nil
}
