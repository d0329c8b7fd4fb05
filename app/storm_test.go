package app

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
)

// full has tests that take minutes tried out in their whole size.
var full = flag.Bool("full", false, "try tests that take long in their whole size")

// A sort of delivery, and how it must be answered.
type sort struct {
	name   string
	status int
	body   func(i int) []byte
	id     func(i int) string
	forged bool
}

// sorts are what the storm is made of: as many repeats, forgeries and bodies that are
// none as deliveries that count, which come first.
func sorts() []sort {
	id := func(prefix string) func(int) string { return func(i int) string { return fmt.Sprint(prefix, i) } }
	large := func(i int) []byte { return append(opened(i), bytes.Repeat([]byte(" "), 23<<10)...) }
	return []sort{
		{"good", http.StatusAccepted, large, id("good-"), false},
		{"repeated", http.StatusAccepted, large, id("good-"), false},
		{"redelivered under another id", http.StatusAccepted, large, id("again-"), false},
		{"forged", http.StatusUnauthorized, func(i int) []byte { return opened(1_000_000 + i) }, id("forged-"), true},
		{"malformed", http.StatusBadRequest, func(i int) []byte { return opened(2_000_000 + i)[:100] }, id("malformed-"), false},
	}
}

// Of deliveries that come as fast as they can be sent, each with 24 KB, every one that is
// accepted is a stored job, once; repeats, forgeries, malformed and oversized bodies have no
// effect, and memory stays bounded.
func TestWebhookStorm(t *testing.T) {
	t.Parallel()
	good := 500
	if *full {
		good = 10_000
	}
	for _, place := range []string{"SQLite", "PostgreSQL"} {
		t.Run(place, func(t *testing.T) {
			url := ""
			if place == "PostgreSQL" {
				url = databases.Database(t)
			}
			h := newHookAt(t, url)
			server := httptest.NewServer(h.handler)
			t.Cleanup(server.Close)
			s := &storm{t: t, server: server, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}}
			for _, of := range sorts() {
				n := good
				if of.name != "good" {
					n = good / 5
				}
				s.send(of, n)
				if jobs := h.jobs(t); jobs != good {
					t.Fatalf("after what is %s there are %d jobs, want %d", of.name, jobs, good)
				}
			}
			s.oversized()
			if jobs, announced := h.jobs(t), h.fresh.Load(); jobs != good || announced != int64(good) {
				t.Errorf("%d jobs, announced %d times; want %d", jobs, announced, good)
			}
			for i := range good {
				if _, ok, err := h.db.Delivery(t.Context(), fmt.Sprint("good-", i+1)); !ok || err != nil {
					t.Fatalf("delivery %d was accepted and is not stored (%v)", i+1, err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.Sys > 600<<20 {
				t.Errorf("%d MB from the system", m.Sys>>20)
			}
			t.Logf("%s: %d MB from the system", place, m.Sys>>20)
		})
	}
}

type storm struct {
	t      *testing.T
	server *httptest.Server
	client *http.Client

	mu    sync.Mutex
	times []time.Duration
}

// send sends n deliveries of a sort, 64 at a time, and prints how fast they were answered.
func (s *storm) send(of sort, n int) {
	s.t.Helper()
	s.times = nil
	next := make(chan int)
	var group sync.WaitGroup
	began := time.Now()
	for range 64 {
		group.Go(func() {
			for i := range next {
				s.one(of, i)
			}
		})
	}
	for i := range n {
		next <- i + 1
	}
	close(next)
	group.Wait()
	took := time.Since(began)
	slices.Sort(s.times)
	if len(s.times) == n {
		s.t.Logf("%s: %d in %v, %.0f a second, p50 %v, p99 %v", of.name, n, took.Round(time.Millisecond), float64(n)/took.Seconds(), s.times[n/2], s.times[n*99/100])
	}
}

func (s *storm) one(of sort, i int) {
	body := of.body(i)
	signature := sign(body)
	if of.forged {
		signature = sign([]byte("other"))
	}
	began := time.Now()
	status, err := s.post(of.id(i), signature, body)
	took := time.Since(began)
	if err != nil || status != of.status {
		s.t.Errorf("%s %d: answer %d, %v; want %d", of.name, i, status, err, of.status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, took)
}

func (s *storm) post(id, signature string, body []byte) (int, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.server.URL+"/webhook", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "pull_request")
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", signature)
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// oversized sends bodies that are a little too large, several at once.
func (s *storm) oversized() {
	s.t.Helper()
	body := bytes.Repeat([]byte(" "), event.MaxSize+1)
	signature := sign(body)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			// The server may answer and close before all of it is sent.
			if status, err := s.post(fmt.Sprint("over-", i), signature, body); err == nil && status != http.StatusRequestEntityTooLarge {
				s.t.Errorf("an oversized body is answered with %d", status)
			}
		})
	}
	group.Wait()
}
