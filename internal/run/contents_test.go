package run

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// The server of Git LFS is the one that the base names, else the repository's own.
func TestLFSEndpoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ origin, config, want string }{
		{"https://github.com/o/r.git", "", "https://github.com/o/r.git/info/lfs"},
		{"https://github.com/o/r", "", "https://github.com/o/r.git/info/lfs"},
		{"https://user@github.com/o/r/", "", "https://github.com/o/r.git/info/lfs"},
		{"https://github.com/o/r", "[core]\n\turl = https://a.example\n[LFS]\n\tURL = \"https://b.example/x\"\n", "https://b.example/x"},
		{"git@github.com:o/r.git", "", "git@github.com:o/r.git"},
		{"", "[lfs]\n url = https://b.example/x", "https://b.example/x"},
		{"", "", ""},
		{"/srv/r.git", "", ""},
	} {
		if got := lfsEndpoint(c.origin, c.config); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.origin, c.config, got, c.want)
		}
	}
}

// asked is a [Contents] that notes what it is asked for and hands out one content.
type asked struct {
	text string // of the content
	at   []string
}

func (a *asked) Fetch(_ context.Context, origin git.Remote, endpoint string, pointers []workspace.Pointer, keep func(workspace.Pointer, io.Reader) error) error {
	a.at = append(a.at, endpoint+" for "+origin.URL)
	for _, p := range pointers {
		if err := keep(p, strings.NewReader(a.text)); err != nil {
			return err
		}
	}
	return nil
}

// Contents come for trusted heads alone, where there is a network, from the server of the
// base; one that sends something else is believed nothing.
func TestBringContents(t *testing.T) {
	t.Parallel()
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git is needed: %v", err)
	}
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:e23cdf8f685da8411435098a9f71c94aaf1c919aeeec593ad29b015ffee59b20\nsize 10\n"
	dir := t.TempDir()
	for name, text := range map[string]string{".gitattributes": "*.bin filter=lfs\n", "number.bin": pointer, ".lfsconfig": "[lfs]\n\turl = https://lfs.example/o/r\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "git init -q . && git add -A && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m one"
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd '"+dir+"' && "+script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	repo, err := repository.Discover(t.Context(), g, dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, trust, url, text string
		network                rundir.Network
		why, at                string
	}{
		{"trusted", "trusted", "https://lfs.example/o/r.git", "forty-two\n", "", "", "https://lfs.example/o/r for https://lfs.example/o/r.git"},
		{"another host", "trusted", "https://github.example/o/r.git", "forty-two\n", "", "", "https://lfs.example/o/r for https://github.example/o/r.git"},
		{"another content", "trusted", "https://github.example/o/r.git", "forty-one\n", "", `"number.bin"`, "https://lfs.example/o/r for https://github.example/o/r.git"},
		{"no network", "trusted", "https://github.example/o/r.git", "forty-two\n", rundir.NetworkNone, "no network", ""},
		{"untrusted", untrusted, "https://github.example/o/r.git", "forty-two\n", "", "an untrusted head", ""},
	} {
		m, err := workspace.OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "mirror.git"), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Import(t.Context(), repo, head); err != nil {
			t.Fatal(err)
		}
		server := &asked{text: c.text}
		p := &prepared{
			runner: &Runner{Network: c.network, Contents: server}, mirror: m, source: rundir.Source{Change: change.Change{MergeBase: head}},
			begun: &begun{job: Job{Trust: c.trust, Pull: &Pull{From: git.Remote{URL: c.url, Settings: []string{"secret"}}}}},
		}
		why, err := p.bringContents(t.Context(), head)
		if err != nil || c.why == "" && why != "" || !strings.Contains(why, c.why) || strings.Join(server.at, "\n") != c.at {
			t.Errorf("%s: %q %v, asked %q; want %q, %q", c.what, why, err, server.at, c.why, c.at)
		}
		if tree, err := m.Worktree(t.Context(), filepath.Join(t.TempDir(), "run", "tree"), head); err != nil {
			t.Error(err)
		} else if data, err := os.ReadFile(filepath.Join(tree.Dir, "number.bin")); err != nil || (string(data) == "forty-two\n") != (c.why == "") {
			t.Errorf("%s: %q %v", c.what, data, err)
		}
	}
}
