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
	"slices"
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
	Measured                           bool     // what it takes is measured while it runs
	Tools                              []string // directories of the operator's search path, in the home
	Beside, Among, Work                []string // credentials beside them, inside of what is shown of them, and of a runner
	key                                int      // in the user's keyring
}

// homeOfTools lays out the home directory of a runner's user, who has tools below
// it and signed in to everything.
func homeOfTools(home string) (tools, beside, among, work []string) {
	in := func(dir, names string) (out []string) {
		for _, name := range strings.Fields(names) {
			out = append(out, filepath.Join(dir, name))
		}
		return out
	}
	tools = in(home, `.docker/bin .fly/bin .pulumi/bin .cargo/bin .local/bin go/bin .pyenv/shims .azure/bin .dotnet/tools .nvm/versions/node/v22/bin
		actions-runner/_work/_tool/node/22/x64/bin`)
	beside = in(home, `.docker/config.json .fly/config.yml .pulumi/credentials.json .cargo/credentials.toml .cargo/credentials .netrc .npmrc .pypirc
		.git-credentials .config/gcloud/credentials.db .config/gh/hosts.yml .kube/config .azure/msal_token_cache.json .gnupg/private-keys-v1.d/a.key
		.m2/settings.xml .gradle/gradle.properties .terraform.d/credentials.tfrc.json .local/share/keyrings/login.keyring go/pkg/mod/private/x
		.pyenv/secret .nvm/secret .dotnet/corefx/cryptography/x509stores/my/key.pfx`)
	among = in(home, `.cargo/bin/.env .local/bin/deploy.pem go/bin/.netrc .pyenv/versions/3.12/.npmrc .pyenv/plugins/x/.git/config .docker/bin/credentials.json
		.nvm/versions/node/v22/etc/.npmrc .local/bin/.aws/credentials actions-runner/_work/_tool/node/22/x64/.env`)
	work = in(home, `actions-runner/.credentials actions-runner/.credentials_rsaparams actions-runner/_work/repo/repo/.git/config actions-runner/_diag/log
		actions-runner/_work/_temp/secret actions-runner/_work/_tool/node/22/secret`)
	return tools, beside, among, work
}

func targetFile(file, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), mode)
}

// newTarget makes what the attacks go for below dir.
func newTarget(pl plan, dir string) (t target, stop func(), err error) {
	t = target{
		Harness: os.Getpid(), Home: dir + "/home/runner", Pristine: dir + "/pristine", Build: dir + "/build", Other: dir + "/other",
		Git: dir + "/repo/.git", Outside: dir + "/outside", Cache: dir + "/cache", Key: dir + "/etc/app.pem", Program: dir + "/program/ycbot",
		Self: pl.Self, Suid: pl.Suid, CommandFile: dir + "/runner/set_env", Socket: dir + "/docker.sock", Abstract: fmt.Sprintf("ycbot-attack-%d", os.Getpid()),
		Shm: 0x5ec0000 + os.Getpid()%0x10000, Persist: fmt.Sprintf("/dev/shm/ycbot-attack-%d", os.Getpid()),
		Fill: 240, Memory: 2048, Processes: 200, Measured: pl.Mode != "none",
	}
	t.Beat = t.Build + "/beat"
	t.Tools, t.Beside, t.Among, t.Work = homeOfTools(t.Home)
	for _, file := range slices.Concat(t.Beside, t.Among, t.Work) {
		text := secretMark
		if base := filepath.Base(file); base == "deploy.pem" {
			text = "-----BEGIN PRIVATE KEY-----\n" + secretMark
		} else if base == ".npmrc" || base == "config" {
			text = "//registry.example.org/:_authToken=" + secretMark + "\n[http]\n\textraheader = basic\n"
		}
		if err := targetFile(file, text, 0o600); err != nil {
			return t, nil, err
		}
	}
	for _, dir := range t.Tools {
		if err := targetFile(dir+"/tool", "#!/bin/sh\necho works\n", 0o700); err != nil {
			return t, nil, err
		}
	}
	for file, text := range map[string]string{
		t.Home + "/.ssh/id_rsa": secretMark, t.Home + "/.aws/credentials": secretMark, t.Home + "/.bashrc": "# rc\n",
		t.Key: secretMark, t.Git + "/config": "[core]\n", t.Git + "/hooks/sample": "", t.Other + "/secret.txt": secretMark, t.Other + "/main.go": "",
		t.Pristine + "/main.go": "", t.Pristine + "/util.go": "", t.Pristine + "/pkg/a.go": "", t.Pristine + "/.git": "gitdir: elsewhere\n",
		t.Cache + "/entry": "", t.Outside + "/x": "", t.Program: "", t.CommandFile: "", t.Build + "/x": "", dir + "/temp/x": "",
	} {
		if err := targetFile(file, text, 0o644); err != nil {
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
