package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestInitForks: a public repository gets the workflows for forks, and the first one leaves
// those pull requests to them; a private one does not, nor one that GitHub does not know.
func TestInitForks(t *testing.T) {
	variants.Only(t) // a repository for each case; the tests of internal/scaffold have the files
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/repos/acme/asked-too-often":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path != "/repos/acme/public" || r.Header.Get("Authorization") != "":
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for _, tt := range []struct {
		name, remote, forks string
		pair                bool
		says                string
	}{
		{"public", "https://github.com/acme/public.git", "auto", true, ""},
		{"public by ssh", "git@github.com:acme/public", "auto", true, ""},
		{"public, a linked worktree", "git@github.com:acme/public", "auto", true, ""},
		{"private", "https://github.com/acme/private", "auto", false, ""},
		{"private, always", "https://github.com/acme/private", "always", true, ""},
		{"public, never", "https://github.com/acme/public", "never", false, ""},
		{"no answer", "https://github.com/acme/asked-too-often", "auto", false, "(GitHub answers 403 Forbidden): --forks always writes the workflows for forks"},
		{"no remote", "", "auto", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "git init -q -b trunk . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git update-ref refs/remotes/origin/trunk HEAD && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk"
			if tt.remote != "" {
				script += " && git remote add origin " + tt.remote
			}
			linked := strings.Contains(tt.name, "worktree")
			if linked {
				script += " && git worktree add -q linked"
			}
			git := exec.CommandContext(t.Context(), "sh", "-c", script)
			git.Dir = dir
			if linked {
				dir = filepath.Join(dir, "linked")
			}
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := realProgram(t, t.TempDir(), "init", "--forks", tt.forks)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "GITHUB_API_URL="+server.URL)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.says) {
				t.Fatalf("%v\n%s", err, out)
			}
			files, err := filepath.Glob(filepath.Join(dir, ".github", "workflows", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for i, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				docstest.LintWorkflow(t, string(data))
				files[i] = filepath.Base(file)
				if filepath.Base(file) != "ycbot.yml" {
					continue
				}
				if !bytes.Contains(data, []byte("branches: [trunk]")) {
					t.Error("pushes to the default branch are not named")
				}
				if got := bytes.Contains(data, []byte("head.repo.full_name")); got != tt.pair {
					t.Errorf("the first workflow leaves forks alone: %v, want %v", got, tt.pair)
				}
			}
			want := []string{"ycbot.yml"}
			if tt.pair {
				want = []string{"ycbot-gate.yml", "ycbot-publish.yml", "ycbot.yml"}
			}
			if !slices.Equal(files, want) {
				t.Errorf("wrote %q, want %q", files, want)
			}
			if _, err := os.Stat(filepath.Join(dir, ".github", "dependabot.yml")); err != nil {
				t.Error(err)
			}
		})
	}
}
