package evidence

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A Held is a command that goes on while others run, such as a server. Its record comes
// into the log when it is stopped, also where it ended before, so that the order of the
// log does not depend on when that was.
type Held struct {
	out   *window
	stop  context.CancelCauseFunc
	last  chan struct{} // closed when it is asked to stop
	ended chan struct{} // closed when no process of it is alive
	over  chan struct{} // closed when its record is written
	once  sync.Once

	rec Record
	res sandbox.Result
	err error

	mu     sync.Mutex
	inputs []Input
}

// errStopped is the cause with which a held command ends.
var errStopped = errors.New("stopped")

// heldShown is how much of the newest output of a held command can be looked at while it
// runs. What its record keeps is what any other's does.
const heldShown = 256 << 10

// heldTime is how long a held command may run.
const heldTime = 30 * time.Minute

// Holding is x with a process to hold in the place of its command. Both streams of the
// process are one, in the order in which it writes. Its standard input is the named pipe
// [Beside.Input] in TMPDIR, which never ends.
func (x Execution) Holding(b Beside, l *sandbox.Loopback) Execution {
	x.Command, x.Script, x.Beside, x.Cwd = b.Command, "", nil, ""
	x.Run.Loopback, x.Run.Timeout = l, heldTime
	x.Run.Env = append(slices.Clone(x.Run.Env), "PORT="+strconv.Itoa(b.Port))
	input := `F="$TMPDIR/` + b.Input() + `"; [ -p "$F" ] || mkfifo -m 600 "$F"; exec 0<>"$F"; unset F`
	x.Run.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", "exec 2>&1\n" + input + "\n" + b.Command}
	return x
}

// Input is the name of the process's standard input in TMPDIR.
func (b Beside) Input() string { return ".stdin-" + strconv.Itoa(b.Port) }

// Hold starts x and returns at once. It goes on until it is stopped, also when ctx ends:
// the call that starts a process is over before the process is.
func (l *Log) Hold(ctx context.Context, sb sandbox.Sandbox, x Execution) *Held {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	h := &Held{out: &window{}, stop: stop, last: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{})}
	x.Run.Stdout, x.After, x.held = h.out, h.last, h
	go func() {
		defer close(h.over)
		h.rec, h.res, h.err = l.Run(ctx, noting{sb, h.ended}, x)
		if errors.Is(h.err, errStopped) {
			h.err = nil
		}
	}()
	return h
}

// noting says when a command has ended.
type noting struct {
	sandbox.Sandbox
	ended chan struct{}
}

func (n noting) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	defer close(n.ended)
	return n.Sandbox.Run(ctx, c)
}

// Stop ends h, if it has not ended by itself, and returns its record.
func (h *Held) Stop() (Record, sandbox.Result, error) {
	h.once.Do(func() {
		h.stop(errStopped)
		close(h.last)
	})
	<-h.over
	return h.rec, h.res, h.err
}

// Ended reports whether no process of h is alive any more.
func (h *Held) Ended() bool {
	select {
	case <-h.ended:
		return true
	case <-h.over: // it could not be started
		return true
	default:
		return false
	}
}

// Output returns what h wrote from byte from on, as far as that is kept, and the byte
// that follows it.
func (h *Held) Output(from int64) (text string, next int64) { return h.out.read(from) }

// A Readiness is what a held command is waited for: all of it, where there is more.
type Readiness struct {
	Loopback *sandbox.Loopback
	Port     int    // something listens there; 0: any
	Text     string // it has written this; empty: anything
	From     int64  // byte of its output from which Text counts
}

// pollTime is how often a port is looked at.
const pollTime = 25 * time.Millisecond

// Await waits until h is ready, has ended or the time is over, and says whether it is
// ready.
func (h *Held) Await(ctx context.Context, r Readiness, most time.Duration) (bool, error) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		ended := h.Ended() // before the look, so that what it wrote at last is seen
		ready, err := h.ready(ctx, r)
		if ready || err != nil {
			return ready && (!ended || r.Port == 0), err
		}
		if ended {
			return false, nil
		}
		select {
		case <-tick.C:
		case <-h.ended:
		case <-limit.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

func (h *Held) ready(ctx context.Context, r Readiness) (bool, error) {
	if r.Text != "" {
		if text, _ := h.out.read(r.From); !strings.Contains(text, r.Text) {
			return false, nil
		}
	}
	if r.Port == 0 {
		return true, nil
	}
	return r.Loopback.Listens(ctx, r.Port)
}

// A window keeps the newest of what is written to it.
type window struct {
	mu    sync.Mutex
	bytes []byte
	end   int64 // how much was written in all
}

// Write implements [io.Writer].
func (w *window) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes = append(w.bytes, p...)
	w.end += int64(len(p))
	if extra := len(w.bytes) - heldShown; extra > heldShown { // moved now and then, and not each time
		w.bytes = append([]byte(nil), w.bytes[extra:]...)
	}
	return len(p), nil
}

func (w *window) read(from int64) (string, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := w.bytes[max(0, len(w.bytes)-heldShown):]
	start := w.end - int64(len(shown))
	return string(shown[min(max(from-start, 0), int64(len(shown))):]), w.end
}
