// Package spent says how much processor time a function takes, for tests that hold that one is
// bounded.
//
// Beside the other tests of a busy machine the time on the clock is several times as long, and a
// limit to it would be broken by that alone.
package spent

import (
	"runtime"
	"testing"
	"time"
)

// On returns the processor time that f takes, in this goroutine: what f starts beside itself does
// not count. Where the system does not count by thread it is the time on the clock.
func On(tb testing.TB, f func()) time.Duration {
	tb.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := thread(tb)
	f()
	return thread(tb) - began
}
