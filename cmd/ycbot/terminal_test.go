package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A run on a real terminal leaves one line for each command and no live line; with
// NO_COLOR no colours, on a dumb terminal no escape sequence at all, and with
// --quiet nothing but the report.
func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	makeChange(t, repo, sumBase, map[string]string{"sum.sh": "# adds\necho \"$(($1 + $2))\"\n"})
	for _, tc := range []struct {
		env, flag    string
		want, refuse []string
	}{
		{"TERM=xterm", "", []string{"\x1b[32m✓\x1b[0m head test", "\x1b[J"}, []string{"ycbot: head test"}},
		{"NO_COLOR=1", "", []string{"✓ head test", "\x1b[J"}, []string{"\x1b[32m"}},
		{"CI=true", "", []string{"ycbot: head test"}, []string{"✓ head", "\x1b[J"}},
		{"TERM=dumb", "", []string{"ycbot: head test"}, []string{"\x1b", "✓ head"}},
		{"TERM=xterm", "--quiet", []string{"VERDICT: "}, []string{"✓ head test", "ycbot: ", "\x1b[J"}},
	} {
		cmd := realProgram(t, filepath.Join(dir, "home"), "run", "-C", repo, "--sandbox", "none", "--no-model")
		if tc.flag != "" {
			cmd.Args = append(cmd.Args, tc.flag)
		}
		cmd.Env = append(cmd.Env, "NO_COLOR=", tc.env)
		out := onTerminal(t, cmd)
		for _, w := range tc.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s %s: no %q in\n%q", tc.env, tc.flag, w, out)
			}
		}
		for _, w := range tc.refuse {
			if strings.Contains(out, w) {
				t.Errorf("%s %s: %q in\n%q", tc.env, tc.flag, w, out)
			}
		}
	}
}

// What kept a change from being verified is printed once where a person reads both outputs.
func TestErrorOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	makeChange(t, repo, sumBase, map[string]string{"sum.sh": "# adds\n"})
	out := onTerminal(t, realProgram(t, filepath.Join(dir, "home"), "run", "-C", repo, "--sandbox", "none", "--base", "nosuch"))
	if n := strings.Count(out, "no commit"); n != 1 || !strings.Contains(out, "VERDICT: ERROR") {
		t.Errorf("%d times in\n%s", n, out)
	}
}

// onTerminal runs a program on a terminal of its own and returns what it wrote.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Skipf("no terminal can be had: %v", err)
	}
	defer tty.Close()
	var out strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		out.Write(buf[:n])
		if err != nil { // EIO: its last user has gone
			break
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 3 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}
