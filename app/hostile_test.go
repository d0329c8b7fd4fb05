package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
)

// listen serves h as the program does and returns its address.
func (h *hook) listen(t *testing.T, handler http.Handler) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = Serve(ctx, l, handler, h.Log) }() // strangers' requests are broken off at the end
	t.Cleanup(func() { cancel(); <-ended })
	return l.Addr().String()
}

// dial begins a delivery that claims length bytes and a signature that is none of ours.
func dial(t *testing.T, addr string, length int) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: x\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n",
		strings.Repeat("ab", 32), length)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// deliver sends a signed delivery and returns the status.
func deliver(t *testing.T, addr string, body []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/webhook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Github-Event": {"pull_request"}, "X-Github-Delivery": {"d"}, "X-Hub-Signature-256": {sign(body)}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// Strangers who say what they will send, and send nothing, half of it or half a header, take
// no place of deliveries that are signed.
func TestWebhookSlowStrangers(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	addr := h.listen(t, h.handler)
	for i := range 300 {
		c := dial(t, addr, []int{100, 1 << 20, event.MaxSize}[i%3])
		if i%2 == 0 {
			if _, err := c.Write([]byte("{")); err != nil {
				t.Fatal(err)
			}
		}
		silent, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() })
		if _, err := silent.Write([]byte("POST /webhook HTTP/1.1\r\nX-")); err != nil {
			t.Fatal(err)
		}
	}
	for _, body := range [][]byte{opened(1), append(opened(2), bytes.Repeat([]byte(" "), 2<<20)...)} {
		began := time.Now()
		if code := deliver(t, addr, body); code != http.StatusAccepted || time.Since(began) > slotTime {
			t.Errorf("a signed delivery of %d bytes is answered %d after %v, want 202 at once", len(body), code, time.Since(began))
		}
	}
}

// Unsigned bodies are not in memory, however many come, and nothing is left of them.
func TestWebhookUnsignedMemory(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	s := &spool{dir: t.TempDir()}
	hook := &webhook{Server: h.Server, small: make(chan struct{}, 1), large: make(chan struct{}, 1), bodyTime: time.Minute, spool: s}
	addr := h.listen(t, hook)
	before := liveBytes()
	const senders = 8
	part := bytes.Repeat([]byte("x"), event.MaxSize-1)
	var wg sync.WaitGroup
	conns := make([]net.Conn, senders)
	for i := range conns {
		conns[i] = dial(t, addr, event.MaxSize)
		wg.Go(func() {
			if _, err := conns[i].Write(part); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(30 * time.Second)
	for s.disk.Load()+s.memory.Load() < senders*(event.MaxSize-1) && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if got := s.disk.Load() + s.memory.Load(); got != senders*(event.MaxSize-1) {
		t.Fatalf("%d bytes were received", got)
	}
	const most = 16 << 20
	if more := liveBytes() - before - int64(len(part)); more > most {
		t.Errorf("%d bodies of %d bytes take %d bytes of memory, want at most %d", senders, event.MaxSize, more, most)
	}
	if code := deliver(t, addr, opened(1)); code != http.StatusAccepted {
		t.Errorf("a signed delivery beside them is answered %d", code)
	}
	for _, c := range conns {
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(io.LimitReader(c, 12)); err != nil || string(answer) != "HTTP/1.1 401" {
			t.Errorf("answer %q, %v", answer, err)
		}
	}
	for s.disk.Load()+s.memory.Load() != 0 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if left := s.disk.Load() + s.memory.Load(); left != 0 {
		t.Errorf("%d bytes are held for good", left)
	}
}

// liveBytes is what the program holds in memory.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A body that stops coming is given up, and what was kept of it is given back.
func TestWebhookBodyTime(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	s := &spool{dir: t.TempDir()}
	hook := &webhook{Server: h.Server, small: make(chan struct{}, 1), large: make(chan struct{}, 1), bodyTime: 50 * time.Millisecond, spool: s}
	c := dial(t, h.listen(t, hook), 1000)
	if _, err := c.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
		t.Errorf("answer %q, %v", answer, err)
	}
	if s.memory.Load() != 0 {
		t.Error("bytes of it are held")
	}
}

// What is kept unchecked is bounded, on disk too.
func TestSpoolFull(t *testing.T) {
	t.Parallel()
	s := &spool{dir: t.TempDir()}
	s.memory.Store(spoolMemory)
	s.disk.Store(spoolDisk - 100)
	if _, _, err := s.receive(bytes.NewReader(make([]byte, 101)), nil); err == nil {
		t.Error("more was kept than may be")
	}
	b, _, err := s.receive(bytes.NewReader([]byte("signed")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := b.bytes(); err != nil || string(body) != "signed" {
		t.Errorf("from the disk: %q, %v", body, err)
	}
	b.Close()
	if s.memory.Load() != spoolMemory || s.disk.Load() != spoolDisk-100 {
		t.Error("what was taken is not given back")
	}
}
