//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

// newBubblewrap fails: bubblewrap is a program for Linux.
func newBubblewrap(context.Context, Options, bool) (Sandbox, error) { return nil, errNotHere() }

// newBasic fails: Landlock and seccomp are of Linux.
func newBasic(context.Context, Options, string) (Sandbox, error) { return nil, errNotHere() }

func errNotHere() error {
	return errors.New("not available on " + runtime.GOOS + "; use Linux, or a container or virtual machine of it")
}
