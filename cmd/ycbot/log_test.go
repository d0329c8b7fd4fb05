package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/terminal"
)

// Warnings are lines that people can read; with --verbose they are log records.
func TestLogIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quiet, verbose bool
		want           string
	}{
		{want: "ycbot: warning: tier not available: no bwrap; install it\nycbot: warning: gone (run 7, dir a [31m)\nycbot: broken\n"},
		{quiet: true, want: "ycbot: broken\n"},
		{verbose: true, want: "level=INFO msg=begins"},
	} {
		stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		p := &program{stderr: terminal.NewConsole(stderr, nil), quiet: c.quiet, verbose: c.verbose}
		log := p.log()
		log.Info("begins")
		log.Warn("tier not available", "error", errors.New("no bwrap; install it"))
		log.With("run", 7).Warn("gone", "dir", "a\x1b[31m")
		log.Error("broken")
		got, err := os.ReadFile(stderr.Name())
		right := string(got) == c.want || c.verbose && strings.Contains(string(got), c.want)
		if err != nil || !right {
			t.Errorf("%+v: %v, %q", c, err, got)
		}
		_ = stderr.Close()
	}
}

// A full disk is said with what to do.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("report: %w", &os.PathError{Op: "write", Path: "journal.jsonl", Err: syscall.ENOSPC})
	if got := oneLine(err); got != "report: write journal.jsonl: no space left on device: make room there, or have ycbot's files elsewhere (YCBOT_HOME, --out)" {
		t.Error(got)
	}
}
