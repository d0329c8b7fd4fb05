package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"golang.org/x/sys/unix"
)

//go:embed selftest.sh
var selfTestScript string

// A finding is one canary and the layer that it stands for.
type finding struct {
	layer string
	Canary
}

// selfTest tries inside what must not work there, records it in b.status and
// fails when something did work. Everything in it is made for the purpose: a
// process with a secret in its environment, a listener, files.
func (b *bubblewrap) selfTest(ctx context.Context) error {
	t, err := newTargets(ctx, b.o.TempDir)
	if err != nil {
		return err
	}
	defer t.close()
	var rep report
	said, err := t.tryOut(b.o, func(c Command) (res Result, err error) {
		res, rep, err = b.run(ctx, c, trap{})
		return res, err
	})
	if err != nil {
		return err
	}
	findings := b.judge(said, rep, t)
	if len(b.means.shim) > 0 {
		said, err := t.canaries(boxedShim, boxedLocked, b.means, func(c Command) (Result, error) {
			res, _, err := b.run(ctx, c, trap{locked: t.locked, self: true})
			return res, err
		})
		if err != nil {
			return err
		}
		findings = append(findings, b.means.judge(said, boxedLocked, t)...)
	}
	died, err := b.diesWithParent(ctx)
	if err != nil {
		return err
	}
	findings = append(findings, held("die with parent", "command outlives bubblewrap", died, ""))
	findings = append(findings, b.means.proved...)
	b.status = Status{Tier: TierFull, Search: b.o.search(), Missing: slices.Concat(b.means.absent, b.means.lacks)}
	if !b.means.whole() {
		b.status.Tier = TierBasic
	}
	return b.status.conclude(ctx, b.o.Log, findings)
}

// tryOut runs the script of canaries and returns its answers.
func (t *targets) tryOut(o Options, run func(Command) (Result, error)) (map[string]string, error) {
	control := rand.Text()
	argv := []string{
		"bash", "-c", selfTestScript, "bash", t.secret[:8], t.secret[8:], control,
		strconv.Itoa(t.decoy.Process.Pid), t.outside, t.readOnly, t.writable, homeEntry(o), strconv.Itoa(t.port()),
		strings.Join(append(slices.Clone(o.Toolchains.Env), ""), "\n"),
	}
	res, err := run(Command{
		Argv: argv, Env: []string{"CANARY_CONTROL=" + control}, ReadOnly: []string{t.readOnly}, Writable: []string{t.writable},
		Timeout: 20 * time.Second,
	})
	return completed(res, err)
}

// completed returns what canaries said, if they ran to their end.
func completed(res Result, err error) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	said := answers(res.Stdout.Bytes)
	if said["done"] != "yes" {
		return nil, fmt.Errorf("canaries did not run to their end: exit %d: %s", res.Exit, bytes.TrimSpace(res.Stderr.Bytes))
	}
	return said, nil
}

// conclude fills in the status: a layer is active if all its canaries held.
func (s *Status) conclude(ctx context.Context, log *slog.Logger, findings []finding) error {
	var failed []string
	for _, f := range findings {
		s.SelfTest = append(s.SelfTest, f.Canary)
		if !f.Held {
			failed = append(failed, f.layer)
			log.WarnContext(ctx, "canary did not hold", "layer", f.layer, "canary", f.Name, "note", f.Note)
		} else if !slices.Contains(s.Layers, f.layer) {
			s.Layers = append(s.Layers, f.layer)
		}
	}
	s.Layers = slices.DeleteFunc(s.Layers, func(l string) bool { return slices.Contains(failed, l) })
	if i := slices.Index(failed, nestedLayer); i >= 0 {
		// Good to have, but its absence opens nothing by itself.
		failed = slices.Delete(failed, i, i+1)
		s.Missing = append(s.Missing, nestedLayer+": this bubblewrap does not give it, or there is no unshare to try it with")
	}
	if len(failed) > 0 {
		return fmt.Errorf("did not hold: %s", strings.Join(slices.Compact(failed), ", "))
	}
	return nil
}

const nestedLayer = "no further namespaces"

func held(layer, name string, ok bool, note string) finding {
	return finding{layer, Canary{Name: name, Held: ok, Note: note}}
}

// judge turns what the script found into findings. What it did not say did not hold.
func (b *bubblewrap) judge(said map[string]string, rep report, t *targets) []finding {
	is := func(layer, name, key, want string) finding {
		return held(layer, name, said[key] == want, said[key])
	}
	other := func(layer, name string, id int64) finding {
		own, err := os.Readlink("/proc/self/ns/" + name)
		return held(layer, "shares the "+name+" namespace", err == nil && id != 0 && own != fmt.Sprintf("%s:[%d]", name, id), "")
	}
	home := is("mount namespace", "read the operator's home", "home", "no")
	if said["home"] == "skipped" {
		home = held(home.layer, home.Name, true, "nothing in it to try")
	}
	return []finding{
		held("user namespace", "other uids than its own", oneID(said["uid_map"]), said["uid_map"]),
		other("mount namespace", "mnt", rep.Mnt),
		is("mount namespace", "read a file outside", "outside", "no"),
		home,
		held("mount namespace", "write a read-only directory", said["write"] == "no" && !exists(filepath.Join(t.readOnly, "canary")), said["write"]),
		held("mount namespace", "write nothing at all", exists(filepath.Join(t.writable, "canary")), ""),
		other("pid namespace", "pid", rep.PID),
		held("pid namespace", "read a secret in /proc/*/environ", said["environ"] == "no" && said["control"] == "yes", said["environ"]),
		is("pid namespace", "environment of the first process", "init_environ", "empty"),
		is("pid namespace", "see a process outside", "decoy", "no"),
		held("pid namespace", "kill a process outside", t.alive(), ""),
		other("network namespace", "net", rep.Net),
		held("network namespace", "reach a listener of the host", said["net"] == "refused", said["net"]),
		other("ipc namespace", "ipc", rep.IPC),
		other("uts namespace", "uts", rep.UTS),
		is("environment of its own", "variables beyond the list", "variables", ""),
		held("home and temp in scratch", "find something in home or temp", said["scratch"] == "empty", said["scratch"]),
		is("no inherited files", "open files beyond the standard ones", "files", ""),
		is("no capabilities", "capabilities", "caps", "0000000000000000"),
		is("no new privileges", "gain privileges by executing", "nnp", "1"),
		is(nestedLayer, "make a user namespace", "userns", "no"),
	}
}

// oneID reports whether a uid_map holds the sandbox's own uid and no other. What it
// is outside depends on how many namespaces bubblewrap stacks.
func oneID(uidMap string) bool {
	f := strings.Fields(uidMap)
	return len(f) == 3 && f[0] == boxedID && f[2] == "1"
}

// answers reads the "key=value" lines of the script.
func answers(out []byte) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok {
			said[key] = value
		}
	}
	return said
}

// boxedDirs are what every sandbox has of its own.
var boxedDirs = append([]string{boxedTemp, boxedHome, "/var", "/dev", "/proc"}, toolchains.SystemDirs()...)

// homeEntry is something in the operator's home that no command should see;
// empty when there is nothing.
func homeEntry(o Options) string {
	if o.Home == "" {
		return ""
	}
	entries, err := os.ReadDir(o.Home)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		path := filepath.Join(o.Home, e.Name())
		if slices.ContainsFunc(boxedDirs, func(dir string) bool { return toolchains.Within(path, dir) }) {
			continue // the home is / or the like, where the sandbox has the same names
		}
		shown := func(dir string) bool {
			return toolchains.Within(path, dir) || toolchains.Within(dir, path) || toolchains.Within(path, toolchains.Resolve(dir))
		}
		// What the self-test itself mounts lies in TempDir.
		if e.Type()&os.ModeSymlink == 0 && !shown(o.TempDir) && !slices.ContainsFunc(o.Toolchains.Read, shown) {
			return path
		}
	}
	return ""
}

// targets is what the canaries attack.
type targets struct {
	secret   string
	decoy    *exec.Cmd // holds secret in its environment and its arguments
	hold     func()    // lets the decoy end
	exited   chan struct{}
	listener net.Listener
	dir      string
	outside  string // file that is not in the sandbox
	readOnly string
	writable string
	locked   string // what only Landlock keeps from being written
}

func newTargets(ctx context.Context, temp string) (_ *targets, err error) {
	t := &targets{secret: rand.Text(), hold: func() {}}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if t.dir, err = os.MkdirTemp(temp, "ycbot-selftest-"); err != nil {
		return nil, err
	}
	t.outside, t.readOnly, t.writable = filepath.Join(t.dir, "outside"), filepath.Join(t.dir, "ro"), filepath.Join(t.dir, "rw")
	t.locked = filepath.Join(t.dir, "locked")
	if err := os.WriteFile(t.outside, []byte("secret\n"), 0o600); err != nil {
		return nil, err
	}
	for _, dir := range []string{t.readOnly, t.writable, t.locked} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var lc net.ListenConfig
	if t.listener, err = lc.Listen(ctx, "tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	decoy := exec.CommandContext(ctx, "/bin/sh", "-c", "read line", t.secret)
	decoy.Env = []string{"CANARY_SECRET=" + t.secret}
	stdin, err := decoy.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := decoy.Start(); err != nil {
		return nil, err
	}
	t.decoy, t.exited = decoy, make(chan struct{})
	t.hold = func() { stdin.Close() }
	go func() {
		defer close(t.exited)
		_ = decoy.Wait() // how it ends does not matter, only that it did not yet
	}()
	return t, nil
}

func (t *targets) port() int { return t.listener.Addr().(*net.TCPAddr).Port }

func (t *targets) alive() bool {
	select {
	case <-t.exited:
		return false
	default:
		return true
	}
}

func (t *targets) close() {
	t.hold()
	if t.exited != nil {
		<-t.exited
	}
	if t.listener != nil {
		t.listener.Close()
	}
	if t.dir != "" {
		_ = removeTree(t.dir) // empty files in the temporary directory
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// diesWithParent kills a bubblewrap whose command would run forever, and reports
// whether the command's first process ended without anyone's help.
func (b *bubblewrap) diesWithParent(ctx context.Context) (bool, error) {
	// Bubblewrap's first process asks for the signal of its parent's death again
	// after it has started the command, so the canary waits until it waits.
	const script = `until IFS= read -r s </proc/1/stat && [[ $s == *") S "* ]]; do :; done; echo ready; kill -STOP $$`
	l, err := b.launch(ctx, Command{Argv: []string{"bash", "-c", script}}, trap{})
	if err != nil {
		return false, err
	}
	defer l.close()
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m, err := family.startGuarded(l.cmd, nil, l.release)
	if err != nil {
		return false, err
	}
	defer family.forget(m)
	line, readErr := bufio.NewReader(out).ReadString('\n')
	inits := processes().childrenOf(m.pid)
	_ = unix.Kill(m.pid, unix.SIGKILL)
	_ = l.cmd.Wait() // killed, as it was meant to be
	died := line == "ready\n" && len(inits) == 1 && reaped(ctx, inits[0], dieTime)
	if err := family.end(m, dieTime); err != nil {
		return false, err
	}
	if readErr != nil {
		return false, errors.Join(errors.New("command did not start"), readErr)
	}
	return died, nil
}

// reaped waits until the adopted process pid has ended.
func reaped(ctx context.Context, pid int, patience time.Duration) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if got == pid || errors.Is(err, unix.ECHILD) {
			return true
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (t table) childrenOf(pid int) []int {
	var out []int
	for _, p := range t {
		if p.ppid == pid {
			out = append(out, p.pid)
		}
	}
	return out
}
