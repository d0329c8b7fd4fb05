package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// Strangers leave places to people who logged in, one address leaves some to other strangers, and places are given back.
func TestPlacesOfWatchers(t *testing.T) {
	t.Parallel()
	var p places
	take := func(n int, stranger bool, from netip.Addr) (releases []func()) {
		for range n {
			if release, ok := p.take(stranger, from); ok {
				releases = append(releases, release)
			}
		}
		return releases
	}
	one := take(perAddress+10, true, netip.MustParseAddr("203.0.113.7"))
	others := take(streamsAtOnce, true, netip.Addr{})
	people := take(streamsAtOnce, false, netip.Addr{})
	if len(one) != perAddress || len(one)+len(others) != strangersAtOnce || len(one)+len(others)+len(people) != streamsAtOnce {
		t.Errorf("%d of an address, %d others, %d people", len(one), len(others), len(people))
	}
	for _, release := range append(append(one, others...), people...) {
		release()
	}
	if p.all != 0 || p.strangers != 0 || len(p.from) != 0 {
		t.Errorf("not given back: %d, %d, %v", p.all, p.strangers, p.from)
	}
}

func TestAddressOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"203.0.113.7:80": "203.0.113.7", "[::ffff:203.0.113.7]:80": "203.0.113.7", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::",
		"127.0.0.1:80": "invalid IP", "10.1.2.3:80": "invalid IP", "[fe80::1%eth0]:80": "invalid IP", "[fd00::1]:80": "invalid IP", "": "invalid IP", "@": "invalid IP",
	} {
		if got := addressOf(&http.Request{RemoteAddr: remote}).String(); got != want {
			t.Errorf("%q is %s, want %s", remote, got, want)
		}
	}
}

// Many strangers who watch leave places for a person, and their streams end by themselves.
func TestStrangersLeavePlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range strangersAtOnce {
		if _, ok := w.site.places.take(true, netip.Addr{}); !ok {
			t.Fatal("there is no place")
		}
	}
	watch := func(b *browser) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/queue/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	if res := watch(w.browser()); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" { //nolint:bodyclose // the cleanup closes it
		t.Errorf("one stranger more gets %s", res.Status)
	}
	if res := watch(w.loggedIn("reader")); res.StatusCode != http.StatusOK { //nolint:bodyclose // the cleanup closes it
		t.Errorf("a person gets %s", res.Status)
	}
}

func TestStreamsOfStrangersEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.strangerTime = 500 * time.Millisecond
	w.finished("open", 2)
	run, err := w.db.Run(t.Context(), "open")
	if err != nil {
		t.Fatal(err)
	}
	run.State = "running"
	w.save(run)
	for _, path := range []string{"/queue/events", "/runs/open/events"} {
		began := time.Now()
		w.browser().listen(path, "", func(message) bool { return false })
		if took := time.Since(began); took < w.site.strangerTime || took > heartbeat {
			t.Errorf("%s ends after %v", path, took)
		}
	}
}

// A stream of a stranger has an end, and its address a place less; one of a person has neither.
func TestWhoseStreamEnds(t *testing.T) {
	t.Parallel()
	s := newWorld(t).site
	for _, stranger := range []bool{true, false} {
		v := &viewer{}
		if !stranger {
			v.session = &session{}
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/queue/events", nil)
		r.RemoteAddr = "203.0.113.7:80"
		send, release, err := s.stream(httptest.NewRecorder(), r, v)
		if err != nil {
			t.Fatal(err)
		}
		if n := s.places.from[netip.MustParseAddr("203.0.113.7")]; (send.over != nil) != stranger || (n == 1) != stranger {
			t.Errorf("stranger %t: it ends %t, %d places of the address are taken", stranger, send.over != nil, n)
		}
		release()
	}
}
