package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// leftInBasic are the attacks that tier basic does not stop. The list stands in
// docs/security.md, too; an attack that is stopped later must leave both.
var leftInBasic = []string{
	"A23", // TCP to another host
	"A24", // TCP to a service of the host
}

// TestAttacks runs the attacks of the threat study in every tier, as this user
// and, for root, as an ordinary one. Tier none shows that they are real ones.
func TestAttacks(t *testing.T) { //nolint:paralleltest // some attacks are on what the whole machine has: space, memory, processes
	users := []int{os.Geteuid()}
	if users[0] == 0 {
		users = append(users, nobody)
	}
	for _, uid := range users {
		t.Run(fmt.Sprintf("uid %d", uid), func(t *testing.T) {
			table := map[string]map[string]string{}
			for _, mode := range []string{"none", bare, "basic", "full"} {
				detect(t, mode, nil)
				table[mode] = attackAs(t, mode, uid)
			}
			var b strings.Builder
			for _, a := range attacks() {
				fmt.Fprintf(&b, "%s %-45s", a.id, a.name)
				for _, mode := range []string{"none", bare, "basic", "full"} {
					fmt.Fprintf(&b, " %s %-8s", mode, table[mode][a.id])
				}
				b.WriteString("\n")
			}
			t.Logf("\n%s", b.String())
			if diff := cmp.Diff([]string(nil), escaped(table["full"])); diff != "" {
				t.Errorf("full: %s", diff)
			}
			if diff := cmp.Diff(leftInBasic, escaped(table["basic"])); diff != "" {
				t.Errorf("basic: %s", diff)
			}
			if n := len(escaped(table["none"])); n < 35 {
				t.Errorf("only %d of %d attacks work at all", n, len(attacks()))
			}
		})
	}
}

const nobody = 65534

func escaped(verdicts map[string]string) []string {
	var out []string
	for _, a := range attacks() {
		if v := verdicts[a.id]; v != "blocked" {
			out = append(out, a.id)
		}
	}
	slices.Sort(out)
	return out
}

// attackAs runs the suite in a process of its own, which has secrets.
func attackAs(t *testing.T, mode string, uid int) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // another user must get there
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "suite.test")
	copyProgram(t, exe)
	suid := filepath.Join(dir, "suid", "helper")
	work := filepath.Join(dir, "work")
	for _, d := range []string{filepath.Dir(suid), work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyProgram(t, suid)
	for file, mode := range map[string]os.FileMode{dir: 0o755, suid: 0o755 | os.ModeSetuid} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(work, uid, -1); err != nil {
		t.Fatal(err)
	}
	inherited, err := os.Create(filepath.Join(dir, "inherited"))
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	if _, err := inherited.WriteString(secretMark); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "suite", mode, work, suid)
	cmd.Env = []string{"TOKEN=" + secretMark, "PATH=" + systemPath}
	cmd.ExtraFiles = []*os.File{inherited}
	cmd.Dir = work
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", mode, err, out, &stderr)
	}
	verdicts := map[string]string{}
	if err := json.Unmarshal(out, &verdicts); err != nil {
		t.Fatalf("%s: %v: %s", mode, err, out)
	}
	t.Logf("%s as %d:\n%s", mode, uid, &stderr)
	return verdicts
}

// suiteMain is the harness of the attacks: it makes what they go for, runs them
// in the sandbox and prints the verdicts. What they said goes to stderr.
func suiteMain(mode, dir, suid string) int {
	t, stop, err := newTarget(dir, suid)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	defer stop()
	o := sandbox.Options{
		Mode: mode, PATH: systemPath, TempDir: dir + "/temp", Home: t.Home, Now: time.Now, Shim: ownShim(),
		Limits: sandbox.Limits{Memory: 1 << 30, Processes: 150, FileSize: 32 << 20, Disk: 100 << 20},
	}
	if mode == bare {
		o.Mode, o.Shim = "basic", nil
	}
	sb, err := sandbox.Detect(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	exe, _ := os.Executable()
	var together []string
	var runs []string
	for _, a := range attacks() {
		if a.alone {
			runs = append(runs, a.id)
		} else {
			together = append(together, a.id)
		}
	}
	runs = append(runs, strings.Join(together, ","))
	verdicts := map[string]string{}
	for _, ids := range runs {
		res, err := sb.Run(context.Background(), sandbox.Command{
			Argv: []string{exe, "attack", t.Build + "/target.json", ids}, Dir: t.Build,
			Writable: []string{t.Build}, ReadOnly: []string{t.Pristine, t.Cache, exe, suid}, Timeout: time.Minute,
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, ids, err)
			return 3
		}
		fmt.Fprintf(os.Stderr, "%s%s%s exit %d %s %s\n", res.Stdout.Bytes, res.Stderr.Bytes, ids, res.Exit, res.Signal, res.Limit)
		for line := range strings.Lines(string(res.Stdout.Bytes)) {
			if f := strings.Fields(line); len(f) >= 2 {
				verdicts[f[0]] = f[1]
			}
		}
		if !strings.Contains(ids, ",") && verdicts[ids] == "" && (res.Limit != "" || res.Exit != 0) {
			verdicts[ids] = "blocked" // with all the command
		}
	}
	for _, a := range attacks() {
		if a.written == nil || verdicts[a.id] == "" {
			continue
		}
		verdicts[a.id] = "blocked"
		if a.written(t) {
			verdicts[a.id] = "escaped"
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		return 3
	}
	return 0
}

// newTarget makes what the attacks go for below dir.
func newTarget(dir, suid string) (t target, stop func(), err error) {
	t = target{
		Harness: os.Getpid(), Home: dir + "/home/runner", Pristine: dir + "/pristine", Build: dir + "/build", Other: dir + "/other",
		Git: dir + "/repo/.git", Outside: dir + "/outside", Cache: dir + "/cache", Key: dir + "/etc/app.pem", Program: dir + "/program/ycbot",
		Suid: suid, CommandFile: dir + "/runner/set_env", Socket: dir + "/docker.sock", Abstract: fmt.Sprintf("ycbot-attack-%d", os.Getpid()),
		Shm: 0x5ec0000 + os.Getpid()%0x10000, Persist: fmt.Sprintf("/dev/shm/ycbot-attack-%d", os.Getpid()),
		Fill: 400, Memory: 2048, Processes: 200,
	}
	t.Beat = t.Build + "/beat"
	for file, text := range map[string]string{
		t.Home + "/.ssh/id_rsa": secretMark, t.Home + "/.aws/credentials": secretMark, t.Home + "/.bashrc": "# rc\n",
		t.Key: secretMark, t.Git + "/config": "[core]\n", t.Git + "/hooks/sample": "", t.Other + "/secret.txt": secretMark, t.Other + "/main.go": "",
		t.Pristine + "/main.go": "", t.Pristine + "/util.go": "", t.Pristine + "/pkg/a.go": "", t.Pristine + "/.git": "gitdir: elsewhere\n",
		t.Cache + "/entry": "", t.Outside + "/x": "", t.Program: "", t.CommandFile: "", t.Build + "/x": "", dir + "/temp/x": "",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return t, nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return t, nil, err
		}
	}
	if err := os.Remove(dir + "/temp/x"); err != nil {
		return t, nil, err
	}
	if err := t.serve(); err != nil {
		return t, nil, err
	}
	if err := t.share(); err != nil {
		return t, nil, err
	}
	decoy := exec.Command("/bin/sleep", "600")
	if err := decoy.Start(); err != nil {
		return t, nil, err
	}
	t.Decoy = decoy.Process.Pid
	text, err := json.Marshal(t)
	if err != nil {
		return t, nil, err
	}
	return t, func() {
		_ = decoy.Process.Kill() // an attack may have done it
		_ = decoy.Wait()
		_ = os.Remove(t.Persist)
		if id, _, errno := unix.Syscall(unix.SYS_SHMGET, uintptr(t.Shm), 64, 0); errno == 0 {
			_, _, _ = unix.Syscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
		}
	}, os.WriteFile(t.Build+"/target.json", text, 0o600)
}

// share puts the secret in shared memory and in the user's keyring.
func (t *target) share() error {
	id, _, errno := unix.Syscall(unix.SYS_SHMGET, uintptr(t.Shm), 64, 0o600|unix.IPC_CREAT)
	if errno != 0 {
		return fmt.Errorf("shmget: %w", errno)
	}
	address, _, errno := unix.Syscall(unix.SYS_SHMAT, id, 0, 0)
	if errno != 0 {
		return fmt.Errorf("shmat: %w", errno)
	}
	copy(unsafe.Slice((*byte)(unsafe.Add(nil, address)), 64), secretMark)
	_, err := unix.AddKey("user", "ycbot:test", []byte(secretMark), unix.KEY_SPEC_USER_KEYRING)
	return err
}

// serve answers every connection with the secret.
func (t *target) serve() error {
	listen := func(network, address string) (string, error) {
		c := net.ListenConfig{Control: func(network, _ string, raw syscall.RawConn) (err error) {
			if strings.HasPrefix(network, "tcp") {
				ctlErr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_FASTOPEN, 16) })
				if err == nil {
					err = ctlErr
				}
			}
			return err
		}}
		c.SetMultipathTCP(false)
		l, err := c.Listen(context.Background(), network, address)
		if err != nil {
			return "", err
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					_, _ = conn.Write([]byte(secretMark))
					_, _ = io.Copy(io.Discard, conn)
				}()
			}
		}()
		return l.Addr().String(), nil
	}
	var err error
	if t.Service, err = listen("tcp4", "127.0.0.1:0"); err != nil {
		return err
	}
	if t.Metadata, err = listen("tcp4", "127.0.0.2:0"); err != nil {
		return err
	}
	if _, err = listen("unix", t.Socket); err != nil {
		return err
	}
	if _, err = listen("unix", "@"+t.Abstract); err != nil {
		return err
	}
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.Datagram = packets.LocalAddr().String()
	go func() {
		b := make([]byte, 64)
		for {
			_, from, err := packets.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo([]byte(secretMark), from)
		}
	}()
	return nil
}
