package spent

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// thread is the processor time of this thread, up to now.
func thread(tb testing.TB) time.Duration {
	tb.Helper()
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &use); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
