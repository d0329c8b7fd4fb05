package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Where little remains of the memory of a container, a command that has much of it is ended,
// and none that has little. No command has more than is in use in the container, however often
// its processes share it, and whatever is in use on the machine around.
func TestGuardOfAContainer(t *testing.T) {
	variants.Only(t) // TestSelfTest has the guard
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	write("proc/self/cgroup", "0::/\n")
	write("sys/fs/cgroup/memory.max", fmt.Sprint(160<<20))
	current := func(n int) { write("sys/fs/cgroup/memory.current", fmt.Sprint(n<<20)) }
	current(100)
	m := means{limits: Limits{Memory: 1 << 40}, bound: cgroup.MemoryBound(root)}
	g := m.guard(nil, time.Now, nil)
	start := func(kilobytes, forks int) *member {
		t.Helper()
		// The shell has that much in a variable before it writes to the pipe, and shares it with
		// the shells below it, which end with their standard input.
		cmd := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(
			`x=$(head -c %d000 /dev/zero | tr '\0' x); exec 3<&0; for ((i = 0; i < %d; i++)); do (exec 1>&-; read -u 3) & done; echo; exec 1>&-; read`, kilobytes, forks,
		))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		member, err := family.start(cmd, "", false, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
			family.forget(member)
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return member
	}
	small, large := start(1, 0), start(30_000, 0)
	for _, tt := range []struct {
		current int
		m       *member
		want    string
	}{{100, large, ""}, {155, small, ""}, {155, large, "memory"}} {
		current(tt.current)
		if got := g.exceeded(tt.m); got != tt.want {
			t.Errorf("%d of 160 MiB are in use, %d bytes by the command: limit %q, want %q", tt.current, family.memory(tt.m), got, tt.want)
		}
	}
	forking := start(30_000, 4)
	m.limits.Memory = 60 << 20
	g = m.guard(nil, time.Now, nil)
	for _, tt := range []struct {
		current int
		want    string
	}{{40, ""}, {90, "memory"}} {
		current(tt.current)
		own := family.memory(forking)
		if got := g.exceeded(forking); got != tt.want || own < 90<<20 {
			t.Errorf("a limit of 60 MiB, %d in use, %d bytes by processes that share them: limit %q, want %q", tt.current, own, got, tt.want)
		}
	}
}

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
