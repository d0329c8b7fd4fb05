package repository

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	dir := newRepo(t)
	user(t, dir, "remote", "add", "origin", "git@github.com:acme/widget.git")
	r := must[*Repository](t)(Discover(t.Context(), g, filepath.Join(dir, "src")))
	if r.Root != dir || r.Name != "acme/widget" || r.Host != "github.com" || r.Format != "sha1" || r.Shallow || r.Partial {
		t.Errorf("got %+v", r)
	}
	bare := filepath.Join(dir, "evil.git")
	user(t, dir, "init", "-q", "--bare", bare)
	for _, at := range []string{t.TempDir(), filepath.Join(dir, "README"), filepath.Join(dir, "missing"), bare, filepath.Join(dir, ".git")} {
		if _, err := Discover(t.Context(), g, at); !errors.Is(err, ErrNotRepository) {
			t.Errorf("Discover(%s): %v, want ErrNotRepository", at, err)
		}
	}
}

func TestNameFromURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://github.com/o/r.git":        "github.com o/r",
		"https://user:pw@github.com/o/r":    "github.com o/r",
		"ssh://git@ghe.example.org:22/o/r/": "ghe.example.org o/r",
		"git@github.com:o/r.git":            "github.com o/r",
		"work:o/r.git":                      "work o/r",
		"https://gitlab.com/a/b/c":          " ",
		"/srv/git/o/r":                      " ",
		"file:///o/r":                       " ",
		"../up":                             " ",
		"":                                  " ",
		"https://github.com/o/r x":          " ",
	} {
		if host, name, _ := nameFromURL(raw); host+" "+name != want {
			t.Errorf("nameFromURL(%q) = %q %q, want %q", raw, host, name, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r := must[*Repository](t)(Discover(t.Context(), newGit(t), dir))
	for _, ref := range []string{"HEAD", "topic", "main", "v1", "HEAD~1", "refs/heads/main", user(t, dir, "rev-parse", "HEAD")[:10]} {
		if got, want := must[string](t)(r.Resolve(t.Context(), ref)), user(t, dir, "rev-parse", ref+"^{commit}"); got != want {
			t.Errorf("Resolve(%s) = %s, want %s", ref, got, want)
		}
	}
	for _, ref := range []string{"", "nope", "--all", "-h", "HEAD:README", "HEAD^{tree}", "a\nb", "a\x00b", strings.Repeat("1", 40)} {
		oid, err := r.Resolve(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), "no commit") {
			t.Errorf("Resolve(%q) = %s, %v", ref, oid, err)
		}
	}
}

// A branch that only the remote has is found by the name people use.
func TestResolveRemoteBranch(t *testing.T) {
	t.Parallel()
	up := newRepo(t)
	clone := filepath.Join(t.TempDir(), "c")
	user(t, up, "clone", "-q", up, clone)
	r := must[*Repository](t)(Discover(t.Context(), newGit(t), clone))
	if got, want := must[string](t)(r.Resolve(t.Context(), "main")), user(t, up, "rev-parse", "main"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDefaultRange(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	clone := filepath.Join(t.TempDir(), "clone") // origin/HEAD is topic
	user(t, dir, "clone", "-q", dir, clone)
	lone := t.TempDir()
	user(t, lone, "init", "-q", "-b", "main")
	unborn := t.TempDir()
	user(t, unborn, "init", "-q", "-b", "main")
	write(t, lone, map[string]string{"a": "a"})
	commit(t, lone, "only")
	odd := t.TempDir()
	user(t, odd, "init", "-q", "-b", "trunk")
	commit(t, odd, "x")
	shallow := filepath.Join(t.TempDir(), "shallow")
	user(t, dir, "clone", "-q", "--depth=1", "file://"+dir, shallow)

	g := newGit(t)
	for _, tt := range []struct {
		name, dir string
		prepare   []string
		base      string // what git calls the base
		baseName  string
		headName  string
		err       string
	}{
		{"topic", dir, nil, "main", "main", "topic", ""},
		{"on main", dir, []string{"checkout", "-q", "main"}, "main~1", "HEAD~1", "main", ""},
		{"detached", dir, []string{"checkout", "-q", "--detach", "topic"}, "main", "main", "HEAD", ""},
		{"detached on main", dir, []string{"checkout", "-q", "--detach", "main"}, "main~1", "HEAD~1", "HEAD", ""},
		{"origin/HEAD", clone, []string{"checkout", "-q", "-b", "mine"}, "origin/topic", "origin/topic", "mine", ""},
		{"first commit", lone, nil, "", "", "", "has nothing before it"},
		{"unborn", unborn, nil, "", "", "", "has no commit yet; git add"},
		{"no default branch", odd, nil, "", "", "", "--base"},
		{"shallow", shallow, nil, "", "", "", "--unshallow"},
	} {
		if tt.prepare != nil {
			user(t, tt.dir, tt.prepare...)
		}
		r := must[*Repository](t)(Discover(t.Context(), g, tt.dir))
		base, head, err := r.DefaultRange(t.Context())
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		want := []Ref{{tt.baseName, user(t, tt.dir, "rev-parse", tt.base)}, {tt.headName, user(t, tt.dir, "rev-parse", "HEAD")}}
		if d := cmp.Diff(want, []Ref{base, head}); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

// What is compared with what depends on the head, and not on what is checked out.
func TestDefaultBase(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	clone := filepath.Join(t.TempDir(), "clone") // origin/HEAD is topic
	user(t, dir, "clone", "-q", dir, clone)
	g := newGit(t)
	for _, tt := range []struct{ dir, out, head, base, name string }{
		{dir, "main", "topic", "main", "main"},
		{dir, "topic", "main", "main~1", "main~1"},
		{dir, "topic", "refs/heads/main", "main~1", "refs/heads/main~1"},
		{dir, "topic", "topic~1", "main~1", "topic~1~1"}, // the commit that main is at
		{clone, "topic", "origin/main", "origin/topic", "origin/topic"},
		{clone, "topic", "origin/topic", "origin/topic~1", "origin/topic~1"},
	} {
		user(t, tt.dir, "checkout", "-q", tt.out)
		r := must[*Repository](t)(Discover(t.Context(), g, tt.dir))
		base, err := r.DefaultBase(t.Context(), Ref{Name: tt.head, OID: user(t, tt.dir, "rev-parse", tt.head)})
		if want := (Ref{tt.name, user(t, tt.dir, "rev-parse", tt.base)}); err != nil || base != want {
			t.Errorf("%s on %s: %v, %v, want %v", tt.head, tt.out, base, err, want)
		}
	}
}

// TestUncommitted holds that tracked files which differ from HEAD are counted, and no
// others, and that the repository stays as it is.
func TestUncommitted(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r := must[*Repository](t)(Discover(t.Context(), newGit(t), dir))
	index := func() string { return string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, ".git", "index")))) }
	was := index()
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"clean", func() {}, 0},
		{"untracked", func() { write(t, dir, map[string]string{"new": "n\n"}) }, 0},
		{"touched", func() { // stat says that it may have changed
			if err := os.Chtimes(filepath.Join(dir, "README"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"changed", func() { write(t, dir, map[string]string{"README": "changed\n"}) }, 1},
		{"gone", func() { _ = os.Remove(filepath.Join(dir, "old.txt")) }, 2},
	} {
		step.do()
		if n := must[int](t)(r.Uncommitted(t.Context())); n != step.want {
			t.Errorf("%s: %d, want %d", step.what, n, step.want)
		}
	}
	if index() != was {
		t.Error("the index was written")
	}
	user(t, dir, "add", "new")
	if n := must[int](t)(r.Uncommitted(t.Context())); n != 3 {
		t.Errorf("staged: %d", n)
	}
}
