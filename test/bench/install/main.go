// Install gets the programs of others ready that tests use: the Node packages,
// and act. The tests do so themselves; this is for who wants it done before.
//
//	go run ./test/bench/install
//
// What the machine lacks is said in a line and is no error: the tests that want
// it are skipped.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/ycbot/ycbot/test/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Stderr))
}

func run(ctx context.Context, stderr io.Writer) int {
	code := 0
	for _, get := range []func(context.Context) (string, error){bench.Node, bench.Runners, bench.Managers, bench.Act} {
		if _, err := get(ctx); err != nil {
			fmt.Fprintln(stderr, "install:", err)
			if !errors.Is(err, bench.ErrMissing) {
				code = 1
			}
		}
	}
	return code
}
