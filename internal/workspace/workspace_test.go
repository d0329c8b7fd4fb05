package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "mv", "old.txt", "new.txt")
	user(t, dir, "rm", "-q", "README")
	user(t, dir, "rm", "-q", "link")
	write(t, dir, map[string]string{"link": "a file now\n", "bin": "\x00\x01", "-dash\nnew ünï ": "x\n", "sub dir/a\tb\"c": "y\n"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "four")
	_, m, head := imported(t, dir)
	base := must[string](t)(m.MergeBase(t.Context(), user(t, dir, "rev-parse", "main"), head))

	want := []change.File{
		{Path: "-dash\nnew ünï ", Status: change.Added, Added: 1},
		{Path: "README", Status: change.Deleted, Deleted: 1},
		{Path: "bin", Status: change.Added, Binary: true},
		{Path: "link", Status: change.Retyped, Added: 1, Deleted: 1},
		{Path: "new.txt", OldPath: "old.txt", Status: change.Renamed},
		{Path: "run.sh", Status: change.Modified},
		{Path: "src/a.go", Status: change.Modified, Added: 2},
		{Path: "src/b.go", Status: change.Added, Added: 1},
		{Path: "sub dir/a\tb\"c", Status: change.Added, Added: 1},
	}
	if d := cmp.Diff(want, must[[]change.File](t)(m.Diff(t.Context(), base, head))); d != "" {
		t.Errorf("Diff (-want +got)\n%s", d)
	}

	for name, want := range map[string]string{"-dash\nnew ünï ": "x\n", "src/b.go": "package a\n"} {
		if got := must[[]byte](t)(m.ReadFile(t.Context(), head, name)); string(got) != want {
			t.Errorf("ReadFile(%q) = %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"nope", "src/nope", "README/x", ":x", "*"} {
		if _, err := m.ReadFile(t.Context(), head, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q): %v, want ErrNotExist", name, err)
		}
	}
	for _, name := range []string{"", "src", "../x", "/etc/passwd", "src//a.go", "./src/a.go"} {
		if _, err := m.ReadFile(t.Context(), head, name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("ReadFile(%q): %v, want ErrInvalid", name, err)
		}
	}
	if _, err := m.ReadFile(t.Context(), "--help", "a"); err == nil {
		t.Error("an option was taken for a commit")
	}

	patch := must[[]byte](t)(m.Patch(t.Context(), base, head, 1<<20, "src/a.go"))
	if !strings.Contains(string(patch), "+var X = 1") || strings.Contains(string(patch), "b.go") {
		t.Errorf("Patch of one path:\n%s", patch)
	}
	patch, err := m.Patch(t.Context(), base, head, 100)
	if !errors.Is(err, git.ErrTooLarge) || len(patch) > 100 || !strings.HasSuffix(string(patch), "\n") {
		t.Errorf("Patch cut: %q, %v", patch, err)
	}

	c := must[Commit](t)(m.Describe(t.Context(), user(t, dir, "rev-parse", "HEAD~1")))
	if c.Subject != "three" || c.Body != "why it is so" || c.Author != "Ann" || c.Email != "ann@example.org" || len(c.Parents) != 1 || c.Date.Unix() != 1700000000 ||
		c.Tree != user(t, dir, "rev-parse", "HEAD~1^{tree}") {
		t.Errorf("Describe: %+v", c)
	}
	var subjects []string
	for _, c := range must[[]Commit](t)(m.Log(t.Context(), base, head, 10)) {
		subjects = append(subjects, c.Subject)
	}
	if d := cmp.Diff([]string{"four", "three"}, subjects); d != "" {
		t.Error(d)
	}
	if got := must[[]Commit](t)(m.Log(t.Context(), base, head, 1)); len(got) != 1 {
		t.Errorf("Log of at most one: %d", len(got))
	}
	if got, want := paths(must[[]objects.Entry](t)(m.Files(t.Context(), head))), 8; len(got) != want {
		t.Errorf("Files: %q, want %d", got, want)
	}
}

func TestMergeBaseErrors(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "checkout", "-q", "--orphan", "other")
	other := commit(t, dir, "unrelated")
	r, m, _ := imported(t, dir)
	main := user(t, dir, "rev-parse", "main")
	if err := m.Import(t.Context(), r, main); err != nil {
		t.Fatal(err)
	}
	if _, err := m.MergeBase(t.Context(), main, other); !errors.Is(err, ErrNoCommonHistory) {
		t.Errorf("got %v, want ErrNoCommonHistory", err)
	}
	if err := m.Import(t.Context(), r, strings.Repeat("2", 40)); err == nil || !strings.Contains(err.Error(), "no commit") {
		t.Errorf("import of a missing commit: %v", err)
	}
}

// What a person is advised to do about a shallow clone helps, also in the mirror
// that was made from it.
func TestShallow(t *testing.T) {
	t.Parallel()
	up := newRepo(t)
	user(t, up, "checkout", "-q", "main")
	write(t, up, map[string]string{"more": "m\n"})
	commit(t, up, "on main")
	clone := filepath.Join(t.TempDir(), "clone")
	user(t, up, "clone", "-q", "--depth=1", "--no-single-branch", "file://"+up, clone)
	g := newGit(t)
	r, m := open(t, g, clone)
	if !r.Shallow {
		t.Error("not seen to be shallow")
	}
	base, head := user(t, clone, "rev-parse", "main"), user(t, clone, "rev-parse", "origin/topic")
	if err := m.Import(t.Context(), r, base, head); err != nil {
		t.Fatal(err)
	}
	if _, err := m.MergeBase(t.Context(), base, head); !errors.Is(err, ErrShallow) || !strings.Contains(err.Error(), "--unshallow") {
		t.Errorf("got %v, want ErrShallow with what to do", err)
	}
	if got := must[[]Commit](t)(m.Log(t.Context(), base, head, 10)); len(got) != 1 {
		t.Errorf("Log of a shallow history: %+v", got)
	}
	if tree := worktree(t, m, "head", head); read(t, tree.Dir, "src/b.go") != "package a\n" {
		t.Error("wrong content")
	}

	_, other := open(t, g, clone)
	if err := errors.Join(other.Import(t.Context(), r, base, head), other.Fetch(t.Context(), git.Remote{URL: "file://" + up}, base, head)); err != nil {
		t.Fatal(err)
	}
	if got, want := must[string](t)(other.MergeBase(t.Context(), base, head)), user(t, up, "merge-base", "main", "topic"); got != want {
		t.Errorf("after a fetch from elsewhere: merge base %s, want %s", got, want)
	}

	user(t, clone, "fetch", "-q", "--unshallow")
	r = must[*repository.Repository](t)(repository.Discover(t.Context(), g, clone))
	if err := m.Import(t.Context(), r, base, head); err != nil {
		t.Fatal(err)
	}
	if got, want := must[string](t)(m.MergeBase(t.Context(), base, head)), user(t, up, "merge-base", "main", "topic"); got != want {
		t.Errorf("merge base %s, want %s", got, want)
	}
	if _, err := os.Stat(m.path("shallow")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mirror is still shallow: %v", err)
	}
}

// A partial clone's missing contents come from its own remote, and never
// through the clone.
func TestPartial(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			up := newRepo(t)
			user(t, up, "config", "uploadpack.allowFilter", "true")
			user(t, up, "config", "uploadpack.allowAnySHA1InWant", "true")
			clone := filepath.Join(t.TempDir(), "clone")
			user(t, up, "clone", "-q", "--filter="+filter, "--no-checkout", "file://"+up, clone)
			before := fingerprint(t, clone)
			r, m, head := imported(t, clone)
			if !r.Partial {
				t.Error("not seen to be partial")
			}
			main := must[string](t)(r.Resolve(t.Context(), "main"))
			if err := m.Import(t.Context(), r, main); err != nil {
				t.Fatal(err)
			}
			if tree := worktree(t, m, "head", head); read(t, tree.Dir, "src/b.go") != "package a\n" {
				t.Error("wrong content")
			}
			first := must[string](t)(r.Resolve(t.Context(), "main~1")) // its README is in no imported tree
			if got := must[[]change.File](t)(m.Diff(t.Context(), first, head)); len(got) != 4 {
				t.Errorf("Diff from an older commit: %+v", got)
			}
			if d := cmp.Diff(before, fingerprint(t, clone)); d != "" {
				t.Errorf("the clone changed:\n%s", d)
			}
		})
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	up := newRepo(t)
	m := must[*Mirror](t)(OpenMirror(t.Context(), newGit(t), filepath.Join(t.TempDir(), "p", "mirror.git"), ""))
	head := user(t, up, "rev-parse", "HEAD")
	if err := m.Fetch(t.Context(), git.Remote{URL: "file://" + up}, head); err != nil {
		t.Fatal(err)
	}
	if c := must[Commit](t)(m.Describe(t.Context(), head)); c.Subject != "three" {
		t.Errorf("got %+v", c)
	}
	if text := read(t, m.Dir, "config"); strings.Contains(text, "remote") || strings.Contains(text, up) {
		t.Errorf("the mirror remembers its remote:\n%s", text)
	}
	err := m.Fetch(t.Context(), git.Remote{URL: "https://me:secret@127.0.0.1:1/o/r"}, strings.Repeat("3", 40))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want one without the password", err)
	}
	marker := filepath.Join(t.TempDir(), "marker")
	if err := m.Fetch(t.Context(), git.Remote{URL: "ext::touch " + marker}, head[:39]+"0"); err == nil {
		t.Error("ext:: was fetched from")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command in the URL ran")
	}
}

// The tags of imported history come too, so that git describe works; tags of
// other history do not, and moved and deleted tags follow.
func TestTags(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	user(t, dir, "tag", "light")
	user(t, dir, "checkout", "-q", "--orphan", "other")
	commit(t, dir, "unrelated")
	user(t, dir, "tag", "elsewhere")
	user(t, dir, "checkout", "-q", "topic")
	_, m, head := imported(t, dir)
	tree := worktree(t, m, "t", head)
	if got := user(t, tree.Dir, "describe", "--tags"); got != "light" {
		t.Errorf("git describe: %q", got)
	}
	if got := user(t, tree.Dir, "tag", "-l"); got != "light\nv1" {
		t.Errorf("tags %q", got)
	}
	user(t, dir, "tag", "-d", "light")
	user(t, dir, "tag", "-f", "v1", "HEAD~1")
	r := must[*repository.Repository](t)(repository.Discover(t.Context(), newGit(t), dir)) // as the next run does: its refs are of when it was found
	if err := m.Import(t.Context(), r, head); err != nil {
		t.Fatal(err)
	}
	show(t, m, filepath.Join(runDir(m, "run2"), "history"), head)
	tree = worktree(t, m, "u", head)
	if got := user(t, tree.Dir, "describe", "--tags"); !strings.HasPrefix(got, "v1-1-g") {
		t.Errorf("git describe: %q", got)
	}
}

// The tags of fetched history come too, also to a mirror that leaves the contents of old files
// for later; those of other history do not, and moved and deleted tags follow.
func TestTagsOfRemote(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, largeHistory} {
		up := newRepo(t)
		user(t, up, "config", "uploadpack.allowFilter", "true")
		user(t, up, "config", "uploadpack.allowAnySHA1InWant", "true")
		from := git.Remote{URL: "file://" + up, Size: size}
		user(t, up, "tag", "light", "main")
		user(t, up, "tag", "-a", "-m", "a tag of a tag", "signed", "v1")
		user(t, up, "tag", "tree", "main^{tree}")
		user(t, up, "checkout", "-q", "-b", "other", "main")
		other := commit(t, up, "later")
		user(t, up, "tag", "-a", "-m", "of other history", "elsewhere")
		user(t, up, "checkout", "-q", "topic")
		base, head := user(t, up, "rev-parse", "main"), user(t, up, "rev-parse", "HEAD")
		m := must[*Mirror](t)(OpenMirror(t.Context(), newGit(t), filepath.Join(t.TempDir(), "p", "mirror.git"), ""))
		check := func(run, tags, describe string) {
			t.Helper()
			if err := m.FetchTagged(t.Context(), from, base, head); err != nil {
				t.Fatal(err)
			}
			show(t, m, filepath.Join(runDir(m, run), "history"), base, head)
			if err := m.Trees(t.Context(), base, head); err != nil {
				t.Fatal(err)
			}
			tree := worktree(t, m, run, head)
			if got := user(t, tree.Dir, "tag", "-l"); got != tags {
				t.Errorf("size %d, %s: tags %q, want %q", size, run, got, tags)
			}
			if got := user(t, tree.Dir, "describe", "--tags"); !strings.HasPrefix(got, describe) {
				t.Errorf("size %d, %s: git describe: %q", size, run, got)
			}
		}
		check("run2", "light\nsigned\nv1", "light-1-g")
		// As one leaves it that is killed, and as other versions wrote tags.
		write(t, m.Dir, map[string]string{"refs/tags/light/er.lock": "", "refs/other/a/b.lock": "", "refs/tags/own/one": base + "\n"})
		if _, err := userMayFail("/", "--git-dir="+m.Dir, "cat-file", "-e", other); err == nil {
			t.Error("history came that no one asked for")
		}
		user(t, up, "tag", "-d", "light")
		user(t, up, "tag", "-a", "-f", "-m", "moved", "v1", "HEAD~1")
		user(t, up, "tag", "light/er", "HEAD")
		m = must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, ""))
		check("run3", "light/er\nsigned\nv1", "light/er")
		if entries, err := os.ReadDir(m.path("refs/tags")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("tags with files of their own: %v %v", entries, err)
		}
		if _, err := os.Stat(m.path("refs/other/a/b.lock")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what a command that was killed left: %v", err)
		}
	}
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	dir := newRepo(t, "--object-format=sha256")
	write(t, dir, map[string]string{"README": "dirty\n"})
	r, m, head := imported(t, dir)
	if r.Format != "sha256" || len(head) != 64 {
		t.Fatalf("format %s, head %s", r.Format, head)
	}
	s := must[Snapshot](t)(m.Snapshot(t.Context(), r, "wip"))
	tree := worktree(t, m, "t", s.Commit)
	if got := must[[]string](t)(tree.Changed(t.Context())); len(got) > 0 || read(t, tree.Dir, "README") != "dirty\n" {
		t.Errorf("changed %q", got)
	}
	// The same path, then another format: the mirror is made again.
	m2 := must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, "sha1"))
	if pins := m2.pins(); len(pins) != 0 {
		t.Errorf("pins of another object format: %q", pins)
	}
}

// A broken mirror is no reason to give up: it is only a cache.
func TestBrokenMirror(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	packs, _ := filepath.Glob(m.path("objects/pack/*"))
	for _, p := range packs {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	// Opened before it broke.
	if err := m.Import(t.Context(), r, head); err != nil {
		t.Fatal(err)
	}
	worktree(t, m, "a", head)
	// Opened after.
	if err := os.RemoveAll(m.path("objects")); err != nil {
		t.Fatal(err)
	}
	m = must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, "sha1"))
	if err := m.Import(t.Context(), r, head); err != nil {
		t.Fatal(err)
	}
	worktree(t, m, "b", head)
	// Another user's configuration is not used.
	marker := filepath.Join(t.TempDir(), "marker")
	write(t, m.Dir, map[string]string{"config": "[core]\n\tfsmonitor = touch " + marker + "\n[filter \"x\"]\n\tsmudge = touch " + marker + "\n"})
	m = must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, "sha1"))
	if got := read(t, m.Dir, "config"); got != git.Config("sha1", true) {
		t.Errorf("config:\n%s", got)
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{"/a/widget": "widget-", "/a/..": "repository-", "/a/x y/z ü!": "z-", "/": "repository-"} {
		got := Slug(root)
		if !strings.HasPrefix(got, want) || len(got) != len(want)+16 || got != strings.ToLower(got) {
			t.Errorf("Slug(%q) = %q", root, got)
		}
	}
	for a, b := range map[string]string{
		"/a/x":                             "/b/x",
		"https://github.com/a51872/widget": "https://github.com/a126750/widget", // four bytes of their digests agree
	} {
		if Slug(a) == Slug(b) {
			t.Errorf("%s and %s share a folder", a, b)
		}
	}
}
