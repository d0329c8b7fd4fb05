//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

// newBubblewrap fails: bubblewrap is a program for Linux.
func newBubblewrap(context.Context, Options) (Sandbox, error) {
	return nil, errors.New("not available on " + runtime.GOOS + "; use Linux, or a container or virtual machine of it")
}
