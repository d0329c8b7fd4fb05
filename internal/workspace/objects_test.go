package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// withoutObjects is the mirror as one whose objects git alone reads.
func withoutObjects(m *Mirror) *Mirror {
	return &Mirror{Dir: m.Dir, Format: m.Format, git: m.git, objects: objects.New(m.Dir, "none"), complete: map[string]bool{}}
}

// grown makes a repository whose mirror has deltas of deltas, files of all kinds and
// names that need quotes.
func grown(t *testing.T) (*Mirror, []string) {
	t.Helper()
	dir := newRepo(t)
	var commits []string
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of a file that changes slowly", i)
	}
	for i := range 12 {
		lines[i*30] = fmt.Sprintf("line %d, changed", i)
		write(t, dir, map[string]string{
			"big.txt": strings.Join(lines, "\n"), fmt.Sprintf("a/b/c/%d.txt", i): "x\n",
			"a.txt": "beside the folder a\n", "a-b": "and\n", "ümlaut \"quoted\"\n": "n\n", "empty": "",
		})
		commits = append(commits, commit(t, dir, fmt.Sprint("step ", i)))
	}
	user(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+commits[0]+",module")
	user(t, dir, "commit", "-q", "-m", "a submodule")
	commits = append(commits, user(t, dir, "rev-parse", "HEAD"))
	user(t, dir, "checkout", "-q", "-b", "side", commits[3])
	write(t, dir, map[string]string{"side": "s\n"})
	side := commit(t, dir, "side")
	user(t, dir, "merge", "-q", "--no-edit", "-s", "ours", commits[12])
	commits = append(commits, side, user(t, dir, "rev-parse", "HEAD"))
	_, m := open(t, newGit(t), dir)
	r := must[*repository.Repository](t)(repository.Discover(t.Context(), m.git, dir))
	if err := m.Import(t.Context(), r, commits...); err != nil {
		t.Fatal(err)
	}
	user(t, m.Dir, "--git-dir=.", "repack", "-q", "-a", "-d", "-f", "--depth=8", "--window=50")
	m.objects.Reopen()
	return m, commits
}

// What is read in the process is what git says, and is read there.
func TestObjectsAgreeWithGit(t *testing.T) {
	t.Parallel()
	m, commits := grown(t)
	ctx, g := t.Context(), withoutObjects(m)
	if packs := must[[]string](t)(filepath.Glob(m.path("objects/pack/*.pack"))); len(packs) != 1 {
		t.Fatalf("packs: %v", packs)
	}
	for _, c := range commits {
		here, err := m.objects.Files(c)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(must[[]objects.Entry](t)(g.Files(ctx, c)), here); d != "" {
			t.Errorf("files of %s (-git +here):\n%s", c, d)
		}
		for _, e := range here {
			data, err := m.objects.File(c, e.Path)
			want, errGit := g.ReadFile(ctx, c, e.Path)
			if errors.Is(err, objects.ErrAskGit) || (err == nil) != (errGit == nil) || !bytes.Equal(data, want) {
				t.Errorf("%s:%q: %q and %v, of git %q and %v", c, e.Path, data, err, want, errGit)
			}
		}
		for _, p := range []string{"a", "a/b", "module", "module/x", "link/x", "none", "a/none", "a.txt/x"} {
			_, err := m.ReadFile(ctx, c, p)
			_, errGit := g.ReadFile(ctx, c, p)
			if d := cmp.Diff(fmt.Sprint(errGit), fmt.Sprint(err)); d != "" {
				t.Errorf("%s (-git +here):\n%s", p, d)
			}
		}
		if a, b := must[string](t)(m.TreeOf(ctx, c)), must[string](t)(g.TreeOf(ctx, c)); a != b {
			t.Errorf("tree of %s: %s, of git %s", c, a, b)
		}
		for _, suffix := range []string{"", "~", "^", "~2", "^2", "^2~1", "~3^", "^0", "~0", "^^", "^3", "~99"} {
			a, err := m.Resolve(ctx, c+suffix)
			b, errGit := g.Resolve(ctx, c+suffix)
			if a != b || (err == nil) != (errGit == nil) {
				t.Errorf("%s%s: %s and %v, of git %s and %v", c, suffix, a, err, b, errGit)
			}
		}
	}
	for rev, want := range map[string]error{commits[0][:12]: nil, "HEAD": fs.ErrInvalid, "--all": fs.ErrInvalid, strings.Repeat("0", 40): fs.ErrNotExist} {
		if _, err := m.Resolve(ctx, rev); !errors.Is(err, want) {
			t.Errorf("%s: %v", rev, err)
		}
	}
	// One by one, out of a chain of deltas that nothing was read of before.
	m.objects.Reopen()
	if data, err := m.objects.File(commits[0], "big.txt"); err != nil || !bytes.Contains(data, []byte("line 0, changed")) {
		t.Errorf("%v", err)
	}
}

// What others bring, pack again or make is found without a word of it.
func TestObjectsOfOthers(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	ctx := t.Context()
	if _, err := m.objects.Files(head); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"later": "l\n"})
	later := commit(t, dir, "later")
	other := must[*Mirror](t)(OpenMirror(ctx, m.git, m.Dir, "sha1"))
	if err := other.Import(ctx, r, later); err != nil {
		t.Fatal(err)
	}
	if data, err := m.objects.File(later, "later"); err != nil || string(data) != "l\n" {
		t.Errorf("%q, %v", data, err)
	}
	user(t, m.Dir, "--git-dir=.", "repack", "-q", "-a", "-d")
	write(t, dir, map[string]string{"later": "more\n"})
	last := commit(t, dir, "last")
	if err := other.Import(ctx, r, last); err != nil {
		t.Fatal(err)
	}
	if data, err := m.objects.File(last, "later"); err != nil || string(data) != "more\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := m.create(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := m.objects.File(head, "README"); !errors.Is(err, objects.ErrAskGit) {
		t.Errorf("of a mirror that is gone: %v", err)
	}
}

func TestCommitFS(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	all := must[fs.FS](t)(m.FS(t.Context(), head, func(e objects.Entry) bool { return e.Mode != objects.ModeLink }))
	if err := fstest.TestFS(all, "README", "src/a.go", "src/b.go", "run.sh", "old.txt"); err != nil {
		t.Error(err)
	}
	some := must[fs.FS](t)(m.FS(t.Context(), head, func(e objects.Entry) bool { return e.Path == "src/b.go" || e.Mode == objects.ModeLink }))
	if d := cmp.Diff([]string{"link", "src/b.go"}, must[[]string](t)(fs.Glob(some, "*"))); d == "" {
		t.Error("a glob went into a folder")
	}
	if _, err := fs.ReadFile(some, "link"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a symbolic link: %v", err)
	}
	if _, err := fs.ReadFile(some, "README"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not wanted: %v", err)
	}
}

// Trees that are made to exhaust or to mislead a reader are listed as git lists them, or
// not at all.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	blob := user(t, dir, "rev-parse", "HEAD:README")
	tree := rawTree(t, dir, "100644 x", blob)
	deep, wide := tree, tree
	for range 100 {
		deep = rawTree(t, dir, "40000 d", deep)
	}
	for range 4 {
		var ten []string
		for i := range 10 {
			ten = append(ten, fmt.Sprint("40000 ", i), wide)
		}
		wide = rawTree(t, dir, ten...)
	}
	for name, root := range map[string]string{
		"folders in folders":            deep,
		"ten thousand files":            wide,
		"a name twice":                  rawTree(t, dir, "100644 a", blob, "100644 a", blob),
		"out of order":                  rawTree(t, dir, "100644 b", blob, "100644 a", blob),
		"a path as a name":              rawTree(t, dir, "100644 a/b", blob),
		"the parent":                    rawTree(t, dir, "40000 ..", tree),
		"a mode of very old versions":   rawTree(t, dir, "100664 a", blob),
		"a mode that there is not":      rawTree(t, dir, "100000 a", blob),
		"zeros before a mode":           rawTree(t, dir, "040000 a", tree),
		"a folder that is a file":       rawTree(t, dir, "40000 a", blob),
		"a file that is a folder":       rawTree(t, dir, "100644 a", tree),
		"a file and a folder of a name": rawTree(t, dir, "100644 a", blob, "100644 a.b", blob, "40000 a", tree),
	} {
		t.Run(name, func(t *testing.T) {
			c := user(t, dir, "commit-tree", "-m", "x", root)
			_, m := open(t, newGit(t), dir)
			// As git has it in the repository, whatever an import would say of it.
			m.Dir = filepath.Join(dir, ".git")
			m.objects = objects.New(m.Dir, m.Format)
			g := withoutObjects(m)
			if _, err := m.objects.Files(c); !errors.Is(err, objects.ErrAskGit) && name != "a file and a folder of a name" && name != "a file that is a folder" {
				t.Errorf("not left to git: %v", err)
			}
			here, err := m.Files(t.Context(), c)
			want, errGit := g.Files(t.Context(), c)
			if d := cmp.Diff(want, here); d != "" || (err == nil) != (errGit == nil) {
				t.Errorf("%v, of git %v (-git +here)\n%s", err, errGit, d)
			}
			for _, p := range []string{"a", "a/x", "a/b", "x", "0/0/0/0/x"} {
				here, err := m.ReadFile(t.Context(), c, p)
				want, errGit := g.ReadFile(t.Context(), c, p)
				if !bytes.Equal(here, want) || (err == nil) != (errGit == nil) {
					t.Errorf("%s: %q and %v, of git %q and %v", p, here, err, want, errGit)
				}
			}
		})
	}
}

// A commit of a few objects can name any number of files of any size. It is refused
// before anything is laid out.
func TestWorktreeOfTooMuch(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir, map[string]string{"zeros": strings.Repeat("\x00", 8<<20)})
	commit(t, dir, "zeros")
	tree := rawTree(t, dir, "100644 x", user(t, dir, "rev-parse", "HEAD:zeros"))
	for range 4 {
		var ten []string
		for i := range 10 {
			ten = append(ten, fmt.Sprint("40000 ", i), tree)
		}
		tree = rawTree(t, dir, ten...)
	}
	user(t, dir, "reset", "-q", "--hard", user(t, dir, "commit-tree", "-m", "80 GB", rawTree(t, dir)))
	user(t, dir, "update-ref", "HEAD", user(t, dir, "commit-tree", "-m", "80 GB", tree))
	_, m, head := imported(t, dir)
	out := filepath.Join(runDir(m, "run1"), "t")
	if _, err := m.Worktree(t.Context(), out, head); !errors.Is(err, folder.ErrLimit) {
		t.Error(err)
	}
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was laid out: %v", err)
	}
}
