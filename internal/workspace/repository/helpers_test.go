package repository

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/workspace/git"
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
	if err := os.Symlink("README", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "one")
	user(t, dir, "tag", "-a", "-m", "first", "v1")
	write(t, dir, map[string]string{"README": "two\n", "old.txt": strings.Repeat("a line that is kept\n", 20)})
	commit(t, dir, "two")
	user(t, dir, "checkout", "-q", "-b", "topic")
	write(t, dir, map[string]string{"src/a.go": "package a\n\nvar X = 1\n", "src/b.go": "package a\n"})
	commit(t, dir, "three\n\nwhy it is so")
	return dir
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
