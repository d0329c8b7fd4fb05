package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// What run_bash allows and shows.
const (
	bashTimeout = 120 * time.Second
	bashLongest = 900 * time.Second
	bashBytes   = 50_000
	bashLines   = 2000
)

// A Shell runs an agent's commands in its own worktree. Commands of one Shell
// must not run at the same time, since they share the worktree.
type Shell struct {
	Log     *evidence.Log
	Sandbox sandbox.Sandbox
	// Template is every command's Env, Home, Writable, ReadOnly and Network; the
	// program, folder and timeout are set for each.
	Template sandbox.Command
	Root     string         // absolute path of the worktree
	Roots    evidence.Roots // folders that a command may name, for the log
	Tree     string         // oid of the tree that is checked out there
	Agent    string         // for the log
	Task     string         // for the log

	// Refuse says why a command is not run, nil to run it. May be nil.
	Refuse func(command string) *Denied
	// Argv returns the words of a command that runs without a shell, nil for one
	// that bash runs. May be nil.
	Argv func(command string) []string
	// Before is called before each command; it makes what the command names and lets it
	// write there. May be nil.
	Before func(ctx context.Context, x *evidence.Execution) error
	// After is called after each command; it restores tracked files and refs that
	// the command changed and names them. May be nil.
	After func(ctx context.Context) (changed []string, err error)

	beside func(context.Context, *evidence.Execution) error // has it run beside the processes that the agent holds; may be nil
}

type bashArgs struct {
	Command        string `json:"command" jsonschema:"One self-contained bash command or script."`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"Limit, 1 to 900; default 120."`
	Description    string `json:"description,omitempty" jsonschema:"What it is for, in a few words."`
}

// Bash makes the tool run_bash of a shell.
func Bash(s *Shell) Tool {
	return define("run_bash", Exec, false, s.run)
}

func (s *Shell) run(ctx context.Context, in bashArgs) (Result, error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return Result{}, Badf("run_bash: the command is empty")
	case strings.ContainsRune(in.Command, 0):
		return Result{}, Badf("run_bash: the command has a NUL in it")
	}
	return s.execute(ctx, "run_bash", in.Command, in.TimeoutSeconds, s.Refuse)
}

// execute runs one command in the name of a tool, unless refuse says why not.
func (s *Shell) execute(ctx context.Context, tool, command string, seconds int, refuse func(string) *Denied) (Result, error) {
	timeout, err := timeLimit(tool, seconds)
	if err != nil {
		return Result{}, err
	}
	x := s.execution(command)
	x.Run.Timeout = timeout
	if refuse != nil {
		if d := refuse(command); d != nil {
			return s.refused(x, tool, *d)
		}
	}
	if s.Argv != nil {
		if argv := s.Argv(command); argv != nil {
			x.Run.Argv = argv
		}
	}
	rec, res, changed, err := s.record(ctx, tool, x)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: bashAnswer(rec, res, changed), Evidence: []string{rec.ID}}, nil
}

// timeLimit is the limit of a command, from what a call says.
func timeLimit(tool string, seconds int) (time.Duration, error) {
	switch {
	case seconds < 0:
		return 0, Badf("%s: timeout_seconds is negative", tool)
	case seconds > 0:
		return min(time.Duration(seconds)*time.Second, bashLongest), nil
	}
	return bashTimeout, nil
}

// execution is a command of the agent, as bash runs it.
func (s *Shell) execution(command string) evidence.Execution {
	x := evidence.Execution{Agent: s.Agent, Task: s.Task, Command: command, Root: s.Root, Roots: s.Roots, Tree: s.Tree, Run: s.Template}
	x.Run.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", command}
	return x
}

// record runs a command of a tool into the log and puts the tree right again.
func (s *Shell) record(ctx context.Context, tool string, x evidence.Execution) (rec evidence.Record, res sandbox.Result, changed []string, err error) {
	if s.Before != nil {
		if err := s.Before(ctx, &x); err != nil {
			return rec, res, nil, fmt.Errorf("%s: %w", tool, err)
		}
	}
	if s.beside != nil {
		if err := s.beside(ctx, &x); err != nil {
			return rec, res, nil, err
		}
	}
	if rec, res, err = s.Log.Run(ctx, s.Sandbox, x); err != nil {
		return rec, res, nil, fmt.Errorf("%s: %w", tool, err)
	}
	if s.After != nil {
		if changed, err = s.After(ctx); err != nil {
			return rec, res, nil, fmt.Errorf("%s: after %s: %w", tool, rec.ID, err)
		}
	}
	return rec, res, changed, nil
}

// refused records a refusal before it is answered.
func (s *Shell) refused(x evidence.Execution, tool string, d Denied) (Result, error) {
	rec, err := s.Log.Refuse(x, evidence.Denial{Code: d.Code, Rule: d.Rule})
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", tool, err)
	}
	d.Tool, d.Target = tool, clip(x.Command, 200)
	text, err := json.Marshal(d)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: string(text), Errored: true, Evidence: []string{rec.ID}, Denied: &d}, nil
}

// bashAnswer is what the model reads: the evidence id and how it ended first.
func bashAnswer(rec evidence.Record, res sandbox.Result, changed []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] exit=%d duration=%.1fs", rec.ID, res.Exit, res.Duration.Seconds())
	if res.TimedOut {
		b.WriteString(" timed_out")
	}
	if res.Limit != "" {
		b.WriteString(" limit=" + res.Limit)
	}
	if res.Signal != "" {
		b.WriteString(" signal=" + res.Signal)
	}
	if res.Exit != 0 && rec.Status() == 0 {
		b.WriteString(" (SIGPIPE: the reader had enough, which is no failure)")
	}
	b.WriteByte('\n')
	if len(changed) > 0 {
		fmt.Fprintf(&b, "note: this command changed tracked files or refs; they were restored, and a PASS is no longer possible: %s\n", names(changed))
	}
	out, errs := evidence.Visible(string(res.Stdout.Bytes)), evidence.Visible(string(res.Stderr.Bytes))
	room := limit{bashBytes, bashLines}
	errShare := limit{min(len(errs), bashBytes/4), min(lineCount(errs), bashLines/4)}
	out = cut(out, limit{room.bytes - errShare.bytes, room.lines - errShare.lines}, "spill:"+rec.ID+".stdout")
	errs = cut(errs, limit{max(room.bytes-len(out), errShare.bytes), max(room.lines-lineCount(out), errShare.lines)}, "spill:"+rec.ID+".stderr")
	section(&b, "stdout", out)
	section(&b, "stderr", errs)
	return b.String()
}

func section(b *strings.Builder, name, text string) {
	b.WriteString("--- " + name + " ---\n" + text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// names lists a few names in one line.
func names(all []string) string {
	var shown []string
	for _, n := range all[:min(len(all), 10)] {
		shown = append(shown, inline(n))
	}
	text := strings.Join(shown, ", ")
	if len(all) > 10 {
		text += fmt.Sprintf(" and %d more", len(all)-10)
	}
	return text
}

// A limit is how much of a text is shown.
type limit struct{ bytes, lines int }

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// cut keeps three quarters of a limit from the beginning of s and one from its
// end. Between them stands what was left out and where all of it can be read.
func cut(s string, l limit, handle string) string {
	if len(s) <= l.bytes && lineCount(s) <= l.lines {
		return s
	}
	head := beginning(s, limit{l.bytes * 3 / 4, l.lines * 3 / 4})
	tail := ending(s[len(head):], limit{l.bytes / 4, l.lines / 4})
	left := s[len(head) : len(s)-len(tail)]
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[… %d lines, %d bytes left out; read_file reads all of it as %s …]\n%s", head, lineCount(left), len(left), handle, tail)
}

// beginning returns the longest beginning of s within l, in whole lines where
// there is one.
func beginning(s string, l limit) string {
	end := 0
	for range l.lines {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 || end+i+1 > l.bytes {
			break
		}
		end += i + 1
	}
	if end == 0 && l.bytes > 0 {
		end = min(l.bytes, len(s))
		for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
			end--
		}
	}
	return s[:end]
}

// ending is beginning from the other side.
func ending(s string, l limit) string {
	start := len(s)
	for range l.lines {
		i := strings.LastIndexByte(s[:max(start-1, 0)], '\n') + 1
		if start == 0 || len(s)-i > l.bytes {
			break
		}
		start = i
	}
	if start == len(s) && l.bytes > 0 {
		start = max(len(s)-l.bytes, 0)
		for start < len(s) && !utf8.RuneStart(s[start]) {
			start++
		}
	}
	return s[start:]
}
