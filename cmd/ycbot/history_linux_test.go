package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
)

// The pull request of a large repository is verified before the repository has come
// whole: setup begins without old file contents, tests see all of them. Where they
// cannot be had the report says so, and a later run brings them. Without a sandbox all
// of it comes first, because commands could read git's credential.
func TestRunPullLarge(t *testing.T) {
	variants.Only(t) // thousands of files
	t.Parallel()
	t.Run("comes", func(t *testing.T) {
		t.Parallel()
		l := newLargePull(t)
		code, out := l.run(t, "basic", func() {})
		if code != 0 || strings.Contains(out, withoutContents) || l.partial() {
			t.Errorf("exit %d, partial %t\n%s", code, l.partial(), out)
		}
		if got := l.setups(t); got != "looked: 1\nlooked: 1\n" {
			t.Errorf("setup waited:\n%s", got)
		}
	})
	t.Run("is gone, then there", func(t *testing.T) {
		t.Parallel()
		l := newLargePull(t)
		code, out := l.run(t, "basic", func() { l.SetPermission(l.repo, "alice", "none") })
		if code == 0 || !strings.Contains(out, withoutContents) || !l.partial() {
			t.Errorf("exit %d, partial %t\n%s", code, l.partial(), out)
		}
		l.SetPermission(l.repo, "alice", "write")
		if code, out = l.run(t, "none", nil); code != 0 || l.partial() {
			t.Errorf("again: exit %d, partial %t\n%s", code, l.partial(), out)
		}
		if got := l.setups(t); got != "looked: 0\nlooked: 0\n" {
			t.Errorf("without a sandbox, setup ran beside git:\n%s", got)
		}
	})
	t.Run("without a sandbox", func(t *testing.T) {
		t.Parallel()
		l := newLargePull(t)
		if code, out := l.run(t, "none", nil); code != 0 || l.partial() || l.setups(t) != "looked: 0\nlooked: 0\n" {
			t.Errorf("exit %d, partial %t\n%s\n%s", code, l.partial(), l.setups(t), out)
		}
	})
}

const withoutContents = "commands found old commits without the contents of their files"

// A largePull is a pull request whose setup looks for old file contents and says how that
// went, and whose test needs them.
type largePull struct {
	*hosted
	project string // of its repository, in ycbot's home
	out     string // of the last run
}

func newLargePull(t *testing.T) *largePull {
	t.Helper()
	l := &largePull{hosted: newHosted(t, good)}
	l.token = l.Token("alice", nil, "personal")
	l.Resize(l.repo, 1<<20)
	look := "git log -p -- sum.sh | grep -q 'what it was first'"
	l.Push(l.repo, githubtest.Commit{Branch: "main", Files: map[string]string{"sum.sh": "# what it was first\n"}})
	base := l.Push(l.repo, githubtest.Commit{Branch: "main", Files: map[string]string{
		"sum.sh":            "echo $(($1 + $2))\n",
		"setup.sh":          look + "; echo looked: $?\n",
		"test.sh":           "test \"$(sh sum.sh 1 1)\" = 2 && " + look + "\n",
		".github/ycbot.yml": "version: 1\ncommands: {setup: sh setup.sh, test: sh test.sh}\n",
	}})
	l.SetBranch(l.repo, "work", base)
	l.Push(l.repo, githubtest.Commit{Branch: "work", Files: good})
	l.project = filepath.Join(l.home, "projects", workspace.Slug(strings.TrimSuffix(l.GitURL(l.repo), ".git")))
	return l
}

// run verifies the pull request. With a func, another process is at work with the history
// until both sides are set up, and the func is called then.
func (l *largePull) run(t *testing.T, tier string, then func()) (code int, out string) {
	t.Helper()
	l.out = filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(l.out, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := realProgram(t, l.home, "run", "--repo", l.repo.String(), "--sandbox", tier, "--pr", "1", "--out", l.out)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Env, "GITHUB_API_URL="+l.URL, "GH_TOKEN="+l.token)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	writes := watch(t, l.out)
	var lock *os.File
	if then != nil {
		lock = l.lock(t)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		writes.Close() // and no one waits for a setup that never was
		close(ended)
	}()
	if then != nil {
		buf := make([]byte, 4<<10)
		for l.ended(t, "setup") < 2 {
			if _, err := writes.Read(buf); err != nil {
				break
			}
		}
		then()
		lock.Close()
	}
	<-ended
	if strings.Contains(text.String(), "sandbox tier "+tier+": not available") {
		t.Skipf("sandbox tier %s cannot be had here", tier)
	}
	return cmd.ProcessState.ExitCode(), text.String()
}

// lock keeps ycbot from completing the history, as another process does that is at it.
func (l *largePull) lock(t *testing.T) *os.File {
	t.Helper()
	if err := os.MkdirAll(l.project, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(l.project, "mirror.git.whole.lock"))
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// ended counts the commands of a stage that the last run has recorded.
func (l *largePull) ended(t *testing.T, stage string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.out, "evidence.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("/"+stage+`"`))
}

// setups is what both setups of the last run said.
func (l *largePull) setups(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.out, "spill", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(data, []byte("looked: ")) {
			all.Write(data)
		}
	}
	return all.String()
}

func (l *largePull) partial() bool {
	_, err := os.Stat(filepath.Join(l.project, "mirror.git", "ycbot-partial"))
	return err == nil
}
