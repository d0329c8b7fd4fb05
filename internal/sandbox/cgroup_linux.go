package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupPrefix begins the name of a command's own cgroup; this program's process
// and a number follow.
const cgroupPrefix = "job-"

// cgroupSlack is how many threads a command's cgroup has beside the command's
// own: bubblewrap's and, until it becomes the command, the shim's.
const cgroupSlack = 32

// cpuWeight is a command's share of the processors beside this program's 100,
// which has to go on watching it.
const cpuWeight = "50"

// cgroups is a cgroup of version 2 that was delegated to this program. Each
// command gets one of its own in it, which bounds all of the command together.
type cgroups struct {
	base        string
	controllers []string // of memory, pids and cpu, those that base gives
}

// findCgroups returns the delegated cgroup of this program; root stands before
// the path of every file.
func findCgroups(root string) (*cgroups, error) {
	base, err := delegatedCgroup(root)
	if err != nil {
		return nil, err
	}
	g := &cgroups{base: base}
	for _, name := range enabledControllers(base) {
		if slices.Contains(cgroupControllers, name) {
			g.controllers = append(g.controllers, name)
		}
	}
	if !g.has("memory") && !g.has("pids") {
		return nil, fmt.Errorf("%s has neither the controller memory nor pids", base)
	}
	g.sweep()
	return g, nil
}

func (g *cgroups) has(controller string) bool { return slices.Contains(g.controllers, controller) }

// sweep removes what killed programs left: empty cgroups.
func (g *cgroups) sweep() {
	dirs, err := filepath.Glob(filepath.Join(g.base, cgroupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), cgroupPrefix), "-")
		if pid, err := strconv.Atoi(text); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = unix.Rmdir(dir) // one with processes stays
		}
	}
}

// A cgroup is what one command's processes are in, all of them; nil is none.
type cgroup struct {
	dir  string
	file *os.File
	pids bool // processes are limited
}

// open makes a cgroup with the limits of l.
func (g *cgroups) open(l Limits) (_ *cgroup, err error) {
	if g == nil {
		return nil, nil //nolint:nilnil // nil is the cgroup that there is none
	}
	dir, err := os.MkdirTemp(g.base, cgroupPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	c := &cgroup{dir: dir}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if err := g.limit(dir, l, writeCgroup); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	c.pids = g.has("pids") && l.Processes > 0
	if c.file, err = os.Open(dir); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return c, nil
}

// limit writes the limits of l to the files of dir.
func (g *cgroups) limit(dir string, l Limits, write func(dir, file, value string) error) error {
	type setting struct{ file, value string }
	var set []setting
	if g.has("memory") && l.Memory > 0 {
		set = append(set, setting{"memory.max", strconv.FormatInt(l.Memory, 10)}, setting{"memory.oom.group", "1"})
		if exists(filepath.Join(dir, "memory.swap.max")) { // not there without accounting of swap
			set = append(set, setting{"memory.swap.max", "0"})
		}
	}
	if g.has("pids") && l.Processes > 0 {
		set = append(set, setting{"pids.max", strconv.Itoa(l.Processes + cgroupSlack)})
	}
	if g.has("cpu") {
		set = append(set, setting{"cpu.weight", cpuWeight})
	}
	for _, s := range set {
		if err := write(dir, s.file, s.value); err != nil {
			return err
		}
	}
	return nil
}

// hold makes cmd start in c.
func (c *cgroup) hold(cmd *exec.Cmd) {
	if c != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.file.Fd())
	}
}

// kill ends all processes of c, and none can escape it by starting others.
func (c *cgroup) kill() {
	if c != nil {
		_ = writeCgroup(c.dir, "cgroup.kill", "1") // before Linux 5.14 the process table has to do
	}
}

// outOfMemory reports whether c was killed for passing its memory.
func (c *cgroup) outOfMemory() bool {
	if c == nil {
		return false
	}
	f := words(c.dir, "memory.events")
	i := slices.Index(f, "oom_kill")
	return i >= 0 && len(f) > i+1 && f[i+1] != "0"
}

// close removes c, whose processes have ended.
func (c *cgroup) close() {
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

// try runs a command under l, and with end ends its cgroup at once. It reports
// whether the command failed, and whether for want of memory.
func (g *cgroups) try(ctx context.Context, l Limits, end bool, argv ...string) (failed, oom bool, err error) {
	c, err := g.open(l)
	if err != nil {
		return false, false, err
	}
	defer c.close()
	runtime.LockOSThread() // see watch
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{}
	m, err := family.start(cmd, "", false, c)
	if err != nil {
		return false, false, fmt.Errorf("start in a cgroup: %w", err)
	}
	defer family.forget(m)
	if end {
		c.kill()
	}
	waited := cmd.Wait()
	c.kill()
	var exit *exec.ExitError
	if waited == nil || errors.As(waited, &exit) {
		err = family.end(m, dieTime)
	} else {
		err = waited
	}
	return waited != nil, c.outOfMemory(), err
}

// probe tries what cgroups promise, with commands of its own.
func (g *cgroups) probe(ctx context.Context) ([]finding, error) {
	killed, _, err := g.try(ctx, Limits{}, true, "/bin/sleep", "60")
	if err != nil {
		return nil, err
	}
	out := []finding{held(layerCgroup, "outlive the end of its cgroup", killed, "")}
	if g.has("memory") {
		_, oom, err := g.try(ctx, Limits{Memory: 16 << 20}, false, "/bin/sh", "-c", "head -c 100000000 /dev/zero | tail")
		if err != nil {
			return nil, err
		}
		out = append(out, held(layerCgroupMemory, "more memory than the command as a whole may have", oom, ""))
	}
	if g.has("pids") {
		failed, _, err := g.try(ctx, Limits{Processes: 1}, false, "/bin/sh", "-c",
			"set -e; i=0; while [ $i -lt 64 ]; do sleep 60 >/dev/null 2>&1 & i=$((i+1)); done 2>/dev/null")
		if err != nil {
			return nil, err
		}
		out = append(out, held(layerCgroupProcesses, "more processes than the command as a whole may have", failed, ""))
	}
	return out, nil
}

// openCgroups finds the delegated cgroup and tries it out. Where there is none,
// or it does not do what it should, commands go without, and lacks says why.
func openCgroups(ctx context.Context) (_ *cgroups, proved []finding, lacks []string) {
	g, err := findCgroups("")
	if err == nil {
		proved, err = g.probe(ctx)
	}
	for _, f := range proved {
		if !f.Held && err == nil {
			err = errors.New(f.layer + " does not hold")
		}
	}
	if err != nil {
		return nil, nil, []string{layerCgroup + ": " + err.Error() + "; memory is limited for each process, not for a command as a whole"}
	}
	for layer, controller := range map[string]string{layerCgroupMemory: "memory", layerCgroupProcesses: "pids"} {
		if !g.has(controller) {
			lacks = append(lacks, layer+": "+g.base+" does not have the controller "+controller)
		}
	}
	return g, proved, lacks
}
