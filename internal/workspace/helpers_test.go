package workspace

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// userEnv is the environment of a user's git, whose own configuration must not
// matter to a test.
var userEnv = []string{
	"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
	"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
	"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
}

// user runs git as the user would.
func user(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir, cmd.Env = dir, userEnv
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func newGit(t *testing.T) *git.Git {
	t.Helper()
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git is needed: %v", err)
	}
	g.Temp = t.TempDir()
	return g
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func commit(t *testing.T, dir, message string) string {
	t.Helper()
	user(t, dir, "add", "-A")
	user(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return user(t, dir, "rev-parse", "HEAD")
}

// newRepo makes a repository with a main branch of two commits and a branch
// "topic" of one more, which is checked out.
func newRepo(t *testing.T, initArgs ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "widget")
	user(t, filepath.Dir(dir), append(append([]string{"init", "-q", "-b", "main"}, initArgs...), dir)...)
	write(t, dir, map[string]string{"README": "one\n", "src/a.go": "package a\n", "run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, "README", filepath.Join(dir, "link"))
	commit(t, dir, "one")
	user(t, dir, "tag", "-a", "-m", "first", "v1")
	write(t, dir, map[string]string{"README": "two\n", "old.txt": strings.Repeat("a line that is kept\n", 20)})
	commit(t, dir, "two")
	user(t, dir, "checkout", "-q", "-b", "topic")
	write(t, dir, map[string]string{"src/a.go": "package a\n\nvar X = 1\n", "src/b.go": "package a\n"})
	commit(t, dir, "three\n\nwhy it is so")
	return dir
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// open discovers a repository and opens a mirror for it.
func open(t *testing.T, g *git.Git, dir string) (*repository.Repository, *Mirror) {
	t.Helper()
	r, err := repository.Discover(t.Context(), g, dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "home", "projects", Slug(r.Root), "mirror.git"), r.Format)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// imported does what every test needs first: mirror HEAD of dir.
func imported(t *testing.T, dir string) (*repository.Repository, *Mirror, string) {
	t.Helper()
	r, m := open(t, newGit(t), dir)
	head, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Import(t.Context(), r, head); err != nil {
		t.Fatal(err)
	}
	show(t, m, filepath.Join(runDir(m, "run1"), "history"), head)
	return r, m, head
}

// show makes commands in m's trees see the history of commits.
func show(t *testing.T, m *Mirror, dir string, commits ...string) {
	t.Helper()
	t.Cleanup(must[func()](t)(m.Show(t.Context(), dir, commits...)))
	must[string](t)(m.Shown(t.Context()))
}

// runDir is a run's worktree folder beside the mirror.
func runDir(m *Mirror, run string) string {
	return filepath.Join(filepath.Dir(m.Dir), "worktrees", run)
}

func worktree(t *testing.T, m *Mirror, name, commit string) *Tree {
	t.Helper()
	tree, err := m.Worktree(t.Context(), filepath.Join(runDir(m, "run1"), name), commit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

// fingerprint describes everything below a folder, times of change included,
// byte for byte.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), " ", info.ModTime().Format(time.RFC3339Nano))
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		text += fmt.Sprint(" ", st.Ctim, " ", st.Nlink)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + to
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func paths(entries []objects.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Path)
	}
	sort.Strings(out)
	return out
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// userIn is user with an environment.
func userIn(t *testing.T, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// userMayFail is user for a command whose failure is expected.
func userMayFail(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, userEnv
	out, err := cmd.CombinedOutput()
	return string(out), err
}
