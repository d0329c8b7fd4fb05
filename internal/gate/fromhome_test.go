package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/testing/spent"
)

// TestLoadedFromHome holds that files of HOME by which Python loads code are compared below HOME
// alone and up to a size: a link out of it, a pipe or a file without an end is one that the head
// has written.
func TestLoadedFromHome(t *testing.T) {
	t.Parallel()
	const site = ".local/lib/python3.1/site-packages/"
	outside := t.TempDir()
	for name, tt := range map[string]struct {
		lay  func(t *testing.T, side, home string)
		want string
	}{
		"the same": {func(t *testing.T, _, home string) {
			t.Helper()
			layText(t, home, site+"a.pth", "import a")
		}, ""},
		"another": {func(t *testing.T, side, home string) {
			t.Helper()
			layText(t, home, site+"a.pth", "import "+side)
		}, "~/" + site + "a.pth"},
		"only the head's": {func(t *testing.T, side, home string) {
			t.Helper()
			if side == "head" {
				layText(t, home, site+"a-1.dist-info/entry_points.txt", "[pytest11]")
			}
		}, "~/" + site + "a-1.dist-info/entry_points.txt"},
		"asked for": {func(t *testing.T, side, home string) {
			t.Helper()
			layText(t, home, site+"asked-1.dist-info/entry_points.txt", side)
		}, ""},
		"a device": {func(t *testing.T, side, home string) {
			t.Helper()
			if side == "head" {
				layLink(t, "/dev/zero", home, site+"a.pth")
			}
		}, "~/" + site + "a.pth"},
		"a link out of HOME": {func(t *testing.T, side, home string) {
			t.Helper()
			if side == "head" {
				layText(t, outside, "a.pth", "import a")
				layLink(t, filepath.Join(outside, "a.pth"), home, site+"a.pth")
			}
		}, "~/" + site + "a.pth"},
		"a folder out of HOME": {func(t *testing.T, side, home string) {
			t.Helper()
			if side == "head" {
				layText(t, outside, "entry_points.txt", "[pytest11]")
				layLink(t, outside, home, site+"a-1.dist-info")
			}
		}, "~/" + site + "a-1.dist-info"},
		"links of both to their own": {func(t *testing.T, _, home string) {
			t.Helper()
			layText(t, home, ".cache/uv/a.pth", "import a")
			layLink(t, filepath.Join(home, ".cache/uv/a.pth"), home, site+"a.pth")
		}, ""},
		"a pipe": {func(t *testing.T, side, home string) {
			t.Helper()
			layText(t, home, site+"b.py", "")
			if side == "head" {
				if err := syscall.Mkfifo(filepath.Join(home, site, "a.pth"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, "~/" + site + "a.pth"},
		"a hole": {func(t *testing.T, side, home string) {
			t.Helper()
			layText(t, home, site+"a.pth", "")
			if side == "head" {
				if err := os.Truncate(filepath.Join(home, site, "a.pth"), 1<<40); err != nil {
					t.Fatal(err)
				}
			}
		}, "~/" + site + "a.pth"},
	} {
		base, head := t.TempDir(), t.TempDir()
		tt.lay(t, "base", base)
		tt.lay(t, "head", head)
		var got []string
		took := spent.On(t, func() { got = loadedFrom(base, head, func(name string) bool { return name == "asked" }) })
		if strings.Join(got, " ") != tt.want || took > 10*time.Second {
			t.Errorf("%s: %q after %s, want %q", name, got, took, tt.want)
		}
	}
}

// TestUnlikeIsBounded holds that of what setup installed a file without an end is not read, and
// that it counts as another one.
func TestUnlikeIsBounded(t *testing.T) {
	t.Parallel()
	base, head := t.TempDir(), t.TempDir()
	for i, dir := range []string{base, head} {
		for _, name := range []string{"node_modules/chai/a.js", "node_modules/chai/package.json", "node_modules/chai/b.js"} {
			layText(t, dir, name, "1")
			if i == 1 && name != "node_modules/chai/b.js" {
				if err := os.Truncate(filepath.Join(dir, name), 1<<40); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	one, other := openTree(t, base), openTree(t, head)
	left := 10
	got := unlike(one, other, "node_modules/chai", &left)
	if want := []string{"node_modules/chai/a.js", "node_modules/chai/package.json"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func layText(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := folder.Make(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func layLink(t *testing.T, to, dir, name string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := folder.Make(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, file); err != nil {
		t.Fatal(err)
	}
}

func openTree(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return regular.FS(root)
}
