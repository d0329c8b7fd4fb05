// Package benchtest is GitHub and its Actions runner for tests, as others wrote
// them: emulate with an overlay, and act.
//
// [Start] runs a GitHub for one test: a process of its own on a free loopback
// port, ended with the test. What ycbot asks goes through a proxy that holds
// each request against GitHub's description of its interface; a violation fails
// the test. What the test itself does as one of the users goes around it.
//
// Browsers see its pages, where people sign in, make Apps of manifests and install them.
// [GitHub.Find] leads webhooks to a server that has a public address.
//
// The people: alice owns the organization acme; bob may write, rita may read,
// mallory is a stranger with a fork. Each has the token "tok_" and the name.
package benchtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/test/bench"
)

// patience is how long something may take that takes a second on a quiet machine.
const patience = 60 * time.Second

// The Apps that are installed in acme.
const (
	actionsApp   = 15368 // github-actions, whose tokens workflows have
	helperApp    = 777   // another bot
	webhooksApp  = 12345 // ycbot, whose webhooks the test receives
	installation = 1000  // an installation's number is this and the App's
)

// A GitHub is a running one.
type GitHub struct {
	URL       string // of the REST interface, through the proxy: GITHUB_API_URL
	ServerURL string // of git and the pages: GITHUB_SERVER_URL

	t      testing.TB
	direct string // around the proxy
	key    *rsa.PrivateKey
	hooks  *hooks

	mu     sync.Mutex
	calls  []Call
	during func(Call) // see During
	ended  bool
}

// A Call is a request that came through the proxy.
type Call struct {
	Method, Path string
	Body         []byte
	Status       int
}

// Start runs a GitHub until the test ends, or skips the test where that cannot be had.
func Start(tb testing.TB) *GitHub {
	tb.Helper()
	if testing.Short() {
		tb.Skip("other programs do the work")
	}
	modules := Need(tb, bench.Node)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	g := &GitHub{t: tb, key: key, hooks: receiveHooks(tb)}
	port := freePort(tb)
	g.direct = "http://127.0.0.1:" + strconv.Itoa(port)
	g.startProxy()
	g.startEmulate(modules, port)
	return g
}

// Need gets a program ready, or skips the test where the machine lacks what that takes.
func Need(tb testing.TB, get func(context.Context) (string, error)) string {
	tb.Helper()
	path, err := get(tb.Context())
	if errors.Is(err, bench.ErrMissing) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func (g *GitHub) startProxy() {
	g.t.Helper()
	root, err := bench.Root()
	if err != nil {
		g.t.Fatal(err)
	}
	target, err := url.Parse(g.direct)
	if err != nil {
		g.t.Fatal(err)
	}
	p := &proxy{target: newProxy(target), wrong: g.wrong, seen: g.record}
	server := httptest.NewServer(p)
	g.t.Cleanup(func() {
		g.mu.Lock()
		g.ended = true
		g.mu.Unlock()
		server.Close()
	})
	p.contract, err = loadContract(filepath.Join(root, "internal/testing/github/testdata/github-openapi-cut.json"), server.URL)
	if err != nil {
		g.t.Fatal(err)
	}
	g.URL = server.URL
	// Names below localhost are this machine, and GitHub's artifact library takes
	// them for a server that has artifacts.
	g.ServerURL = strings.Replace(server.URL, "127.0.0.1", "github.localhost", 1)
}

func (g *GitHub) wrong(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended { // a request that outlives the test cannot fail it any more
		g.t.Errorf(format, args...)
	}
}

func (g *GitHub) record(c Call) {
	g.mu.Lock()
	g.calls = append(g.calls, c)
	during := g.during
	g.mu.Unlock()
	if during != nil {
		during(c)
	}
}

// During has f called with each request that was answered, before ycbot hears
// of more: what f does happens at that very point of a run. It is called from
// another goroutine than the test's, and by several at once.
func (g *GitHub) During(f func(Call)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.during = f
}

// Calls are the requests that ycbot made.
func (g *GitHub) Calls() []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Call(nil), g.calls...)
}

func (g *GitHub) startEmulate(modules string, port int) {
	t := g.t
	t.Helper()
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed.json")
	if err := os.WriteFile(seed, g.seed(), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(filepath.Dir(modules), "bench", "benchtest", "overlay")
	package_ := filepath.Join(modules, "emulate")
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "node",
		"-r", filepath.Join(overlay, "loopback.cjs"), "--import", filepath.Join(overlay, "gaps.mjs"),
		filepath.Join(package_, "dist", "index.js"), "start", "--service", "github",
		"--port", strconv.Itoa(port), "--seed", seed, "--base-url", g.URL)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "EMULATE_DIR="+package_, "GAPS_GIT_ROOT="+filepath.Join(dir, "git"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "NO_COLOR=1")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it is killed: how it ended says nothing
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("emulate said:\n%s", tail(text, 4000))
		}
	})
	g.ready(exited)
}

// ready waits until emulate answers.
func (g *GitHub) ready(exited chan struct{}) {
	g.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.direct+"/zen", nil)
		if err != nil {
			g.t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-exited:
			g.t.Fatal("emulate ended before it was ready")
		case <-late:
			g.t.Fatalf("emulate was not ready after %v", patience)
		case <-tick.C:
		}
	}
}

// seed is what emulate starts with. YAML holds JSON.
func (g *GitHub) seed() []byte {
	type m = map[string]any
	key := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)}))
	tokens, users := m{}, []m{}
	for _, login := range []string{"alice", "bob", "rita", "mallory"} {
		tokens["tok_"+login] = m{"login": login, "scopes": []string{"repo", "user", "workflow", "write:repo_hook"}}
		users = append(users, m{"login": login, "name": login, "email": login + "@example.test"})
	}
	app := func(id int, slug string, permissions m) m {
		return m{
			"app_id": id, "slug": slug, "name": slug, "private_key": key, "permissions": permissions,
			"installations": []m{{"installation_id": installation + id, "account": "acme", "repository_selection": "all"}},
		}
	}
	all := m{"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write", "statuses": "write", "metadata": "read"}
	receiver := app(webhooksApp, "ycbot", all)
	receiver["events"] = []string{"pull_request", "issue_comment", "check_run", "check_suite", "push"}
	receiver["webhook_url"], receiver["webhook_secret"] = g.hooks.url, "s3cr3t"
	text, err := json.Marshal(m{
		"tokens": tokens,
		"github": m{
			"users": users,
			"orgs":  []m{{"login": "acme", "name": "Acme", "members": []m{{"login": "alice", "role": "admin"}}}},
			"repos": []m{{"owner": "acme", "name": "seed", "auto_init": true}},
			"apps":  []m{receiver, app(actionsApp, "github-actions", all), app(helperApp, "helper", all)},
		},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// As is a client for one of the users, around the proxy.
func (g *GitHub) As(login string) *github.Client { return g.client("tok_" + login) }

func (g *GitHub) client(token string) *github.Client {
	c := github.NewClient(&http.Client{Transport: fresh()}).WithAuthToken(token)
	base, err := url.Parse(g.direct + "/")
	if err != nil {
		g.t.Fatal(err)
	}
	c.BaseURL = base
	return c
}

// Token is one as a workflow's job has it, with permissions such as
// {"checks": "write"}: of the App github-actions, for acme.
func (g *GitHub) Token(permissions map[string]string) string {
	g.t.Helper()
	return g.appToken(actionsApp, permissions)
}

// JobToken is a token with the permissions that docs/action.md gives the job.
func (g *GitHub) JobToken() string {
	g.t.Helper()
	return g.Token(map[string]string{"contents": "read", "checks": "write", "issues": "read", "pull_requests": "write", "metadata": "read"})
}

// AsBot is a client for another App of acme's, whose comments are a bot's.
func (g *GitHub) AsBot() *github.Client {
	g.t.Helper()
	return g.client(g.appToken(helperApp, nil))
}

func (g *GitHub) appToken(app int, permissions map[string]string) string {
	g.t.Helper()
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)})
	transport, err := ghinstallation.NewAppsTransport(fresh(), int64(app), key)
	if err != nil {
		g.t.Fatal(err)
	}
	c := github.NewClient(&http.Client{Transport: transport})
	if c.BaseURL, err = url.Parse(g.direct + "/"); err != nil {
		g.t.Fatal(err)
	}
	body := map[string]any{}
	if permissions != nil {
		body["permissions"] = permissions
	}
	req, err := c.NewRequest(http.MethodPost, fmt.Sprintf("app/installations/%d/access_tokens", installation+app), body)
	if err != nil {
		g.t.Fatal(err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	if _, err := c.Do(g.t.Context(), req, &answer); err != nil {
		g.t.Fatal(err)
	}
	return answer.Token
}

// Find sets for GitHub where on this machine the server is that has an address such as
// https://ycbot.example.com.
func (g *GitHub) Find(address, to string) {
	g.t.Helper()
	g.overlay("/_gaps/hosts", map[string]string{address: to})
}

// overlay has the overlay do something.
func (g *GitHub) overlay(path string, what any) {
	g.t.Helper()
	body, err := json.Marshal(what)
	if err != nil {
		g.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.direct+path, bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: fresh()}).Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		g.t.Fatalf("%s %s: %s", path, body, resp.Status)
	}
}

// freePort is one that no one listened on a moment ago.
func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func tail(text []byte, most int) []byte {
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}
