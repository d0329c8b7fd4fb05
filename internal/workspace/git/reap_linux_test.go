package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a git command has started is gone when it was broken off, also where this program adopts
// orphans: none is left that no one waits for.
func TestBrokenOffLeavesNoProcess(t *testing.T) {
	t.Parallel()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	script := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncase \"$*\" in *version) echo git version 2.50.0; exit 0 ;; esac\n"+
		"sh -c 'sleep 100 & echo $! $$; wait' &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := New(script, []string{"PATH=" + os.Getenv("PATH")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	r, w := io.Pipe()
	go func() { ended <- g.Stream(ctx, Call{Args: []string{"fetch"}}, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("git ended with %v", err)
	}
	for _, text := range strings.Fields(line) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
			state, _ := os.ReadFile("/proc/" + text + "/stat")
			t.Errorf("process %d is left: %v: %s", pid, err, state)
		}
	}
}
