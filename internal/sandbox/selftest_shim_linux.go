package sandbox

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// canaries runs the shim's own canaries by program; locked is what the
// directory t.locked is called for it.
func (t *targets) canaries(program, locked string, m means, run func(Command) (Result, error)) (map[string]string, error) {
	c := Command{
		Argv:    slices.Concat([]string{program}, m.shim[1:], []string{canaryArg, locked, strconv.Itoa(t.decoy.Process.Pid)}),
		Timeout: 20 * time.Second,
	}
	return completed(run(c))
}

// judge turns the answers of the shim's canaries into findings.
func (m means) judge(said map[string]string, locked string, t *targets) []finding {
	is := func(layer, name, key string, errno unix.Errno) finding {
		return held(layer, name, said[key] == errno.Error(), said[key])
	}
	var out []finding
	if m.abi > 0 {
		written := exists(filepath.Join(t.locked, "landlock"))
		f := is(layerLandlock, "write what is only not granted", "landlock_write", unix.EACCES)
		f.Held = !written && said["landlock_write"] == "open "+locked+"/landlock: "+unix.EACCES.Error()
		out = append(out, f)
	}
	if m.seccomp {
		out = append(out,
			is(layerSeccomp, "use the keyring", "keyring", unix.EPERM),
			is(layerSeccomp, "open a socket of another family", "socket_family", unix.EAFNOSUPPORT),
			is(layerSeccomp, "open a raw socket", "raw_socket", unix.EPERM),
			is(layerSeccomp, "make a namespace", "unshare", unix.EPERM),
			is(layerSeccomp, "set limits of another process", "other_limits", unix.EPERM),
			is(layerSeccomp, "make a ring of io_uring", "io_uring", unix.EPERM),
		)
	}
	l := m.limits.kernel(0, 1, 0)
	for _, x := range []struct {
		name, key string
		want      uint64
	}{{"processes", "limit_procs", l.Procs}, {"file size", "limit_file", l.File}, {"open files", "limit_open", l.Open}, {"core", "limit_core", 1}} {
		if x.want == 0 {
			continue // it was not asked for
		}
		got, err := strconv.ParseUint(said[x.key], 10, 64)
		// In the basic tier the processes of others are on top.
		ok := err == nil && (got <= x.want || x.key == "limit_procs" && got < x.want+1<<20)
		out = append(out, held(layerLimits, "use more than the limit: "+x.name, ok, said[x.key]))
	}
	return out
}

// selfTest tries what must not work, records it in b.status and fails when
// something did work.
func (b *basic) selfTest(ctx context.Context) error {
	t, err := newTargets(ctx, b.o.TempDir)
	if err != nil {
		return err
	}
	defer t.close()
	said, err := t.tryOut(b.o, func(c Command) (Result, error) { return b.run(ctx, c, false) })
	if err != nil {
		return err
	}
	findings := b.judge(said, t)
	said, err = t.canaries(b.means.shim[0], t.locked, b.means, func(c Command) (Result, error) { return b.run(ctx, c, true) })
	if err != nil {
		return err
	}
	findings = append(findings, b.means.judge(said, t.locked, t)...)
	died, err := b.diesWithParent(ctx)
	if err != nil {
		return err
	}
	findings = append(findings, held("die with parent", "command outlives the program", died, ""))
	findings = append(findings, b.means.proved...)
	b.status.Missing = append(b.status.Missing, b.means.lacks...)
	b.status.Missing = append(b.status.Missing,
		"mount namespace: files outside cannot be opened, but their names and sizes can be learnt",
		"read-only in writable: a read-only path inside a writable directory can be written",
		"pid namespace: other processes are seen, not touched",
		"network namespace: TCP reaches what the host reaches, its own services too",
	)
	if b.means.abi < abiScopes {
		b.status.Missing = append(b.status.Missing, "signals: the kernel's Landlock (before 6.12) lets a command end other processes of its user")
	}
	return b.status.conclude(ctx, b.o.Log, findings)
}

// judge turns what the script found into findings.
func (b *basic) judge(said map[string]string, t *targets) []finding {
	is := func(layer, name, key, want string) finding {
		return held(layer, name, said[key] == want, said[key])
	}
	home := is(layerLandlock, "list the operator's home", "home", "no")
	if said["home"] != "no" {
		// Without a mount namespace its name is there; what counts is opening it.
		home = held(home.layer, home.Name, true, "only the name")
	}
	out := []finding{
		is(layerLandlock, "read a file outside", "outside", "no"),
		home,
		held(layerLandlock, "write a read-only directory", said["write"] == "no" && !exists(filepath.Join(t.readOnly, "canary")), said["write"]),
		held(layerLandlock, "write nothing at all", exists(filepath.Join(t.writable, "canary")), ""),
		held(layerLandlock, "read a secret in /proc/*/environ", said["environ"] == "no" && said["control"] == "yes", said["environ"]),
		is(layerLandlock, "environment of the first process", "init_environ", "empty"),
		is("environment of its own", "variables beyond the list", "variables", ""),
		held("home and temp in scratch", "find something in home or temp", said["scratch"] == "empty", said["scratch"]),
		is("no inherited files", "open files beyond the standard ones", "files", ""),
		is("no capabilities", "capabilities", "caps", "0000000000000000"),
		is("no new privileges", "gain privileges by executing", "nnp", "1"),
		is(nestedLayer, "make a user namespace", "userns", "no"),
	}
	if b.means.abi >= abiScopes {
		out = append(out, held(layerLandlock, "kill a process outside", t.alive(), ""))
	}
	return out
}

// diesWithParent cuts the lifeline of a command that left its session, and
// reports whether that one ended without anyone's help.
func (b *basic) diesWithParent(ctx context.Context) (_ bool, err error) {
	s, err := newScratch(b.o.TempDir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	p, err := b.policy(Command{Argv: []string{"bash", "-c", "setsid sleep 1000 & echo $!; sleep 1000"}}, s, s.home, false)
	if err != nil {
		return false, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w, err := startWaiting(b.means)
	if err != nil {
		return false, err
	}
	defer w.close()
	if err := w.send(p, s.dir); err != nil {
		return false, err
	}
	m := w.proc.member
	defer family.forget(m)
	line, readErr := bufio.NewReader(w.proc.stdout.r).ReadString('\n')
	w.life.Close()
	w.life = nil
	deadline := time.AfterFunc(dieTime, func() { _ = unix.Kill(-m.pid, unix.SIGKILL) })
	defer deadline.Stop()
	waitErr := w.cmd.Wait()
	var exit *exec.ExitError
	died := readErr == nil && errors.As(waitErr, &exit) && exit.ExitCode() == killed
	if pid, err := strconv.Atoi(line[:max(len(line)-1, 0)]); err != nil || unix.Kill(pid, 0) == nil {
		died = false
	}
	if err := family.end(m, dieTime); err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return died, nil
}
