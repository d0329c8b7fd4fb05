// Package hook runs the operator's own commands when something happens in a run.
//
// A hook is code of the operator: it runs outside of the sandbox, as the
// user that ycbot runs as, and so its configuration is read from the machine and
// never from a repository. It is given what happened as JSON on its standard
// input, and nothing else: its arguments are those of the configuration, and its
// environment is made again, without tokens and keys.
//
// A hook of [PreToolUse], [SubagentStart] or [RunStart] may say no: it exits with
// 2, and its standard error (else its standard output) says why. Of PreToolUse
// every other failure is a no as well (another exit code, a signal, time that is
// over, a program that cannot be started), because what it was to prevent must
// not happen when it breaks. Elsewhere a failure is a warning.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"time"
)

// An Event is what a hook can be called for. The strings are configuration: do
// not change them.
type Event string

// The events.
const (
	RunStart      Event = "RunStart"
	PreToolUse    Event = "PreToolUse"
	PostToolUse   Event = "PostToolUse"
	SubagentStart Event = "SubagentStart"
	SubagentStop  Event = "SubagentStop"
	RunEnd        Event = "RunEnd"
)

// events lists the events, in the order of a run.
func events() []Event {
	return []Event{RunStart, SubagentStart, PreToolUse, PostToolUse, SubagentStop, RunEnd}
}

// denies reports the events of which a hook can prevent what is about to happen.
func (e Event) denies() bool { return e == RunStart || e == PreToolUse || e == SubagentStart }

// How long a hook may take.
const (
	timeoutDefault = 10 * time.Second
	timeoutMost    = 60 * time.Second
)

// A Hook is one command of the operator's.
type Hook struct {
	Event   Event
	Match   string // a pattern with * for the tool or the agent that it is about; empty: every one
	Command []string
	Timeout time.Duration
	File    string // where it is configured
	Line    int
}

// An Input is what a hook reads on its standard input. Fields that do not belong
// to the event are left out.
type Input struct {
	Event Event  `json:"event"`
	RunID string `json:"run_id"`
	Dir   string `json:"run_dir,omitempty"`
	Repo  string `json:"repo,omitempty"`
	PR    int    `json:"pr,omitempty"`
	Base  string `json:"base_sha,omitempty"`
	Head  string `json:"head_sha,omitempty"`
	Trust string `json:"trust,omitempty"`

	Agent     string `json:"agent,omitempty"`
	ID        string `json:"subagent_id,omitempty"`
	Parent    string `json:"parent_session_id,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Isolation string `json:"isolation,omitempty"`

	Tool    string          `json:"tool,omitempty"`
	Targets []string        `json:"targets,omitempty"` // paths, addresses or the commands one by one
	Args    json.RawMessage `json:"args,omitempty"`
	Output  string          `json:"output,omitempty"`
	Errored bool            `json:"errored,omitempty"`

	Outcome string `json:"outcome,omitempty"` // of an agent: ok, incomplete, timeout, error or crash; of a run: its own word
	Result  string `json:"result,omitempty"`
	Verdict string `json:"verdict,omitempty"`
}

// subject is what a hook's pattern is held against.
func (in Input) subject() string {
	if in.Tool != "" {
		return in.Tool
	}
	return in.Agent
}

// A Runner calls hooks. The zero Runner has none. It is safe for concurrent use.
type Runner struct {
	Hooks []Hook
	Env   []string // all that hooks get
	Dir   string   // where they are started
	Log   *slog.Logger
}

// Has reports whether anything would be called for an event.
func (r *Runner) Has(e Event) bool {
	if r == nil {
		return false
	}
	for _, h := range r.Hooks {
		if h.Event == e {
			return true
		}
	}
	return false
}

// Call calls the hooks of an event one after the other, in the order of their
// configuration. It returns why one of them said no, "" where none did.
func (r *Runner) Call(ctx context.Context, in Input) (denied string) {
	if !r.Has(in.Event) {
		return ""
	}
	input, err := json.Marshal(in)
	if err != nil {
		return r.failed(ctx, Hook{Event: in.Event}, err)
	}
	for _, h := range r.Hooks {
		if h.Event != in.Event || !h.matches(in.subject()) {
			continue
		}
		no, err := r.one(ctx, h, input)
		switch {
		case err != nil:
			if why := r.failed(ctx, h, err); why != "" {
				return why
			}
		case no != "" && in.Event.denies():
			return no
		case no != "":
			r.Log.WarnContext(ctx, "hook said no to what has happened already", "event", in.Event, "hook", h.place(), "says", no)
		}
	}
	return ""
}

// failed is what a hook that broke comes to.
func (r *Runner) failed(ctx context.Context, h Hook, err error) string {
	r.Log.WarnContext(ctx, "hook failed", "event", h.Event, "hook", h.place(), "error", err)
	if h.Event == PreToolUse {
		return fmt.Sprintf("the operator's hook (%s) could not be asked: %v", h.place(), err)
	}
	return ""
}

func (h Hook) place() string { return fmt.Sprintf("%s:%d", h.File, h.Line) }

func (h Hook) matches(subject string) bool {
	if h.Match == "" {
		return true
	}
	ok, err := path.Match(h.Match, subject)
	return err == nil && ok
}

// exitDenied is how a hook says no.
const exitDenied = 2

// one runs a hook. Its whole process group ends with it.
func (r *Runner) one(ctx context.Context, h Hook, input []byte) (denied string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, fmt.Errorf("it took longer than %s", h.Timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Command[0], h.Command[1:]...)
	var stdout, stderr excerpt
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = bytes.NewReader(input), &stdout, &stderr, r.Env, r.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended, and another process holds on to its output
		return "", nil
	case errors.As(err, &exit) && exit.ExitCode() == exitDenied:
		return stderr.or(stdout, "the operator's hook refuses it"), nil
	}
	if said := stderr.or(stdout, ""); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return "", err
}

// excerptMost is how much of what a hook says is read.
const excerptMost = 2000

// An excerpt keeps the beginning of an output.
type excerpt struct{ text []byte }

func (t *excerpt) Write(p []byte) (int, error) {
	if room := excerptMost - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *excerpt) String() string {
	return strings.ToValidUTF8(strings.Join(strings.Fields(string(t.text)), " "), "\uFFFD")
}

func (t *excerpt) or(other excerpt, none string) string {
	for _, s := range []string{t.String(), other.String(), none} {
		if s != "" {
			return s
		}
	}
	return ""
}
