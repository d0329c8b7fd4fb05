package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// host makes a directory that looks like a machine.
func host(t *testing.T, files map[string]string) sandbox.Host {
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
	return sandbox.Host{Root: root}
}

const (
	restricted = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	script     = "#!/bin/sh\necho \"$0 $*\"\n"
)

// Preparation asks for what is missing and for nothing else; what is done is not
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
		steps, notes := sandbox.Preparation(host(t, tt.files))
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

// A step does what it says, and shows what the programs say; a profile that
// cannot be loaded does not stay.
func TestPreparationDone(t *testing.T) {
	t.Parallel()
	for parser, loads := range map[string]bool{script: true, "#!/bin/sh\nexit 1\n": false} {
		h := host(t, map[string]string{"usr/bin/apt-get": script, restricted: "1\n", "etc/apparmor.d/x": "", "usr/sbin/apparmor_parser": parser})
		steps, _ := sandbox.Preparation(h)
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
		if steps, _ := sandbox.Preparation(h); loads && len(steps) != 1 {
			t.Errorf("again: %v", steps)
		}
	}
}
