package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/attack"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestMain lets the test binary be the program whose commands attack it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == shimName {
		os.Exit(sandbox.RunShim(os.Args[2:], os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == attackName {
		os.Exit(attack.Main(context.Background(), os.Args[2:], time.Now, os.Stdout, os.Stderr))
	}
	if file := os.Getenv("SANDBOX_TEST_PROFILE"); file != "" {
		if err := enterProfile(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	switch role := os.Getenv("SANDBOX_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "loop-full", "loop-basic":
		os.Exit(loop(strings.TrimPrefix(role, "loop-")))
	default:
		os.Exit(harness(role))
	}
}

// harness is a program with a secret in its environment and an inherited file.
// It runs the command of its arguments in the bubblewrap tier.
func harness(role string) int {
	mode := strings.TrimPrefix(role, "harness-")
	sb, err := sandbox.Detect(context.Background(), sandbox.Options{
		Mode: mode, PATH: systemPath, TempDir: os.TempDir(), Now: time.Now, Home: os.Getenv("HOME"), Shim: ownShim(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	res, err := sb.Run(context.Background(), sandbox.Command{Argv: os.Args[1:], Stdout: os.Stdout})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	os.Stderr.Write(res.Stderr.Bytes)
	return res.Exit
}

// startHarness starts the test binary as a harness that runs text, with secret
// in its environment and in a file that it hands on.
func startHarness(t *testing.T, mode, secret, text string, args ...string) (*exec.Cmd, io.Reader, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inherited.Close() })
	if _, err := inherited.WriteString(secret); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, bash(text, args...)...)
	cmd.Env = []string{"SANDBOX_TEST_ROLE=harness-" + mode, "SECRET=" + secret, "TMPDIR=" + t.TempDir(), "HOME=" + os.Getenv("HOME")}
	cmd.ExtraFiles = []*os.File{inherited, inherited, inherited}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, &stderr
}

// readSecrets looks for a secret, given in two halves, in the environments and
// arguments of the processes $3 and in files that were handed on.
const readSecrets = `
s=$1$2
for p in /proc/$3; do
	[ $p = /proc/PARENT ] && p=/proc/$PPID
	for f in environ cmdline; do cat $p/$f 2>/dev/null | grep -qa "$s" && echo leaked; done
done
for n in 3 4 5 6 7 8 9; do [ -f /proc/$$/fd/$n ] && grep -qa "$s" /proc/$$/fd/$n && echo "leaked by $n"; done
env | grep -a "$s"
echo looked
`

// A secret in the environment of the program cannot be read by a command
// through the process table, nor from files that the program inherited. Tier
// none shows that the attack is a real one, and what that tier is worth.
func TestSecretsOfTheHarness(t *testing.T) {
	t.Parallel()
	detect(t, "full", nil)
	for mode, leaks := range map[string]bool{"full": false, "basic": false, "none": true} {
		victims := "[0-9]*"
		if leaks {
			victims = "PARENT" // the others are not ours to look into
		}
		cmd, out, stderr := startHarness(t, mode, "hunter2-0123456789", readSecrets, "hunter2-", "0123456789", victims)
		said, err := io.ReadAll(out)
		if waitErr := cmd.Wait(); err != nil || waitErr != nil {
			t.Fatalf("%s: %v, %v: %s", mode, err, waitErr, stderr)
		}
		if !strings.HasSuffix(string(said), "looked\n") || strings.Contains(string(said), "leaked") != leaks {
			t.Errorf("%s: %q, %s", mode, said, stderr)
		}
		if strings.Contains(string(said), "leaked by") {
			t.Errorf("%s: an inherited file was passed on", mode)
		}
	}
}

// When the program is killed outright nothing of its commands goes on.
func TestHarnessKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"full", "basic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			harnessKilled(t, mode)
		})
	}
}

func harnessKilled(t *testing.T, mode string) {
	t.Helper()
	detect(t, mode, nil)
	marker := newMarker(t)
	cmd, out, stderr := startHarness(t, mode, "x", daemons+`echo started; exec -a $1 sleep 1000`, marker)
	line, err := bufio.NewReader(out).ReadString('\n')
	before := named(t, marker)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	if err != nil || line != "started\n" || before < 2 {
		t.Fatalf("%q, %v, %d processes before: %s", line, err, before, stderr)
	}
	deadline := time.After(2 * time.Second)
	for named(t, marker) > 0 {
		select {
		case <-deadline:
			t.Fatalf("%d processes survived", named(t, marker))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// loop is a program that runs one command after the other for as long as it lives.
func loop(mode string) int {
	sb, err := sandbox.Detect(context.Background(), sandbox.Options{Mode: mode, PATH: systemPath, TempDir: os.TempDir(), Now: time.Now, Shim: ownShim()})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	fmt.Println("ready")
	for n := 0; ; n++ {
		argv := []string{"/bin/true"}
		if n%3 > 0 {
			argv = bash("(setsid sleep 1000 &); sleep 0.003")
		}
		if _, err := sb.Run(context.Background(), sandbox.Command{Argv: argv}); err != nil {
			fmt.Println(err)
			return 3
		}
	}
}

// Whenever the program is killed, also while a command is about to be started,
// no command, no daemon and no half-started bubblewrap of it is alive two seconds later.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	for mode, rounds := range map[string]int{"full": 50, "basic": 20} {
		variants.Run(t, mode, mode == "full", func(t *testing.T) {
			t.Parallel()
			detect(t, mode, nil)
			for range rounds {
				killedAtAnyMoment(t, mode)
			}
		})
	}
}

func killedAtAnyMoment(t *testing.T, mode string) {
	t.Helper()
	marker := newMarker(t)
	exe := filepath.Join(t.TempDir(), marker) // the name is in the arguments of all that it starts
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(own, exe) != nil {
		copyProgram(t, exe)
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{"SANDBOX_TEST_ROLE=loop-" + mode, "TMPDIR=" + t.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	<-time.After(rand.N(20 * time.Millisecond))
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	if err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	deadline := time.After(2 * time.Second)
	for {
		left := named(t, marker)
		if left == 0 {
			break
		}
		select {
		case <-deadline:
			text, _ := exec.Command("sh", "-c", "ps -eo pid,ppid,stat,wchan:20,args | grep "+marker).CombinedOutput()
			t.Fatalf("%d processes survived:\n%s", left, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// The process table of a command holds its own processes only, and a process
// outside cannot be signalled by its number.
func TestOtherProcesses(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = victim.Wait() // killed, sooner or later
	}()
	res := run(t, sb, sandbox.Command{Argv: bash(`kill -9 $1; kill -9 -$1; kill -9 -1; ls -d /proc/[0-9]* | wc -l`, fmt.Sprint(victim.Process.Pid))})
	if n := strings.TrimSpace(string(res.Stdout.Bytes)); n > "6" || len(n) != 1 {
		t.Errorf("%s processes seen", n)
	}
	select {
	case <-exited:
		t.Error("the process outside was killed")
	default:
	}
	if err := victim.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-exited
}

// Nothing of the host can be written, and only what is named can be read.
func TestFiles(t *testing.T) {
	t.Parallel()
	hide, outside, mirror, work := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	home := filepath.Join(outside, "home")
	cargo := filepath.Join(home, ".cargo")
	for _, file := range []string{
		filepath.Join(home, ".ssh/id_ed25519"), filepath.Join(cargo, "bin/cargo"), filepath.Join(outside, "secret"),
		filepath.Join(mirror, "HEAD"), filepath.Join(work, "sub/file"), filepath.Join(work, "guarded/file"),
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("content\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	sb := detect(t, "full", func(o *sandbox.Options) {
		o.Home, o.Hide, o.Toolchains = home, []string{hide}, toolchains.At(cargo)
	})
	c := sandbox.Command{
		Dir: work, Writable: []string{work}, ReadOnly: []string{mirror, filepath.Join(work, "guarded"), filepath.Join(outside, "not there")},
	}
	for _, tt := range []struct {
		text string
		want int
	}{
		{`cat ` + mirror + `/HEAD`, 0},
		{`echo x >` + mirror + `/HEAD`, 1},
		{`rm -f ` + mirror + `/HEAD`, 1},
		{`mv ` + mirror + ` ` + mirror + `2`, 1},
		{`chmod 777 ` + mirror, 1},
		{`echo x >sub/file && rm -r sub`, 0},
		{`cat guarded/file && ! echo x >guarded/file && ! mv guarded elsewhere`, 0},
		{`cat link`, 1},
		{`cat ` + home + `/.ssh/id_ed25519`, 1},
		{`ls -A ` + home + `| grep -v cargo`, 1},
		{`test -e ` + cargo + `/bin/cargo`, 0},
		{`echo x >` + cargo + `/bin/cargo`, 1},
		{`cat ` + outside + `/secret`, 1},
		{`echo x >` + outside + `/new; true`, 0}, // a path of the sandbox's own /tmp; see below
		{`echo x >/new`, 1},
		{`echo x >/usr/new || echo x >/etc/new || echo x >/etc/passwd`, 1},
		{`cat /etc/shadow /etc/gshadow`, 1},
		{`cat /root/* /home/*/.ssh/* /var/lib/* /run/*`, 1},
		{`mount -t tmpfs none /tmp || unshare -U true || chroot / true`, 1},
		{`echo x >/tmp/a && echo x >/dev/shm/b && echo x >"$HOME/c" && echo x >/var/tmp/d`, 0},
		{`mknod /tmp/sda b 8 0`, 1},
		{`whoami; id -un; getent passwd runner; awk '{exit !($3 == 1)}' /proc/self/uid_map`, 0},
	} {
		c.Argv = bash("set -o pipefail; " + tt.text)
		res := run(t, sb, c)
		if min(res.Exit, 1) != tt.want {
			t.Errorf("%s: exit %d, want %d: %s%s", tt.text, res.Exit, tt.want, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
	for _, file := range []string{filepath.Join(outside, "new"), "/new", "/usr/new", "/etc/new"} {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
}

// The user of a command has its HOME for a home, which is where Java looks.
func TestHomeOfUser(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	sb := detect(t, "full", func(*sandbox.Options) {})
	res := run(t, sb, sandbox.Command{Argv: bash(`eval echo "~$(id -un)"; echo "$HOME"`), Dir: work, Writable: []string{work}, Home: home})
	if got := string(res.Stdout.Bytes); got != home+"\n"+home+"\n" {
		t.Errorf("%q, want %s twice", got, home)
	}
}

// A link that an earlier command left in a writable directory does not lead the
// next mount outside: here it would make a toolchain writable.
func TestMountThroughLink(t *testing.T) {
	t.Parallel()
	toolchain, work := t.TempDir(), t.TempDir()
	sb := detect(t, "full", func(o *sandbox.Options) { o.Toolchains = toolchains.At(toolchain) })
	run(t, sb, sandbox.Command{Argv: bash("ln -s " + toolchain + " cache"), Dir: work, Writable: []string{work}})
	cache := filepath.Join(work, "cache")
	for name, c := range map[string]sandbox.Command{
		"read-only": {Writable: []string{work}, ReadOnly: []string{cache}},
		"writable":  {Writable: []string{work, cache}},
		"home":      {Writable: []string{work}, Home: cache},
	} {
		c.Argv = bash("echo x >" + toolchain + "/new")
		if res, err := sb.Run(t.Context(), c); err == nil && (name != "writable" || res.Exit == 0) {
			t.Errorf("%s: exit %d", name, res.Exit)
		}
		if _, err := os.Lstat(filepath.Join(toolchain, "new")); err == nil {
			t.Fatalf("%s: the link was followed", name)
		}
	}
}

// A home that holds the temporary directory, as ~/.ycbot may, is still hidden.
func TestTempInsideHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	temp := filepath.Join(home, "data", "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	sb := detect(t, "full", func(o *sandbox.Options) { o.Home, o.TempDir = home, temp })
	if res := run(t, sb, sandbox.Command{Argv: []string{"ls", home}}); res.Exit == 0 {
		t.Error("the home is there")
	}
}

// The host's loopback, its abstract sockets and its shared memory are out of
// reach; with the host's network the listener is reached, so the attack works.
func TestNetwork(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	abstract := fmt.Sprintf("ycbot-%d-%s", os.Getpid(), filepath.Base(t.TempDir()))
	u, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	text := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && echo reached", l.Addr().(*net.TCPAddr).Port)
	for network, want := range map[sandbox.Network]string{sandbox.NetworkNone: "", sandbox.NetworkHost: "reached\n"} {
		if res := run(t, sb, sandbox.Command{Argv: bash(text), Network: network}); string(res.Stdout.Bytes) != want {
			t.Errorf("network %d: %q, want %q: %s", network, res.Stdout.Bytes, want, res.Stderr.Bytes)
		}
	}
	res := run(t, sb, sandbox.Command{Argv: bash(`cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "; grep -c ` + abstract + ` /proc/net/unix`)})
	if got := string(res.Stdout.Bytes); got != "lo\n0\n" {
		t.Errorf("interfaces and sockets: %q", got)
	}
	res = run(t, sb, sandbox.Command{Argv: bash(`test -s /etc/resolv.conf`), Network: sandbox.NetworkHost})
	if _, err := os.Stat("/etc/resolv.conf"); err == nil && res.Exit != 0 {
		t.Error("no resolv.conf with the host's network")
	}
}

// The self-test holds here, names what it tried, is quick, and what is not set
// up is said to be missing.
func TestSelfTest(t *testing.T) {
	t.Parallel()
	s := detect(t, "full", nil).Status()
	if len(s.SelfTest) < 15 {
		t.Errorf("only %d canaries", len(s.SelfTest))
	}
	for _, c := range s.SelfTest {
		if !c.Held {
			t.Errorf("%s: %s", c.Name, c.Note)
		}
	}
	for _, layer := range []string{"user namespace", "mount namespace", "pid namespace", "network namespace", "die with parent", "environment of its own"} {
		if !slices.Contains(s.Layers, layer) {
			t.Errorf("no %s among %q", layer, s.Layers)
		}
	}
	for _, layer := range []string{"landlock", "seccomp", "limits"} {
		if !slices.Contains(s.Layers, layer) {
			t.Errorf("no %s among %q", layer, s.Layers)
		}
	}
	if rest := otherThanCgroups(s.Missing); len(rest) > 0 {
		t.Errorf("missing: %q", rest)
	}
	// Without a shim the layers are said to be missing, and the tier is a lower one.
	s = detect(t, bare, nil).Status()
	if rest := otherThanCgroups(s.Missing); len(rest) != 1 || !strings.HasPrefix(rest[0], "landlock, seccomp, limits: ") || slices.Contains(s.Layers, "seccomp") {
		t.Errorf("without a shim: %+v", s)
	}
}

// otherThanCgroups leaves out what a machine without a delegated cgroup lacks.
func otherThanCgroups(missing []string) []string {
	return slices.DeleteFunc(slices.Clone(missing), func(m string) bool { return strings.HasPrefix(m, "cgroup") })
}

// All of this holds for an ordinary user, too.
func TestAsOrdinaryUser(t *testing.T) {
	variants.Only(t) // it runs the others again; TestAttacks has attacks by both
	t.Parallel()
	detect(t, "full", nil)
	if os.Geteuid() != 0 {
		t.Skip("not root, so the other tests showed it")
	}
	const uid = 65534
	// The user needs the binary and a temporary directory, and the way to them.
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "sandbox.test")
	copyProgram(t, exe)
	temp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(temp, uid, uid); err != nil {
		t.Fatal(err)
	}
	profile, err := os.ReadFile(shippedProfile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(temp, shippedProfile)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(temp, shippedProfile), profile, 0o644); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, half := range []string{"-variants=false", "-variants"} {
		cmd := exec.Command(exe, half, "-test.v", "-test.timeout=20m", "-test.skip=go.test|tools|TestAttacks|TestHostileCommands|TestRaceDetector|TestKilledAtAnyMoment")
		cmd.Dir = temp
		cmd.Env = []string{"PATH=" + systemPath, "TMPDIR=" + temp, "HOME=" + temp}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		ran, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, ran)
		}
		out = append(out, ran...)
	}
	for _, name := range []string{"TestConformance/full/timeout", "TestConformance/basic/timeout", "TestConformance/none/cancel", "TestSecretsOfTheHarness", "TestHarnessKilled", "TestFiles"} {
		if !bytes.Contains(out, []byte("--- PASS: "+name+" ")) {
			t.Errorf("%s did not pass:\n%s", name, out)
		}
	}
}

// copyProgram copies the test binary by a process of its own: a file that this
// one had open for writing could be busy when it is executed (golang/go#22315).
func copyProgram(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", exe, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
}

// A file of the program's own user below /etc, which every user may not read, is
// hidden: the command has the same user outside.
func TestPrivateFilesOfEtc(t *testing.T) {
	t.Parallel()
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("only root owns files below /etc")
	}
	if unix.Access("/etc/shadow", unix.R_OK) != nil {
		t.Skip("no /etc/shadow to read")
	}
	for _, mode := range []string{"full", "basic"} {
		sb := detect(t, mode, nil)
		if res := run(t, sb, sandbox.Command{Argv: []string{"cat", "/etc/shadow"}}); res.Exit == 0 || res.Stdout.Total > 0 {
			t.Errorf("%s: exit %d, %d bytes read", mode, res.Exit, res.Stdout.Total)
		}
		// What lies beside it is there.
		if res := run(t, sb, sandbox.Command{Argv: bash("cat /etc/passwd && ls /etc")}); res.Exit != 0 {
			t.Errorf("%s: exit %d: %s", mode, res.Exit, res.Stderr.Bytes)
		}
	}
}

// A home that is the root of the file system, as users without an account have it
// in containers, does not cost the tier.
func TestHomeIsRoot(t *testing.T) {
	t.Parallel()
	detect(t, "full", func(o *sandbox.Options) { o.Home = "/" })
}
