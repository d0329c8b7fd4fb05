package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// payload makes a program that leaves a marker when it is run, and returns it
// with the folder of markers.
func payload(t *testing.T) (program, markers string) {
	t.Helper()
	markers = t.TempDir()
	program = filepath.Join(t.TempDir(), "payload")
	// It passes its input on, as a filter would, so that a caller sees no error.
	text := "#!/bin/sh\ntouch \"" + markers + "/$$\"\ncat 2>/dev/null\nexit 0\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, markers
}

// hostile configures everything that git is known to run.
func hostile(t *testing.T, dir, program string) {
	t.Helper()
	common := user(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	for _, kv := range [][2]string{
		{"core.fsmonitor", program},
		{"core.fsmonitorHookVersion", "1"},
		{"core.sshCommand", program},
		{"core.gitProxy", program},
		{"core.askPass", program},
		{"core.pager", program},
		{"core.editor", program},
		{"core.alternateRefsCommand", program},
		{"core.hooksPath", filepath.Join(common, "evil-hooks")},
		{"filter.evil.clean", program},
		{"filter.evil.smudge", program},
		{"filter.evil.process", program},
		{"filter.evil.required", "true"},
		{"filter.lfs.clean", program},
		{"filter.lfs.smudge", program},
		{"diff.external", program},
		{"diff.evil.textconv", program},
		{"diff.evil.command", program},
		{"merge.evil.driver", program},
		{"gpg.program", program},
		{"gpg.ssh.program", program},
		{"log.showSignature", "true"},
		{"commit.gpgSign", "true"},
		{"uploadpack.packObjectsHook", program},
		{"credential.helper", "!" + program},
		{"remote.evil.url", "ext::" + program},
		{"remote.evil.uploadpack", program},
		{"remote.evil.promisor", "true"},
		{"remote.origin.uploadpack", program},
		{"remote.origin.vcs", "evil"},
		{"protocol.ext.allow", "always"},
		{"sequence.editor", program},
		{"trailer.evil.command", program},
		{"submodule.recurse", "true"},
		{"submodule.mod.update", "!" + program},
		{"alias.rev-parse", "!" + program},
		{"interactive.diffFilter", program},
		{"extensions.worktreeConfig", "true"},
	} {
		user(t, common, "--git-dir="+common, "config", kv[0], kv[1])
	}
	// Not everything may be named in the same repository: git itself would stumble.
	user(t, common, "--git-dir="+common, "config", "--unset", "remote.origin.vcs")
	write(t, common, map[string]string{
		"included":        "[core]\n\tfsmonitor = " + program + "\n",
		"info/attributes": "*.evil filter=evil diff=evil merge=evil\n",
	})
	user(t, common, "--git-dir="+common, "config", "include.path", filepath.Join(common, "included"))
	gitDir := user(t, dir, "rev-parse", "--absolute-git-dir")
	write(t, gitDir, map[string]string{"config.worktree": "[core]\n\tfsmonitor = " + program + "\n"})
	for _, hooks := range []string{"hooks", "evil-hooks"} {
		for _, hook := range []string{
			"post-checkout", "post-index-change", "pre-commit", "post-commit", "reference-transaction", "fsmonitor-watchman",
			"pre-auto-gc", "post-merge", "update", "pre-receive", "post-update",
		} {
			write(t, common, map[string]string{hooks + "/" + hook: read(t, program)})
			if err := os.Chmod(filepath.Join(common, hooks, hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// soil makes a working tree dirty in every way.
func soil(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, map[string]string{
		"README": "dirty\n", "new.txt": "n\n", "x.evil": "evil, changed\n", "staged": "s\n", "staged-then-gone": "s\n",
	})
	user(t, dir, "add", "staged", "staged-then-gone")
	_ = os.Remove(filepath.Join(dir, "staged-then-gone"))
	_ = os.Remove(filepath.Join(dir, "old.txt"))
	write(t, dir, map[string]string{"staged": "s, later\n"})
}

// withEvilFile adds a file that the hostile attributes are about.
func withEvilFile(t *testing.T) string {
	t.Helper()
	dir := newRepo(t)
	write(t, dir, map[string]string{".gitattributes": "*.evil filter=evil diff=evil merge=evil\n", "x.evil": "evil\n"})
	commit(t, dir, "evil")
	return dir
}

// kinds are the repositories that users have. Each returns the work tree and
// the folders that must not change.
var kinds = map[string]func(t *testing.T) (dir string, guarded []string){
	"plain": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		return dir, []string{dir}
	},
	"dirty": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		soil(t, dir)
		user(t, dir, "stash", "push", "-q", "-u", "-m", "kept")
		soil(t, dir)
		return dir, []string{dir}
	},
	"detached": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		user(t, dir, "checkout", "-q", "--detach")
		soil(t, dir)
		return dir, []string{dir}
	},
	"shallow": func(t *testing.T) (string, []string) {
		t.Helper()
		up := withEvilFile(t)
		dir := filepath.Join(t.TempDir(), "clone")
		user(t, up, "clone", "-q", "--depth=2", "file://"+up, dir)
		soil(t, dir)
		return dir, []string{dir}
	},
	"blobless": func(t *testing.T) (string, []string) {
		t.Helper()
		up := withEvilFile(t)
		user(t, up, "config", "uploadpack.allowFilter", "true")
		user(t, up, "config", "uploadpack.allowAnySHA1InWant", "true")
		dir := filepath.Join(t.TempDir(), "clone")
		user(t, up, "clone", "-q", "--filter=blob:none", "file://"+up, dir)
		soil(t, dir)
		return dir, []string{dir}
	},
	"linked worktree": func(t *testing.T) (string, []string) {
		t.Helper()
		repo := withEvilFile(t)
		dir := filepath.Join(t.TempDir(), "linked")
		user(t, repo, "worktree", "add", "-q", "-b", "linked", dir)
		soil(t, dir)
		return dir, []string{dir, repo}
	},
	"submodule": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		user(t, dir, "submodule", "--quiet", "add", newRepo(t), "mod")
		commit(t, dir, "with a submodule")
		soil(t, dir)
		write(t, dir, map[string]string{"mod/README": "dirty inside\n"})
		return dir, []string{dir}
	},
	"sparse": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		user(t, dir, "sparse-checkout", "set", "--no-cone", "/*", "!/src/")
		soil(t, dir)
		return dir, []string{dir}
	},
	"split index": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		user(t, dir, "update-index", "--split-index")
		soil(t, dir)
		return dir, []string{dir}
	},
	"odd names": func(t *testing.T) (string, []string) {
		t.Helper()
		parent := filepath.Join(t.TempDir(), "a \"quoted\"\nfolder [x]")
		if err := os.Mkdir(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(parent, "-repo ")
		if err := os.Rename(withEvilFile(t), dir); err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"-rf": "x", "a\nb": "x", "trailing ": "x", "ünï": "x", "\xff\xfe": "x", ":(glob)*": "x", "\"q\"": "x", "tab\t": "x"})
		commit(t, dir, "odd")
		soil(t, dir)
		write(t, dir, map[string]string{"a\nb": "y", "--help": "new", "new\nline/ x": "new"})
		return dir, []string{dir}
	},
	"nested repository with a monitor": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := withEvilFile(t)
		sub := filepath.Join(dir, "vendor", "sub")
		if err := os.MkdirAll(filepath.Dir(sub), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(newRepo(t), sub); err != nil {
			t.Fatal(err)
		}
		user(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "vendor/sub")
		user(t, dir, "commit", "-qm", "embedded")
		soil(t, dir)
		return dir, []string{dir}
	},
	"sha256": func(t *testing.T) (string, []string) {
		t.Helper()
		dir := newRepo(t, "--object-format=sha256")
		soil(t, dir)
		return dir, []string{dir}
	},
}

// Nothing that the user's repository configures is run, and not a byte of it
// changes, nor a time.
func TestUserRepositoryIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, guarded := kind(t)
			stable := user(t, dir, "status", "--porcelain=v2", "--branch", "--show-stash")
			program, markers := payload(t)
			hostile(t, dir, program)
			for _, sub := range []string{"mod", "vendor/sub"} {
				if _, err := os.Stat(filepath.Join(dir, sub, ".git")); err == nil {
					hostile(t, filepath.Join(dir, sub), program)
				}
			}
			clearFolder(t, markers)
			var before []map[string]string
			for _, g := range guarded {
				before = append(before, fingerprint(t, g))
			}

			useEverything(t, dir)

			for i, g := range guarded {
				if d := cmp.Diff(before[i], fingerprint(t, g)); d != "" {
					t.Errorf("%s changed:\n%s", g, d)
				}
			}
			if ran, _ := os.ReadDir(markers); len(ran) > 0 {
				t.Errorf("the payload ran %d times", len(ran))
			}
			// The same question to a git that is not ours, without the configuration.
			common := user(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
			if err := os.Remove(filepath.Join(common, "info", "attributes")); err != nil {
				t.Fatal(err)
			}
			now := user(t, dir, "-c", "core.fsmonitor=false", "-c", "filter.evil.clean=", "-c", "filter.evil.process=", "-c", "filter.evil.required=false",
				"-c", "filter.lfs.clean=", "-c", "core.hooksPath=/dev/null", "status", "--porcelain=v2", "--branch", "--show-stash")
			if stable != now {
				t.Errorf("status was\n%s\nand is\n%s", stable, now)
			}
		})
	}
}

// The payload really is run by a git that is not careful, or the test above
// would show nothing.
func TestHostileRepositoryIsHostile(t *testing.T) {
	t.Parallel()
	dir := withEvilFile(t)
	soil(t, dir)
	program, markers := payload(t)
	hostile(t, dir, program)
	clearFolder(t, markers)
	_, _ = userMayFail(dir, "add", "-A")
	if ran, _ := os.ReadDir(markers); len(ran) == 0 {
		t.Error("git add ran no payload")
	}
}

func clearFolder(t *testing.T, dir string) {
	t.Helper()
	entries := must[[]os.DirEntry](t)(os.ReadDir(dir))
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// useEverything calls every method.
func useEverything(t *testing.T, dir string) {
	t.Helper()
	ctx := t.Context()
	r, m := open(t, newGit(t), dir)
	_, _, err := r.DefaultRange(ctx)
	if err != nil && !strings.Contains(err.Error(), "--base") {
		t.Fatal(err)
	}
	head := must[string](t)(r.Resolve(ctx, "HEAD"))
	base := must[string](t)(r.Resolve(ctx, "HEAD~1"))
	for _, missing := range []string{strings.Repeat("5", len(head)), "nope"} {
		if _, err := r.Resolve(ctx, missing); err == nil {
			t.Errorf("%s was found", missing)
		}
	}
	if err := m.Import(ctx, r, base, head); err != nil {
		t.Fatal(err)
	}
	s := must[Snapshot](t)(m.Snapshot(ctx, r, "wip"))
	must[[]change.File](t)(m.Diff(ctx, base, s.Commit))
	must[[]byte](t)(m.Patch(ctx, base, s.Commit, 1<<20))
	must[[]Commit](t)(m.Log(ctx, base, s.Commit, 10))
	must[string](t)(m.MergeBase(ctx, base, head))
	must[[]byte](t)(m.ReadFile(ctx, s.Commit, "README"))
	tree := must[*Tree](t)(m.Worktree(ctx, filepath.Join(runDir(m, "r"), "t"), s.Commit))
	c := must[*Tree](t)(tree.Copy(ctx, filepath.Join(runDir(m, "r"), "c")))
	for _, tree := range []*Tree{tree, c} {
		write(t, tree.Dir, map[string]string{"README": "changed by a command\n"})
		if d := cmp.Diff([]string{"README"}, must[[]string](t)(tree.Restore(ctx))); d != "" {
			t.Error(d)
		}
		if err := tree.Overlay(ctx, base, []string{"README", "x.evil"}); err != nil {
			t.Fatal(err)
		}
		if got := must[[]string](t)(tree.Changed(ctx)); len(got) > 0 {
			t.Errorf("changed: %q", got)
		}
		if err := tree.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A partial clone that lacks what is asked for does not go and get it.
func TestNoLazyFetch(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	program, markers := payload(t)
	for _, kv := range [][2]string{
		{"core.repositoryformatversion", "1"},
		{"extensions.partialClone", "origin"},
		{"remote.origin.promisor", "true"},
		{"remote.origin.url", "ssh://nowhere.invalid/x"},
		{"remote.origin.uploadpack", program},
		{"core.sshCommand", program},
	} {
		user(t, dir, "config", kv[0], kv[1])
	}
	r := must[*repository.Repository](t)(repository.Discover(t.Context(), newGit(t), dir))
	if !r.Partial {
		t.Error("not seen to be partial")
	}
	if _, err := r.Resolve(t.Context(), strings.Repeat("6", 40)); err == nil {
		t.Error("found")
	}
	useEverything(t, dir)
	if ran, _ := os.ReadDir(markers); len(ran) > 0 {
		t.Errorf("the payload ran %d times", len(ran))
	}
}
