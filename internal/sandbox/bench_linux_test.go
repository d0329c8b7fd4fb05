package sandbox_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// BenchmarkRun measures what a command that does nothing costs in each tier,
// beside starting it and beside bubblewrap alone. The metrics are medians in
// milliseconds. Plain bubblewrap comes first: what it orphans would be the
// sandbox's to look for. Release builds are made with CGO_ENABLED=0, and so
// should this one be.
func BenchmarkRun(b *testing.B) {
	const rounds = 50
	median := func(run func() error) float64 {
		var took []time.Duration
		for range rounds {
			start := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return float64(took[rounds/2].Microseconds()) / 1000
	}
	for b.Loop() {
		b.ReportMetric(median(func() error { return exec.Command("/bin/true").Run() }), "exec-ms")
		b.ReportMetric(median(func() error {
			return exec.Command("bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
				"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
				"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "/bin/true").Run()
		}), "bwrap-ms")
		for _, mode := range []string{"none", bare, "basic", "full"} {
			o := sandbox.Options{Mode: mode, PATH: systemPath, TempDir: b.TempDir(), Now: time.Now, Shim: ownShim()}
			if mode == bare {
				o.Mode, o.Shim = "basic", nil
			}
			sb, err := sandbox.Detect(b.Context(), o)
			if err != nil {
				b.Skip(err)
			}
			b.ReportMetric(median(func() error {
				_, err := sb.Run(b.Context(), sandbox.Command{Argv: []string{"/bin/true"}})
				return err
			}), mode+"-ms")
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	for b.Loop() {
		if _, err := sandbox.Detect(b.Context(), sandbox.Options{Mode: "full", PATH: systemPath, TempDir: b.TempDir(), Now: time.Now, Shim: ownShim()}); err != nil {
			b.Skip(err)
		}
	}
}
