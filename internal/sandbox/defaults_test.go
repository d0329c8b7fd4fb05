package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The limits of a command that says nothing of them are those of docs/security.md.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	for memory, most := range map[int64]int64{16 << 30: 12 << 30, 1 << 30: 2 << 30} {
		want := Limits{Memory: most, Processes: 4096, FileSize: 8 << 30, OpenFiles: 65536, Disk: 20 << 30, Inodes: 2_000_000}
		if d := cmp.Diff(want, Limits{}.complete(memory)); d != "" {
			t.Errorf("of %d bytes (-want +got):\n%s", memory, d)
		}
	}
	if defaultOutputLimit != 256<<20 {
		t.Errorf("%d bytes of output", defaultOutputLimit)
	}
	own := Limits{Memory: -1, Processes: 1, FileSize: 2, OpenFiles: 3, Disk: -1, Inodes: 4}
	if d := cmp.Diff(own, own.complete(1<<30)); d != "" {
		t.Errorf("those that are set (-want +got):\n%s", d)
	}
}
