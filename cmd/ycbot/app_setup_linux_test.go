package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	docstest "github.com/ycbot/ycbot/internal/testing/docs"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// operating is the documentation for operators.
const operating = "../../docs/operate.md"

// An operator works in a folder with the program on the path.
type operator struct {
	*hosted
	dir string
	env []string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{hosted: newHosted(t, bad), dir: t.TempDir()}
	bin := t.TempDir()
	self := programFile(t)
	write(t, filepath.Join(bin, "ycbot"), "#!/bin/bash\nexec -a ycbot '"+self+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "ycbot"), 0o755); err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/app/hook/deliveries") { // which githubtest does not know
			_, _ = io.WriteString(w, "[]")
			return
		}
		o.ServeHTTP(w, r)
	}))
	t.Cleanup(api.Close)
	o.env = append(realProgram(t, o.home).Env, "PATH="+bin+":"+os.Getenv("PATH"), "YCBOT_GITHUB_URL="+api.URL, "GITHUB_SERVER_URL="+o.URL, "YCBOT_ADDR=127.0.0.1:0")
	return o
}

// types has the operator type a command.
func (o *operator) types(t *testing.T, command string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "exec "+command)
	if strings.HasPrefix(command, "YCBOT_") { // settings before a command are no program
		cmd = exec.CommandContext(t.Context(), "bash", "-c", command)
	}
	cmd.Dir, cmd.Env = o.dir, o.env
	return cmd
}

// A proxy leads the public address to where the server listens.
type proxy struct{ to string }

func (p proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "ycbot.example.com" {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", p.to
	}
	return http.DefaultTransport.RoundTrip(r)
}

// From nothing to a working App by the steps of the documentation, word for word: the App
// is made, the server takes its webhooks, people who log in watch the run to its verdict,
// and ask for another with the button, which does what a comment does.
func TestSetUpAsDocumented(t *testing.T) {
	variants.Only(t) // a browser and a run; TestSettingsByHand has the settings
	t.Parallel()
	o := newOperator(t)
	steps := docstest.Blocks(t, operating, "Set up", "sh")
	byHand := docstest.Blocks(t, operating, "A delivery by hand", "sh")
	if len(steps) != 3 || len(byHand) != 1 {
		t.Fatalf("the documentation has %d steps, want 3, and %d deliveries by hand, want one: %q", len(steps), len(byHand), steps)
	}
	o.makes(t, steps[0])
	app := o.Made("ycbot ycbot.example.com")
	if app == nil {
		t.Fatal("there is no App")
	}
	o.Install(app, mayPost, o.repo)
	addr := o.serves(t, steps[1])
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: proxy{addr}, Timeout: 3 * time.Minute}
	hook := "http://" + addr + "/webhook"
	o.delivers(t, strings.ReplaceAll(byHand[0], "127.0.0.1:8080", addr))
	if status := o.Deliver(t.Context(), hook, app.WebhookSecret, "pull_request", o.PullEvent(o.repo, o.pull, "opened", "alice", "")); status != http.StatusAccepted {
		t.Fatalf("the webhook is answered with %d", status)
	}
	o.SignIn("alice")
	page := o.appears(t, browser, 1)
	verdict := o.watches(t, browser, page)
	text := fetch(t, browser, page)
	if verdict == "" || !strings.Contains(text, `<span class="big">`+verdict+`</span>`) || !strings.Contains(text, "Work on sums") {
		t.Errorf("the run ended with %q; its page is\n%s", verdict, text)
	}
	checks := o.CheckRuns(o.repo)
	if len(checks) != 1 || checks[0].Status != "completed" || checks[0].DetailsURL != page {
		t.Errorf("check runs %+v, want one that leads to %s", checks, page)
	}
	o.pressesVerify(t, browser, page, text)
	o.watches(t, browser, o.appears(t, browser, 2))
	o.backsUp(t)
	stranger := &http.Client{Transport: proxy{addr}}
	if text := fetch(t, stranger, page); !strings.Contains(text, "404") {
		t.Errorf("without login the page is\n%s", text)
	}
	out, err := o.types(t, steps[2]).CombinedOutput()
	if !strings.Contains(string(out), "with the permissions and events that it needs") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

// backsUp backs up the running server as the documentation does, in the folder that it was
// started in: the copy is not empty.
func (o *operator) backsUp(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Log(err)
		return
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", docstest.Blocks(t, operating, "Backup, upgrade, size", "sh")[0]+"\nsqlite3 backup/ycbot.db 'select count(*) from runs'")
	cmd.Dir, cmd.Env = o.dir, o.env
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "2" {
		t.Errorf("a backup: %v\n%s", err, out)
	}
}

// The settings file that the documentation has people write by hand is one that the server
// reads, and nothing is missing in it.
func TestSettingsByHand(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	blocks := docstest.Blocks(t, operating, "Set up", "ini")
	if len(blocks) != 1 {
		t.Fatalf("the documentation has %d settings files, want one", len(blocks))
	}
	write(t, filepath.Join(o.dir, "ycbot.env"), strings.ReplaceAll(blocks[0], "…", strings.Repeat("5f", 32)))
	write(t, filepath.Join(o.dir, "app.pem"), "key")
	out, err := o.types(t, "YCBOT_SETTINGS=ycbot.env ycbot doctor --offline").CombinedOutput()
	if !strings.Contains(string(out), "App 12345: id, private key and webhook secret are set") {
		t.Errorf("%v\n%s", err, out)
	}
}

// makes makes the App.
func (o *operator) makes(t *testing.T, command string) {
	t.Helper()
	cmd := o.types(t, command)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := &maker{}
	for lines := bufio.NewScanner(stderr); m.door == "" && lines.Scan(); {
		if at := strings.TrimSpace(lines.Text()); strings.HasPrefix(at, "http://127.0.0.1:") {
			m.door = at
		}
	}
	if m.door == "" {
		t.Fatalf("%s prints no address: %v", command, cmd.Wait())
	}
	m.confirm(t)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// serves starts the server and returns where it listens.
func (o *operator) serves(t *testing.T, command string) string {
	t.Helper()
	cmd := o.types(t, command)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	var log strings.Builder
	for lines.Scan() {
		log.WriteString(lines.Text() + "\n")
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" && entry.Addr != "" {
			go func() {
				for lines.Scan() {
					continue
				}
			}()
			return entry.Addr
		}
	}
	t.Fatalf("%s does not listen:\n%s", command, log.String())
	return ""
}

// delivers signs a delivery as the documentation does.
func (o *operator) delivers(t *testing.T, commands string) {
	t.Helper()
	for _, program := range []string{"openssl", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Log(err)
			return
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", commands)
	cmd.Dir, cmd.Env = o.dir, o.env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), " 202 Accepted") {
		t.Errorf("a delivery by hand: %v\n%s", err, out)
	}
}

// appears waits until the list has n runs, and returns the page of the newest.
func (o *operator) appears(t *testing.T, browser *http.Client, n int) string {
	t.Helper()
	const root = "https://ycbot.example.com"
	pattern := regexp.MustCompile(`href="(/runs/[^"/?]+)"`)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	text := fetch(t, browser, root+"/login?next=/runs")
	for {
		if found := pattern.FindAllStringSubmatch(text, -1); len(found) == n {
			return root + found[0][1]
		}
		select {
		case <-ctx.Done():
			t.Fatalf("there are not %d runs in\n%s", n, text)
		case <-tick.C:
		}
		text = fetch(t, browser, root+"/runs")
		if strings.Contains(text, "No runs to show") { // what may be seen is remembered for a minute
			text = fetch(t, browser, root+"/login?next=/runs")
		}
	}
}

// watches follows a run to its end and returns its verdict.
func (o *operator) watches(t *testing.T, browser *http.Client, page string) (verdict string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	name := ""
	for lines.Scan() {
		switch key, value, _ := strings.Cut(lines.Text(), ": "); {
		case key == "event":
			name = value
		case key == "data" && name == "run_done":
			var e struct{ Text string }
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				t.Fatal(err)
			}
			verdict = e.Text
		case key == "data" && name == "end":
			return verdict
		}
	}
	t.Fatalf("the stream of %s ends early: %v", page, lines.Err())
	return ""
}

// pressesVerify asks for another run.
func (o *operator) pressesVerify(t *testing.T, browser *http.Client, page, text string) {
	t.Helper()
	_, form, _ := strings.Cut(text, `/verify">`)
	values := url.Values{}
	for _, m := range regexp.MustCompile(`name="(csrf|press)" value="([^"]*)"`).FindAllStringSubmatch(form, 2) {
		values.Set(m[1], m[2])
	}
	resp, err := browser.PostForm(page+"/verify", values)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.Contains(resp.Request.URL.RawQuery, "asked=verify") {
		t.Errorf("the button is answered with %d at %s", resp.StatusCode, resp.Request.URL)
	}
}
