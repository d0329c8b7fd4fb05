package execution

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/folder"
)

// TestOwnSettings holds that settings of tools that a command left in HOME are gone for
// the next one, also behind links, and that what is installed there stays.
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, outside := filepath.Join(dir, "home"), filepath.Join(dir, "outside")
	gone := []string{
		".config/go/env", ".npmrc", ".cargo/config.toml", ".m2/settings.xml", ".gradle/init.d/a.gradle", ".gitconfig", ".bashrc", ".yarnrc.yml",
		".local/lib/python3.12/site-packages/usercustomize.py", ".cmake/packages/a/b", ".node_modules/a/index.js",
	}
	stays := []string{".cargo/registry/a", ".m2/repository/a", ".local/bin/tool", ".local/lib/python3.12/site-packages/a.py", ".cache/pip/a", "go/bin/tool", "data"}
	for _, name := range append(gone, stays...) {
		lay(t, filepath.Join(home, name), "x")
	}
	lay(t, filepath.Join(outside, "config"), "x")
	lay(t, filepath.Join(outside, "gradle.properties"), "x")
	if err := os.RemoveAll(filepath.Join(home, ".gradle")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(home, ".gradle")); err != nil {
		t.Fatal(err)
	}
	if err := (&Machine{}).ownSettings(home); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(gone, ".gradle") {
		if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range stays {
		if !folder.Exists(filepath.Join(home, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	if !folder.Exists(filepath.Join(outside, "gradle.properties")) {
		t.Error("a file outside of HOME was removed")
	}
}

// lay writes a file and the folders that it lies in.
func lay(t *testing.T, file, text string) {
	t.Helper()
	if err := folder.Make(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
