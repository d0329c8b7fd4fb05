package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A command is not charged for what another wrote just before it started.
func TestGuardCountsOneCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		started time.Time
		entries int64
	}{
		{time.Now().Add(-time.Minute), 31}, // the folder changed too
		{time.Now().Add(time.Second / 2), 0},
	} {
		g := newGuard(Limits{Disk: 1 << 30, Inodes: 1000}, nil, func() time.Time { return c.started }, []string{dir})
		if _, entries, _ := g.measure(g.volumes[0]); entries != c.entries {
			t.Errorf("%d entries since %s, want %d", entries, c.started, c.entries)
		}
	}
}
