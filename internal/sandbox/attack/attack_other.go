//go:build !linux

package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

type attack struct {
	id, name string
	never    bool
}

func attacks() []attack { return nil }

// Try fails: the tiers that can be attacked are of Linux.
func Try(context.Context, Program, string, string, int, io.Writer) (map[string]Verdict, error) {
	return nil, errors.New("the attacks are not made for " + runtime.GOOS)
}

// Main fails: there are no attacks.
func Main(_ context.Context, _ []string, _ func() time.Time, _, stderr io.Writer) int {
	fmt.Fprintln(stderr, "the attacks are not made for "+runtime.GOOS)
	return 3
}
