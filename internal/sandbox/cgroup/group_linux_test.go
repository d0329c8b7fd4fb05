package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeCgroups makes a tree of files that looks like a machine whose hierarchy of
// version 2 is at /sys/fs/cgroup; own is this program's cgroup in it.
func fakeCgroups(t *testing.T, own string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{
		"proc/self/mountinfo": "24 1 0:22 / /proc rw - proc proc rw\n30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
		"proc/self/cgroup":    "0::" + own + "\n",
	}
	for name, text := range files {
		all["sys/fs/cgroup/"+name] = text
	}
	for name, text := range all {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// justThis says that no process but this one is the program's.
func justThis() func(int) bool { return func(pid int) bool { return pid == os.Getpid() } }

// Commands' cgroups are made where a cgroup was delegated, and nowhere else; a
// cgroup with others' processes is left as it is.
func TestFindCgroups(t *testing.T) {
	t.Parallel()
	self := strconv.Itoa(os.Getpid())
	const all = "cpuset cpu io memory pids\n"
	for name, tt := range map[string]struct {
		own   string
		files map[string]string
		base  string // empty: none
		why   string
	}{
		"a container of its own": {"/", map[string]string{"cgroup.type": "domain", "cgroup.procs": self, "cgroup.subtree_control": "", "cgroup.controllers": all, "ycbot-harness/cgroup.procs": ""}, "", ""},
		"the machine itself":     {"/", map[string]string{"cgroup.procs": self, "cgroup.subtree_control": all, "cgroup.controllers": all}, "", "not delegated"},
		"others are there, too":  {"/", map[string]string{"cgroup.type": "domain", "cgroup.procs": "1\n" + self, "cgroup.subtree_control": "", "cgroup.controllers": all}, "", "other processes"},
		"moved there": {"/ycbot/ycbot-harness", map[string]string{
			"ycbot/cgroup.procs": "", "ycbot/cgroup.subtree_control": "memory pids\n", "ycbot/ycbot-harness/cgroup.procs": self, "ycbot/ycbot-harness/cgroup.type": "domain",
		}, "ycbot", ""},
		"without controllers": {"/ycbot/ycbot-harness", map[string]string{
			"ycbot/cgroup.procs": "", "ycbot/cgroup.subtree_control": "io\n", "ycbot/ycbot-harness/cgroup.procs": self,
		}, "", "neither"},
		"outside of what is mounted": {"/../other", nil, "", "outside"},
	} {
		root := fakeCgroups(t, tt.own, tt.files)
		base, err := "", error(nil)
		if g, findErr := Find(root, justThis); findErr == nil {
			base = g.Base
		} else {
			err = findErr
		}
		if tt.why == "" && name == "a container of its own" {
			// What a kernel would show afterwards is what was written.
			for file, want := range map[string]string{"ycbot-harness/cgroup.procs": self, "cgroup.subtree_control": "+cpu"} {
				if got, err := os.ReadFile(filepath.Join(root, "sys/fs/cgroup", file)); err != nil || string(got) != want {
					t.Errorf("%s: %s: %q, %v", name, file, got, err)
				}
			}
			continue
		}
		if tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)) || tt.why == "" && base != filepath.Join(root, "sys/fs/cgroup", tt.base) {
			t.Errorf("%s: base %q, %v", name, base, err)
		}
	}
	if _, err := Find(t.TempDir(), justThis); err == nil {
		t.Error("found one where nothing is mounted")
	}
}

// The cgroup of a command has the limits of the command, as far as the
// controllers are there, and none that was switched off.
func TestCgroupSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		controllers []string
		memory      int64
		processes   int
		want        map[string]string
	}{
		{Controllers(), 1 << 30, 100, map[string]string{"memory.max": "1073741824", "memory.oom.group": "1", "pids.max": "132", "cpu.weight": "50"}},
		{[]string{"pids"}, 1 << 30, 100, map[string]string{"pids.max": "132"}},
		{Controllers(), -1, -1, map[string]string{"cpu.weight": "50"}},
	} {
		g := &Delegated{Base: t.TempDir(), controllers: tt.controllers}
		got := map[string]string{}
		write := func(_, file, value string) error { got[file] = value; return nil }
		if err := g.limit("", tt.memory, tt.processes, write); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// realCgroups is a cgroup of the real kernel for this test.
func realCgroups(t *testing.T) *Delegated {
	t.Helper()
	if g, err := Find("", justThis); err == nil {
		return g
	}
	mount, _, err := ownCgroup("")
	if err != nil {
		t.Skip("no cgroup file system of version 2 on this machine")
	}
	dir := filepath.Join(mount, "ycbot-test-"+strconv.Itoa(os.Getpid())+"-"+filepath.Base(filepath.Dir(t.TempDir())))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no delegated cgroup, and none can be made: " + err.Error())
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	return &Delegated{Base: dir}
}

// A process starts in its cgroup, all that it leaves behind ends with it, and
// nothing of the cgroup remains.
func TestCgroupEndsTheTree(t *testing.T) {
	t.Parallel()
	g := realCgroups(t)
	c, err := g.Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Another sandbox of this program has its own in the same place.
	other, err := (&Delegated{Base: g.Base}).Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	cmd := exec.Command("/bin/bash", "-c", "for i in {1..20}; do setsid sleep 1000 & done; echo; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	c.Hold(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	pids := processesIn(c.dir)
	if len(pids) < 21 {
		t.Errorf("only %d processes in it", len(pids))
	}
	c.Kill()
	_ = cmd.Wait() // killed
	for pause := 0; len(processesIn(c.dir)) > 0; pause++ {
		if pause > 1000 {
			t.Fatalf("left: %v", processesIn(c.dir))
		}
		_ = exec.Command("/bin/true").Run()
	}
	c.Close()
	if there(c.dir) {
		t.Error("the cgroup is still there")
	}
}

// Empty cgroups of programs that are gone are removed; those of this one are not.
func TestCgroupSweep(t *testing.T) {
	t.Parallel()
	g := &Delegated{Base: t.TempDir()}
	gone := exec.Command("/bin/true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(g.Base, prefix+strconv.Itoa(gone.ProcessState.Pid())+"-1")
	mine := filepath.Join(g.Base, prefix+strconv.Itoa(os.Getpid())+"-1")
	for _, dir := range []string{stale, mine, filepath.Join(g.Base, "other")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g.sweep()
	if there(stale) || !there(mine) || !there(filepath.Join(g.Base, "other")) {
		t.Error("swept the wrong ones")
	}
}
