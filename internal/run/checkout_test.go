package run

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// TestDirtyRange: uncommitted changes are compared with where the branch began, on the
// default branch with its last commit, and with nothing that was guessed.
func TestDirtyRange(t *testing.T) {
	t.Parallel()
	in := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	made := func(branch string) string {
		dir := t.TempDir()
		in(dir, "init", "-q", "-b", branch)
		in(dir, "commit", "-q", "--allow-empty", "-m", "one")
		return dir
	}
	first, main, topic, none := made("main"), made("main"), made("main"), made("develop")
	in(main, "commit", "-q", "--allow-empty", "-m", "two")
	in(topic, "checkout", "-q", "-b", "topic")
	in(topic, "commit", "-q", "--allow-empty", "-m", "two")
	in(none, "checkout", "-q", "-b", "topic")
	in(none, "commit", "-q", "--allow-empty", "-m", "two")
	shallow := filepath.Join(t.TempDir(), "shallow")
	in(main, "clone", "-q", "--depth", "1", "file://"+main, shallow)
	in(topic, "checkout", "-q", "main") // which a clone would have for its default branch
	alone := filepath.Join(t.TempDir(), "alone")
	in(topic, "clone", "-q", "--depth", "1", "-b", "topic", "file://"+topic, alone)
	in(topic, "checkout", "-q", "topic")
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git is needed: %v", err)
	}
	for name, tt := range map[string]struct{ dir, base, wrong string }{
		"the first commit":                {dir: first, base: "HEAD"},
		"the default branch":              {dir: main, base: "HEAD"},
		"the default branch, cut off":     {dir: shallow, base: "HEAD"},
		"a branch":                        {dir: topic, base: "main"},
		"a branch, and no default branch": {dir: none, wrong: "no default branch here (no origin/HEAD, main or master): name what to compare with, --base REF"},
		"a clone of one branch":           {dir: alone, wrong: "git fetch --unshallow"},
	} {
		repo, err := repository.Discover(t.Context(), g, tt.dir)
		if err != nil {
			t.Fatal(err)
		}
		base, head, err := refs(t.Context(), repo, Job{Dirty: true})
		switch {
		case tt.wrong != "":
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: base %+v, %v", name, base, err)
			}
		case err != nil || base.OID != in(tt.dir, "rev-parse", tt.base) || head.OID != in(tt.dir, "rev-parse", "HEAD"):
			t.Errorf("%s: base %+v, head %+v, %v", name, base, head, err)
		}
	}
}
