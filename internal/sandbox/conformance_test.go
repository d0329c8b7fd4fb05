package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestConformance holds for every tier what [sandbox.Sandbox] promises.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"none", bare, "basic", "full"} {
		// What the other tiers promise is a part of what full does; the attacks are run in each.
		variants.Run(t, mode, mode != "full", func(t *testing.T) {
			t.Parallel()
			conform(t, func(t *testing.T, change func(*sandbox.Options)) sandbox.Sandbox {
				t.Helper()
				return detect(t, mode, change)
			})
		})
	}
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// bare is bubblewrap without a shim, which reports the tier basic.
const bare = "bare"

// shimName is the argument with which the test binary is the shim.
const shimName = "sandbox-exec"

// attackName is the argument with which the test binary attacks.
const attackName = "sandbox-attack"

// ownShim is the test binary as the shim; see TestMain.
func ownShim() []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{exe, shimName}
}

// detect makes a sandbox of a tier, or skips the test where there is no
// bubblewrap for it.
func detect(t *testing.T, mode string, change func(*sandbox.Options)) sandbox.Sandbox {
	t.Helper()
	if mode == bare || mode == "full" {
		if _, err := exec.LookPath("bwrap"); err != nil {
			t.Skip("no bubblewrap on this machine")
		}
	}
	o := sandbox.Options{Mode: mode, PATH: systemPath, TempDir: t.TempDir(), Now: time.Now, Grace: 100 * time.Millisecond, Shim: ownShim()}
	want := mode
	if mode == bare {
		o.Mode, o.Shim, want = "basic", nil, "basic"
	}
	if change != nil {
		change(&o)
	}
	sb, err := sandbox.Detect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(sb.Status().Tier); got != want {
		t.Fatalf("tier %s, want %s", got, want)
	}
	return sb
}

type maker func(*testing.T, func(*sandbox.Options)) sandbox.Sandbox

func conform(t *testing.T, newSandbox maker) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, maker){
		"ends": ends, "programs": programs, "environment": environ, "directories": directories, "bad commands": badCommands,
		"timeout": timeout, "cancel": cancelled, "pipe held": pipeHeld, "output limit": outputLimit, "big output": bigOutput,
		"own loopback": ownLoopback, "go test": goTest, "tools": tools, "neighbours": neighbours, "tee fails": teeFails,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newSandbox)
		})
	}
}

// run runs a command that is expected to end by itself.
func run(t *testing.T, sb sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	res, err := sb.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%q: %v", c.Argv, err)
	}
	if res.TimedOut {
		t.Fatalf("%q: timed out", c.Argv)
	}
	return res
}

func bash(text string, args ...string) []string {
	return append([]string{"bash", "-c", text, "bash"}, args...)
}

// A command's end is a Result: exit code, signal, both streams, times.
func ends(t *testing.T, newSandbox maker) {
	t.Helper()
	sb := newSandbox(t, nil)
	before := time.Now()
	res := run(t, sb, sandbox.Command{Argv: bash("echo out; echo err >&2; exit 3")})
	if res.Exit != 3 || res.Signal != "" || string(res.Stdout.Bytes) != "out\n" || string(res.Stderr.Bytes) != "err\n" || res.Stderr.Total != 4 {
		t.Errorf("got %+v", res)
	}
	if res.Started.Before(before) || res.Duration <= 0 {
		t.Errorf("started %v, took %v", res.Started, res.Duration)
	}
	for signal, exit := range map[string]int{"KILL": 137, "SEGV": 139, "TERM": 143} {
		if res := run(t, sb, sandbox.Command{Argv: bash("kill -" + signal + " $$")}); res.Exit != exit || res.Signal != "SIG"+signal {
			t.Errorf("SIG%s: exit %d, signal %q", signal, res.Exit, res.Signal)
		}
	}
	// What it sends to its group reaches no one else.
	if res := run(t, sb, sandbox.Command{Argv: bash(`trap "" TERM; kill -TERM 0; exit 4`)}); res.Exit != 4 || res.Signal != "" {
		t.Errorf("signal to its own group: exit %d, signal %q", res.Exit, res.Signal)
	}
	// There is nothing to read, and no one to ask.
	if res := run(t, sb, sandbox.Command{Argv: bash("read x; echo $?; tty -s; echo $?")}); string(res.Stdout.Bytes) != "1\n1\n" {
		t.Errorf("standard input: %q", res.Stdout.Bytes)
	}
}

// A program that is not there or cannot be executed ends as it does in a shell.
func programs(t *testing.T, newSandbox maker) {
	t.Helper()
	sb := newSandbox(t, nil)
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{"plain": {"", 0o644}, "script": {"echo \"hi $1\"\n", 0o755}, "hash": {"#!/bin/sh\necho $#\n", 0o755}} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		argv        []string
		exit        int
		out, errors string
	}{
		{[]string{"no-such-program", "x"}, 127, "", "no-such-program: command not found\n"},
		{[]string{"./no-such-file"}, 127, "", "./no-such-file: No such file or directory\n"},
		{[]string{"./plain"}, 126, "", "./plain: Permission denied\n"},
		{[]string{dir}, 126, "", dir + ": Permission denied\n"},
		{[]string{"./script", "there"}, 0, "hi there\n", ""},
		{[]string{"./hash", "--", "a b", "", "-c"}, 0, "4\n", ""},
		{[]string{"printf", "%s,", "--", "a b", "$HOME", "\n"}, 0, "--,a b,$HOME,\n,", ""},
	} {
		res := run(t, sb, sandbox.Command{Argv: tt.argv, Dir: dir, ReadOnly: []string{dir}})
		if res.Exit != tt.exit || string(res.Stdout.Bytes) != tt.out || string(res.Stderr.Bytes) != tt.errors {
			t.Errorf("%q: exit %d, %q, %q", tt.argv, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
}

// The environment is the short list, what the Command adds, and nothing else.
func environ(t *testing.T, newSandbox maker) {
	t.Helper()
	tool := t.TempDir()
	if err := os.Mkdir(filepath.Join(tool, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	sb := newSandbox(t, func(o *sandbox.Options) { o.TZ, o.Toolchains = "Asia/Tokyo", toolchains.At(tool) })
	long := strings.Repeat("x", 100_000)
	res := run(t, sb, sandbox.Command{Argv: []string{"env", "-0"}, Env: []string{"A=1", "LANG=de_DE", "A=2", "LONG=" + long, "B=a=b\nc", "EMPTY="}})
	got := map[string]string{}
	for kv := range strings.SplitSeq(strings.TrimSuffix(string(res.Stdout.Bytes), "\x00"), "\x00") {
		name, value, _ := strings.Cut(kv, "=")
		got[name] = value
	}
	for _, name := range []string{"HOME", "TMPDIR", "PWD"} {
		if !filepath.IsAbs(got[name]) {
			t.Errorf("%s is %q", name, got[name])
		}
		delete(got, name)
	}
	want := map[string]string{
		"PATH": filepath.Join(tool, "bin") + ":" + systemPath, "LANG": "de_DE", "TERM": "dumb", "CI": "true",
		"USER": "runner", "LOGNAME": "runner", "TZ": "Asia/Tokyo", "A": "2", "LONG": long, "B": "a=b\nc", "EMPTY": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Home and temp are empty, can be written, and end with the command; a home of
// the caller's stays; the working directory is the one asked for.
func directories(t *testing.T, newSandbox maker) {
	t.Helper()
	scratch := t.TempDir()
	sb := newSandbox(t, func(o *sandbox.Options) { o.TempDir = scratch })
	const text = `ls -A "$HOME" "$TMPDIR" | grep -v : ; mkdir -p "$HOME/a/b" && touch "$HOME/a/b/c" "$TMPDIR/d" && chmod 0 "$HOME/a/b" && chmod 500 "$HOME/a" && pwd`
	res := run(t, sb, sandbox.Command{Argv: bash(text), Dir: "/usr", ReadOnly: []string{"/usr"}})
	if got := string(res.Stdout.Bytes); res.Exit != 0 || strings.TrimSpace(got) != "/usr" {
		t.Errorf("exit %d, %q, %s", res.Exit, got, res.Stderr.Bytes)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left in scratch: %v, %v", left, err)
	}
	home, work := t.TempDir(), t.TempDir()
	res = run(t, sb, sandbox.Command{Argv: bash(`touch "$HOME/mine" here && pwd`), Home: home, Dir: work, Writable: []string{work}})
	if res.Exit != 0 || string(res.Stdout.Bytes) != work+"\n" {
		t.Errorf("exit %d, %s%s", res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
	}
	for _, file := range []string{filepath.Join(home, "mine"), filepath.Join(work, "here")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if res := run(t, sb, sandbox.Command{Argv: bash(`[ "$PWD" = "$HOME" ] && [ "$(pwd -P)" = "$HOME" ]`)}); res.Exit != 0 {
		t.Error("without a directory the command does not start at home")
	}
}

// A command that makes no sense is an error before anything is started.
func badCommands(t *testing.T, newSandbox maker) {
	t.Helper()
	sb := newSandbox(t, nil)
	dir := t.TempDir()
	for name, c := range map[string]sandbox.Command{
		"no program":         {},
		"zero byte":          {Argv: []string{"echo", "a\x00b"}},
		"no variable":        {Argv: []string{"true"}, Env: []string{"NAME"}},
		"relative directory": {Argv: []string{"true"}, Dir: "x", Writable: []string{"x"}},
		"no directory":       {Argv: []string{"true"}, Dir: dir + "/no", ReadOnly: []string{dir}},
		"not among its own":  {Argv: []string{"true"}, Dir: "/usr", Writable: []string{dir}},
		"writable is not":    {Argv: []string{"true"}, Writable: []string{dir + "/no"}},
		"relative read-only": {Argv: []string{"true"}, ReadOnly: []string{"x"}},
	} {
		if res, err := sb.Run(t.Context(), c); err == nil || res.Exit != -1 {
			t.Errorf("%s: exit %d, error %v", name, res.Exit, err)
		}
	}
}

// daemons starts processes that left the session, the group and in part the
// environment, and that ignore SIGTERM; all have $1 in their arguments.
const daemons = `
trap "" TERM HUP
for i in {1..15}; do (setsid bash -c "exec -a $1 sleep 1000" >/dev/null 2>&1 </dev/null &); done
for i in {1..5}; do (env -i setsid /bin/bash -c "exec -a $1 sleep 1000" >/dev/null 2>&1 </dev/null &); done
`

// named counts the processes of the machine that have marker in their arguments.
func named(t *testing.T, marker string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(marker)) {
			n++
		}
	}
	return n
}

func newMarker(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("ycbot-test-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(t.TempDir())))
}

func needProcessTable(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs the process table of Linux")
	}
}

// When the time is over everything ends, whatever it ignores and wherever it went.
func timeout(t *testing.T, newSandbox maker) {
	t.Helper()
	needProcessTable(t)
	sb := newSandbox(t, nil)
	marker := newMarker(t)
	res, err := ended(t, sb, 1500*time.Millisecond, bash(daemons+"echo started; sleep 1000", marker))
	if err != nil || !res.TimedOut || res.Exit != 137 || res.Signal != "SIGKILL" || string(res.Stdout.Bytes) != "started\n" {
		t.Errorf("got %+v, %v", res, err)
	}
	if n := named(t, marker); n > 0 {
		t.Errorf("%d processes survived", n)
	}
	// One that listens ends at once, and may say something about it.
	sb = newSandbox(t, func(o *sandbox.Options) { o.Grace = time.Minute })
	res, err = ended(t, sb, 500*time.Millisecond, bash(`trap "echo bye; exit 9" TERM; echo started; while :; do sleep 0.01; done`))
	if err != nil || !res.TimedOut || res.Exit != 9 || string(res.Stdout.Bytes) != "started\nbye\n" {
		t.Errorf("got %+v, %v", res, err)
	}
}

// ended runs what says that it has started and goes on for ever. On a busy machine it may
// have said nothing when its time is over, and then has more.
func ended(t *testing.T, sb sandbox.Sandbox, limit time.Duration, argv []string) (sandbox.Result, error) {
	t.Helper()
	for {
		res, err := sb.Run(t.Context(), sandbox.Command{Argv: argv, Timeout: limit})
		if err != nil || len(res.Stdout.Bytes) > 0 || limit > time.Minute {
			return res, err
		}
		limit *= 2
	}
}

// Cancelling ends everything, too; the error is the cause, and what there was is
// in the Result.
func cancelled(t *testing.T, newSandbox maker) {
	t.Helper()
	needProcessTable(t)
	sb := newSandbox(t, nil)
	marker := newMarker(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	var once sync.Once
	alive := 0
	tee := writer(func([]byte) {
		once.Do(func() { alive = named(t, marker); cancel(superseded) })
	})
	// The daemons are counted when the last of them has become what it is named for.
	// Those without an environment may have been taken for orphans of another test.
	const wait = `until [ "$(grep -lsa "^$1" /proc/[0-9]*/cmdline | wc -l)" -ge 15 ]; do :; done; echo started; sleep 1000`
	res, err := sb.Run(ctx, sandbox.Command{Argv: bash(daemons+wait, marker), Stdout: tee, Timeout: time.Minute})
	if !errors.Is(err, superseded) || res.TimedOut || string(res.Stdout.Bytes) != "started\n" || res.Exit != 137 {
		t.Errorf("got %+v, %v", res, err)
	}
	if alive < 15 {
		t.Errorf("only %d processes were there", alive)
	}
	if n := named(t, marker); n > 0 {
		t.Errorf("%d processes survived", n)
	}
	if res, err := sb.Run(ctx, sandbox.Command{Argv: []string{"true"}}); !errors.Is(err, superseded) || res.Exit != -1 {
		t.Errorf("started although cancelled: %+v, %v", res, err)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// What a command leaves in the background ends with it, and does not keep Run
// from returning although it holds the pipes open.
func pipeHeld(t *testing.T, newSandbox maker) {
	t.Helper()
	needProcessTable(t)
	sb := newSandbox(t, nil)
	marker := newMarker(t)
	res := run(t, sb, sandbox.Command{Argv: bash(`trap "" TERM; setsid bash -c "exec -a $1 sleep 1000" & (exec -a $1 sleep 1000) & echo done; exit 4`, marker)})
	if res.Exit != 4 || string(res.Stdout.Bytes) != "done\n" {
		t.Errorf("got %+v", res)
	}
	if n := named(t, marker); n > 0 {
		t.Errorf("%d processes survived", n)
	}
}

// A command that floods is killed and says so.
func outputLimit(t *testing.T, newSandbox maker) {
	t.Helper()
	sb := newSandbox(t, func(o *sandbox.Options) { o.OutputLimit = 4 << 20 })
	for _, text := range []string{"yes", "yes >&2", `trap "" TERM; yes & yes >&2`} {
		res := run(t, sb, sandbox.Command{Argv: bash(text)})
		if res.Limit != sandbox.LimitOutput || res.Exit != 137 || max(res.Stdout.Total, res.Stderr.Total) <= 4<<20 {
			t.Errorf("%s: limit %q, exit %d, %d and %d bytes", text, res.Limit, res.Exit, res.Stdout.Total, res.Stderr.Total)
		}
	}
}

// Everything is counted and passed on, and only the ends are kept.
func bigOutput(t *testing.T, newSandbox maker) {
	t.Helper()
	sb := newSandbox(t, nil)
	seen := 0
	res := run(t, sb, sandbox.Command{
		Argv:   bash("echo first; head -c 20000000 /dev/zero; echo last; head -c 20000000 /dev/zero >&2"),
		Stdout: writer(func(b []byte) { seen += len(b) }),
	})
	const total = 20_000_000 + 6 + 5
	if res.Stdout.Total != total || seen != total || len(res.Stdout.Bytes) > sandbox.KeepLimit || len(res.Stderr.Bytes) > sandbox.KeepLimit {
		t.Errorf("total %d, seen %d, kept %d and %d", res.Stdout.Total, seen, len(res.Stdout.Bytes), len(res.Stderr.Bytes))
	}
	if !bytes.HasPrefix(res.Stdout.Bytes, []byte("first\n")) || !bytes.HasSuffix(res.Stdout.Bytes, []byte("last\n")) {
		t.Error("beginning and end are not what was written")
	}
}

// A tee that fails is an error, with the Result that there was.
func teeFails(t *testing.T, newSandbox maker) {
	t.Helper()
	r, w := io.Pipe()
	broken := errors.New("disk full")
	r.CloseWithError(broken)
	res, err := newSandbox(t, nil).Run(t.Context(), sandbox.Command{Argv: bash("echo a; echo b; exit 5"), Stdout: w})
	if !errors.Is(err, broken) || res.Exit != 5 {
		t.Errorf("exit %d, error %v", res.Exit, err)
	}
}

const loopback = `
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
def serve():
    c, _ = s.accept()
    c.sendall(b"hello")
    c.close()
threading.Thread(target=serve).start()
print(socket.create_connection(s.getsockname()).recv(5).decode())
`

// Server and client inside find each other without any network.
func ownLoopback(t *testing.T, newSandbox maker) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no python3 to serve with")
	}
	res := run(t, newSandbox(t, nil), sandbox.Command{Argv: []string{"python3", "-c", loopback}})
	if res.Exit != 0 || string(res.Stdout.Bytes) != "hello\n" {
		t.Errorf("exit %d, %q, %s", res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
	}
}

const moduleTest = `package m
import ("io"; "net/http"; "net/http/httptest"; "os"; "os/user"; "testing")
func TestServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hi") }))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil { t.Fatal(err) }
	if b, err := io.ReadAll(r.Body); err != nil || string(b) != "hi" { t.Fatal(b, err) }
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil { t.Fatal(err) }
	if _, err := user.Current(); err != nil { t.Fatal(err) }
}
`

// A Go module with a test server is tested in it, offline.
func goTest(t *testing.T, newSandbox maker) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOCACHE").Output()
	if err != nil {
		t.Skip("no go command")
	}
	goroot, gocache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if info, err := os.Stat(gocache); err != nil || !info.IsDir() {
		t.Skip("no build cache; without one this takes too long")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.25\n", "m_test.go": moduleTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sb := newSandbox(t, func(o *sandbox.Options) { o.Toolchains = toolchains.At(goroot) })
	res := run(t, sb, sandbox.Command{
		Argv: []string{"go", "test", "-count=1", "./..."}, Dir: dir, Writable: []string{dir, gocache},
		Env: []string{"GOCACHE=" + gocache, "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOPROXY=off"}, Timeout: 5 * time.Minute,
	})
	if res.Exit != 0 || !strings.HasPrefix(string(res.Stdout.Bytes), "ok") {
		t.Errorf("exit %d\n%s%s", res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
	}
}

// The end of one command leaves the daemons of another alone.
func neighbours(t *testing.T, newSandbox maker) {
	t.Helper()
	needProcessTable(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sb, other := newSandbox(t, nil), newSandbox(t, nil)
	// One daemon in the session, one that left it, and one that left it and is
	// always about to become another program.
	const text = `echo 'exec sh ./again' >again; (sleep 1000 & echo $! >a); (setsid sleep 1000 & echo $! >b)
		(setsid sh ./again & echo $! >c); echo ready; read x <fifo; kill -0 $(<a) && kill -0 $(<b) && kill -0 $(<c)`
	ready := make(chan struct{})
	var once sync.Once
	done := make(chan sandbox.Result)
	go func() {
		defer close(done)
		res, err := sb.Run(t.Context(), sandbox.Command{
			Argv: bash(text), Dir: dir, Writable: []string{dir}, Timeout: time.Minute,
			Stdout: writer(func([]byte) { once.Do(func() { close(ready) }) }),
		})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	<-ready
	for range 5 {
		for _, s := range []sandbox.Sandbox{sb, other} {
			run(t, s, sandbox.Command{Argv: bash("setsid sleep 1000 & exit 0")})
		}
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.Exit != 0 {
		t.Errorf("exit %d: %s", res.Exit, res.Stderr.Bytes)
	}
}

// Children of the program that are no commands are not touched, and their exit
// states reach their parent.
func TestOwnChildren(t *testing.T) {
	t.Parallel()
	sb := detect(t, "none", nil)
	// One that lives while commands end.
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		if err := child.Wait(); err != nil {
			t.Errorf("a child of the program: %v", err)
		}
	}()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				var exit *exec.ExitError
				if err := exec.Command("/bin/sh", "-c", "exit 7").Run(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
					t.Errorf("a child of the program: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range 10 {
				if res := run(t, sb, sandbox.Command{Argv: bash("(setsid sleep 1000 &); exit 6")}); res.Exit != 6 {
					t.Errorf("a command: exit %d", res.Exit)
				}
			}
		})
	}
	wg.Wait()
}

// What cannot be had is refused with words that help; auto takes what there is
// and says what is missing.
func TestDetect(t *testing.T) {
	t.Parallel()
	o := sandbox.Options{TempDir: t.TempDir(), Now: time.Now, PATH: systemPath}
	for mode, want := range map[string]string{"full": "no program that works", "strong": "later", "paranoid": "want auto"} {
		o.Mode = mode
		if _, err := sandbox.Detect(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	// A bwrap outside the system directories is not taken: it may be anyone's.
	o.PATH = t.TempDir()
	if err := os.WriteFile(filepath.Join(o.PATH, "bwrap"), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o.Mode = "basic"
	if _, err := sandbox.Detect(t.Context(), o); err == nil || runtime.GOOS == "linux" && !strings.Contains(err.Error(), "install") {
		t.Errorf("basic without bubblewrap: %v", err)
	}
	o.Mode = "auto"
	sb, err := sandbox.Detect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := sb.Status()
	if s.Tier != sandbox.TierNone || !slices.ContainsFunc(s.Missing, func(m string) bool { return strings.HasPrefix(m, "namespaces: ") }) {
		t.Errorf("got %+v", s)
	}
	// With a shim it is the tier without namespaces, which says why there are none.
	o.Shim = ownShim()
	if sb, err = sandbox.Detect(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s = sb.Status()
	if runtime.GOOS == "linux" && (s.Tier != sandbox.TierBasic || !slices.ContainsFunc(s.Missing, func(m string) bool { return strings.HasPrefix(m, "namespaces: no bubblewrap") })) {
		t.Errorf("with a shim: %+v", s)
	}
	if _, err := sandbox.Detect(t.Context(), sandbox.Options{Mode: "none"}); err == nil {
		t.Error("made without a clock")
	}
}
