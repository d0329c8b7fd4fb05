package ecosystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A script of Python whose packages lie in someone's home does not run for commands; one of an
// environment does, and so does what is no script of Python.
func TestToolsOfOneUser(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	bin := filepath.Join(home, ".local/bin")
	for name, text := range map[string]string{
		".local/bin/pytest":                         "#!/usr/bin/python3\nimport pytest\n",
		".local/bin/tox":                            "#!" + home + "/env/bin/python3 -I\n",
		".local/bin/mine":                           "#!/bin/sh\n",
		".local/share/pipx/venvs/poetry/bin/poetry": "#!/usr/bin/python3\n",
		".local/lib/python3.11/site-packages/x.py":  "",
		"env/pyvenv.cfg":                            "",
		"bin/pytest":                                "#!/usr/bin/python3\n",
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../share/pipx/venvs/poetry/bin/poetry", filepath.Join(bin, "poetry")); err != nil {
		t.Fatal(err)
	}
	tools := &Toolchains{Env: []string{"PATH=" + bin}, shims: &shims{}}
	for name, want := range map[string]bool{"pytest": false, "tox": true, "mine": true, "poetry": true} {
		if got := tools.Has(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if why := tools.Lack("pytest"); !strings.Contains(why, "pip install --user") {
		t.Errorf("why: %s", why)
	}
	if tools.Env[0] = "PATH=" + filepath.Join(home, "bin"); !tools.Has("pytest") {
		t.Error("a script of another folder is missing")
	}
}
