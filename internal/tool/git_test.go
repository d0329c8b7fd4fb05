package tool

import (
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// repo makes a history of a base commit, a commit on the base side and two on
// the head side.
func repo(t *testing.T) Repo {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = []string{
			"PATH=/usr/bin:/bin", "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=a@b",
			"GIT_AUTHOR_DATE=2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE=2024-05-06T07:08:09Z",
		}
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := git(args...)
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return out
	}
	commit := func(message string) string {
		must("add", "-A")
		must("commit", "-qm", message)
		return must("rev-parse", "HEAD")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	must("init", "-q", "-b", "main")
	write(t, dir, "a.go", "package a\n\nfunc A() int { return 0 }\n")
	write(t, dir, ".env", "TOKEN=x\n")
	r := Repo{MergeBase: commit("first")}
	write(t, dir, "other.go", "package a\n")
	r.Base = commit("on the base")
	must("checkout", "-q", "-b", "topic", r.MergeBase)
	write(t, dir, "a.go", "package a\n\nfunc A() int { return 1 }\n")
	commit("second\u202e")
	write(t, dir, "b.go", "package a\n")
	write(t, dir, "-x", "dash\n")
	r.Head = commit("third")
	m := mirror(t, dir, r.Head, r.Base)
	r.Git, r.Resolve, r.ReadFile = m.Git, m.Resolve, m.ReadFile
	return r
}

func mirror(t *testing.T, dir string, commits ...string) *workspace.Mirror {
	t.Helper()
	g, err := git.New("git", []string{"PATH=/usr/bin:/bin"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	g.Temp = t.TempDir()
	m, err := workspace.OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "mirror.git"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	from, err := repository.Discover(t.Context(), g, dir)
	if err == nil {
		err = m.Import(t.Context(), from, commits...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Agents read history by fixed commands; what they write is never an option, a
// pathspec magic or an unknown revision.
func TestGitTools(t *testing.T) {
	t.Parallel()
	r := repo(t)
	stray := filepath.Join(t.TempDir(), "x")
	for _, tt := range []struct {
		name string
		tl   Tool
		args m
		want string
	}{
		{"changed files", ListGitChangedFiles(r), m{}, "A\t-x\nM\ta.go\nA\tb.go\n"},
		{"changed files between others", ListGitChangedFiles(r), m{"from": "head~1", "to": "head"}, "A\t-x\nA\tb.go\n"},
		{"status", GitBranchStatus(r), m{}, "commits that only the head has: 2\ncommits that only the base has: 1\n"},
		{"show at base", GitShowFileAtRev(r), m{"path": "a.go", "rev": "base", "offset": 3}, "func A() int { return 0 }\n"},
		{"show by id", GitShowFileAtRev(r), m{"path": "a.go", "rev": r.Head[:10]}, "return 1"},
		{"show a file that is not there", GitShowFileAtRev(r), m{"path": "b.go", "rev": "base"}, "error: “b.go” is no file at base"},
		{"show a private file", GitShowFileAtRev(r), m{"path": ".env", "rev": "base"}, "error: “.env” is not read"},
		{"show a parent", GitShowFileAtRev(r), m{"path": "../a.go", "rev": "base"}, "error: path"},
		{"diff", GitDiffFiles(r), m{"paths": []string{"a.go"}}, "-func A() int { return 0 }\n+func A() int { return 1 }\n"},
		{"diff of all", GitDiffFiles(r), m{}, "+++ b/b.go"},
		{"diff of a name like an option", GitDiffFiles(r), m{"paths": []string{"-x"}}, "+dash"},
		{"diff by magic", GitDiffFiles(r), m{"paths": []string{":(exclude)a.go"}}, "[nothing]\n"},
		{"log", GitLogFile(r), m{"path": "a.go"}, "2024-05-06 Ann: second<U+202E>\n"},
		{"log of one", GitLogFile(r), m{"limit": 1}, "third"},
		{"blame", GitBlameLines(r), m{"path": "a.go", "start": 3}, "func A() int { return 1 }"},
		{"blame behind the end", GitBlameLines(r), m{"path": "a.go", "start": 99}, "error: blame"},
		{"blame of too much", GitBlameLines(r), m{"path": "a.go", "start": 1, "end": 501}, "error: lines 1 to 501"},
		{"merge base", GitMergeBase(r), m{}, r.MergeBase + "\n"},
		{"an option as revision", GitDiffFiles(r), m{"from": "--output=" + stray}, "error: revision"},
		{"an option behind an id", GitShowFileAtRev(r), m{"path": "a.go", "rev": "head --output"}, "error: revision"},
		{"a range as revision", GitLogFile(r), m{"rev": "base..head"}, "error: revision"},
		{"a search as revision", GitLogFile(r), m{"rev": ":/first"}, "error: revision"},
		{"a reflog", GitLogFile(r), m{"rev": "head@{1}"}, "error: revision"},
		{"an unknown id", GitLogFile(r), m{"rev": "deadbeef"}, "error: revision “deadbeef” is not known here"},
		{"a tree's id", GitLogFile(r), m{"rev": "head~9"}, "error: revision “head~9” is not known here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := call(t, tt.tl, tt.args); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if strings.Contains(call(t, GitLogFile(r), m{"limit": 1}), "second") {
		t.Error("limit 1 shows two commits")
	}
	if leftovers, _ := filepath.Glob(stray); leftovers != nil {
		t.Error("an option was taken for one")
	}
}

// A patch that is too long is cut at a line and says so.
func TestGitTextLimit(t *testing.T) {
	t.Parallel()
	got := gitText(strings.Repeat("0123456789\n", 10_000))
	if len(got) > gitBytes+100 || !strings.Contains(got, "bytes left out") || strings.Contains(got, "012345678[") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-80:])
	}
}
