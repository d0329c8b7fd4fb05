package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// TestNoMark holds that a command of tier full finds no mark of this program by which
// code could behave while it is verified: not in its environment, its user, its
// mounts' names, its processes or its cgroup.
func TestNoMark(t *testing.T) {
	t.Parallel()
	self, err := os.ReadFile(ownShim()[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "ycbot")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	sb := detect(t, "full", func(o *sandbox.Options) { o.Shim[0] = program })
	res := run(t, sb, sandbox.Command{Argv: bash(`env; id; cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm /proc/self/cgroup; ls -d /* /.* /run/* ~/..; cat /etc/passwd /etc/group; ls -l /proc/[0-9]*/fd`)})
	seen := string(res.Stdout.Bytes)
	if !strings.Contains(seen, "USER=runner") || !strings.Contains(seen, "bwrap") {
		t.Fatalf("the command has not looked: %s%s", seen, res.Stderr.Bytes)
	}
	for line := range strings.Lines(strings.ReplaceAll(seen, "\x00", " ")) {
		if strings.Contains(strings.ToLower(line), "ycbot") {
			t.Errorf("a mark: %s", line)
		}
	}
}
