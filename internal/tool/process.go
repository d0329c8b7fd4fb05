package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// What processes an agent may hold, and how long it waits for one.
const (
	heldMost      = 3
	readyTime     = 30 * time.Second
	readyLongest  = 120 * time.Second
	heldBytes     = 20_000
	heldLines     = 400
	heldInputMost = 16 << 10
)

// Processes are what one agent holds over several calls, such as a server. While it
// holds one, all of its commands share one loopback interface, where they reach it.
type Processes struct {
	shell *Shell
	keep  func(Holding) error // see [NewProcesses]

	mu       sync.Mutex
	loopback *sandbox.Loopback // nil: nothing was started yet
	all      []*heldProcess
}

// A heldProcess is one of them.
type heldProcess struct {
	id      string
	beside  evidence.Beside
	held    *evidence.Held // nil: it was held before ycbot was started again, and is not yet
	read    int64          // how much of its output was shown
	stopped bool
}

// NewProcesses makes the processes of an agent whose commands shell runs, with those that it
// held before ycbot was started again. keep is given each state of one, to be given back as such;
// nil: there is no other time. The caller closes the processes when the agent has ended.
func NewProcesses(shell *Shell, before []Holding, keep func(Holding) error) *Processes {
	p := &Processes{shell: shell, keep: keep}
	for _, h := range before {
		p.all = append(p.all, &heldProcess{id: h.ID, beside: h.Beside, stopped: h.Stopped})
	}
	shell.beside = p.attend
	return p
}

// Tools are those with which the agent starts, looks at and stops processes.
func (p *Processes) Tools() []Tool {
	return []Tool{
		define("start_process", Exec, false, p.start),
		define("process_output", Exec, false, p.output),
		define("stop_process", Exec, false, p.stopOne),
	}
}

// Close ends all processes; what they wrote is in the log then.
func (p *Processes) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, h := range p.running() {
		if h.held == nil {
			continue
		}
		_, _, _, err := p.end(ctx, h)
		errs = append(errs, err)
	}
	p.loopback.Close()
	return errors.Join(errs...)
}

// attend has a command share the loopback interface with the processes that are held.
func (p *Processes) attend(ctx context.Context, x *evidence.Execution) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.resume(ctx); err != nil {
		return err
	}
	for _, h := range p.running() {
		b := h.beside
		b.Inputs = h.held.Inputs()
		x.Beside = append(x.Beside, b)
		x.Run.Env = append(slices.Clone(x.Run.Env), fmt.Sprintf("PORT=%d", h.beside.Port)) // the newest wins
	}
	if len(x.Beside) > 0 {
		x.Run.Loopback = p.loopback
	}
	return nil
}

// running are the processes that were not stopped.
func (p *Processes) running() []*heldProcess {
	return slices.DeleteFunc(slices.Clone(p.all), func(h *heldProcess) bool { return h.stopped })
}

type startArgs struct {
	Command        string `json:"command" jsonschema:"A bash command that goes on until it is stopped, such as a server. $PORT is a free port for it."`
	WaitPort       int    `json:"wait_port,omitempty" jsonschema:"Answer once something listens on this TCP port; default: $PORT where the command uses it."`
	WaitText       string `json:"wait_text,omitempty" jsonschema:"Answer once it has printed this."`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"How long to wait for that, 1 to 120; default 30."`
	Description    string `json:"description,omitempty" jsonschema:"What it is for, in a few words."`
}

func (p *Processes) start(ctx context.Context, in startArgs) (Result, error) {
	const name = "start_process"
	wait, err := waiting(name, in.TimeoutSeconds)
	switch {
	case err != nil:
		return Result{}, err
	case strings.TrimSpace(in.Command) == "":
		return Result{}, Badf("%s: the command is empty", name)
	case strings.ContainsRune(in.Command, 0):
		return Result{}, Badf("%s: the command has a NUL in it", name)
	case in.WaitPort < 0 || in.WaitPort > 65535:
		return Result{}, Badf("%s: wait_port: %d is no TCP port", name, in.WaitPort)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.shell.execution(in.Command)
	if p.shell.Refuse != nil {
		if d := p.shell.Refuse(in.Command); d != nil {
			return p.shell.refused(x, name, *d)
		}
	}
	if err := p.resume(ctx); err != nil {
		return Result{}, err
	}
	if running := p.running(); len(running) >= heldMost {
		return Result{}, Badf("%s: %d processes are running (%s); stop one of them first", name, heldMost, ids(running))
	}
	h, err := p.prepare(ctx, in)
	if err != nil {
		return Result{}, err
	}
	ready, err := p.hold(ctx, h, wait)
	if h.held != nil { // also where it is not waited for any more: it goes on until it is ended
		p.all = append(p.all, h)
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.noted(h); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return p.started(ctx, h, ready, wait)
}

// hold begins a process and waits until it is ready, so long at most.
func (p *Processes) hold(ctx context.Context, h *heldProcess, wait time.Duration) (ready bool, err error) {
	x := p.shell.execution(h.beside.Command)
	if p.shell.Before != nil {
		if err := p.shell.Before(ctx, &x); err != nil {
			return false, err
		}
	}
	// Here and not by the process, so that input can come at once. One that is there was
	// left by a process of the same port.
	if err := syscall.Mkfifo(filepath.Join(p.shell.Roots.Temp, h.beside.Input()), 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	h.held = p.shell.Log.Hold(ctx, p.shell.Sandbox, x.Holding(h.beside, p.loopback))
	return h.held.Await(ctx, evidence.Readiness{Loopback: p.loopback, Port: h.beside.Await, Text: h.beside.Text}, wait)
}

// prepare gives a process its name and port.
func (p *Processes) prepare(ctx context.Context, in startArgs) (*heldProcess, error) {
	err := p.open(ctx)
	if err != nil {
		return nil, Badf("start_process: this machine cannot hold a process: %v. Start, use and stop it within one run_bash command", err)
	}
	h := &heldProcess{id: fmt.Sprintf("p%d", len(p.all)+1), beside: evidence.Beside{Command: in.Command, Await: in.WaitPort, Text: in.WaitText}}
	if h.beside.Port, err = p.freePort(ctx); err != nil {
		return nil, fmt.Errorf("start_process: %w", err)
	}
	if in.WaitPort == 0 {
		if strings.Contains(in.Command, "$PORT") || strings.Contains(in.Command, "${PORT") {
			h.beside.Await = h.beside.Port
		}
		return h, nil
	}
	busy, err := p.loopback.Taken(ctx, in.WaitPort)
	if err != nil {
		return nil, fmt.Errorf("start_process: %w", err)
	}
	if busy {
		return nil, Badf("start_process: something listens on port %d already; use $PORT, which is %d", in.WaitPort, h.beside.Port)
	}
	return h, nil
}

// open makes the interface that all share.
func (p *Processes) open(ctx context.Context) (err error) {
	if p.loopback == nil {
		p.loopback, err = sandbox.OpenLoopback(ctx, p.shell.Sandbox, p.shell.Template.Network)
	}
	return err
}

// freePort is a port that no process that is held was given.
func (p *Processes) freePort(ctx context.Context) (int, error) {
	given := func(port int) bool {
		return slices.ContainsFunc(p.running(), func(h *heldProcess) bool { return h.beside.Port == port })
	}
	port, err := p.loopback.FreePort(ctx)
	for ; err == nil && given(port); port++ { // one that does not listen yet
	}
	return port, err
}

// started is the answer to start_process.
func (p *Processes) started(ctx context.Context, h *heldProcess, ready bool, wait time.Duration) (Result, error) {
	if !ready && h.held.Ended() {
		rec, res, changed, err := p.end(ctx, h)
		if err != nil {
			return Result{}, fmt.Errorf("start_process: %w", err)
		}
		text := bashAnswer(rec, res, changed)
		return Result{Text: text + h.id + " ended before it was ready.\n", Errored: true, Evidence: []string{rec.ID}}, nil
	}
	var b strings.Builder
	wants := ""
	switch {
	case h.beside.Await > 0 && !ready:
		wants = fmt.Sprintf("port %d", h.beside.Await)
	case h.beside.Text != "" && !ready:
		wants = fmt.Sprintf("%q in its output", h.beside.Text)
	}
	switch {
	case wants != "":
		fmt.Fprintf(&b, "%s: running, not ready: no %s within %s. PORT=%d\n", h.id, wants, wait, h.beside.Port)
	case h.beside.Await > 0:
		fmt.Fprintf(&b, "%s: running, listens on port %d. PORT=%d\n", h.id, h.beside.Await, h.beside.Port)
	default:
		fmt.Fprintf(&b, "%s: running. PORT=%d\n", h.id, h.beside.Port)
	}
	h.show(&b)
	return Result{Text: b.String()}, nil
}

type outputArgs struct {
	ID             string `json:"id" jsonschema:"The process, such as p1."`
	Input          string `json:"input,omitempty" jsonschema:"Text to write to its standard input first; end a line with a newline."`
	WaitText       string `json:"wait_text,omitempty" jsonschema:"Answer once new output has this in it."`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"How long to wait for that, 1 to 120; default 30."`
}

func (p *Processes) output(ctx context.Context, in outputArgs) (Result, error) {
	const name = "process_output"
	wait, err := waiting(name, in.TimeoutSeconds)
	if err != nil {
		return Result{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.resume(ctx); err != nil {
		return Result{}, err
	}
	h, err := p.find(name, in.ID)
	if err != nil {
		return Result{}, err
	}
	if in.Input != "" {
		if len(in.Input) > heldInputMost {
			return Result{}, Badf("%s: input: %d bytes are too many; at most %d", name, len(in.Input), heldInputMost)
		}
		if err := h.held.Feed(p.shell.Roots.Temp, h.beside, in.Input); err != nil {
			return Result{}, Badf("%s: %s: %v", name, h.id, err)
		}
	}
	missed := ""
	if in.WaitText != "" {
		ready, err := h.held.Await(ctx, evidence.Readiness{Text: in.WaitText, From: h.read}, wait)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", name, err)
		}
		if !ready {
			missed = fmt.Sprintf(", no %q in its output", in.WaitText)
		} else if in.Input != "" {
			h.held.Answered(in.WaitText)
		}
	}
	if in.Input != "" {
		if err := p.noted(h); err != nil {
			return Result{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	var b strings.Builder
	state := "running"
	if h.held.Ended() {
		state = "ended; stop_process says how"
	}
	fmt.Fprintf(&b, "%s: %s%s\n", h.id, state, missed)
	h.show(&b)
	return Result{Text: b.String(), Errored: missed != ""}, nil
}

type stopArgs struct {
	ID string `json:"id" jsonschema:"The process, such as p1."`
}

func (p *Processes) stopOne(ctx context.Context, in stopArgs) (Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.resume(ctx); err != nil {
		return Result{}, err
	}
	h, err := p.find("stop_process", in.ID)
	if err != nil {
		return Result{}, err
	}
	rec, res, changed, err := p.end(ctx, h)
	if err != nil {
		return Result{}, fmt.Errorf("stop_process: %w", err)
	}
	return Result{Text: bashAnswer(rec, res, changed), Evidence: []string{rec.ID}}, nil
}

// end stops a process and looks at what it did to the tree.
func (p *Processes) end(ctx context.Context, h *heldProcess) (rec evidence.Record, res sandbox.Result, changed []string, err error) {
	h.stopped = true
	rec, res, err = h.held.Stop()
	if err == nil {
		err = p.noted(h)
	}
	if err == nil && p.shell.After != nil {
		changed, err = p.shell.After(ctx)
	}
	return rec, res, changed, err
}

func (p *Processes) find(name, id string) (*heldProcess, error) {
	running := p.running()
	for _, h := range running {
		if h.id == id {
			return h, nil
		}
	}
	if len(running) == 0 {
		return nil, Badf("%s: no process %s: none is running", name, show(id))
	}
	return nil, Badf("%s: no process %s; running: %s", name, show(id), ids(running))
}

func ids(list []*heldProcess) string {
	var out []string
	for _, h := range list {
		out = append(out, h.id)
	}
	return strings.Join(out, ", ")
}

// show writes what of its output is new.
func (h *heldProcess) show(b *strings.Builder) {
	text, next := h.held.Output(h.read)
	h.read = next
	text = evidence.Visible(text)
	l := limit{heldBytes, heldLines}
	if len(text) > l.bytes || lineCount(text) > l.lines {
		text = "[… earlier output left out …]\n" + ending(text, l)
	}
	section(b, "output", text)
}

func waiting(name string, seconds int) (time.Duration, error) {
	switch {
	case seconds < 0:
		return 0, Badf("%s: timeout_seconds is negative", name)
	case seconds == 0:
		return readyTime, nil
	}
	return min(time.Duration(seconds)*time.Second, readyLongest), nil
}
