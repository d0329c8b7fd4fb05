package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// Each limit is the one that was asked for, cannot be raised by the command, and
// can be switched off.
func TestLimits(t *testing.T) {
	t.Parallel()
	const show = `ulimit -Hd; ulimit -Sf; ulimit -Hn; ulimit -Ht; ulimit -Hc; ulimit -n 5000 2>/dev/null && echo raised; exit 0`
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) {
			o.Limits = sandbox.Limits{Memory: 512 << 20, FileSize: 8 << 20, OpenFiles: 300, CPU: 90 * time.Second}
		})
		res := run(t, sb, sandbox.Command{Argv: bash(show)})
		if got := strings.Fields(string(res.Stdout.Bytes)); strings.Join(got, " ") != "524288 8192 300 90 0" {
			t.Errorf("%s: %q", mode, got)
		}
		res = run(t, sb, sandbox.Command{Argv: bash(`head -c 20000000 /dev/zero >"$TMPDIR/x"; stat -c %s "$TMPDIR/x"`)})
		if got := string(res.Stdout.Bytes); got != "8388608\n" {
			t.Errorf("%s: a file of %s", mode, got)
		}
		sb = detect(t, mode, func(o *sandbox.Options) {
			o.Limits = sandbox.Limits{Memory: -1, FileSize: -1, Processes: -1, CPU: -1, Disk: -1}
		})
		res = run(t, sb, sandbox.Command{Argv: bash("ulimit -d; ulimit -f; ulimit -t")})
		if got := strings.Fields(string(res.Stdout.Bytes)); strings.Join(got, " ") != "unlimited unlimited unlimited" {
			t.Errorf("%s: without limits: %q", mode, got)
		}
	}
}

// A command that writes too much in all is ended and the Result says why; what
// others write to the same disk is not held against it.
func TestDiskLimit(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"basic", "full"} {
		dir := t.TempDir()
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Disk = 64 << 20 })
		const text = `for i in {1..200}; do head -c 4000000 /dev/zero >"$1/$i"; sleep 0.02; done`
		res := run(t, sb, sandbox.Command{Argv: bash(text, dir), Dir: dir, Writable: []string{dir}})
		if res.Limit != "disk" || res.Exit != 137 {
			t.Errorf("%s: limit %q, exit %d", mode, res.Limit, res.Exit)
		}
		other := t.TempDir()
		done := make(chan struct{})
		go func() {
			defer close(done)
			res := run(t, detect(t, "none", nil), sandbox.Command{Argv: bash(`head -c 200000000 /dev/zero >"$1/x"`, other)})
			if res.Exit != 0 {
				t.Errorf("the other: exit %d", res.Exit)
			}
		}()
		quiet := t.TempDir()
		res = run(t, sb, sandbox.Command{Argv: bash(`until [ -s "$1/go" ]; do sleep 0.05; [ $((n++)) -lt 10 ] || break; done; echo fine`, quiet), Dir: quiet, Writable: []string{quiet}})
		<-done
		if res.Limit != "" || res.Exit != 0 {
			t.Errorf("%s: for what another wrote: limit %q, exit %d", mode, res.Limit, res.Exit)
		}
	}
}

// A shim that is not what it should be runs nothing.
func TestBrokenShim(t *testing.T) {
	t.Parallel()
	for name, shim := range map[string][]string{"another program": {"/bin/true"}, "not there": {"/nowhere/ycbot", shimName}} {
		for _, mode := range []string{"full", "basic"} {
			o := sandbox.Options{Mode: mode, PATH: systemPath, TempDir: t.TempDir(), Now: time.Now, Shim: shim}
			if sb, err := sandbox.Detect(t.Context(), o); err == nil {
				t.Errorf("%s, %s: tier %s", name, mode, sb.Status().Tier)
			}
		}
	}
}
