package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
)

// processes is a tool that runs a real command. When the command says "ready" the
// turn is cancelled. What the command started keeps a pipe open, so that the test
// sees whether anything of it is left.
func (b *bench) processes(t *testing.T) tool.Tool {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	sb, err := sandbox.Detect(t.Context(), sandbox.Options{Mode: "none", PATH: "/usr/bin:/bin", TempDir: dir, Now: time.Now, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return tool.Tool{
		Name: "processes", Description: "processes.", Class: tool.Exec, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			var in struct{ Command string }
			if err := json.Unmarshal(args, &in); err != nil {
				return tool.Result{}, err
			}
			gone := make(chan error, 1)
			go func() { gone <- untilClosed(fifo) }()
			_, err := sb.Run(ctx, sandbox.Command{
				Argv: []string{"bash", "-c", "exec 9>'" + fifo + "'; " + in.Command}, Dir: dir, Writable: []string{dir},
				Stdout: readyWriter{b}, Timeout: time.Minute,
			})
			select {
			case err := <-gone:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("something that the command started is alive")
			}
			return tool.Result{}, err
		},
	}
}

// readyWriter cancels the turn when the command is ready.
type readyWriter struct{ b *bench }

func (w readyWriter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("ready")) {
		w.b.cancel(agent.ErrSuperseded)
	}
	return len(p), nil
}

// untilClosed reads a named pipe until no one has it open for writing.
func untilClosed(fifo string) error {
	f, err := os.Open(fifo)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}
