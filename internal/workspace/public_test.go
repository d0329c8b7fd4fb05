package workspace

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A change with submodules as the advisories of git describe them gets no hook of theirs
// run and no file written beside its folder: submodules are never initialised, and what
// they name is not laid out.
func TestSubmodulesOfAdvisories(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]struct{ path, link, to string }{
		"CVE-2025-48384, a carriage return": {"sub\r", "sub", ".git/modules/sub/hooks"},
		"CVE-2024-32002, another case":      {"A/modules/x", "a", ".git"},
		"CVE-2018-17456, an option":         {"-u./payload", "x", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, markers := payload(t)
			dir, inner := newRepo(t), newRepo(t)
			write(t, inner, map[string]string{"hooks/post-checkout": read(t, program)})
			if err := os.Chmod(filepath.Join(inner, "hooks/post-checkout"), 0o755); err != nil {
				t.Fatal(err)
			}
			module := commit(t, inner, "hooks")
			modules := "[submodule \"evil\"]\n\tpath = \"" + strings.ReplaceAll(a.path, "\r", "\\r") + "\"\n\turl = " + inner + "\n\tupdate = !" + program + "\n\tfetchRecurseSubmodules = true\n"
			if strings.HasSuffix(a.path, "\r") {
				modules = strings.ReplaceAll(modules, "\\r", "\r") // git writes it without quotes, and reads it without the end
			}
			write(t, dir, map[string]string{".gitmodules": modules})
			symlink(t, a.to, filepath.Join(dir, a.link))
			user(t, dir, "add", "-A")
			user(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+module+","+a.path)
			user(t, dir, "commit", "-q", "-m", "evil")
			useEverything(t, dir)
			_, m, head := imported(t, dir)
			tree := worktree(t, m, "t", head)
			if _, err := tree.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(filepath.Join(tree.Dir, ".git")); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the pointer is %v, %v", info, err)
			}
			if _, err := os.Lstat(filepath.Join(m.Dir, "modules")); err == nil {
				t.Error("the submodule was fetched")
			}
			if ran := must[[]os.DirEntry](t)(os.ReadDir(markers)); len(ran) > 0 {
				t.Errorf("the hook ran %d times", len(ran))
			}
		})
	}
}

// A server that names bundles (CVE-2025-48385) has none of them fetched.
func TestServersBundlesAreNotFetched(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	bundles := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer bundles.Close()
	dir := newRepo(t)
	head := user(t, dir, "rev-parse", "HEAD")
	for key, value := range map[string]string{
		"uploadpack.advertiseBundleURIs": "true", "uploadpack.allowAnySHA1InWant": "true", "bundle.version": "1", "bundle.mode": "all", "bundle.evil.uri": bundles.URL + "/evil.bundle",
	} {
		user(t, dir, "config", key, value)
	}
	g := newGit(t)
	m := must[*Mirror](t)(OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "mirror.git"), "sha1"))
	if err := m.Fetch(t.Context(), git.Remote{URL: serve(t, dir).URL}, head); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d bundles were asked for", n)
	}
	// The server is a real one: a git that is configured so asks it.
	_, _ = userMayFail(t.TempDir(), "clone", "-q", "--bundle-uri="+bundles.URL+"/evil.bundle", dir, "clone")
	if asked.Load() == 0 {
		t.Error("that server is never asked")
	}
}

// swap puts something else in the place of a file or folder and takes it away, again and
// again, until the test ends. The harness may remove either meanwhile.
func swap(t *testing.T, path string, put func() error) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	aside := t.TempDir()
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				own := filepath.Join(aside, fmt.Sprint(n))
				if os.Rename(path, own) != nil {
					continue
				}
				_ = put() // the harness may have been quicker, here and below
				_ = os.Remove(path)
				_ = os.Rename(own, path)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

// A folder that is swapped for a link to one outside while tracked files are put back and
// removed: nothing outside is written or removed (CVE-2026-39861).
func TestSwappedWhileRestored(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "t", head)
	outside, laid := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"b.go": "not of the tree\n"})
	write(t, laid, map[string]string{"src/a.go": "of the tree\n", "src/b.go": "of the tree\n"})
	before := fingerprint(t, outside)
	src := filepath.Join(tree.Dir, "src")
	swap(t, src, func() error { return os.Symlink(outside, src) })
	p := must[*patcher](t)(tree.patcher(t.Context()))
	defer p.close()
	made := must[*os.Root](t)(os.OpenRoot(laid))
	defer made.Close()
	put := 0
	for range 1500 {
		for _, path := range []string{"src/a.go", "src/b.go"} {
			if p.putOne(made, &want{Entry: objects.Entry{Path: path, Mode: objects.ModeFile}}, true) == nil { // it may give up: the tree does not hold still
				put++
			}
		}
		_ = p.removeFile("src/b.go")
	}
	if d := cmp.Diff(before, fingerprint(t, outside)); d != "" {
		t.Errorf("outside: %s", d)
	}
	if put == 0 {
		t.Error("no file was put back")
	}
}

// The pointer of a worktree is swapped for one to a repository that runs a program, while
// the harness works on the tree: its git never follows the pointer.
func TestSwappedPointer(t *testing.T) {
	t.Parallel()
	program, markers := payload(t)
	evil := newRepo(t)
	hostile(t, evil, program)
	_, m, head := imported(t, newRepo(t))
	tree := worktree(t, m, "t", head)
	clearFolder(t, markers)
	pointer := filepath.Join(tree.Dir, ".git")
	swap(t, pointer, func() error { return os.WriteFile(pointer, []byte("gitdir: "+filepath.Join(evil, ".git")+"\n"), 0o644) }) //nolint:gosec // as git writes it
	for range 12 {
		_, _ = tree.Restore(t.Context()) // whether it succeeds depends on the moment
		_, _ = tree.Changed(t.Context())
		_ = tree.Overlay(t.Context(), head, []string{"README"})
		_, _ = m.Diff(t.Context(), head, head)
	}
	if ran := must[[]os.DirEntry](t)(os.ReadDir(markers)); len(ran) > 0 {
		t.Errorf("the program ran %d times", len(ran))
	}
}
