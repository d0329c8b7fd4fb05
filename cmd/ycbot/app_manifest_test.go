package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/app/setup"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A maker is "ycbot app manifest" while it waits.
type maker struct {
	out, err chan string
	door     string // the address that it printed
	ended    chan int
}

// makeApp starts it in a folder.
func makeApp(t *testing.T, gh *githubtest.Server, dir string, args ...string) *maker {
	t.Helper()
	cmd := realProgram(t, t.TempDir(), append([]string{"app", "manifest"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "YCBOT_GITHUB_URL="+gh.URL, "GITHUB_SERVER_URL="+gh.URL)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := &maker{out: make(chan string, 1), err: make(chan string, 1), ended: make(chan int, 1)}
	doors := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(stdout)
		m.out <- string(all)
	}()
	go func() {
		var all []byte
		buf := make([]byte, 4096)
		for {
			n, err := stderr.Read(buf)
			all = append(all, buf[:n]...)
			if at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+/\n`).FindString(string(all)); at != "" {
				select {
				case doors <- strings.TrimSpace(at):
				default:
				}
			}
			if err != nil {
				break
			}
		}
		close(doors)
		m.err <- string(all)
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		m.err <- <-m.err // both pipes are read to their ends before the process is waited for
		m.out <- <-m.out
		_ = cmd.Wait()
		m.ended <- cmd.ProcessState.ExitCode()
	}()
	m.door = <-doors
	return m
}

// end waits for the exit code.
func (m *maker) end(t *testing.T) (code int, stdout, stderr string) {
	t.Helper()
	select {
	case code := <-m.ended:
		return code, <-m.out, <-m.err
	case <-time.After(hangs):
		t.Fatal("ycbot app manifest does not end")
	}
	return 0, "", ""
}

// confirm does what a person does in the browser: opens the page and presses the button.
func (m *maker) confirm(t *testing.T) (int, string) {
	t.Helper()
	text := fetch(t, http.DefaultClient, m.door)
	form := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("the page has no form:\n%s", text)
		}
		return unescape.Replace(found[1])
	}
	resp, err := http.PostForm(form(`action="([^"]*)"`), url.Values{"manifest": {form(`name="manifest" value="([^"]*)"`)}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

var unescape = strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&#43;", "+")

func fetch(t *testing.T, c *http.Client, at string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The App is made with the permissions and events that it needs, and its settings are in a
// file that only its owner can read and that serve can read.
func TestAppManifest(t *testing.T) {
	t.Parallel()
	gh, dir := githubtest.New(t), t.TempDir()
	m := makeApp(t, gh, dir, "--public-url", "https://ycbot.example.com/", "--org", "acme")
	if status, text := m.confirm(t); status != http.StatusOK || !strings.Contains(text, "The App is made") {
		t.Errorf("the browser sees %d\n%s", status, text)
	}
	code, stdout, stderr := m.end(t)
	if code != 0 || !strings.Contains(stdout, "ycbot app serve --settings") || !strings.Contains(stdout, "/installations/new") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	app := gh.Made("ycbot ycbot.example.com")
	if app == nil {
		t.Fatal("there is no App")
	}
	perms := map[string]string{"checks": "write", "pull_requests": "write", "contents": "read", "issues": "write", "members": "read", "metadata": "read"}
	if diff := cmp.Diff(perms, app.Permissions); diff != "" {
		t.Error(diff)
	}
	slices.Sort(app.Events)
	if diff := cmp.Diff([]string{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request"}, app.Events); diff != "" {
		t.Error(diff)
	}
	got := []string{app.Owner, app.Hook, strings.Join(app.Callbacks, " ")}
	if diff := cmp.Diff([]string{"acme", "https://ycbot.example.com/webhook", "https://ycbot.example.com/login/callback"}, got); diff != "" || app.Public {
		t.Error(diff, app.Public)
	}
	info, err := os.Stat(filepath.Join(dir, "ycbot.env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("settings: %v %v", info, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "ycbot.env"))
	if err != nil {
		t.Fatal(err)
	}
	vars, err := setup.ParseSettings(string(text))
	if err != nil {
		t.Fatal(err)
	}
	p := &program{env: append(vars, "YCBOT_DATA="+dir)}
	o := newAppOptions()
	if err := o.Read(p.getenv); err != nil {
		t.Error(err)
	}
	if err := o.Listening(p.getenv); err != nil {
		t.Error(err)
	}
	if o.ID != app.ID || string(o.Key) != strings.TrimSpace(string(app.Key)) || o.Secret != app.WebhookSecret || o.ClientID != app.ClientID ||
		o.ClientSecret != app.ClientSecret || len(o.SessionKey) != 64 || o.PublicURL != "https://ycbot.example.com" || o.GitHubURL != gh.URL {
		t.Errorf("settings are read as %+v", o)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".ycbot-settings-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A settings file that is there stays as it is unless it shall be replaced, and then GitHub
// is not even asked.
func TestAppManifestOverwrites(t *testing.T) {
	t.Parallel()
	gh, dir := githubtest.New(t), t.TempDir()
	name := filepath.Join(dir, "ycbot.env")
	if err := os.WriteFile(name, []byte("KEEP=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := makeApp(t, gh, dir, "--public-url", "https://ycbot.example.com")
	if code, _, stderr := m.end(t); code != 3 || m.door != "" || !strings.Contains(stderr, "--force") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if text, _ := os.ReadFile(name); string(text) != "KEEP=1\n" {
		t.Errorf("the file is now\n%s", text)
	}
	m = makeApp(t, gh, dir, "--public-url", "https://ycbot.example.com", "--force")
	m.confirm(t)
	if code, _, stderr := m.end(t); code != 0 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if text, _ := os.ReadFile(name); !strings.Contains(string(text), "YCBOT_APP_ID") {
		t.Errorf("with --force the file is\n%s", text)
	}
}

// Only the person at the terminal can open the door, and only GitHub's answer
// to that person comes back through it: another's code makes no settings.
func TestAppManifestIsPrivate(t *testing.T) {
	t.Parallel()
	gh, dir := githubtest.New(t), t.TempDir()
	m := makeApp(t, gh, dir, "--public-url", "https://ycbot.example.com", "--wait", "60s")
	at, err := url.Parse(m.door)
	if err != nil {
		t.Fatal(err)
	}
	status := func(path, host string) int {
		r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+at.Host+path, nil)
		if host != "" {
			r.Host = host
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for name, got := range map[string]int{
		"another word": status("/AAAA/", ""), "no word": status("/", ""), "another name": status(at.Path, "evil.example"),
		"no state": status(at.Path+"back?code=x", ""), "another state": status(at.Path+"back?code=x&state=y", ""),
	} {
		if got != http.StatusNotFound && got != http.StatusForbidden {
			t.Errorf("%s: %d", name, got)
		}
	}
	m.confirm(t)
	if code, _, stderr := m.end(t); code != 0 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
