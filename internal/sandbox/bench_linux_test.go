package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
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

// BenchmarkGoTest tests a small module with warm caches outside and in tier full,
// the median of 5 each.
func BenchmarkGoTest(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command")
	}
	goroot, dir, cache := strings.TrimSpace(string(root)), b.TempDir(), b.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.25\n", "m_test.go": moduleTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	argv := []string{filepath.Join(goroot, "bin", "go"), "test", "-count=1", "."}
	env := []string{"GOCACHE=" + cache, "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0"}
	sb, err := sandbox.Detect(b.Context(), sandbox.Options{
		Mode: "full", PATH: systemPath, TempDir: b.TempDir(), Now: time.Now, Shim: ownShim(), Toolchains: toolchains.At(goroot),
	})
	if err != nil {
		b.Skip(err)
	}
	outside := func() error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + systemPath, "HOME=" + dir}, env...)
		return cmd.Run()
	}
	inside := func() error {
		res, err := sb.Run(b.Context(), sandbox.Command{Argv: argv, Env: env, Dir: dir, Writable: []string{dir, cache}})
		if err == nil && res.Exit != 0 {
			return fmt.Errorf("exit %d: %s%s", res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
		return err
	}
	for b.Loop() {
		var took [2][]time.Duration
		for i := range 6 { // the first fills the cache
			for j, run := range []func() error{outside, inside} {
				start := time.Now()
				if err := run(); err != nil {
					b.Fatal(err)
				}
				if i > 0 {
					took[j] = append(took[j], time.Since(start))
				}
			}
		}
		for j, name := range []string{"outside-ms", "full-ms"} {
			slices.Sort(took[j])
			b.ReportMetric(float64(took[j][2].Microseconds())/1000, name)
		}
	}
}
