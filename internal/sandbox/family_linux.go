package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"golang.org/x/sys/unix"
)

// prepareProcess makes this program the subreaper of its descendants, so that a
// daemon orphaned by a command becomes its child instead of escaping, and keeps
// file descriptors that this program inherited from passing on to commands.
// Doing it again changes nothing.
func prepareProcess() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	// Without close_range (kernel before 5.11) the descriptors stay as they are;
	// those that Go opens are closed on exec anyway.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	return nil
}

// family knows the commands that run. There is one for the whole program,
// because children and orphans belong to the program and not to a Sandbox: two
// of them must not take each other's commands for orphans.
//
// The lock is held while a command is started and while orphans are looked for,
// so a new command is never seen before it is registered. Only processes that
// were adopted are waited for; all others belong to os/exec.
var family = &processFamily{members: map[int]*member{}}

type processFamily struct {
	mu       sync.Mutex
	members  map[int]*member // by process id of the first process
	guardian *guardian       // nil: nothing was guarded yet
}

// A member is one running command. Its first process leads a session.
type member struct {
	pid     int
	marker  []byte
	guarded bool // the guardian knows of it
}

// start starts cmd. It dies when this program does, unless it stays to end what
// it started itself.
func (k *processFamily) start(cmd *exec.Cmd, marker string, stays bool, group *cgroup.Group) (*member, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !stays {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	group.Hold(cmd)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m := &member{pid: cmd.Process.Pid, marker: []byte(marker)}
	k.members[m.pid] = m
	return m, nil
}

// mark names what stands in the environment of m's processes.
func (k *processFamily) mark(m *member, marker string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	m.marker = []byte(marker)
}

// startGuarded starts cmd, whose group dies with this program whatever happens to its
// first process, and then calls release. The command must do nothing before that.
func (k *processFamily) startGuarded(cmd *exec.Cmd, group *cgroup.Group, release func()) (*member, error) {
	m, err := k.start(cmd, "", false, group)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	err = k.watch(m)
	m.guarded = err == nil
	k.mu.Unlock()
	if err != nil {
		_ = unix.Kill(m.pid, unix.SIGKILL)
		_ = cmd.Wait() // killed
		k.forget(m)
		return nil, err
	}
	release()
	return m, nil
}

func (k *processFamily) forget(m *member) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.members, m.pid)
	if m.guarded {
		_ = k.guardian.say("-", m) // a guardian that is gone knows of none
	}
}

// terminate asks all processes of m to end, but for the first skip generations.
func (k *processFamily) terminate(m *member, skip int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	procs := processes()
	mine, _ := k.of(m, procs)
	for _, p := range mine {
		if procs.depth(p.pid, m.pid) >= skip {
			_ = unix.Kill(p.pid, unix.SIGTERM) // it may have ended by itself
		}
	}
}

// end kills all processes of m and returns when none is alive; m's first
// process may still have to be waited for by its owner. The process table
// cannot be read in one moment, so it takes two looks that find nothing.
func (k *processFamily) end(m *member, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if childless() || k.gone(m) {
			return nil
		}
		left := k.kill(m)
		if left == 0 {
			left = k.kill(m)
		}
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return fmt.Errorf("process %d: %d processes of it do not die", m.pid, left)
		}
	}
}

// endInit ends the first process of a pid namespace, and with it all that live
// there, after bubblewrap has ended: it is this program's child then, or gone.
func (k *processFamily) endInit(pid int, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if got == pid || errors.Is(err, unix.ECHILD) {
			return nil
		}
		_ = unix.Kill(pid, unix.SIGKILL) // it is not reaped, so the number is still its own
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return fmt.Errorf("process %d: the namespace does not end", pid)
		}
	}
}

// childless says that this program has no children at all, and so no orphans.
// It is exact and much cheaper than the process table.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return errors.Is(err, unix.ECHILD)
}

// gone says that nothing is left of m, whose first process has ended, without looking
// at the whole process table: everything of it has an ancestor that this program has
// adopted, so it is enough to look at this program's own children, twice. It says no
// where it does not know.
func (k *processFamily) gone(m *member) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for range 2 {
		pids, err := children()
		if err != nil {
			return false
		}
		for _, pid := range pids {
			if pid == m.pid {
				return false
			}
			if k.members[pid] != nil {
				continue
			}
			if of, err := unix.Getsid(pid); err != nil || of != session {
				return false
			}
		}
	}
	return true
}

// children lists the processes whose parent this program is; see proc_pid_task(5),
// which says that one may be missing while another ends. Kernels without
// CONFIG_PROC_CHILDREN does not say.
func children() ([]int, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, task := range tasks {
		list, err := readProc("/proc/self/task/" + task.Name() + "/children")
		if errors.Is(err, unix.ENOENT) && task.Name() != strconv.Itoa(os.Getpid()) {
			continue // the thread has ended
		}
		if err != nil {
			return nil, err
		}
		for f := range bytes.FieldsSeq(list) {
			pid, err := strconv.Atoi(string(f))
			if err != nil {
				return nil, err
			}
			out = append(out, pid)
		}
	}
	return out, nil
}

// readProc reads a file of /proc. It is os.ReadFile without the poller, which has no
// use there and is two thirds of the system calls.
func readProc(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 512)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, cap(data))
		}
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return data, nil
		}
		data = data[:len(data)+n]
	}
}

// kill sends SIGKILL to what is alive of m, reaps what was adopted, and returns
// how many processes it found, with those that may be of m.
func (k *processFamily) kill(m *member) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	self := os.Getpid()
	mine, n := k.of(m, processes())
	for _, p := range mine {
		if p.state == 'Z' && p.pid == m.pid {
			continue // its owner is about to wait for it
		}
		n++
		if p.state != 'Z' {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
		if p.ppid == self && p.pid != m.pid {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) // else in the next round
		}
	}
	return n
}

// of returns the processes of m: those below its first process, and orphans
// that are not known to be of another running command. The second result counts
// the orphans that do not show whose they are at this moment.
func (k *processFamily) of(m *member, procs table) (out []proc, unclear int) {
	self := os.Getpid()
	session, _ := unix.Getsid(0)
	if p, ok := procs[m.pid]; ok && p.ppid == self {
		out = append(out, p)
	}
	for _, p := range procs {
		if p.ppid != self || p.session == session || k.members[p.pid] != nil {
			continue
		}
		switch owner, clear := k.owner(p); {
		case !clear:
			unclear++
		case owner == nil || owner == m:
			out = append(out, p)
		}
	}
	children := map[int][]proc{}
	for _, p := range procs {
		children[p.ppid] = append(children[p.ppid], p)
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].pid]...)
	}
	return out, unclear
}

// owner returns the running command that an orphan is known to come from. A
// process that left the session and cleared its environment has none, and ends
// with whichever command ends first; only tier none has such orphans. The second
// result is false while the process is in the middle of execve or of its end,
// when it has no environment to look at.
func (k *processFamily) owner(p proc) (_ *member, clear bool) {
	if m := k.members[p.session]; m != nil || p.state == 'Z' {
		return m, true
	}
	dir := "/proc/" + strconv.Itoa(p.pid)
	env, err := os.ReadFile(dir + "/environ")
	if errors.Is(err, fs.ErrPermission) {
		return nil, true
	}
	if err != nil || len(env) == 0 {
		return nil, bare(dir)
	}
	for _, m := range k.members {
		if len(m.marker) > 0 && bytes.Contains(env, m.marker) {
			return m, true
		}
	}
	return nil, true
}

// bare distinguishes a process whose environment is empty from one that has none yet, or
// no more: where in its memory the environment lies is known then, and is nothing
// (proc_pid_stat(5), fields 50 and 51). The kernel says the same for a moment of each
// execve, before it says where the program's code is (field 26).
func bare(dir string) bool {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false // it has just ended
	}
	const code, envStart, envEnd = 26 - 3, 50 - 3, 51 - 3 // behind the name the fields begin with the third
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(f) > envEnd && f[code] != "0" && f[envEnd] != "0" && f[envStart] == f[envEnd]
}

type proc struct {
	pid, ppid, session int
	threads            int
	pages              int64 // of memory that it has in use
	state              byte
}

// A table is the processes of the machine at one moment.
type table map[int]proc

func processes() table {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // a part is better than nothing
	procs := table{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := readProc("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid pgrp session …"; the name may hold anything.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 22 {
			continue
		}
		ppid, _ := strconv.Atoi(f[1])
		session, _ := strconv.Atoi(f[3])
		threads, _ := strconv.Atoi(f[17])
		pages, _ := strconv.ParseInt(f[21], 10, 64)
		procs[pid] = proc{pid: pid, ppid: ppid, session: session, threads: threads, pages: pages, state: f[0][0]}
	}
	return procs
}

// depth is how many generations pid is below top; a large number for a process
// that is not below it.
func (t table) depth(pid, top int) int {
	const far = 1 << 20
	for n := range len(t) {
		if pid == top {
			return n
		}
		p, ok := t[pid]
		if !ok {
			return far
		}
		pid = p.ppid
	}
	return far
}
