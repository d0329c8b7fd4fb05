package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// TestShims holds that a program that a version manager has put in place of another counts
// as there only where it runs, that what it says is the reason, and that no program that
// stands for itself is started to find out.
func TestShims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("pyenv/shims/python3", "echo \"pyenv: version \\`3.6' is not installed\" >&2; exit 1\n")
	script("pyenv/shims/ruby", "echo ruby 3.3.0\n")
	script("jenv/shims/java", "[ \"$1\" = -version ]\n")
	script("cargo/bin/rustup", "echo 'error: rustup could not choose a version of cargo to run' >&2; exit 1\n")
	script("volta/volta-shim", "echo 'Volta error: Node is not available.' >&2; exit 126\n")
	script("bin/corepack", "touch "+filepath.Join(dir, "started")+"\n")
	script("bin/mix", "touch "+filepath.Join(dir, "started")+"; exit 1\n")
	if err := os.Symlink("rustup", filepath.Join(dir, "cargo/bin/cargo")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "volta/volta-shim"), filepath.Join(dir, "volta/node")); err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, d := range []string{"pyenv/shims", "jenv/shims", "cargo/bin", "volta", "bin"} {
		path = append(path, filepath.Join(dir, d))
	}
	tools, err := ecosystem.FindToolchains(t.Context(), []string{"PATH=" + strings.Join(path, ":")})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"python3": "python3 of this machine does not run: pyenv: version `3.6' is not installed",
		"cargo":   "cargo of this machine does not run: error: rustup could not choose a version of cargo to run",
		"node":    "node of this machine does not run: Volta error: Node is not available.",
		"ruby":    "",
		"java":    "",
		"mix":     "",
		"php":     "no php on this machine",
		"yarn":    `no yarn on this machine, which "corepack enable" puts there`,
	} {
		if got := tools.Has(name); got != (want == "") {
			t.Errorf("has %s: %v", name, got)
		}
		if want != "" && tools.Lack(name) != want {
			t.Errorf("%q, want %q", tools.Lack(name), want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("a program that is no shim was started")
	}
	s := ecosystem.NewSurvey(ecosystem.InTree(dir), []string{"Cargo.toml"}, tools, t.Logf)
	if err := os.WriteFile(filepath.Join(dir, "Cargo.toml"), []byte("[package]\nname = \"x\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := ecosystem.Lacking(FindProjects(s)); !strings.Contains(got, "rustup could not choose") {
		t.Errorf("the project lacks %q", got)
	}
}
