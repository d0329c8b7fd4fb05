package web

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/store"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// What someone may not see is not there: the page of a private run, its files, events and
// transcripts are answered with 404, as those of a run that does not exist, logged in or not.
func TestWhoSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	w.finished("open", 2)
	strangers := map[string]*browser{"no-one": w.browser(), "mallory": w.loggedIn("mallory")}
	readers := map[string]*browser{"alice": w.loggedIn("alice"), "reader": w.loggedIn("reader")}
	paths := []string{"", "/events", "/evidence/E13", "/files/", "/files/report.json", "/files/spill/E13.stdout", "/agents/92078ac011128b11"}
	for name, b := range strangers {
		for _, path := range paths {
			status, text := b.get("/runs/secret" + path)
			_, absent := b.get("/runs/absent" + path)
			if status != http.StatusNotFound || withoutToken(strings.ReplaceAll(text, "secret", "absent")) != withoutToken(absent) {
				t.Errorf("%s gets %d for %s of a private run, want 404 as of one that is not there:\n%s", name, status, path, text)
			}
		}
		for _, button := range []Button{Verify, Stop} {
			if status, _ := b.do(http.MethodPost, "/runs/secret/"+string(button), url.Values{}); status == http.StatusOK || status == http.StatusSeeOther {
				t.Errorf("%s presses %s of a private run: %d", name, button, status)
			}
		}
		if _, text := b.get("/runs"); strings.Contains(text, "repo1") || !strings.Contains(text, "repo2") {
			t.Errorf("%s sees in the list\n%s\nwant the public run alone", name, text)
		}
		if _, text := b.get("/runs?repo=acme/repo1"); strings.Contains(text, "/runs/secret") {
			t.Errorf("%s finds the private run by its repository", name)
		}
	}
	for name, b := range readers {
		for _, path := range paths {
			if status, text := b.get("/runs/secret" + path); status != http.StatusOK {
				t.Errorf("%s gets %d for %s of a run of a repository that may be read:\n%s", name, status, path, text)
			}
		}
		if _, text := b.get("/runs"); !strings.Contains(text, "/runs/secret") || !strings.Contains(text, "/runs/open") {
			t.Errorf("%s sees in the list\n%s\nwant both runs", name, text)
		}
	}
	for _, path := range paths {
		if status, _ := strangers["no-one"].get("/runs/open" + path); status != http.StatusOK {
			t.Errorf("%s of a public run is answered with %d without login", path, status)
		}
	}
}

// A run whose repository has no number is no one's to see, whatever its name is now.
func TestNamesGiveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(store.Run{ID: "old", Repo: "acme/repo2", State: store.Finished, Verdict: "PASS"})
	w.save(store.Run{ID: "other", Repo: "acme/repo2", RepoID: 3, State: store.Finished, Verdict: "PASS"})
	b := w.loggedIn("alice")
	for _, id := range []string{"old", "other"} {
		if status, _ := b.get("/runs/" + id); status != http.StatusNotFound {
			t.Errorf("run %s is shown because of its repository's name", id)
		}
	}
}

// What GitHub takes away is gone within a minute, and a token that GitHub does not take
// any more is a session that ended.
func TestAccessEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	b := w.loggedIn("reader")
	see := func(want int) {
		t.Helper()
		if status, _ := b.get("/runs/secret"); status != want {
			t.Errorf("the run is answered with %d, want %d", status, want)
		}
	}
	see(http.StatusOK)
	w.github.mu.Lock()
	w.github.readable["reader"] = nil
	w.github.mu.Unlock()
	w.advance(accessTime)
	see(http.StatusNotFound)
	w.github.mu.Lock()
	w.github.readable["reader"] = []Repository{{ID: 1}}
	w.github.mu.Unlock()
	w.advance(accessTime)
	see(http.StatusOK)
	w.github.mu.Lock()
	clear(w.github.people)
	w.github.mu.Unlock()
	w.advance(accessTime)
	see(http.StatusNotFound)
	if _, text := b.get("/runs"); strings.Contains(text, "Sign out") {
		t.Error("a session outlives its token")
	}
}

// Who watches sees nothing any more within the time of a heartbeat after access ended, or the session.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"access": func(w *world) {
			w.github.mu.Lock()
			w.github.readable["reader"] = nil
			w.github.mu.Unlock()
			w.advance(accessTime)
		},
		"session": func(w *world) { w.advance(sessionTime) },
	} {
		for _, page := range []string{"/runs/r/events", "/queue/events"} {
			if name == "access" && page == "/queue/events" {
				continue // it goes on, without what may not be seen any more
			}
			t.Run(name+page, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.site.beat = time.Second
				w.save(store.Run{ID: "r", Repo: "acme/repo1", RepoID: 1, Number: 1, Installation: 7, State: store.Running, Started: w.clock()})
				dir := t.TempDir()
				m, err := w.db.Mirror(t.Context(), "r", dir)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+page, nil)
				res, err := w.loggedIn("reader").Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				lines, ended := bufio.NewReader(res.Body), make(chan string, 1)
				if first, err := lines.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
					t.Fatal(res.Status, first, err)
				}
				end(w)
				go func() {
					rest, _ := io.ReadAll(lines)
					ended <- string(rest)
				}()
				time.Sleep(2 * w.site.beat)
				if err := os.WriteFile(filepath.Join(dir, eventsFile), []byte(`{"type":"stage_start","time":"2026-01-01T00:00:00Z","step":{"stage":"secret"}}`+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := m.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				select {
				case rest := <-ended:
					if strings.Contains(rest, "secret\"") {
						t.Errorf("it is still sent:\n%s", rest)
					}
				case <-time.After(heartbeat):
					t.Error("the stream goes on")
				}
			})
		}
	}
}

// A session ends with its time, and when it is left: then its token is worth nothing, and
// neither is a copy of the cookie.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	late := w.loggedIn("alice")
	w.advance(sessionTime)
	if status, _ := late.get("/runs/secret"); status != http.StatusNotFound {
		t.Errorf("a session that is over still shows the run: %d", status)
	}
	b := w.loggedIn("alice")
	at, _ := url.Parse(w.URL)
	copied := w.browser()
	copied.Jar.SetCookies(at, b.Jar.Cookies(at))
	if status, _ := copied.get("/runs/secret"); status != http.StatusOK {
		t.Fatalf("the copy does not work to begin with: %d", status)
	}
	if status, _ := b.do(http.MethodPost, "/logout", b.form("/runs", "/logout")); status != http.StatusOK {
		t.Fatalf("logout: %d", status)
	}
	for name, who := range map[string]*browser{"the browser": b, "a copy of the cookie": copied} {
		if status, _ := who.get("/runs/secret"); status != http.StatusNotFound {
			t.Errorf("%s shows the run after logout: %d", name, status)
		}
	}
	if diff := cmp.Diff([]string{"token of alice"}, w.github.revoked); diff != "" {
		t.Error(diff)
	}
}

// No one can make a session, or change one: cookies that this server did not seal, or
// sealed for something else, count as none. A session of one is worth nothing for another.
func TestSessionsAreSealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	at, _ := url.Parse(w.URL)
	alice, mallory := w.loggedIn("alice"), w.loggedIn("mallory")
	have := alice.Jar.Cookies(at)
	if len(have) != 1 {
		t.Fatalf("cookies %v, want that of the session alone", have)
	}
	value := have[0].Value
	other, err := newSealer([]byte(strings.Repeat("x", MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	forged, err := other.seal("session", session{ID: "x", Login: "alice", UserID: 5, Token: "token of alice", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(value)
	changed[len(changed)/2] ^= 1
	ours, _ := newSealer([]byte(strings.Repeat("k", MinKey)))
	elsewhere, _ := ours.seal("login", session{ID: "x", Login: "alice", UserID: 5, Token: "token of alice", Expires: time.Now().Add(time.Hour)})
	for name, bad := range map[string]string{"another key": forged, "changed": string(changed), "plain": `{"login":"alice"}`, "of a login": elsewhere, "cut": value[:20]} {
		b := w.browser()
		b.Jar.SetCookies(at, []*http.Cookie{{Name: have[0].Name, Value: bad}})
		if status, _ := b.get("/runs/secret"); status != http.StatusNotFound {
			t.Errorf("a cookie (%s) shows the run: %d", name, status)
		}
	}
	if status, _ := mallory.get("/runs/secret"); status != http.StatusNotFound {
		t.Errorf("mallory's own session shows the run: %d", status)
	}
	if strings.Contains(value, "alice") {
		t.Error("the cookie can be read")
	}
}

// The login goes to GitHub with a state and a challenge, takes no one who did not begin it
// here, or with another's state, and sends people to pages of this server alone.
func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	w.github.who = "alice"
	b := w.browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := b.Get(w.URL + "/login?next=" + url.QueryEscape("/runs/secret"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cookie := resp.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %s", cookie, want)
		}
	}
	sent, _ := url.Parse(resp.Header.Get("Location"))
	q := sent.Query()
	if q.Get("state") == "" || q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "client" {
		t.Errorf("GitHub is asked with %v", q)
	}
	resp, err = b.Get(sent.String()) // at GitHub, which gives a code
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	given, _ := url.Parse(resp.Header.Get("Location"))
	code := given.Query().Get("code")
	for name, back := range map[string]string{"no state": "code=" + code, "another state": "code=" + code + "&state=x", "refused": "error=access_denied&state=" + q.Get("state")} {
		if status, _ := b.get("/login/callback?" + back); status < 400 {
			t.Errorf("a callback with %s is answered with %d", name, status)
		}
	}
	if status, _ := w.browser().get("/login/callback?code=" + code + "&state=" + q.Get("state")); status < 400 {
		t.Errorf("a callback in another's browser is answered with %d", status)
	}
	b = w.browser()
	if status, text := b.get("/login?next=" + url.QueryEscape("/runs/secret")); status != http.StatusOK || !strings.Contains(text, "Sell seats in one step") {
		t.Errorf("login does not lead to the page that was wanted: %d", status)
	}
	for _, next := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/runs\r\nX: y", "/login"} {
		b := w.browser()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/login?next="+url.QueryEscape(next), nil)
		resp, err := b.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Request.URL.String(); got != w.URL+"/runs" {
			t.Errorf("next %q leads to %s", next, got)
		}
	}
}

// Cookies of a server that people reach by https are sent by https alone.
func TestSecureCookies(t *testing.T) {
	t.Parallel()
	s, err := New(Options{PublicURL: "https://ycbot.example.com", Login: &Login{Key: []byte(strings.Repeat("k", MinKey))}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	s.setCookie(w, "session", "x", time.Hour)
	got := w.Header().Get("Set-Cookie")
	if want := "__Host-ycbot-session=x; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=Lax"; got != want {
		t.Errorf("cookie %q, want %q", got, want)
	}
	if _, err := New(Options{Login: &Login{Key: []byte("short")}, Now: time.Now}); err == nil {
		t.Error("a short session key is taken")
	}
}

// The buttons need permission to write, the session's own token, and a page of ours.
func TestButtons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("secret", 1)
	w.save(store.Run{ID: "now", Repo: "acme/repo1", RepoID: 1, Number: 4, State: store.Running})
	w.save(store.Run{ID: "queued", Repo: "acme/repo1", RepoID: 1, State: store.Running}) // of the merge queue
	alice, reader := w.loggedIn("alice"), w.loggedIn("reader")
	other := w.loggedIn("alice")
	form := alice.form("/runs/now", "/runs/now/stop")
	refused := func(name string, b *browser, path string, form url.Values, want int, header ...string) {
		t.Helper()
		if status, _ := b.do(http.MethodPost, path, form, header...); status != want {
			t.Errorf("%s: %d, want %d", name, status, want)
		}
	}
	with := func(key, value string) url.Values {
		out := url.Values{}
		for k, v := range form {
			out[k] = v
		}
		out.Set(key, value)
		return out
	}
	refused("without token", alice, "/runs/now/stop", with("csrf", ""), http.StatusForbidden)
	refused("the token of another session", alice, "/runs/now/stop", with("csrf", other.form("/runs/now", "/runs/now/stop").Get("csrf")), http.StatusForbidden)
	refused("from another site", alice, "/runs/now/stop", form, http.StatusForbidden, "Sec-Fetch-Site", "cross-site")
	refused("from another origin", alice, "/runs/now/stop", form, http.StatusForbidden, "Origin", "https://evil.example")
	refused("without session", w.browser(), "/runs/now/stop", form, http.StatusForbidden)
	refused("without a press", alice, "/runs/now/stop", with("press", ""), http.StatusBadRequest)
	refused("unknown", alice, "/runs/now/delete", form, http.StatusNotFound)
	refused("no pull request", alice, "/runs/queued/verify", form, http.StatusBadRequest)
	refused("logout without token", alice, "/logout", url.Values{}, http.StatusForbidden)
	readers := reader.form("/runs/now", "/logout")
	readers.Set("press", form.Get("press"))
	refused("who may only read", reader, "/runs/now/stop", readers, http.StatusForbidden)
	if _, text := reader.get("/runs/now"); strings.Contains(text, "Verify again") {
		t.Error("who may only read is shown a button")
	}
	if len(w.pressed) != 0 {
		t.Fatalf("pressed all the same: %v", w.pressed)
	}
	if status, text := alice.do(http.MethodPost, "/runs/now/stop", form); status != http.StatusOK || !strings.Contains(text, "asked to stop") {
		t.Errorf("stop: %d\n%s", status, text)
	}
	if status, text := alice.do(http.MethodPost, "/runs/secret/verify", alice.form("/runs/secret", "/runs/secret/verify")); status != http.StatusOK || !strings.Contains(text, "Asked for") {
		t.Errorf("verify: %d\n%s", status, text)
	}
	for i := range w.pressed {
		if len(w.pressed[i].Request) < 20 {
			t.Errorf("request %q can be guessed", w.pressed[i].Request)
		}
		w.pressed[i].Request = ""
	}
	if diff := cmp.Diff([]pressed{{"now", "alice", "", "", Stop}, {"secret", "alice", "", "", Verify}}, w.pressed); diff != "" {
		t.Error(diff)
	}
}

// While the session key is changed, sessions and forms of both count; what is made is of
// the new one, and those of the old one end with it.
func TestTwoSessionKeys(t *testing.T) {
	t.Parallel()
	first, second, third := []byte(strings.Repeat("1", MinKey)), []byte(strings.Repeat("2", MinKey)), []byte(strings.Repeat("3", MinKey))
	sealers := func(key, before []byte) *sealer {
		t.Helper()
		s, err := newSealers(key, before)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old, both, other := sealers(first, nil), sealers(second, first), sealers(third, nil)
	who := session{ID: "s", Login: "alice"}
	for name, test := range map[string]struct {
		by, of *sealer
		want   bool
	}{
		"old, both count": {both, old, true}, "new, both count": {both, both, true}, "another": {both, other, false},
		"new, the old alone counts": {old, both, false}, "old, when it is over": {sealers(second, nil), old, false}, "new, when it is over": {sealers(second, nil), both, true},
	} {
		sealed, err := test.of.seal("session", who)
		if err != nil {
			t.Fatal(err)
		}
		var got session
		if err := test.by.open("session", sealed, &got); (err == nil && got.Login == "alice") != test.want {
			t.Errorf("%s: session %+v, %v", name, got, err)
		}
		if test.by.open("login", sealed, &got) == nil {
			t.Errorf("%s: counts under another name", name)
		}
		if test.by.holds(test.of.token(&who), &who) != test.want {
			t.Errorf("%s: its forms: want %v", name, test.want)
		}
	}
	if _, err := newSealers(second, []byte("short")); err == nil {
		t.Error("a short key counts")
	}
}

// withoutToken is a page without the token of its forms, which is another one each time.
func withoutToken(page string) string {
	return regexp.MustCompile(`name="csrf" value="[0-9a-f]+"`).ReplaceAllString(page, "")
}

// Where a login is required nothing is shown without one, public or not, and GitHub is not
// asked for strangers.
func TestLoginRequired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Required = true
	w.finished("open", 2)
	w.inLine(2, "A public title")
	for _, path := range []string{
		"/runs", "/runs?q=open", "/runs/open", "/runs/absent", "/runs/open/events", "/runs/open/evidence/E1", "/runs/open/files/report.json", "/repos/2/pulls/41", "/repos/2/tests", "/queue", "/queue.json", "/queue/events", "/none",
	} {
		status, text := w.browser().get(path)
		if status != http.StatusForbidden || !strings.Contains(text, "Sign in to see the pages of this server.") || strings.Contains(text, "repo2") || strings.Contains(text, "public title") {
			t.Errorf("%s: %d\n%s", path, status, text)
		}
	}
	if w.github.asked != 0 {
		t.Errorf("GitHub was asked %d times for strangers", w.github.asked)
	}
	if status, _ := w.browser().do(http.MethodPost, "/runs/open/verify", url.Values{}); status != http.StatusForbidden {
		t.Errorf("a button: %d", status)
	}
	if status, text := w.loggedIn("mallory").get("/runs/open"); status != http.StatusOK || !strings.Contains(text, "FAIL") {
		t.Errorf("logged in: %d", status)
	}
	if status, _ := w.browser().get("/assets/ycbot.css"); status != http.StatusOK {
		t.Errorf("the style of the page that says so: %d", status)
	}
}

// An address that can name nothing is answered as what is not there, whatever database there is.
func TestAddressesThatNameNothing(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{URL: storetest.Postgres(t), Now: time.Now})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Now()
	run := store.Run{ID: "run1", Job: "job1", Repo: "acme/sums", RepoID: 1, Number: 4, Installation: 7, State: store.Finished, Verdict: "PASS", Created: now, Started: now, Ended: now}
	if err := db.SaveRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	site, err := New(Options{DB: db, Queue: &fakeQueue{jobs: map[string]job.Job{}}, GitHub: allPublic{{ID: 1}}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/runs/run1": http.StatusOK, "/runs/%00": http.StatusNotFound, "/runs/%ff": http.StatusNotFound, "/runs/run1/files/%00": http.StatusNotFound,
		"/runs/run1/evidence/%00": http.StatusNotFound, "/runs/run1/agents/%ff": http.StatusNotFound, "/repos/1/tests?name=%00": http.StatusNotFound,
		"/repos/1/tests?name=%ff": http.StatusNotFound, "/runs?q=%00%ff": http.StatusOK, "/repos/1/pulls/4": http.StatusOK,
	} {
		got := httptest.NewRecorder()
		site.Handler().ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if got.Code != want {
			t.Errorf("%s is answered with %d, want %d", path, got.Code, want)
		}
	}
}
