package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBounded: nothing of a directory is read that would take all memory or wait for ever.
func TestBounded(t *testing.T) {
	t.Parallel()
	large := func(name string, size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, name), size); err != nil { // takes no room
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		make func(*testing.T, string)
		want string
	}{
		"as a run leaves it": {large("report.json", 1<<20), ""},
		"sums of 3 GB":       {large("SHA256SUMS", 3<<30), "SHA256SUMS: 3221225472 bytes"},
		"a large report":     {large("report.json", 1<<30), "report.json: 1073741824 bytes"},
		"a large log":        {large("evidence.jsonl", 1<<30), "evidence.jsonl: "},
		"a large spill":      {large("E1.stdout", 2<<30), "E1.stdout: "},
		"a pipe": {func(t *testing.T, dir string) {
			t.Helper()
			if err := syscall.Mkfifo(filepath.Join(dir, "report.json"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "report.json: no regular file"},
		"a link": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Symlink("/dev/zero", filepath.Join(dir, "report.json")); err != nil {
				t.Fatal(err)
			}
		}, "report.json: no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.make(t, dir)
			problems, err := Bounded(dir)
			if got := strings.Join(problems, "; "); err != nil || !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
