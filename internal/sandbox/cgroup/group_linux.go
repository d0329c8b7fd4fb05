package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// prefix begins the name of a command's own cgroup; this program's process
// and a number follow.
const prefix = "job-"

// slack is how many threads a command's cgroup has beside the command's
// own: bubblewrap's and, until it becomes the command, the shim's.
const slack = 32

// cpuWeight is a command's share of the processors beside this program's 100,
// which has to go on watching it.
const cpuWeight = "50"

// A Delegated is a cgroup of version 2 that was delegated to this program. Each
// command gets one of its own in it, which bounds all of the command together.
type Delegated struct {
	Base        string   // its folder
	controllers []string // of memory, pids and cpu, those that it gives
}

// Find returns the delegated cgroup of this program; root stands before
// the path of every file. Own looks at the processes of the machine and returns which of
// them are this program's.
func Find(root string, own func() func(pid int) bool) (*Delegated, error) {
	base, err := delegatedCgroup(root, own)
	if err != nil {
		return nil, err
	}
	g := &Delegated{Base: base}
	for _, name := range enabledControllers(base) {
		if slices.Contains(Controllers(), name) {
			g.controllers = append(g.controllers, name)
		}
	}
	if !g.Has("memory") && !g.Has("pids") {
		return nil, fmt.Errorf("%s has neither the controller memory nor pids", base)
	}
	g.sweep()
	return g, nil
}

// Has reports whether commands can be limited with a controller.
func (g *Delegated) Has(controller string) bool { return slices.Contains(g.controllers, controller) }

// sweep removes what killed programs left: empty cgroups.
func (g *Delegated) sweep() {
	dirs, err := filepath.Glob(filepath.Join(g.Base, prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if pid, err := strconv.Atoi(text); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = unix.Rmdir(dir) // one with processes stays
		}
	}
}

// A Group is what one command's processes are in, all of them; nil is none.
type Group struct {
	dir    string
	file   *os.File
	Pids   bool // processes are limited
	Memory bool // memory is limited
}

// Open makes a cgroup with limits of memory, in bytes, and of processes; what is not
// positive is no limit.
func (g *Delegated) Open(memory int64, processes int) (_ *Group, err error) {
	if g == nil {
		return nil, nil //nolint:nilnil // nil is the cgroup that there is none
	}
	dir, err := os.MkdirTemp(g.Base, prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	c := &Group{dir: dir}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := g.limit(dir, memory, processes, Write); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	c.Pids, c.Memory = g.Has("pids") && processes > 0, g.Has("memory") && memory > 0
	if c.file, err = os.Open(dir); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return c, nil
}

// limit writes the limits to the files of dir.
func (g *Delegated) limit(dir string, memory int64, processes int, write func(dir, file, value string) error) error {
	type setting struct{ file, value string }
	var set []setting
	if g.Has("memory") && memory > 0 {
		set = append(set, setting{"memory.max", strconv.FormatInt(memory, 10)}, setting{"memory.oom.group", "1"})
		if there(filepath.Join(dir, "memory.swap.max")) { // not there without accounting of swap
			set = append(set, setting{"memory.swap.max", "0"})
		}
	}
	if g.Has("pids") && processes > 0 {
		set = append(set, setting{"pids.max", strconv.Itoa(processes + slack)})
	}
	if g.Has("cpu") {
		set = append(set, setting{"cpu.weight", cpuWeight})
	}
	for _, s := range set {
		if err := write(dir, s.file, s.value); err != nil {
			return err
		}
	}
	return nil
}

// Hold makes cmd start in c.
func (c *Group) Hold(cmd *exec.Cmd) {
	if c != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.file.Fd())
	}
}

// Kill ends all processes of c, and none can escape it by starting others.
func (c *Group) Kill() {
	if c != nil {
		_ = Write(c.dir, "cgroup.kill", "1") // before Linux 5.14 the process table has to do
	}
}

// OutOfMemory reports whether c was killed for passing its memory.
func (c *Group) OutOfMemory() bool {
	if c == nil {
		return false
	}
	f := Words(c.dir, "memory.events")
	i := slices.Index(f, "oom_kill")
	return i >= 0 && len(f) > i+1 && f[i+1] != "0"
}

// Close removes c, whose processes have ended.
func (c *Group) Close() {
	if c == nil {
		return
	}
	if c.file != nil {
		c.file.Close()
	}
	for pause := 100 * time.Microsecond; pause < time.Second; pause *= 2 {
		if err := unix.Rmdir(c.dir); !errors.Is(err, unix.EBUSY) {
			return
		}
		<-time.After(pause) // the kernel is about to forget the last process
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
