package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Each limit is the one that was asked for, cannot be raised by the command, and
// can be switched off.
func TestLimits(t *testing.T) {
	t.Parallel()
	const show = `ulimit -Sf; ulimit -Hn; ulimit -Ht; ulimit -Hc; ulimit -n 5000 2>/dev/null && echo raised; exit 0`
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) {
			o.Limits = sandbox.Limits{Memory: 512 << 20, FileSize: 8 << 20, OpenFiles: 300, CPU: 90 * time.Second}
		})
		res := run(t, sb, sandbox.Command{Argv: bash(show)})
		if got := strings.Fields(string(res.Stdout.Bytes)); strings.Join(got, " ") != "8192 300 90 0" {
			t.Errorf("%s: %q", mode, got)
		}
		res = run(t, sb, sandbox.Command{Argv: bash(`head -c 20000000 /dev/zero >"$TMPDIR/x"; stat -c %s "$TMPDIR/x"`)})
		if got := string(res.Stdout.Bytes); got != "8388608\n" {
			t.Errorf("%s: a file of %s", mode, got)
		}
		sb = detect(t, mode, func(o *sandbox.Options) {
			o.Limits = sandbox.Limits{Memory: -1, FileSize: -1, Processes: -1, CPU: -1, Disk: -1}
		})
		res = run(t, sb, sandbox.Command{Argv: bash("ulimit -f; ulimit -t")})
		if got := strings.Fields(string(res.Stdout.Bytes)); strings.Join(got, " ") != "unlimited unlimited" {
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

// What a command writes into files without a name, or where the harness may not look, counts.
func TestDiskLimitUnseen(t *testing.T) {
	variants.Only(t) // a file system is filled eight times; TestDiskLimit has one
	t.Parallel()
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Disk = 64 << 20 })
		const write = `for i in {1..100}; do head -c 4000000 /dev/zero >&3; sleep 0.02; done; sleep 20`
		for name, text := range map[string]string{
			"without a name":  `exec 3>f; rm f; ` + write,
			"mapped":          `exec python3 -c 'import mmap, os, time; f = open("f", "w+b"); os.unlink("f"); f.truncate(400000000); m = mmap.mmap(f.fileno(), 400000000); f.close(); [(m.write(bytes(4000000)), time.sleep(0.02)) for i in range(100)]; time.sleep(20)'`,
			"in a closed one": `mkdir d; exec 3>d/f; chmod 0 d; ` + write,
			"too deep":        `exec python3 -c '` + longPath + `f = open("f", "wb"); [(f.write(bytes(4000000)), time.sleep(0.02)) for i in range(100)]; time.sleep(20)'`,
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				t.Cleanup(func() {
					_ = os.Chmod(filepath.Join(dir, "d"), 0o700)
					if err := folder.RemoveAll(context.Background(), filepath.Join(dir, strings.Repeat("a", 200))); err != nil {
						t.Error(err)
					}
				})
				res := run(t, sb, sandbox.Command{Argv: bash(text), Dir: dir, Writable: []string{dir}})
				if res.Limit != "disk" || res.Exit != 137 {
					t.Errorf("limit %q, exit %d: %s", res.Limit, res.Exit, res.Stderr.Bytes)
				}
			})
		}
	}
}

// longPath goes into a folder whose path is longer than what the kernel takes at once.
const longPath = `import os, time; [(os.mkdir("a" * 200), os.chdir("a" * 200)) for i in range(25)]; `

// A command that makes too many files, or too many names of one, is ended for it, and
// what it leaves can be removed.
func TestInodeLimit(t *testing.T) {
	variants.Only(t) // a file system is filled with files eight times; TestDiskLimit has one
	t.Parallel()
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Inodes = 3000 })
		for name, text := range map[string]string{
			"files":   `mkdir d; cd d; for i in {1..200}; do touch $i.{1..100}; sleep 0.01; done; sleep 10`,
			"folders": `for i in {1..200}; do mkdir -p $i/{1..100}; sleep 0.01; done; sleep 10`,
			"deep":    `exec python3 -c '` + longPath + `[(open("%d" % i, "w").close(), time.sleep(0.0005)) for i in range(8000)]; time.sleep(20)'`,
			"names":   `touch x; mkdir l; python3 -c 'import os; [os.link("x", "l/%d" % i) for i in range(8000)]'; sleep 20`,
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				res := run(t, sb, sandbox.Command{Argv: bash(text), Dir: dir, Writable: []string{dir}})
				if res.Limit != "inodes" || res.Exit != 137 {
					t.Errorf("limit %q, exit %d: %s", res.Limit, res.Exit, res.Stderr.Bytes)
				}
				if err := folder.RemoveAll(t.Context(), dir); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A command that runs in the folders of one that was just ended for what it wrote is not
// ended for the same.
func TestNextAfterLimit(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", func(o *sandbox.Options) { o.Limits.Inodes = 3000 })
	dir := t.TempDir()
	res := run(t, sb, sandbox.Command{Argv: []string{"python3", "-c", `
import itertools, os
open("x", "w")
for i in itertools.count(): os.link("x", "%d" % i) if i < 6000 else os.utime("x")
`}, Dir: dir, Writable: []string{dir}})
	if res.Limit != "inodes" {
		t.Fatalf("limit %q, exit %d: %s", res.Limit, res.Exit, res.Stderr.Bytes)
	}
	res = run(t, sb, sandbox.Command{Argv: bash("echo here; sleep 2"), Dir: dir, Writable: []string{dir}})
	if res.Limit != "" || res.Exit != 0 {
		t.Errorf("the next: limit %q, exit %d: %s", res.Limit, res.Exit, res.Stderr.Bytes)
	}
}

// A command whose processes have too much memory in use together, each of them little, is
// ended for it, also where no cgroup is delegated; one that maps much and uses little is not.
func TestMemoryWatched(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Memory = 300 << 20 })
		res := run(t, sb, sandbox.Command{Argv: bash(`for i in {1..8}; do (head -c 60000000 /dev/zero | tail >/dev/null; sleep 20) & done; head -c 400000000 /dev/zero | tail; wait`)})
		if res.Limit != "memory" || res.Exit != 137 {
			t.Errorf("%s: limit %q, exit %d: %s", mode, res.Limit, res.Exit, res.Stderr.Bytes)
		}
		res = run(t, sb, sandbox.Command{Argv: bash(`exec python3 -c 'import os, time; f = [os.memfd_create("x") for i in range(4)]; [(os.write(f[i % 4], bytes(4000000)), time.sleep(0.02)) for i in range(200)]; time.sleep(20)'`)})
		if res.Limit != "memory" || res.Exit != 137 {
			t.Errorf("%s: in files of memory: limit %q, exit %d: %s", mode, res.Limit, res.Exit, res.Stderr.Bytes)
		}
		if mode == "full" { // the others have such folders on a disk
			res = run(t, sb, sandbox.Command{Argv: bash(`for dir in /tmp /dev/shm "$HOME"; do for i in {1..30}; do head -c 5000000 /dev/zero >$dir/$i; done; done; sleep 20`)})
			if res.Limit != "memory" || res.Exit != 137 {
				t.Errorf("%s: in folders in memory: limit %q, exit %d: %s", mode, res.Limit, res.Exit, res.Stderr.Bytes)
			}
		}
		const mapped = `exec python3 -c 'import mmap, os, time; f = os.memfd_create("x"); os.truncate(f, 200000000); m = mmap.mmap(f, 200000000); [m.write(bytes(1000000)) for i in range(200)]; time.sleep(1)'`
		if res = run(t, sb, sandbox.Command{Argv: bash(mapped)}); res.Limit != "" {
			t.Errorf("%s: what is mapped counts twice: limit %q", mode, res.Limit)
		}
		res = run(t, sb, sandbox.Command{Argv: bash("ulimit -d; ulimit -v")})
		if got := strings.Join(strings.Fields(string(res.Stdout.Bytes)), " "); got != "unlimited unlimited" {
			t.Errorf("%s: what may be mapped: %s", mode, got)
		}
	}
}

// With a delegated cgroup the sandbox says so; a command whose processes take too
// much memory together, each of them little, is ended for it; and one that
// starts too many processes is refused more, and goes on.
func TestCgroupLimits(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"basic", "full"} {
		if s := detect(t, mode, nil).Status(); !slices.Contains(s.Layers, "cgroup memory") || !slices.Contains(s.Layers, "cgroup processes") {
			t.Skipf("%s: no cgroup of version 2 with memory and pids is delegated: %q", mode, s.Missing)
		}
		// A shim with the race detector does not start under so small a limit.
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits = sandbox.Limits{Memory: 200 << 20, Processes: 60} })
		res := run(t, sb, sandbox.Command{Argv: bash(`for i in {1..8}; do (head -c 60000000 /dev/zero | tail >/dev/null; sleep 5) & done; wait`)})
		if res.Limit != "memory" || res.Exit != 137 {
			t.Errorf("%s: memory: limit %q, exit %d: %s", mode, res.Limit, res.Exit, res.Stderr.Bytes)
		}
		res = run(t, sb, sandbox.Command{Argv: bash(`for i in {1..200}; do sleep 30 & done 2>/dev/null; echo lives`)})
		if res.Limit != "" {
			t.Errorf("%s: processes: limit %q, exit %d: %s", mode, res.Limit, res.Exit, res.Stderr.Bytes)
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

// What other programs keep in /dev/shm is not to be read (its names are), and of the devices only those
// that every program needs are there.
func TestDevices(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "t") //nolint:usetesting // it has to be there
	if err != nil {
		t.Skipf("no /dev/shm: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("a secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, nil)
		res := run(t, sb, sandbox.Command{Argv: bash(`cat "$1"/*; cat /dev/kmsg | head -1; ls /dev >/dev/null && head -c 1 /dev/urandom >/dev/null && cat </dev/stdin >/dev/fd/1 && echo fine`, dir)})
		if got := string(res.Stdout.Bytes); got != "fine\n" {
			t.Errorf("%s: %q\n%s", mode, got, res.Stderr.Bytes)
		}
	}
}
