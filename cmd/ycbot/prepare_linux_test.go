package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Who is not root is shown what "sandbox prepare" would do, and gets exit code 3.
func TestPrepareNeedsRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for d := dir; strings.HasPrefix(d, os.TempDir()) && d != os.TempDir(); d = filepath.Dir(d) { // the way to it
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const unit = "/etc/systemd/system/ycbot.service.d/ycbot-delegate.conf"
	_, before := os.Stat(unit)
	program := filepath.Join(dir, "ycbot")
	copyOwn(t, program)
	cmd := exec.CommandContext(t.Context(), program, "sandbox", "prepare", "--unit", "ycbot.service")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "will write /etc/systemd/") || !strings.Contains(string(out), "needs root") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, after := os.Stat(unit); (after == nil) != (before == nil) {
		t.Error("it was done")
	}
}

// copyOwn links or copies the program that runs, which is ycbot under that name. A copy cannot be
// started while a process that another test forked has it open for writing.
func copyOwn(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(exe, to) == nil {
		return
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err == nil {
		_, err = io.Copy(out, from)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
