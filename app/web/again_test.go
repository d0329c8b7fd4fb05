package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/store"
)

// The first look at a run of a repository that GitHub did not name a moment ago asks again,
// and looks at what is not new do not.
func TestFirstLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	reader := w.loggedIn("reader")
	for _, b := range []*browser{w.browser(), reader} {
		if status, _ := b.get("/runs/open"); status != http.StatusOK {
			t.Fatalf("a public run is answered with %d", status)
		}
	}
	w.github.mu.Lock()
	w.github.public[7] = append(w.github.public[7], Repository{ID: 7})
	w.github.readable["reader"] = append(w.github.readable["reader"], Repository{ID: 8})
	w.github.mu.Unlock()
	w.advance(2 * time.Second)
	created := time.Now().Add(2 * time.Second)
	for id, repo := range map[string]int64{"public": 7, "private": 8} {
		w.save(store.Run{ID: id, Repo: "acme/new", RepoID: repo, State: store.Running, Created: created})
	}
	w.advance(time.Second)
	if status, _ := w.browser().get("/runs/public"); status != http.StatusOK {
		t.Errorf("the first look at a run of a new public repository: %d", status)
	}
	if status, _ := reader.get("/runs/private"); status != http.StatusOK {
		t.Errorf("the first look at a run of a new private repository: %d", status)
	}
	w.github.mu.Lock()
	before := w.github.asked
	w.github.mu.Unlock()
	for range 5 {
		if status, _ := w.browser().get("/runs/private"); status != http.StatusNotFound {
			t.Errorf("a stranger gets %d for a private run", status)
		}
	}
	w.github.mu.Lock()
	defer w.github.mu.Unlock()
	if w.github.asked != before {
		t.Errorf("GitHub was asked %d times more by a stranger", w.github.asked-before)
	}
}

// A GitHub that does not answer delays a page for a bounded time, the page says so, and what
// did not come is asked for again by the next who looks.
func TestHangingGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	w.github.mu.Lock()
	w.github.hangs = true
	w.github.mu.Unlock()
	began := time.Now()
	status, text := w.browser().get("/runs")
	if took := time.Since(began); status != http.StatusOK || !strings.Contains(text, "GitHub does not answer") || took > 2*askTime {
		t.Errorf("%d after %v\n%s", status, took, text)
	}
	w.github.mu.Lock()
	w.github.hangs = false
	w.github.mu.Unlock()
	w.advance(awayTime)
	if _, text := w.browser().get("/runs"); !strings.Contains(text, "/runs/open") {
		t.Errorf("an answer that failed is remembered:\n%s", text)
	}
	if status, _ := w.browser().get("/runs/open"); status != http.StatusOK {
		t.Errorf("the run is answered with %d", status)
	}
}

// What takes GitHub longer than a page can wait, as thousands of repositories do, is there for the next.
func TestSlowGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	slow := make(chan bool)
	w.github.mu.Lock()
	w.github.slow = slow
	w.github.mu.Unlock()
	if status, text := w.browser().get("/runs"); status != http.StatusOK || !strings.Contains(text, "GitHub does not answer") {
		t.Errorf("%d\n%s", status, text)
	}
	w.github.mu.Lock()
	w.github.slow, w.github.hangs = nil, true // who asks it again gets nothing
	w.github.mu.Unlock()
	close(slow)
	deadline := time.Now().Add(time.Minute)
	for known := false; !known; _, known = w.site.access.get("public 7", time.Time{}, w.site.Now()) {
		if time.Now().After(deadline) {
			t.Fatal("the answer that came late is not kept")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, text := w.browser().get("/runs"); !strings.Contains(text, "/runs/open") {
		t.Errorf("what is known is not shown:\n%s", text)
	}
}

// An installation that is gone is no outage: nothing of it is there, and GitHub is not asked each time.
func TestUninstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	w.github.mu.Lock()
	w.github.removed = true
	w.github.mu.Unlock()
	for range 3 {
		for _, page := range []string{"/runs/nothing", "/runs/open"} {
			if status, text := w.browser().get(page); status != http.StatusNotFound {
				t.Errorf("%s: %d\n%s", page, status, text)
			}
		}
		if status, text := w.browser().get("/runs"); status != http.StatusOK || strings.Contains(text, "GitHub does not answer") {
			t.Errorf("the list: %d\n%s", status, text)
		}
		w.advance(emptyTime)
	}
	w.github.mu.Lock()
	asked := w.github.asked
	w.github.removed = false
	w.github.mu.Unlock()
	if asked != 1 {
		t.Errorf("GitHub was asked %d times", asked)
	}
	w.advance(accessTime)
	if status, _ := w.browser().get("/runs/open"); status != http.StatusOK {
		t.Errorf("installed again, the run is answered with %d", status)
	}
}

// While the database does not answer pages say so, and that it is worth trying again.
func TestPagesWithoutDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	if status, _ := w.browser().get("/runs/open"); status != http.StatusOK {
		t.Fatalf("%d", status)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	if status, text := w.browser().get("/runs/open"); status != http.StatusServiceUnavailable || !strings.Contains(text, "database does not answer") {
		t.Errorf("%d\n%s", status, text)
	}
}

// While GitHub hangs a page waits once, also of a person, and the next ones do not wait. A run that the viewer may not see
// is answered like one that does not exist, also in time.
func TestHangingOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("private", 1)
	alice := w.loggedIn("alice")
	w.advance(accessTime)
	w.github.mu.Lock()
	w.github.hangs = true
	w.github.mu.Unlock()
	for i, path := range []string{"/runs/private", "/runs/nothing", "/runs/private"} {
		for who, b := range map[string]*browser{"alice": alice, "a stranger": w.browser()} {
			began := time.Now()
			status, _ := b.get(path)
			took := time.Since(began)
			if status != http.StatusServiceUnavailable || took > askTime+2*time.Second || i > 0 && took > askTime/2 {
				t.Errorf("%s gets %d for %s after %v", who, status, path, took)
			}
		}
	}
	w.advance(awayTime)
	w.github.mu.Lock()
	w.github.hangs = false
	w.github.mu.Unlock()
	if status, _ := alice.get("/runs/private"); status != http.StatusOK {
		t.Errorf("it is answered with %d then", status)
	}
	if status, _ := w.browser().get("/runs/private"); status != http.StatusNotFound {
		t.Errorf("a stranger gets %d", status)
	}
}

// Runs of a public repository are seen by everybody also when the App was installed again, though no run is of the new
// installation.
func TestInstalledAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	w.github.mu.Lock()
	w.github.public[8] = w.github.public[7]
	delete(w.github.public, 7)
	w.github.mu.Unlock()
	for _, page := range []string{"/runs/open", "/runs"} {
		if status, text := w.browser().get(page); status != http.StatusOK || !strings.Contains(text, "acme/repo2") {
			t.Errorf("%s: %d\n%s", page, status, text)
		}
	}
}

// A page that no one waits for any more says nothing of GitHub: what it asked for is there for the next one.
func TestWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	answers := make(chan struct{})
	if _, err := w.site.ask(ctx, "x", time.Time{}, func(context.Context) (map[int64]bool, error) {
		leave()
		<-answers
		return map[int64]bool{4: true}, nil
	}); !errors.Is(err, errAway) || w.site.access.isAway("x", w.clock()) {
		t.Errorf("who leaves gets %v; GitHub counts as away: %t", err, w.site.access.isAway("x", w.clock()))
	}
	close(answers)
	got, err := w.site.ask(t.Context(), "x", time.Time{}, func(context.Context) (map[int64]bool, error) { return nil, errors.New("asked once more") })
	if err != nil || !got[4] {
		t.Errorf("the next one gets %v, %v", got, err)
	}
}

// unlisted is a GitHub that does not say which installations there are.
type unlisted struct{ GitHub }

func (unlisted) Installations(context.Context) ([]int64, error) { return nil, errors.New("502") }

// While GitHub does not say which installations there are, those that have runs count, and pages say that this may not be all.
func TestInstallationsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	w.site.GitHub = unlisted{w.site.GitHub}
	if status, text := w.browser().get("/runs"); status != http.StatusOK || !strings.Contains(text, "/runs/open") || !strings.Contains(text, "GitHub does not answer for some repositories") {
		t.Errorf("%d\n%s", status, text)
	}
}

// An answer that hung does not take the place of one that was asked for after it: who lost access in between has lost it.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	var a access
	began := time.Now()
	a.put("x", answer{at: began.Add(15 * time.Second), these: map[int64]bool{5: false}})
	a.put("x", answer{at: began, took: 40 * time.Second, these: map[int64]bool{4: true}})
	if got, ok := a.get("x", time.Time{}, began.Add(41*time.Second)); !ok || len(got) != 1 || got[4] {
		t.Errorf("%v, %t", got, ok)
	}
}
