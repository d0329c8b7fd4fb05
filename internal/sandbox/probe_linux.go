package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
)

// tryCgroup runs a command under l, and with end ends its cgroup at once. It reports
// whether the command failed, and whether for want of memory.
func tryCgroup(ctx context.Context, g *cgroup.Delegated, l Limits, end bool, argv ...string) (failed, oom bool, err error) {
	c, err := g.Open(l.Memory, l.Processes)
	if err != nil {
		return false, false, err
	}
	defer c.Close()
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
		c.Kill()
	}
	waited := cmd.Wait()
	c.Kill()
	var exit *exec.ExitError
	if waited == nil || errors.As(waited, &exit) {
		err = family.end(m, dieTime)
	} else {
		err = waited
	}
	return waited != nil, c.OutOfMemory(), err
}

// probeCgroups tries what cgroups promise, with commands of its own.
func probeCgroups(ctx context.Context, g *cgroup.Delegated) ([]finding, error) {
	killed, _, err := tryCgroup(ctx, g, Limits{}, true, "/bin/sleep", "60")
	if err != nil {
		return nil, err
	}
	out := []finding{held(layerCgroup, "outlive the end of its cgroup", killed, "")}
	if g.Has("memory") {
		_, oom, err := tryCgroup(ctx, g, Limits{Memory: 16 << 20}, false, "/bin/sh", "-c", "head -c 100000000 /dev/zero | tail")
		if err != nil {
			return nil, err
		}
		out = append(out, held(layerCgroupMemory, "more memory than the command as a whole may have", oom, ""))
	}
	if g.Has("pids") {
		failed, _, err := tryCgroup(ctx, g, Limits{Processes: 1}, false, "/bin/sh", "-c",
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
func openCgroups(ctx context.Context) (_ *cgroup.Delegated, proved []finding, lacks []string) {
	g, err := cgroup.Find("", func() func(int) bool {
		procs, self := processes(), os.Getpid()
		return func(pid int) bool { return procs.depth(pid, self) <= len(procs) }
	})
	if err == nil {
		proved, err = probeCgroups(ctx, g)
	}
	for _, f := range proved {
		if !f.Held && err == nil {
			err = errors.New(f.layer + " does not hold")
		}
	}
	if err != nil {
		return nil, nil, []string{layerCgroup + ": " + err.Error() + "; memory is watched, and not limited by the kernel"}
	}
	for layer, controller := range map[string]string{layerCgroupMemory: "memory", layerCgroupProcesses: "pids"} {
		if !g.Has(controller) {
			lacks = append(lacks, layer+": "+g.Base+" does not have the controller "+controller)
		}
	}
	return g, proved, lacks
}
