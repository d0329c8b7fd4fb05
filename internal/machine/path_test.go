package machine

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Of the folders of PATH in a repository those go that its commit has files of, by whatever name
// and in the runner's workspace as well. What was made there stays, and so does all else.
func TestWithoutOwn(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is needed")
	}
	system := filepath.Dir(git)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(top, "repo")
	for _, name := range []string{"bin/greet", "tools/x/run", ".venv/bin/python", "sub/readme"} {
		file := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A git that is tracked is not asked.
	if err := os.WriteFile(filepath.Join(repo, "bin/git"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "bin", "tools", "sub"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(filepath.Join(repo, "tools/x"), link); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(repo, name) }
	for what, tt := range map[string]struct {
		dir, workspace  string
		path, left, own []string
	}{
		"none of it":           {in("sub"), "", []string{system, in("none")}, []string{system, in("none")}, nil},
		"its own":              {in("sub"), "", []string{in("bin"), in(".venv/bin"), system}, []string{in(".venv/bin"), system}, []string{"bin"}},
		"by a link":            {repo, "", []string{link, system, in("bin")}, []string{system}, []string{"tools/x", "bin"}},
		"of the workspace":     {"", repo, []string{in("bin"), system}, []string{system}, []string{"bin"}},
		"above the repository": {"", top, []string{in("bin"), top, system}, []string{top, system}, []string{"bin"}},
		"of another":           {top, "", []string{in("bin"), system}, []string{in("bin"), system}, nil},
	} {
		path := ""
		for _, dir := range tt.path {
			path += string(filepath.ListSeparator) + dir
		}
		m := Machine{Env: []string{"PATH=" + path[1:], "HOME=" + top, "GITHUB_WORKSPACE=" + tt.workspace}, Log: slog.New(slog.DiscardHandler)}
		got, own := m.WithoutOwn(t.Context(), tt.dir)
		if left := filepath.SplitList(got.Getenv("PATH")); !slices.Equal(left, tt.left) || !slices.Equal(own, tt.own) {
			t.Errorf("%s: PATH is %q, left out %q; want %q and %q", what, left, own, tt.left, tt.own)
		}
	}
}
