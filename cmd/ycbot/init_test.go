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

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/gate"
)

// The workflows that are written are those that docs/action.md shows, which are run by a
// test.
func TestInitWorkflow(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, template := range map[string]string{"workflow": workflowTemplate, "forks": forksTemplate, "publish": publishTemplate} {
		_, written, _ := strings.Cut(template, "\nname: ")
		if !strings.Contains(string(page), "```yaml\nname: "+written+"```\n") {
			t.Errorf("initfiles/%s.yml is no workflow of docs/action.md", name)
		}
	}
	for text, marks := range map[string][]string{workflowTemplate: {toolsMark, branchMark, forksMark}, forksTemplate: {toolsMark}, configTemplate: {commandsMark}} {
		for _, mark := range marks {
			if strings.Count(text, mark) != 1 {
				t.Errorf("the mark %q is missing", mark)
			}
		}
	}
}

// TestInitTools: the toolchains are those of the project's own workflows, else of the files
// that version managers read, else of its manifest; what a manifest merely permits is no
// wish.
func TestInitTools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ecosystem, files string
		want, not        []string
	}{
		"go.mod names the oldest": {"Go", "-- go.mod --\nmodule m\n\ngo 1.15\n", []string{"go-version: stable\n", "cache: false"}, []string{"1.15"}},
		"a toolchain line":        {"Go", "-- go.mod --\nmodule m\n\ngo 1.22\n\ntoolchain go1.24.2\n", []string{`go-version: "1.24.2"`}, nil},
		"a matrix":                {"Go", ci("setup-go", "go-version: ${{ matrix.go }}", `go: ["1.9", "1.25", "1.26.0-rc.1"]`), []string{`go-version: "1.25"`}, []string{"rc"}},
		"a matrix that includes":  {"Python", ci("setup-python", "python-version: ${{ matrix.python }}", "include: [{python: '3.9'}, {python: '3.13'}, {python: pypy3.10}]"), []string{`python-version: "3.13"`}, nil},
		"its own workflow first":  {"Node.js", ci("setup-node", "node-version: 20", "") + "-- .nvmrc --\n18\n", []string{`node-version: "20"`, "package-manager-cache: false"}, []string{"18"}},
		".nvmrc":                  {"Node.js", "-- .nvmrc --\nv22.3\n-- package.json --\n{}\n", []string{`node-version: "22.3"`}, nil},
		".tool-versions":          {"Node.js", "-- .tool-versions --\nnodejs 21.1.0\npnpm 9.0.0\n-- package.json --\n{}\n-- pnpm-lock.yaml --\nlockfileVersion: '9.0'\n", []string{`node-version: "21.1.0"`, "pnpm/action-setup@", `version: "9.0.0"`}, nil},
		"engines with an end":     {"Node.js", "-- package.json --\n{\"engines\": {\"node\": \"^20.1\"}}\n", []string{`node-version: "^20.1"`}, nil},
		"engines without":         {"Node.js", "-- package.json --\n{\"engines\": {\"node\": \">=14\"}}\n", []string{"node-version: lts/*"}, []string{"14"}},
		"packageManager":          {"Node.js", "-- package.json --\n{\"packageManager\": \"pnpm@9.1.0+sha512.abc\"}\n", []string{"pnpm/action-setup@", `version: "9.1.0"`}, []string{"sha512"}},
		"yarn 4":                  {"Node.js", "-- package.json --\n{\"packageManager\": \"yarn@4.0.2\"}\n", []string{"run: corepack enable"}, nil},
		"yarn 1":                  {"Node.js", "-- package.json --\n{\"packageManager\": \"yarn@1.22.0\"}\n-- yarn.lock --\n#\n", nil, []string{"corepack", "pnpm"}},
		"bun":                     {"Node.js", "-- package.json --\n{}\n-- bun.lock --\n{}\n", []string{"oven-sh/setup-bun@"}, nil},
		"requires-python":         {"Python", "-- pyproject.toml --\n[project]\nrequires-python = \">=3.8,<3.12\"\n", []string{`python-version: ">=3.8 <3.12"`}, nil},
		"requires-python, open":   {"Python", "-- pyproject.toml --\n[project]\nrequires-python = \">=3.8\"\n", []string{`python-version: "3.x"`}, []string{"3.8"}},
		"uv":                      {"Python", "-- uv.lock --\nversion = 1\n", []string{"run: pipx install uv"}, nil},
		"global.json":             {".NET", "-- global.json --\n{\"sdk\": {\"version\": \"8.0.100\"}}\n", []string{`dotnet-version: "8.0.100"`}, nil},
		"a target framework":      {".NET", "-- src/a.csproj --\n<Project><TargetFramework>net8.0</TargetFramework></Project>\n", []string{`dotnet-version: "8.0.x"`}, nil},
		"rust-toolchain.toml":     {"Rust", "-- rust-toolchain.toml --\n[toolchain]\nchannel = \"1.80.0\"\n", []string{"rustup toolchain install 1.80.0 "}, nil},
		"rust alone":              {"Rust", "-- Cargo.toml --\n", nil, []string{"rustup"}},
		"a hostile version":       {"Go", ci("setup-go", `go-version: "1.2\n      - run: curl evil"`, ""), []string{"go-version: stable"}, []string{"curl"}},
		"a hostile channel":       {"Rust", "-- rust-toolchain --\nstable; curl evil\n", nil, []string{"curl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := repository(t, tt.files)
			text, _ := toolSteps(top, &gate.Explanation{Projects: []gate.Explained{{Ecosystem: tt.ecosystem, Root: "."}}})
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
			lint(t, strings.Replace(workflowTemplate, toolsMark, text, 1))
		})
	}
}

// ci is a workflow of a project that sets up a toolchain.
func ci(action, with, matrix string) string {
	return "-- .github/workflows/ci.yml --\non: push\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    strategy:\n      matrix: {" + matrix +
		"}\n    steps:\n      - uses: actions/" + action + "@v4\n        with:\n          " + with + "\n"
}

func repository(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(files)).Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return dir
}

// lint holds a workflow against actionlint, where that is installed.
func lint(t *testing.T, workflow string) {
	t.Helper()
	program, err := exec.LookPath("actionlint")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(t.Context(), program, "-no-color", "-")
	cmd.Stdin = strings.NewReader(workflow)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s\n%s", err, out, workflow)
	}
}

// TestInitForks: a public repository gets the workflows for forks, and the first one leaves
// those pull requests to them; a private one does not, nor one that GitHub does not know.
func TestInitForks(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/repos/acme/public" || r.Header.Get("Authorization") != "" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for _, tt := range []struct {
		name, remote, forks string
		pair                bool
	}{
		{"public", "https://github.com/acme/public.git", "auto", true},
		{"public by ssh", "git@github.com:acme/public", "auto", true},
		{"private", "https://github.com/acme/private", "auto", false},
		{"private, always", "https://github.com/acme/private", "always", true},
		{"public, never", "https://github.com/acme/public", "never", false},
		{"no remote", "", "auto", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "git init -q -b trunk . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git update-ref refs/remotes/origin/trunk HEAD && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk"
			if tt.remote != "" {
				script += " && git remote add origin " + tt.remote
			}
			git := exec.CommandContext(t.Context(), "sh", "-c", script)
			git.Dir = dir
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := realProgram(t, t.TempDir(), "init", "--forks", tt.forks)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "GITHUB_API_URL="+server.URL)
			if out, err := cmd.CombinedOutput(); err != nil {
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
				lint(t, string(data))
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
