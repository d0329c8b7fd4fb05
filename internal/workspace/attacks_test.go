package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A gitAttack is one way to have git run a program, or to have it show another
// content than what is there.
type gitAttack struct {
	set   func(t *testing.T, dir, program string) // dir is the work tree that is attacked
	plain []string                                // command of a git without care that runs the program
}

// gitAttacks are the twelve of the threat study, by its numbers, and what else
// is known of git.
var gitAttacks = map[string]gitAttack{
	"G01 fsmonitor in the shared configuration": {set: configured("core.fsmonitor", "%"), plain: []string{"status"}},
	"G02 pointer to another repository": {plain: []string{"status"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		evil := newRepo(t)
		user(t, evil, "config", "core.fsmonitor", program)
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{".git": "gitdir: " + filepath.Join(evil, ".git") + "\n"})
	}},
	"G03 bare repository in the tree": {plain: []string{"-C", "bare", "status"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		bare := filepath.Join(dir, "bare")
		user(t, dir, "init", "-q", "--bare", bare)
		for _, kv := range [][2]string{{"core.fsmonitor", program}, {"core.bare", "false"}, {"core.worktree", ".."}} {
			user(t, dir, "--git-dir="+bare, "config", kv[0], kv[1])
		}
	}},
	"G04 link to a repository with a monitor": {plain: []string{"status"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		sub := filepath.Join(dir, "sub")
		if err := os.Rename(newRepo(t), sub); err != nil {
			t.Fatal(err)
		}
		user(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
		user(t, dir, "commit", "-qm", "embedded")
		user(t, sub, "config", "core.fsmonitor", program)
		write(t, sub, map[string]string{"README": "changed\n"})
	}},
	"G05 clean filter":    {plain: []string{"add", "-A"}, set: configured("filter.evil.clean", "%")},
	"G06 external diff":   {plain: []string{"diff"}, set: configured("diff.external", "%")},
	"G07 text conversion": {plain: []string{"diff"}, set: configured("diff.evil.textconv", "%")},
	"G08 hooks": {plain: []string{"checkout", "-q", "-f", "HEAD"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		hooks := filepath.Join(user(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir"), "hooks")
		for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit"} {
			write(t, hooks, map[string]string{hook: read(t, program)})
			if err := os.Chmod(filepath.Join(hooks, hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}},
	"G09 included configuration": {plain: []string{"status"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		write(t, dir, map[string]string{"evil.config": "[core]\n\tfsmonitor = " + program + "\n"})
		configured("include.path", filepath.Join(dir, "evil.config"))(t, dir, program)
	}},
	"G10 configuration of the worktree": {plain: []string{"status"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		configured("extensions.worktreeConfig", "true")(t, dir, program)
		write(t, user(t, dir, "rev-parse", "--absolute-git-dir"), map[string]string{"config.worktree": "[core]\n\tfsmonitor = " + program + "\n"})
	}},
	"G11 ssh command": {plain: []string{"fetch", "origin"}, set: configured(
		"core.sshCommand", "%.deaf", "remote.origin.url", "ssh://nowhere.invalid/x", "remote.origin.promisor", "true", "extensions.partialClone", "origin")},
	"G12 signature program": {plain: []string{"log", "-1"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		text := user(t, dir, "cat-file", "commit", "HEAD")
		signed := strings.Replace(text, "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n", 1)
		file := filepath.Join(t.TempDir(), "commit")
		write(t, filepath.Dir(file), map[string]string{"commit": signed + "\n"})
		user(t, dir, "update-ref", "HEAD", user(t, dir, "hash-object", "-t", "commit", "-w", file))
		configured("gpg.program", "%", "log.showSignature", "true")(t, dir, program)
	}},
	"ext transport": {plain: []string{"fetch", "origin"}, set: configured(
		"remote.origin.url", "ext::%.deaf x", "protocol.ext.allow", "always", "remote.origin.promisor", "true", "extensions.partialClone", "origin")},
	"smudge filter":  {plain: []string{"checkout", "-q", "-f", "HEAD", "--", "x.evil"}, set: configured("filter.evil.smudge", "%")},
	"filter process": {plain: []string{"add", "-A"}, set: configured("filter.evil.process", "%.deaf", "filter.evil.required", "true")},
	"lfs": {plain: []string{"add", "-A"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		write(t, dir, map[string]string{
			".lfsconfig": "[lfs]\n\turl = https://evil.invalid/\n", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
			"x.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 3\n",
		})
		configured("filter.lfs.clean", "%", "filter.lfs.smudge", "%", "lfs.fetchinclude", "*")(t, dir, program)
	}},
	"attributes of the repository": {plain: []string{"diff"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		write(t, user(t, dir, "rev-parse", "--absolute-git-dir"), map[string]string{"info/attributes": "* diff=own filter=own\n"})
		configured("diff.own.command", "%")(t, dir, program)
	}},
	"alternates with a command": {plain: []string{"fetch", "-q", "alt", "+refs/heads/*:refs/x/*"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		other := newRepo(t)
		write(t, other, map[string]string{"other": "x\n"})
		commit(t, other, "other")
		gitDir := user(t, dir, "rev-parse", "--absolute-git-dir")
		write(t, gitDir, map[string]string{"objects/info/alternates": filepath.Join(newRepo(t), ".git", "objects") + "\n"})
		configured("core.alternateRefsCommand", "%.deaf", "remote.alt.url", other)(t, dir, program)
	}},
	"pager, editor and aliases": {plain: []string{"-p", "s"}, set: configured(
		"core.pager", "%", "pager.log", "%", "core.editor", "%", "alias.s", "!%", "alias.cat-file", "!%", "alias.rev-parse", "!%")},
	"submodule that is updated by a command": {plain: []string{"submodule", "update", "--init"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		up := newRepo(t)
		user(t, dir, "submodule", "--quiet", "add", up, "mod")
		user(t, dir, "commit", "-qm", "with a submodule")
		write(t, dir, map[string]string{".gitmodules": read(t, dir, ".gitmodules") + "\tupdate = none\n\tfetchRecurseSubmodules = true\n\tignore = none\n"})
		user(t, filepath.Join(dir, "mod"), "checkout", "-q", "HEAD~1")
		configured("submodule.mod.update", "!%.deaf", "submodule.recurse", "true")(t, dir, program)
	}},
	"merge driver": {plain: []string{"cherry-pick", "--no-commit", "side"}, set: func(t *testing.T, dir, program string) {
		t.Helper()
		user(t, dir, "stash", "-q")
		user(t, dir, "branch", "side")
		write(t, dir, map[string]string{"x.evil": "ours\n"})
		commit(t, dir, "ours")
		user(t, dir, "checkout", "-q", "side")
		write(t, dir, map[string]string{"x.evil": "theirs\n"})
		commit(t, dir, "theirs")
		user(t, dir, "checkout", "-q", "-")
		configured("merge.evil.driver", "%", "merge.default", "evil")(t, dir, program)
	}},
}

// configured sets pairs of key and value, in which "%" is the program.
func configured(pairs ...string) func(t *testing.T, dir, program string) {
	return func(t *testing.T, dir, program string) {
		t.Helper()
		file := filepath.Join(user(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir"), "config")
		for i := 0; i < len(pairs); i += 2 {
			user(t, t.TempDir(), "config", "--file", file, pairs[i], strings.ReplaceAll(pairs[i+1], "%", program))
		}
	}
}

// None of the attacks gets a program run when the harness reads the repository of
// the user, and each does with a git that is not careful.
func TestGitAttacks(t *testing.T) {
	t.Parallel()
	for name, a := range gitAttacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, markers := payload(t)
			// One for protocols, which does not wait for the end of its input.
			deaf := strings.Replace(read(t, program), "cat 2>/dev/null\n", "", 1)
			if err := os.WriteFile(program+".deaf", []byte(deaf), 0o755); err != nil {
				t.Fatal(err)
			}
			dir := withEvilFile(t)
			write(t, dir, map[string]string{"x.evil": "evil, changed\n", "README": "changed\n"})
			a.set(t, dir, program)
			clearFolder(t, markers)
			// The attack is real: shown in a copy, because it may change things.
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.CopyFS(victim, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			out, _ := userMayFail(victim, a.plain...)
			if ran := must[[]os.DirEntry](t)(os.ReadDir(markers)); len(ran) == 0 {
				t.Errorf("git %q ran nothing: %s", a.plain, out)
			}
			clearFolder(t, markers)
			before := fingerprint(t, dir)
			useEverything(t, dir)
			if d := cmp.Diff(before, fingerprint(t, dir)); d != "" {
				t.Errorf("the repository changed:\n%s", d)
			}
			if ran := must[[]os.DirEntry](t)(os.ReadDir(markers)); len(ran) > 0 {
				t.Errorf("the program ran %d times", len(ran))
			}
		})
	}
}

// The same attacks from inside, by a command that has the worktree of a run to
// itself, and writes the mirror's configuration too, as only tier none lets it.
// Filters that lie there would be run when files are laid out: no flag of git's
// switches off what may have any name, so it is for the tiers to keep the mirror
// from being written, which the hostile commands of internal/sandbox try.
func TestGitAttacksFromTheWorktree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"G01 fsmonitor in the shared configuration", "G02 pointer to another repository", "G03 bare repository in the tree",
		"G05 clean filter", "G06 external diff", "G07 text conversion", "G08 hooks", "G09 included configuration",
		"G10 configuration of the worktree", "attributes of the repository",
		"pager, editor and aliases",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, ok := gitAttacks[name]
			if !ok {
				t.Fatal("no such attack")
			}
			program, markers := payload(t)
			write(t, filepath.Dir(program), map[string]string{"payload.deaf": "#!/bin/sh\ntouch \"" + markers + "/$$\"\n"})
			ctx := t.Context()
			_, m, head := imported(t, withEvilFile(t))
			tree := worktree(t, m, "t", head)
			want := read(t, tree.Dir, "x.evil")
			a.set(t, tree.Dir, program)
			clearFolder(t, markers)
			for range 2 {
				write(t, tree.Dir, map[string]string{"x.evil": "evil, changed\n", "README": "changed\n"})
				if _, err := tree.Restore(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if got := read(t, tree.Dir, "x.evil"); got != want {
				t.Errorf("x.evil: %q", got)
			}
			if name == "G08 hooks" {
				// Those of the mirror itself, whose own configuration no longer
				// switches them off, and what would run them.
				user(t, m.Dir, "--git-dir="+m.Dir, "config", "core.hooksPath", filepath.Join(m.Dir, "hooks"))
				for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction"} {
					write(t, filepath.Join(m.Dir, "hooks"), map[string]string{hook: read(t, program)})
					if err := os.Chmod(filepath.Join(m.Dir, "hooks", hook), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				worktree(t, m, "again", head)
				r, err := repository.Discover(ctx, newGit(t), withEvilFile(t))
				if err != nil {
					t.Fatal(err)
				}
				other, err := r.Resolve(ctx, "HEAD")
				if err != nil {
					t.Fatal(err)
				}
				if err := m.Import(ctx, r, other); err != nil {
					t.Fatal(err)
				}
			}
			c := must[*Tree](t)(tree.Copy(ctx, filepath.Join(runDir(m, "r"), "c")))
			if err := c.Overlay(ctx, head, []string{"x.evil"}); err != nil {
				t.Fatal(err)
			}
			must[[]change.File](t)(m.Diff(ctx, head, head))
			must[[]byte](t)(m.Patch(ctx, head, head, 1<<20))
			must[[]Commit](t)(m.Log(ctx, head, head, 10))
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if ran := must[[]os.DirEntry](t)(os.ReadDir(markers)); len(ran) > 0 {
				t.Errorf("the program ran %d times", len(ran))
			}
		})
	}
}

// What is read is the commit that was named, not what a replacement, a graft or a
// rewritten index say it is.
func TestReplacedObjects(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	head := user(t, dir, "rev-parse", "HEAD")
	readme, first, second := user(t, dir, "rev-parse", "HEAD:README"), user(t, dir, "rev-parse", "HEAD~2:README"), user(t, dir, "rev-parse", "HEAD~1")
	user(t, dir, "replace", head, second)
	user(t, dir, "replace", readme, first)
	write(t, dir, map[string]string{".git/info/grafts": head + "\n"})
	user(t, dir, "update-index", "--assume-unchanged", "README")
	// Also where git looks straight into that repository, which it does not otherwise.
	straight := must[[]byte](t)(newGit(t).Run(t.Context(), git.Call{GitDir: filepath.Join(dir, ".git"), Args: []string{"cat-file", "blob", readme}}))
	if string(straight) != "two\n" {
		t.Errorf("README is %q", straight)
	}
	_, m, got := imported(t, dir)
	if got != head {
		t.Fatalf("HEAD is %s, want %s", got, head)
	}
	tree := worktree(t, m, "t", head)
	if d := cmp.Diff([]string{"two\n", "package a\n"}, []string{read(t, tree.Dir, "README"), read(t, tree.Dir, "src/b.go")}); d != "" {
		t.Error(d)
	}
}

// A tree whose names would lead into a repository, or out of the worktree, is
// not laid out, and nothing is written on the way to finding that out.
func TestNamesThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]string{
		"the repository":          {"100644 blob % \t.git"},
		"the repository's folder": {"040000 tree @ \t.git"},
		"another case":            {"040000 tree @ \t.GIT"},
		"a short name of Windows": {"040000 tree @ \tgit~1"},
		"the parent":              {"040000 tree @ \t.."},
		"a link, and below it":    {"120000 blob % \tx", "040000 tree @ \tx"},
		"modules that are a link": {"120000 blob % \t.gitmodules"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			outside := t.TempDir()
			link := filepath.Join(t.TempDir(), "target")
			write(t, filepath.Dir(link), map[string]string{"target": outside, "config": "[core]\n\tfsmonitor = /bin/false\n"})
			blob := user(t, dir, "hash-object", "-w", link)
			file := user(t, dir, "hash-object", "-w", filepath.Join(filepath.Dir(link), "config"))
			inner := rawTree(t, dir, "100644 config", file)
			var raw []string
			for _, e := range entries {
				e = strings.NewReplacer(" \t", "\t", "%", blob, "@", inner).Replace(e)
				meta, file, _ := strings.Cut(e, "\t")
				fields := strings.Fields(meta)
				raw = append(raw, strings.TrimPrefix(fields[0], "0")+" "+file, fields[2])
			}
			tree := rawTree(t, dir, raw...)
			head := user(t, dir, "commit-tree", "-p", "HEAD", "-m", "evil", tree)
			user(t, dir, "update-ref", "HEAD", head)
			r, m := open(t, newGit(t), dir)
			if err := m.Import(t.Context(), r, head); err != nil {
				return // refused at the door
			}
			out := filepath.Join(runDir(m, "run1"), "t")
			laid, err := m.Worktree(t.Context(), out, head)
			if err == nil {
				defer func() {
					if err := laid.Close(); err != nil {
						t.Error(err)
					}
				}()
				if _, err := laid.Restore(t.Context()); err != nil {
					t.Logf("restore: %v", err)
				}
				if info, err := os.Lstat(filepath.Join(out, ".git")); err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(read(t, out, ".git"), "gitdir: "+m.Dir) {
					t.Errorf("the pointer is not the harness's: %v", err)
				}
			}
			if entries := must[[]os.DirEntry](t)(os.ReadDir(outside)); len(entries) > 0 {
				t.Errorf("written outside: %v", entries)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(out), "config")); err == nil {
				t.Error("written beside the worktree")
			}
		})
	}
}

// rawTree writes a tree object as it is given, pairs of "mode name" and object:
// git's own commands would refuse it.
func rawTree(t *testing.T, dir string, pairs ...string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(pairs[i] + "\x00")
		for j := 0; j < len(pairs[i+1]); j += 2 {
			b.WriteByte(hexByte(pairs[i+1][j])<<4 | hexByte(pairs[i+1][j+1]))
		}
	}
	file := filepath.Join(t.TempDir(), "tree")
	write(t, filepath.Dir(file), map[string]string{"tree": b.String()})
	return user(t, dir, "hash-object", "-t", "tree", "--literally", "-w", file)
}

func hexByte(c byte) byte { return byte(strings.IndexByte("0123456789abcdef", c)) }
