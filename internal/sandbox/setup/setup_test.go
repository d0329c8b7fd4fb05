package setup_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/sandbox/setup"
)

// host makes a directory that looks like a machine.
func host(t *testing.T, files map[string]string) setup.Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return setup.Host{Root: root}
}

const (
	restricted = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	script     = "#!/bin/sh\necho \"$0 $*\"\n"
)

// Steps ask for what is missing and for nothing else; what is done is not
// asked for again.
func TestPreparation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		steps []string
		notes int
	}{
		"all there":       {map[string]string{"usr/bin/bwrap": ""}, nil, 0},
		"Debian":          {map[string]string{"usr/bin/apt-get": script}, []string{"install the package bubblewrap with apt-get"}, 0},
		"Fedora":          {map[string]string{"usr/bin/dnf": script}, []string{"install the package bubblewrap with dnf"}, 0},
		"no manager":      {nil, nil, 1},
		"Ubuntu":          {map[string]string{"usr/bin/bwrap": "", restricted: "1\n", "etc/apparmor.d/other": "x"}, []string{"write /etc/apparmor.d/ycbot-bwrap"}, 0},
		"Ubuntu, both":    {map[string]string{"usr/bin/apt-get": script, restricted: "1\n"}, []string{"install", "write"}, 0},
		"Ubuntu, allowed": {map[string]string{"usr/bin/bwrap": "", restricted: "1\n", "etc/apparmor.d/bwrap": "profile bwrap /usr/bin/bwrap {}"}, nil, 0},
		"not restricted":  {map[string]string{"usr/bin/bwrap": "", restricted: "0\n"}, nil, 0},
		"forbidden":       {map[string]string{"usr/bin/bwrap": "", "proc/sys/user/max_user_namespaces": "0\n"}, nil, 1},
	} {
		steps, notes := setup.Steps(host(t, tt.files))
		if len(steps) != len(tt.steps) || len(notes) != tt.notes+1 { // nor is there a cgroup
			t.Errorf("%s: %v, %q", name, steps, notes)
			continue
		}
		for i, s := range steps {
			if !strings.HasPrefix(s.What, tt.steps[i]) {
				t.Errorf("%s: will %s, want %s", name, s.What, tt.steps[i])
			}
		}
	}
}

// A cgroup is delegated where version 2 has the controllers; asked for again it
// is not, and a machine that cannot gets the reason.
func TestPreparationCgroup(t *testing.T) {
	t.Parallel()
	const (
		mountinfo = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		mine      = "sys/fs/cgroup/ycbot/"
	)
	me := setup.Host{UID: os.Geteuid(), GID: os.Getegid()}
	done := map[string]string{
		"proc/self/mountinfo": mountinfo, "sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n", "sys/fs/cgroup/cgroup.subtree_control": "",
		mine + "cgroup.subtree_control": "memory pids cpu\n", mine + "cgroup.procs": "", mine + "ycbot-harness/cgroup.procs": "",
	}
	for name, tt := range map[string]struct {
		files map[string]string
		host  setup.Host
		steps []string
		notes int
	}{
		"not mounted":    {nil, me, nil, 1},
		"no controllers": {map[string]string{"proc/self/mountinfo": mountinfo, "sys/fs/cgroup/cgroup.controllers": "io\n"}, me, nil, 1},
		"fresh":          {map[string]string{"proc/self/mountinfo": mountinfo, "sys/fs/cgroup/cgroup.controllers": "memory\n"}, me, []string{"make the cgroup /sys/fs/cgroup/ycbot and give it to"}, 0},
		"done":           {done, me, nil, 0},
		"another's":      {done, setup.Host{UID: me.UID + 1}, []string{"make the cgroup"}, 0},
		"and a process":  {done, setup.Host{UID: me.UID, Process: 77}, []string{"move process 77 into it"}, 0},
		"a service":      {nil, setup.Host{Unit: "ycbot.service"}, []string{"write /etc/systemd/system/ycbot.service.d/ycbot-delegate.conf"}, 0},
		"no service":     {nil, setup.Host{Unit: "../../x.service"}, nil, 1},
	} {
		files := map[string]string{"usr/bin/bwrap": ""}
		maps.Copy(files, tt.files)
		h := tt.host
		h.Root = host(t, files).Root
		steps, notes := setup.Steps(h)
		if len(steps) != len(tt.steps) || len(notes) != tt.notes {
			t.Errorf("%s: %v, %q", name, steps, notes)
			continue
		}
		for i, s := range steps {
			if !strings.HasPrefix(s.What, tt.steps[i]) {
				t.Errorf("%s: will %s, want %s", name, s.What, tt.steps[i])
			}
		}
	}
}

// The files of the cgroup are written, and systemd is notified of a service's.
func TestPreparationCgroupDone(t *testing.T) {
	t.Parallel()
	const top = "sys/fs/cgroup/"
	files := map[string]string{
		"usr/bin/bwrap": "", "usr/bin/systemctl": script,
		"proc/self/mountinfo":      "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		top + "cgroup.controllers": "pids\n", top + "cgroup.subtree_control": "",
	}
	for _, dir := range []string{"ycbot/", "ycbot/ycbot-harness/"} { // the kernel makes them with the directory
		for _, file := range []string{"cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
			files[top+dir+file] = ""
		}
	}
	h := host(t, files)
	h.UID, h.GID, h.Process = os.Geteuid(), os.Getegid(), 4711
	var out bytes.Buffer
	steps, _ := setup.Steps(h)
	h.Unit = "ycbot-worker@1.service"
	unit, _ := setup.Steps(h)
	for _, s := range append(steps, unit...) {
		if err := s.Do(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		top + "cgroup.subtree_control": "+pids", top + "ycbot/cgroup.subtree_control": "+pids", top + "ycbot/ycbot-harness/cgroup.procs": "4711",
	} {
		if text, err := os.ReadFile(filepath.Join(h.Root, file)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	if !strings.Contains(out.String(), "systemctl daemon-reload") {
		t.Errorf("systemd: %s", &out)
	}
	if again, notes := setup.Steps(h); len(again)+len(notes) > 0 {
		t.Errorf("again: %v, %q", again, notes)
	}
}

// A step does what it says, and shows what the programs say; a profile that
// cannot be loaded does not stay.
func TestPreparationDone(t *testing.T) {
	t.Parallel()
	const broken = "#!/bin/sh\nif [ \"$2\" = update ]; then exit 100; fi\necho \"$0 $*\"\n" // one source of many cannot be read
	for parser, loads := range map[string]bool{script: true, "#!/bin/sh\nexit 1\n": false} {
		manager := script
		if loads {
			manager = broken
		}
		h := host(t, map[string]string{"usr/bin/apt-get": manager, restricted: "1\n", "etc/apparmor.d/x": "", "usr/sbin/apparmor_parser": parser})
		steps, _ := setup.Steps(h)
		if len(steps) != 2 {
			t.Fatalf("steps: %v", steps)
		}
		var out bytes.Buffer
		if err := steps[0].Do(t.Context(), &out); err != nil || !strings.Contains(out.String(), "apt-get -qq -y --no-install-recommends install bubblewrap\n") {
			t.Errorf("install: %v: %s", err, &out)
		}
		if err := steps[1].Do(t.Context(), &out); (err == nil) != loads {
			t.Errorf("profile: %v", err)
		}
		text, err := os.ReadFile(filepath.Join(h.Root, "etc/apparmor.d/ycbot-bwrap"))
		if loads != (err == nil) || loads && !strings.Contains(string(text), "userns,") {
			t.Errorf("profile: %v: %s", err, text)
		}
		if steps, _ := setup.Steps(h); loads && len(steps) != 1 {
			t.Errorf("again: %v", steps)
		}
	}
}
