package benchtest

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/test/bench"
)

// An App is a running "ycbot app serve" that hears GitHub's webhooks.
type App struct {
	Addr string // where it listens

	g     *GitHub
	cmd   *exec.Cmd
	lines chan string
}

// App starts the server of the App ycbot, with its data in dir and, where database is not
// empty, in that PostgreSQL.
func (g *GitHub) App(dir, database string) *App {
	t := g.t
	t.Helper()
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)})
	cmd := exec.Command(Need(t, bench.Ycbot), "app", "serve", "--addr", "127.0.0.1:0", "--sandbox", "none", "--data", dir, "--drain", "100ms") //nolint:noctx // it is killed with the test
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir(), "DATABASE_URL=" + database,
		"YCBOT_APP_ID=" + strconv.Itoa(webhooksApp), "YCBOT_APP_PRIVATE_KEY=" + string(key), "YCBOT_WEBHOOK_SECRET=s3cr3t",
		"YCBOT_GITHUB_URL=" + g.URL, "GITHUB_SERVER_URL=" + g.ServerURL,
	}
	a := g.Serve(cmd)
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	g.hooks.on = "http://" + a.Addr + "/webhook"
	return a
}

// Serve starts a server of an App, and waits until it listens. It ends with the test.
func (g *GitHub) Serve(cmd *exec.Cmd) *App {
	t := g.t
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &App{g: g, cmd: cmd, lines: make(chan string, 10_000)}
	go func() {
		defer close(a.lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			a.lines <- flat(s.Bytes())
		}
	}()
	t.Cleanup(a.Kill)
	_, addr, _ := strings.Cut(a.Says("msg=listening"), "addr=")
	a.Addr, _, _ = strings.Cut(addr, " ")
	return a
}

// Install has alice install the App ycbot in acme, from which Uninstall removed it. GitHub
// sends the App events of both.
func (g *GitHub) Install() {
	g.t.Helper()
	g.installation("created")
}

// Uninstall removes it.
func (g *GitHub) Uninstall() {
	g.t.Helper()
	g.installation("deleted")
}

func (g *GitHub) installation(action string) {
	g.t.Helper()
	g.overlay("/_gaps/installation", map[string]any{"app_id": webhooksApp, "action": action, "sender": "alice"})
	g.Await("installation", action, nil)
}

// flat is a line of the log as key=value, in the order of its keys, and as it is where it is no JSON.
func flat(line []byte) string {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return string(line)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "%s=%v ", key, fields[key])
	}
	return b.String()
}

// Kill ends it as a crash does.
func (a *App) Kill() {
	_ = a.cmd.Process.Kill()
	for line := range a.lines { // to its end, as Wait wants it
		if a.g.t.Failed() {
			a.g.t.Log(line)
		}
	}
	_ = a.cmd.Wait()
}

// Says waits for a line of its log that has all words, and returns it.
func (a *App) Says(words ...string) string {
	t := a.g.t
	t.Helper()
	late := time.After(patience)
	var log []string
	for {
		select {
		case line, ok := <-a.lines:
			if log = append(log, line); !ok {
				t.Fatalf("ycbot ended before it said %q:\n%s", words, strings.Join(log, "\n"))
			}
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return line
			}
		case <-late:
			t.Fatalf("ycbot did not say %q:\n%s", words, strings.Join(log, "\n"))
		}
	}
}
