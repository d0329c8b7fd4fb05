package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// direct runs commands without containing them; what contains them is not this
// package's to test.
type direct struct {
	last  sandbox.Command
	limit string // for which each command is ended
}

func (d *direct) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }

func (d *direct) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	d.last = c
	started := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{"PATH=/usr/bin:/bin"}, c.Env...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if c.Stdout != nil {
		cmd.Stdout = io.MultiWriter(&out, c.Stdout)
	}
	err := cmd.Run()
	r := sandbox.Result{Started: started, Duration: 1500 * time.Millisecond, Exit: cmd.ProcessState.ExitCode()}
	r.Stdout = sandbox.Output{Bytes: out.Bytes(), Total: int64(out.Len())}
	r.Stderr = sandbox.Output{Bytes: errs.Bytes(), Total: int64(errs.Len())}
	if r.Exit < 0 {
		r.Exit, r.Signal = 137, "SIGKILL"
	}
	r.Limit = d.limit
	r.TimedOut = limited.Err() != nil && ctx.Err() == nil
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, err
	}
	return r, ctx.Err()
}

func shell(t *testing.T) (*Shell, *direct, string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	dir, sb := t.TempDir(), &direct{}
	log, err := evidence.Open(dir, "run", evidence.Options{Redact: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("***")) }, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Shell{Log: log, Sandbox: sb, Template: sandbox.Command{Env: []string{"MARK=1"}}, Root: tree, Tree: "0123", Agent: "verification", Task: "t1"}, sb, dir
}

// The answer begins with the evidence id and how the command ended; the log has
// the same bytes.
func TestRunBash(t *testing.T) {
	t.Parallel()
	s, sb, _ := shell(t)
	got := call(t, Bash(s), m{"command": "pwd; echo hunter2; echo oops >&2; echo $MARK; false | cat"})
	want := "[E1] exit=1 duration=1.5s\n--- stdout ---\n" + s.Root + "\n***\n1\n--- stderr ---\noops\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if sb.last.Timeout != 120*time.Second {
		t.Errorf("timeout %s, want 120s", sb.last.Timeout)
	}
	rec := s.Log.Records()[0]
	if rec.Agent != "verification" || rec.Task != "t1" || rec.Tree != "0123" || rec.Exit != 1 || !rec.Executed || rec.Command == "" {
		t.Errorf("record %+v", rec)
	}
	out, err := s.Log.Output(rec.Stdout)
	if err != nil || string(out) != s.Root+"\n***\n1\n" {
		t.Errorf("recorded %q %v", out, err)
	}
}

// Each command is on its own, and a long timeout is a bounded one.
func TestRunBashAlone(t *testing.T) {
	t.Parallel()
	s, sb, _ := shell(t)
	call(t, Bash(s), m{"command": "cd / && X=1"})
	if got := call(t, Bash(s), m{"command": `echo "[$X]" && pwd`, "timeout_seconds": 5000}); !strings.Contains(got, "[]\n"+s.Root+"\n") {
		t.Errorf("got %q", got)
	}
	if sb.last.Timeout != 900*time.Second {
		t.Errorf("timeout %s, want 900s", sb.last.Timeout)
	}
	for _, args := range []m{{"command": " "}, {"command": "a\x00b"}, {"command": "ls", "timeout_seconds": -1}} {
		if got := call(t, Bash(s), args); !strings.HasPrefix(got, "error: run_bash") {
			t.Errorf("%v: %q", args, got)
		}
	}
}

// A command that runs out of time, or is ended for a limit, says so in the first line.
func TestRunBashTimeout(t *testing.T) {
	t.Parallel()
	s, box, _ := shell(t)
	if got := call(t, Bash(s), m{"command": "exec sleep 60", "timeout_seconds": 1}); !strings.HasPrefix(got, "[E1] exit=137 duration=1.5s timed_out signal=SIGKILL\n") {
		t.Errorf("got %q", got)
	}
	box.limit = "memory"
	if got := call(t, Bash(s), m{"command": "kill -9 $$"}); !strings.HasPrefix(got, "[E2] exit=137 duration=1.5s limit=memory signal=SIGKILL\n") {
		t.Errorf("got %q", got)
	}
}

// A refused command does not run, is recorded, and is answered with its reason.
func TestRunBashRefused(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	s.Refuse = func(string) *Denied {
		return &Denied{Code: "hard_floor", Rule: "privilege", Source: "hard floor", Hint: "no"}
	}
	res, err := Bash(s).Run(t.Context(), json.RawMessage(`{"command":"sudo touch x"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":"hard_floor","tool":"run_bash","target":"sudo touch x","rule":"privilege","source":"hard floor","hint":"no"}`
	if res.Text != want || !res.Errored || res.Denied == nil || len(res.Evidence) != 1 {
		t.Errorf("got %+v", res)
	}
	rec := s.Log.Records()[0]
	if rec.Executed || rec.Denied == nil || rec.Denied.Rule != "privilege" {
		t.Errorf("record %+v", rec)
	}
	if _, err := os.Stat(filepath.Join(s.Root, "x")); !os.IsNotExist(err) {
		t.Error("the command ran")
	}
}

// What a command did to tracked files is reported; what cannot be found out about
// it ends the turn.
func TestRunBashAfter(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	s.After = func(context.Context) ([]string, error) { return []string{"go.mod", "a\nb"}, nil }
	if got := call(t, Bash(s), m{"command": "true"}); !strings.Contains(got, "changed tracked files or refs; they were restored, and a PASS is no longer possible: go.mod, a<U+000A>b\n") {
		t.Errorf("got %q", got)
	}
	s.After = func(context.Context) ([]string, error) { return nil, errors.New("disk gone") }
	if _, err := Bash(s).Run(t.Context(), json.RawMessage(`{"command":"true"}`)); err == nil || isBad(err) {
		t.Errorf("error %v, want one of infrastructure", err)
	}
}

// A cancelled turn is no answer, and what ran is in the log all the same.
func TestRunBashCancelled(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Bash(s).Run(ctx, json.RawMessage(`{"command":"true"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// A long output is cut in the middle, the handle reads all of it, and neither
// stream drowns the other.
func TestRunBashLongOutput(t *testing.T) {
	t.Parallel()
	s, _, dir := shell(t)
	got := call(t, Bash(s), m{"command": `for i in $(seq 5000); do echo "out $i"; echo "err $i" >&2; done`})
	if n := strings.Count(got, "\n"); n > bashLines+10 {
		t.Errorf("%d lines, at most %d", n, bashLines)
	}
	for _, want := range []string{"out 1\n", "out 5000\n", "err 1\n", "err 5000\n", "read_file reads all of it as spill:E1.stdout", "spill:E1.stderr"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q", want)
		}
	}
	all := call(t, ReadFile(Trees{Spill: root(t, filepath.Join(dir, "spill"))}), m{"path": "spill:E1.stdout", "offset": 2500, "limit": 1})
	if !strings.HasPrefix(all, "out 2500\n") {
		t.Errorf("spill: %q", all)
	}
}

// Cutting keeps three quarters at the front, counts what it leaves out, and
// never splits a character.
func TestCut(t *testing.T) {
	t.Parallel()
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%03d\n", i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, in string
		l        limit
		want     string
	}{
		{"short", "a\nb\n", limit{10, 10}, "a\nb\n"},
		{"by lines", lines(100), limit{1000, 8}, "000\n001\n002\n003\n004\n005\n[… 92 lines, 368 bytes left out; read_file reads all of it as H …]\n098\n099\n"},
		{"by bytes", lines(100), limit{32, 1000}, "000\n001\n002\n003\n004\n005\n[… 92 lines, 368 bytes left out; read_file reads all of it as H …]\n098\n099\n"},
		{"one long line", strings.Repeat("ü", 100), limit{42, 10}, strings.Repeat("ü", 15) + "\n[… 1 lines, 160 bytes left out; read_file reads all of it as H …]\n" + strings.Repeat("ü", 5)},
		{"nothing fits", "abc", limit{0, 0}, "[… 1 lines, 3 bytes left out; read_file reads all of it as H …]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cut(tt.in, tt.l, "H"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
