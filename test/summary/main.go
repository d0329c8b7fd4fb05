// Summary runs "go test -json" with the arguments that it is given and says
// what happened: a line for each package as it ends, the output of what failed
// in full, each reason for which tests were skipped, and in its last line how
// many tests passed, failed and were skipped.
//
//	go run ./test/summary -race ./...
//	go run ./test/summary -also test/perf -race ./...
//
// With -also all tests of a module in another folder run as well, after those here and
// without the arguments, and count with them.
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
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the tests of the module in dir, and of that which args name with -also, and
// returns the exit code.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	also := ""
	if len(args) > 1 && args[0] == "-also" {
		also, args = filepath.Join(dir, args[1]), args[2:]
	}
	env := os.Environ()
	if os.Getenv("TMPDIR") == "" {
		if temp := memoryDir("/dev/shm"); temp != "" {
			defer os.RemoveAll(temp)
			env = append(env, "TMPDIR="+temp)
		}
	}
	s := newSummary(stdout)
	err := s.tests(ctx, dir, env, args, stderr)
	if also != "" {
		err = errors.Join(err, s.tests(ctx, also, env, []string{"./..."}, stderr))
	}
	s.finish()
	switch {
	case err != nil || s.failed > 0:
		return 1
	case s.passed == 0:
		fmt.Fprintln(stderr, "summary: no test ran")
		return 1
	}
	return 0
}

// tests runs "go test" in a folder and reads what it says.
func (s *summary) tests(ctx context.Context, dir string, env, args []string, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(stderr, "summary:", err)
		return err
	}
	failed := s.failed
	readErr := s.read(out)
	if readErr != nil {
		fmt.Fprintln(stderr, "summary: read the output of go test:", readErr)
		_, _ = io.Copy(io.Discard, out) // a full pipe would keep go test from ending
	}
	testErr := cmd.Wait()
	if testErr != nil && s.failed == failed {
		fmt.Fprintln(stderr, "summary: go test:", testErr)
	}
	return errors.Join(readErr, testErr)
}
