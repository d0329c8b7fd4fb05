// Summary runs "go test -json" with the arguments that it is given and says
// what happened: a line for each package as it ends, the output of what failed
// in full, each reason for which tests were skipped, and in its last line how
// many tests passed, failed and were skipped.
//
//	go run ./test/summary -race ./...
//
// It exits with 0 only where something ran and nothing failed. Subtests count
// as tests. A package that does not build, or fails without a failing test,
// counts as one failure.
//
// Where there is memory for it, and TMPDIR does not say otherwise, temporary files of
// the tests are kept there: they make and remove hundreds of thousands.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the tests of the module in dir and returns the exit code.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	if os.Getenv("TMPDIR") == "" {
		if temp := memoryDir("/dev/shm"); temp != "" {
			defer os.RemoveAll(temp)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		fmt.Fprintln(stderr, "summary:", err)
		return 2
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, "summary:", err)
		return 2
	}
	s := newSummary(stdout)
	readErr := s.read(out)
	if readErr != nil {
		fmt.Fprintln(stderr, "summary: read the output of go test:", readErr)
		_, _ = io.Copy(io.Discard, out) // a full pipe would keep go test from ending
	}
	testErr := cmd.Wait()
	if testErr != nil && s.failed == 0 {
		fmt.Fprintln(stderr, "summary: go test:", testErr)
	}
	s.finish()
	switch {
	case readErr != nil || testErr != nil || s.failed > 0:
		return 1
	case s.passed == 0:
		fmt.Fprintln(stderr, "summary: no test ran")
		return 1
	}
	return 0
}
