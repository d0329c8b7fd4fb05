// Package forecast lets a run begin before the sandbox has been tried out, where the last
// run on this machine has found out what it gives.
package forecast

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// File keeps, in the folder of ycbot's own files, what the sandbox was found
// to give by the last run here.
const File = "sandbox.json"

// An expected sandbox is one that is tried out when commands are announced. Until then it
// is said to give what it gave the last time on this machine, so that a run can begin; a
// command waits for the outcome, and none is run when that is another.
type expected struct {
	known  sandbox.Status
	file   string
	detect func() (sandbox.Sandbox, error)

	once  sync.Once
	begun atomic.Bool
	leave context.CancelFunc
	found chan struct{} // closed when box and err are there
	box   sandbox.Sandbox
	err   error
}

// A finding is what is kept: what was found, and of which machine.
type finding struct {
	Machine string         `json:"machine"`
	Status  sandbox.Status `json:"status"`
}

// Begin has detect try the sandbox out when commands are announced, beside what comes
// next, where the last run on this machine has found out what there is, and else at once.
// The caller calls [Wait] or [Abandon] at the end.
func Begin(ctx context.Context, file, machine string, detect func(context.Context) (sandbox.Sandbox, error)) (sandbox.Sandbox, error) {
	var last finding
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &last) != nil || machine == "" || last.Machine != machine || len(last.Status.SelfTest) == 0 {
		box, err := detect(ctx)
		if err == nil && machine != "" && len(box.Status().SelfTest) > 0 {
			err = keep(file, finding{machine, box.Status()})
		}
		return box, err
	}
	f := &expected{known: last.Status, file: file, found: make(chan struct{})}
	ctx, f.leave = context.WithCancel(ctx)
	f.detect = func() (sandbox.Sandbox, error) {
		box, err := detect(ctx)
		if err == nil && !gives(box.Status(), f.known) {
			err = fmt.Errorf("the sandbox gives tier %s and not %s with the same layers, as it did for the last run here: run again", box.Status().Tier, f.known.Tier)
		}
		if err != nil && ctx.Err() == nil {
			err = errors.Join(err, os.Remove(f.file))
		}
		return box, err
	}
	return f, nil
}

// keep writes what was found, as another run here may at the same time.
func keep(file string, f finding) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return folder.WriteWhole(file, data)
}

// gives says whether two trials came to the same.
func gives(a, b sandbox.Status) bool {
	return a.Tier == b.Tier && slices.Equal(a.Layers, b.Layers) && slices.Equal(a.Missing, b.Missing) &&
		slices.EqualFunc(a.SelfTest, b.SelfTest, func(a, b sandbox.Canary) bool { return a.Name == b.Name && a.Held == b.Held })
}

// Status implements [sandbox.Sandbox].
func (f *expected) Status() sandbox.Status { return f.known }

// Announced has the trial begin.
func (f *expected) Announced() {
	f.once.Do(func() {
		f.begun.Store(true)
		go func() {
			defer close(f.found)
			defer f.leave()
			f.box, f.err = f.detect()
		}()
	})
}

// wait waits for the trial, if it has begun.
func (f *expected) wait() {
	if f.begun.Load() {
		<-f.found
	}
}

// Run implements [sandbox.Sandbox].
func (f *expected) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	f.Announced()
	select {
	case <-f.found:
	case <-ctx.Done():
		return sandbox.Result{Exit: -1}, context.Cause(ctx)
	}
	if f.err != nil {
		return sandbox.Result{Exit: -1}, f.err
	}
	return f.box.Run(ctx, c)
}

// OpenLoopback makes a loopback interface as the sandbox does that was tried out.
func (f *expected) OpenLoopback(ctx context.Context) (*sandbox.Loopback, error) {
	f.Announced()
	select {
	case <-f.found:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.err != nil {
		return nil, f.err
	}
	return sandbox.OpenLoopback(ctx, f.box, sandbox.NetworkNone)
}

// Wait waits until a sandbox has been tried out, if that has begun, so that the trial
// leaves nothing behind.
func Wait(box sandbox.Sandbox) {
	if f, ok := box.(*expected); ok {
		f.wait()
	}
}

// Abandon is Wait for a sandbox that no one will use.
func Abandon(box sandbox.Sandbox) {
	if f, ok := box.(*expected); ok {
		f.leave()
		f.wait()
	}
}

// Machine names what the outcome of trying a sandbox out depends on: the kernel that
// is running, who runs this and under which restrictions, the programs, what was
// asked for. "" where that is not known.
func Machine(o sandbox.Options) string {
	const boot = "/proc/sys/kernel/random/boot_id"
	h := sha256.New()
	for _, name := range []string{
		boot, "/proc/version", "/proc/self/cgroup", "/sys/kernel/security/lsm", "/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/etc/passwd", "/etc/group",
	} {
		data, err := os.ReadFile(name)
		if err != nil && name == boot {
			return ""
		}
		fmt.Fprintf(h, "%s %v %q\n", name, err, data)
	}
	programs := slices.Clone(o.Shim[:min(1, len(o.Shim))])
	for _, dir := range filepath.SplitList(o.PATH) {
		programs = append(programs, filepath.Join(dir, "bwrap"))
	}
	for _, name := range programs {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(h, "%s %d %s %s\n", name, info.Size(), info.Mode(), info.ModTime())
		}
	}
	groups, err := os.Getgroups()
	fmt.Fprintf(h, "%d %d %v %v %s\n", os.Geteuid(), os.Getegid(), groups, err, restrictions())
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %q %v", o.Mode, o.PATH, o.Home, o.TZ, o.TempDir, o.Toolchains, o.Hide, o.Shim, o.Limits)
	return hex.EncodeToString(h.Sum(nil))
}

// restrictions are the lines of /proc/self/status that say what this process may do.
func restrictions() string {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		for _, name := range []string{"Cap", "NoNewPrivs", "Seccomp:"} {
			if strings.HasPrefix(line, name) {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}
