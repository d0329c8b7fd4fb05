package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTestBasic is a sandbox of tier basic whose shims wait for as long as idle says.
func newTestBasic(t *testing.T, idle time.Duration) *basic {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box, err := Detect(t.Context(), Options{Mode: "basic", PATH: "/usr/bin:/bin", TempDir: t.TempDir(), Now: time.Now, Shim: []string{exe, "sandbox-exec"}})
	if err != nil {
		t.Fatal(err)
	}
	b, ok := box.(*basic)
	if !ok {
		t.Fatalf("a %T", box)
	}
	if w := b.shims.withdraw(); w != nil { // of the self-test
		w.close()
	}
	b.shims.wait = idle
	return b
}

// waits returns the process of the shim that waits once there is one other than not.
func waits(t *testing.T, s *standby, not int) int {
	t.Helper()
	for end := time.After(time.Minute); ; {
		s.mu.Lock()
		w := s.next
		s.mu.Unlock()
		if w != nil && w.proc.member.pid != not {
			return w.proc.member.pid
		}
		select {
		case <-end:
			t.Fatal("no shim waits")
		case <-time.After(time.Millisecond):
		}
	}
}

func echo(t *testing.T, b *basic, script string) string {
	t.Helper()
	res, err := b.Run(t.Context(), Command{Argv: []string{"bash", "-c", script}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(res.Stdout.Bytes))
}

// The next command is run by the shim that waits, and by another one where someone
// has ended that meanwhile.
func TestWaitingShim(t *testing.T) {
	t.Parallel()
	b := newTestBasic(t, time.Hour)
	echo(t, b, "true")
	pid := waits(t, b.shims, 0)
	if got := echo(t, b, "echo $PPID"); got != fmt.Sprint(pid) {
		t.Errorf("the parent of a command is %s, and %d waited", got, pid)
	}
	pid = waits(t, b.shims, pid)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.shims.mu.Lock()
	w := b.shims.next
	b.shims.mu.Unlock()
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil || w == nil {
		t.Fatal(err)
	}
	if got := echo(t, b, "echo $PPID"); got == "" || got == fmt.Sprint(pid) {
		t.Errorf("the parent of a command is %q, after %d was killed", got, pid)
	}
}

// A command learns nothing from a shim that waits, and cannot end it where Landlock
// says who may be signalled.
func TestWaitingShimIsOutOfReach(t *testing.T) {
	t.Parallel()
	b := newTestBasic(t, time.Hour)
	dir := t.TempDir()
	begun, started := filepath.Join(dir, "begun"), filepath.Join(dir, "go")
	if err := errors.Join(unix.Mkfifo(begun, 0o600), unix.Mkfifo(started, 0o600)); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		res, err := b.Run(t.Context(), Command{Argv: []string{"bash", "-c", `echo >"$1"
read -r pid <"$2"
cat /proc/$pid/environ /proc/$pid/maps /proc/$pid/mem >/dev/null 2>&1 && echo read
readlink /proc/$pid/fd/3 && echo files
(echo '{}' > /proc/$pid/fd/3) 2>/dev/null && echo policy
kill -9 $pid 2>/dev/null && echo killed
echo looked`, "bash", begun, started}, Writable: []string{dir}, Timeout: time.Minute})
		got <- fmt.Sprint(strings.TrimSpace(string(res.Stdout.Bytes)), err)
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	echo(t, b, "true") // another command, after which a shim waits beside the first
	pid := waits(t, b.shims, 0)
	if err := os.WriteFile(started, fmt.Appendln(nil, pid), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "looked<nil>"
	if b.means.abi < abiScopes {
		want = "killed\nlooked<nil>"
	}
	if text := <-got; text != want {
		t.Errorf("the command says %q, want %q", text, want)
	}
}

// A shim that no one needs ends, and one whose policy breaks off starts nothing.
func TestWaitingShimEnds(t *testing.T) {
	t.Parallel()
	b := newTestBasic(t, time.Microsecond)
	echo(t, b, "true")
	for end := time.After(time.Minute); !idle(b.shims); {
		select {
		case <-end:
			t.Fatal("a shim goes on waiting")
		case <-time.After(time.Millisecond):
		}
	}
	w, err := startWaiting(b.means)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p, err := b.policy(Command{Argv: []string{"touch", filepath.Join(dir, "x")}, Writable: []string{dir}}, scratch{home: dir, temp: dir}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(w.give, `{"argv": ["/bin/touch", %q], "dir": "/", "stay": true`, filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	w.give.Close()
	var exit *exec.ExitError
	if err := w.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != shimFailed {
		t.Errorf("a shim with half of a policy ends with %v", err)
	}
	if err := w.send(p, dir); err == nil {
		t.Error("a shim that has ended took a policy")
	}
	w.sent = true // it is waited for
	family.forget(w.proc.member)
	w.close()
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("it has started a command")
	}
}

// idle says that no shim waits or is about to.
func idle(s *standby) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next == nil && !s.starting
}
