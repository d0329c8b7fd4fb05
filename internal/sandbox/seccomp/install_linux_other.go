//go:build linux && !amd64 && !arm64

package seccomp

import (
	"errors"
	"runtime"
)

// Known says that there is a filter for this architecture.
const Known = false // no list of numbers

// Install fails.
func (Filter) Install() error { return errors.New("seccomp: no filter for " + runtime.GOARCH) }

// Assemble does nothing.
func (Filter) Assemble() (any, error) { return nil, nil } //nolint:nilnil // nothing to assemble
