package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
)

// A fakeGitHub answers for GitHub: who people are, what they may read, and the login.
type fakeGitHub struct {
	*httptest.Server
	mu       sync.Mutex
	people   map[string]Person       // by token
	readable map[string][]Repository // by login
	public   map[int64][]Repository  // by installation
	codes    map[string][2]string    // login and challenge
	hangs    bool                    // it does not say who may see what
	slow     chan bool               // when it says that; nil: at once
	removed  bool                    // the App is not installed any more
	asked    int                     // times that it was asked what is public
	revoked  []string
	who      string // logs in
}

func newGitHub(t *testing.T) *fakeGitHub {
	t.Helper()
	g := &fakeGitHub{people: map[string]Person{}, readable: map[string][]Repository{}, public: map[int64][]Repository{}, codes: map[string][2]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", g.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", g.token)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *fakeGitHub) authorize(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := r.URL.Query()
	code := fmt.Sprint("code", len(g.codes))
	g.codes[code] = [2]string{g.who, q.Get("code_challenge")}
	back, _ := url.Parse(q.Get("redirect_uri"))
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (g *fakeGitHub) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	code := g.codes[r.PostFormValue("code")]
	delete(g.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if code[0] == "" || base64.RawURLEncoding.EncodeToString(sum[:]) != code[1] || r.PostFormValue("client_secret") != "client secret" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"error":"bad_verification_code"}`)
		return
	}
	token := "token of " + code[0]
	g.people[token] = Person{ID: int64(len(code[0])), Login: code[0]}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"}`, token)
}

func (g *fakeGitHub) Person(_ context.Context, token string) (Person, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.people[token]
	if !ok {
		return p, ErrToken
	}
	return p, nil
}

func (g *fakeGitHub) Readable(ctx context.Context, token string) ([]Repository, error) {
	p, err := g.Person(ctx, token)
	if hangs := g.hanging(ctx); hangs != nil {
		return nil, hangs
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.readable[p.Login]), err
}

func (g *fakeGitHub) Public(ctx context.Context, installation int64) ([]Repository, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if g.hangs {
		g.mu.Unlock()
		<-ctx.Done()
		g.mu.Lock()
		return nil, ctx.Err()
	}
	if g.slow != nil {
		slow := g.slow
		g.mu.Unlock()
		<-slow
		g.mu.Lock()
	}
	if g.removed {
		return nil, ErrUninstalled
	}
	return slices.Clone(g.public[installation]), nil
}

// hanging returns when no answer is waited for any more, or at once where there is one.
func (g *fakeGitHub) hanging(ctx context.Context) error {
	g.mu.Lock()
	hangs := g.hangs
	g.mu.Unlock()
	if hangs {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (g *fakeGitHub) Installations(ctx context.Context) ([]int64, error) {
	if err := g.hanging(ctx); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.public)), nil
}

func (g *fakeGitHub) Revoke(_ context.Context, token string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revoked = append(g.revoked, token)
	delete(g.people, token)
	return nil
}

// A pressed is a button as it was pressed.
type pressed struct {
	Run, Who, Request, Reason string
	Button                    Button
}

// A world is a site with a database and a GitHub: alice may write to the private
// repository 1, reader may read it, mallory may do nothing, and 2 is public.
type world struct {
	*httptest.Server
	t       *testing.T
	db      *store.DB
	queue   *fakeQueue
	github  *fakeGitHub
	mu      sync.Mutex
	ahead   time.Duration // of the true time
	pressed []pressed
	end     chan struct{}
	site    *Site
	away    atomic.Bool // the server does not answer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "ycbot.db"), Now: time.Now})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, queue: &fakeQueue{jobs: map[string]job.Job{}}, github: newGitHub(t), end: make(chan struct{})}
	w.github.readable["alice"] = []Repository{{ID: 1, Write: true}, {ID: 2, Write: true}}
	w.github.readable["reader"] = []Repository{{ID: 1}}
	w.github.public[7] = []Repository{{ID: 2}}
	listener := httptest.NewUnstartedServer(nil)
	w.Server = listener
	site, err := New(Options{
		DB: db, Queue: w.queue, GitHub: w.github, PublicURL: "http://" + listener.Listener.Addr().String(), Server: w.github.URL, End: w.end,
		Login: &Login{ClientID: "client", ClientSecret: "client secret", Key: []byte(strings.Repeat("k", MinKey)), Client: http.DefaultClient},
		Press: w.press, Now: w.clock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.site = site
	pages := site.Handler()
	listener.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.away.Load() {
			panic(http.ErrAbortHandler)
		}
		pages.ServeHTTP(rw, r)
	})
	listener.Config.ReadTimeout, listener.Config.WriteTimeout = 30*time.Second, 60*time.Second
	listener.Start()
	t.Cleanup(func() { close(w.end); listener.Close(); _ = db.Close() })
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

func (w *world) press(_ context.Context, run store.Run, p Press) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pressed = append(w.pressed, pressed{run.ID, p.Who.Login, p.Request, p.Reason, p.Button})
	return nil
}

// save stores the row of a run.
func (w *world) save(r store.Run) {
	w.t.Helper()
	r.Installation = 7
	if r.Started.IsZero() {
		r.Started = w.clock().Add(-time.Minute)
	}
	if r.Created.IsZero() {
		r.Created = r.Started
	}
	if err := w.db.SaveRun(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

// recorded is the directory of a run that was really done.
func recorded(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/run.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range txtar.Parse(data).Files {
		put(t, dir, f.Name, string(f.Data))
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) importRun(id, dir string) {
	w.t.Helper()
	if err := w.db.Import(w.t.Context(), id, dir); err != nil {
		w.t.Fatal(err)
	}
}

// finished stores the recorded run as one of a repository.
func (w *world) finished(id string, repo int64) {
	w.t.Helper()
	w.importRun(id, recorded(w.t))
	w.save(store.Run{
		ID: id, Job: "job-" + id, Repo: fmt.Sprintf("acme/repo%d", repo), RepoID: repo, Number: 41, BaseSHA: "bda7c8fb8610d12f", HeadSHA: "67541335b2da0d45",
		Trigger: "pull_request", Actor: "alice", State: store.Finished, Verdict: "FAIL", Title: "Sell seats in one step",
		Reason: "a negative number of tickets is refused", Ended: w.clock(),
	})
}

// A browser is someone's, with cookies of its own.
type browser struct {
	*http.Client
	w *world
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{&http.Client{Jar: jar, Timeout: 60 * time.Second}, w}
}

// loggedIn is the browser of someone who logged in at GitHub.
func (w *world) loggedIn(login string) *browser {
	w.t.Helper()
	w.github.mu.Lock()
	w.github.who = login
	w.github.mu.Unlock()
	b := w.browser()
	if status, text := b.get("/login?next=/runs"); status != http.StatusOK || !strings.Contains(text, login) {
		w.t.Fatalf("login of %s: %d\n%s", login, status, text)
	}
	return b
}

func (b *browser) get(path string) (int, string) {
	b.w.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) do(method, path string, form url.Values, header ...string) (int, string) {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.w.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := b.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// form is what the hidden fields of a form on a page say.
func (b *browser) form(page, action string) url.Values {
	b.w.t.Helper()
	_, text := b.get(page)
	_, text, ok := strings.Cut(text, `action="`+action+`"`)
	if !ok {
		b.w.t.Fatalf("%s has no form for %s", page, action)
	}
	text, _, _ = strings.Cut(text, "</form>")
	out := url.Values{}
	for _, m := range regexp.MustCompile(`name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		out.Set(m[1], m[2])
	}
	return out
}
