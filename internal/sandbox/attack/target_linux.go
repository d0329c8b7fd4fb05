package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// secretMark is in everything that no command may read.
const secretMark = "S3CR3T"

// A target is what the attacks go for; it holds no secret.
type target struct {
	Self                               []string // starts this program for a role
	Harness, Decoy                     int      // processes outside
	Home, Pristine, Build, Other, Git  string
	Outside, Cache, Key, Program, Suid string
	CommandFile, Socket, Abstract      string
	Denied                             string // a program outside
	Service, Metadata, Datagram        string // addresses
	Shm                                int    // key of shared memory
	Persist, Beat                      string
	Fill, Memory                       int // MB to try
	Processes                          int
	key                                int // in the user's keyring
}

// newTarget makes what the attacks go for below dir.
func newTarget(pl plan, dir string) (t target, stop func(), err error) {
	t = target{
		Harness: os.Getpid(), Home: dir + "/home/runner", Pristine: dir + "/pristine", Build: dir + "/build", Other: dir + "/other",
		Git: dir + "/repo/.git", Outside: dir + "/outside", Cache: dir + "/cache", Key: dir + "/etc/app.pem", Program: dir + "/program/ycbot",
		Self: pl.Self, Suid: pl.Suid, CommandFile: dir + "/runner/set_env", Socket: dir + "/docker.sock", Abstract: fmt.Sprintf("ycbot-attack-%d", os.Getpid()),
		Shm: 0x5ec0000 + os.Getpid()%0x10000, Persist: fmt.Sprintf("/dev/shm/ycbot-attack-%d", os.Getpid()),
		Fill: 240, Memory: 2048, Processes: 200,
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
	t.Denied = t.Outside + "/denied"
	if err := copyProgram("/bin/cat", t.Denied, 0o755); err != nil {
		return t, nil, err
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
	decoy := exec.Command("/bin/sleep", "600") //nolint:noctx // it is ended
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
		_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, t.key, unix.KEY_SPEC_USER_KEYRING, 0, 0)
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
	var err error
	t.key, err = unix.AddKey("user", "ycbot:test", []byte(secretMark), unix.KEY_SPEC_USER_KEYRING)
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
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // it ends with the process
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
