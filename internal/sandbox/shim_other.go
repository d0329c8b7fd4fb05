//go:build !linux

package sandbox

import "io"

// RunShim fails: Landlock and seccomp are of Linux.
func RunShim(_ []string, _ io.Writer) int { return shimFailed }
