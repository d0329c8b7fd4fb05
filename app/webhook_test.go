package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
)

const secret = "s3cret"

// A hook is a server with a database of its own.
type hook struct {
	*Server
	db      *store.DB
	queue   *queue.Queue
	handler http.Handler
	fresh   atomic.Int64
}

func newHook(tb testing.TB) *hook { tb.Helper(); return newHookAt(tb, "") }

// newHookAt is newHook on a PostgreSQL; empty: SQLite.
func newHookAt(tb testing.TB, url string) *hook {
	tb.Helper()
	db, err := store.Open(tb.Context(), store.Options{URL: url, Path: filepath.Join(tb.TempDir(), "ycbot.db"), Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	if err := queue.Migrate(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
	q, err := queue.New(db, queue.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	h := &hook{db: db, queue: q}
	h.Server = &Server{
		Secret: []byte(secret), Queue: q, Rules: job.Rules{App: true, AppID: 7}, Ready: db.Storable, Log: slog.New(slog.DiscardHandler),
		Fresh: func(job.Job) { h.fresh.Add(1) },
	}
	if h.handler, err = h.Handler(); err != nil {
		tb.Fatal(err)
	}
	return h
}

// jobs counts what is stored.
func (h *hook) jobs(t *testing.T) int {
	t.Helper()
	depth, err := h.queue.Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, have := range depth {
		n += have
	}
	return n
}

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// A post is a delivery; what is left empty is as GitHub sends it.
type post struct {
	kind, id, signature, media string
	body                       []byte
	length                     int64 // that is claimed; 0: the true one
}

func (h *hook) post(tb testing.TB, p post) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/webhook", bytes.NewReader(p.body))
	set := func(header, value, otherwise string) {
		if value == "" {
			value = otherwise
		}
		if value != "-" {
			r.Header.Set(header, value)
		}
	}
	set("X-GitHub-Event", p.kind, "pull_request")
	set("X-GitHub-Delivery", p.id, "d-1")
	set("X-Hub-Signature-256", p.signature, sign(p.body))
	set("Content-Type", p.media, "application/json")
	if p.length != 0 {
		r.ContentLength = p.length
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

const (
	baseOID = "1111111111111111111111111111111111111111"
	repoOf  = `"repository": {"id": 5, "name": "sums", "owner": {"id": 1, "login": "acme", "type": "User"}}, "installation": {"id": 9}, "sender": {"id": 3, "login": "alice", "type": "User"}`
)

// opened is the event of pull request n.
func opened(n int) []byte {
	side := func(oid string) string {
		return `{"ref": "b", "sha": "` + oid + `", "repo": {"id": 5, "name": "sums", "owner": {"id": 1, "login": "acme", "type": "User"}}}`
	}
	return fmt.Appendf(nil, `{"action": "opened", %s, "number": %d, "pull_request": {"number": %d, "state": "open", "title": "t", "updated_at": "2026-01-02T03:04:05Z",
		"user": {"id": 3, "login": "alice", "type": "User"}, "base": %s, "head": %s}}`, repoOf, n, n, side(baseOID), side(fmt.Sprintf("%040x", n+1)))
}

func commented(id int, body string) []byte {
	return fmt.Appendf(nil, `{"action": "created", %s, "issue": {"number": 4, "pull_request": {"url": "u"}},
		"comment": {"id": %d, "body": %q, "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "user": {"id": 3, "login": "alice", "type": "User"}}}`, repoOf, id, body)
}

// rerequested asks for a suite again, of some pull requests; with a button, for a check run of none.
func rerequested(button string, pulls ...int) []byte {
	var of []string
	for _, n := range pulls {
		of = append(of, fmt.Sprintf(`{"number": %d, "base": {"repo": {"id": 5}}}`, n))
	}
	check := fmt.Sprintf(`{"id": 6, "head_sha": %q, "app": {"id": 7}, "name": "ycbot", "pull_requests": [%s]}`, headOID, strings.Join(of, ", "))
	if button != "" {
		return fmt.Appendf(nil, `{"action": "requested_action", %s, "check_run": %s, "requested_action": {"identifier": %q}}`, repoOf, check, button)
	}
	return fmt.Appendf(nil, `{"action": "rerequested", %s, "check_suite": %s}`, repoOf, check)
}

// Each delivery is answered as GitHub and people rely on, and only a signed one that calls
// for work leaves a job.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	body := opened(4)
	sha1 := post{body: body, signature: "sha1=" + strings.Repeat("ab", 20)}
	for _, test := range []struct {
		name string
		post post
		want int
		jobs int
	}{
		{"pull request", post{body: body}, 202, 1},
		{"media type with charset", post{body: body, media: "application/json; charset=utf-8"}, 202, 1},
		{"command", post{kind: "issue_comment", body: commented(1, "/verify")}, 202, 1},
		{"command that is none", post{kind: "issue_comment", body: commented(1, "/verify dance")}, 202, 1}, // its answer
		{"suite of a pull request", post{kind: "check_suite", body: rerequested("", 4)}, 202, 1},
		{"suite of several", post{kind: "check_suite", body: rerequested("", 4, 5, 6)}, 202, 3},
		{"button", post{kind: "check_run", body: rerequested("verify", 4)}, 202, 1},
		{"button that is none", post{kind: "check_run", body: rerequested("dance", 4)}, 202, 1}, // its row
		{"check that names none", post{kind: "check_run", body: rerequested("verify")}, 202, 1}, // its row
		{"talk", post{kind: "issue_comment", body: commented(1, "nice")}, 202, 0},
		{"ping", post{kind: "ping", body: []byte(`{"zen": "z"}`)}, 202, 0},
		{"action of no interest", post{body: []byte(`{"action": "assigned"}`)}, 202, 0},
		{"no signature", post{body: body, signature: "-"}, 401, 0},
		{"signature of another body", post{body: body, signature: sign([]byte("x"))}, 401, 0},
		{"signature cut short", post{body: body, signature: sign(body)[:40]}, 401, 0},
		{"SHA-1", sha1, 401, 0},
		{"not JSON", post{body: []byte("hello")}, 400, 0},
		{"cut JSON", post{body: body[:len(body)-9]}, 400, 0},
		{"not JSON, of no interest", post{kind: "ping", body: []byte("{")}, 400, 0},
		{"nothing", post{body: nil}, 400, 0},
		{"form", post{body: body, media: "application/x-www-form-urlencoded"}, 400, 0},
		{"no event", post{body: body, kind: "-"}, 400, 0},
		{"no delivery", post{body: body, id: "-"}, 400, 0},
		{"delivery with a line in it", post{body: body, id: "a b"}, 400, 0},
		{"pull request without head", post{body: []byte(`{"action": "opened", ` + repoOf + `, "pull_request": {"number": 1}}`)}, 400, 0},
		{"too large by its own account", post{body: body, length: event.MaxSize + 1}, 413, 0},
		{"too large", post{body: bytes.Repeat([]byte(" "), event.MaxSize+1), length: -1}, 413, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t)
			h.Rules.AppID = 7
			got := h.post(t, test.post)
			if again := h.post(t, test.post); again.Code != got.Code {
				t.Errorf("answered %d and then %d", got.Code, again.Code)
			}
			if jobs := h.jobs(t); got.Code != test.want || jobs != test.jobs {
				t.Errorf("answer %d and %d jobs, want %d and %d\n%s", got.Code, jobs, test.want, test.jobs, got.Body)
			}
		})
	}
}

// A delivery that comes again is accepted and adds nothing, also under another id, and
// it is announced once.
func TestWebhookRepeated(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	for _, id := range []string{"a", "a", "b"} {
		if got := h.post(t, post{body: opened(4), id: id}); got.Code != http.StatusAccepted {
			t.Fatalf("answer %d, want 202", got.Code)
		}
	}
	if jobs, announced := h.jobs(t), h.fresh.Load(); jobs != 1 || announced != 1 {
		t.Errorf("%d jobs, announced %d times, want one each", jobs, announced)
	}
}

// The log says of which repository and pull request a delivery is.
func TestWebhookLog(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	var out bytes.Buffer
	h.Log = slog.New(slog.NewTextHandler(&out, nil))
	if got := h.post(t, post{body: opened(4)}); got.Code != http.StatusAccepted || !strings.Contains(out.String(), "repo=acme/sums pr=4") {
		t.Errorf("answer %d, log %s", got.Code, &out)
	}
}

// Only whose events are allowed is listened to.
func TestWebhookAllowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		allow Allowed
		jobs  int
	}{
		{Allowed{}, 1},
		{Allowed{Installations: []int64{9}, Repositories: only("Acme/Sums")}, 1},
		{Allowed{Repositories: only("acme/*")}, 1},
		{Allowed{Installations: []int64{8}}, 0},
		{Allowed{Repositories: only("AC*/s?ms")}, 1},
		{Allowed{Repositories: config.Repositories{Deny: []string{"acme/other"}}}, 1},
		{Allowed{Repositories: config.Repositories{Deny: []string{"*/SUM*"}}}, 0},
		{Allowed{Repositories: config.Repositories{Allow: []string{"acme/sums"}, Deny: []string{"acme/*"}}}, 0},
		{Allowed{Repositories: only("acme/other", "acm/*")}, 0},
		{Allowed{Installations: []int64{8}, Repositories: only("acme/sums")}, 0},
	} {
		h := newHook(t)
		h.Allow = test.allow
		if got := h.post(t, post{body: opened(4)}); got.Code != http.StatusAccepted || h.jobs(t) != test.jobs {
			t.Errorf("%+v: answer %d and %d jobs, want 202 and %d", test.allow, got.Code, h.jobs(t), test.jobs)
		}
	}
}

// What could not be stored is not accepted, and the server says that it is not ready.
func TestWebhookNotStored(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := h.post(t, post{body: opened(4)}); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("answer %d, want 503 with a time", got.Code)
	}
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK} {
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if w.Code != want {
			t.Errorf("%s is answered with %d, want %d", path, w.Code, want)
		}
	}
}

// Without a secret nothing is served.
func TestWebhookWithoutSecret(t *testing.T) {
	t.Parallel()
	if h, err := (&Server{}).Handler(); err == nil || h != nil {
		t.Error("a server without a secret was made")
	}
}

// Deliveries that are signed wait for a place, and give up when there is none.
func TestWebhookPlaces(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	hook := &webhook{Server: h.Server, small: make(chan struct{}, 1), large: make(chan struct{}, 1)}
	release := make([]func(), 0, 2)
	for _, size := range []int64{100, smallBody + 1} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", http.NoBody)
		free, refused := hook.place(r, size)
		if refused != nil {
			t.Fatal("no place in an idle server")
		}
		release = append(release, free)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, refused := hook.place(r.WithContext(ctx), size); refused == nil || refused.status != http.StatusServiceUnavailable {
			t.Errorf("size %d: a place beside the last", size)
		}
	}
	for _, free := range release {
		free()
	}
	if len(hook.small)+len(hook.large) != 0 {
		t.Error("places are not free again")
	}
}

// Events that failed are asked for once each, oldest first; what arrived at another
// attempt, is known here, or failed too often is not; one that cannot be asked for does
// not keep the others from it.
func TestMissed(t *testing.T) {
	t.Parallel()
	d := &deliveries{list: []Delivery{
		{9, "new", 500}, {8, "arrived", 202}, {7, "old", 0}, {6, "known", 504}, {5, "arrived", 500}, {4, "old", 502}, {3, "bad", 500},
	}}
	for i := range int64(missedTries) {
		d.list = append(d.list, Delivery{100 + i, "hopeless", 500})
	}
	m := &Missed{
		Hooks: d, Now: func() time.Time { return time.Unix(1_000_000, 0) }, Log: slog.New(slog.DiscardHandler),
		Known: func(_ context.Context, guid string) (bool, error) { return guid == "known", nil },
	}
	if err := m.Ask(t.Context()); !errors.Is(err, errBad) {
		t.Errorf("error %v, want %v", err, errBad)
	}
	if got := fmt.Sprint(d.asked); got != "[3 4 9]" {
		t.Errorf("asked for %s, want [3 4 9]", got)
	}
	if want := time.Unix(1_000_000, 0).Add(-missedSince); !d.since.Equal(want) {
		t.Errorf("looked back to %v, want %v", d.since, want)
	}
}

var errBad = errors.New("bad")

// deliveries is a small GitHub.
type deliveries struct {
	list  []Delivery
	since time.Time
	asked []int64
}

func (d *deliveries) Deliveries(_ context.Context, since time.Time) ([]Delivery, error) {
	d.since = since
	return d.list, nil
}

func (d *deliveries) Redeliver(_ context.Context, id int64) error {
	d.asked = append(d.asked, id)
	if id == 3 {
		return errBad
	}
	return nil
}

// BenchmarkWebhook accepts deliveries of 24 KB from 64 senders, each on disk before its
// answer.
func BenchmarkWebhook(b *testing.B) {
	h := newHook(b)
	var next atomic.Int64
	b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
	pad := bytes.Repeat([]byte(" "), 24<<10)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(next.Add(1))
			if got := h.post(b, post{body: append(opened(i), pad...), id: fmt.Sprintf("d-%d", i)}); got.Code != http.StatusAccepted {
				b.Errorf("answer %d, want 202", got.Code)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}

func only(globs ...string) config.Repositories { return config.Repositories{Allow: globs} }

// filling is a queue that takes so many jobs, and then none.
type filling struct {
	Queue
	left int
}

func (q *filling) Accept(ctx context.Context, d store.Delivery, j *job.Job) (queue.Receipt, error) {
	if q.left--; q.left < 0 {
		return queue.Receipt{}, errors.New("the disk is full")
	}
	return q.Queue.Accept(ctx, d, j)
}

// A delivery of which not all jobs could be stored is not known, so that it comes again, and leaves
// each of them once.
func TestSuiteStoredInPart(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	h.Metrics = telemetry.NewMetrics("v", time.Now)
	h.Queue = &filling{Queue: h.queue, left: 2}
	suite := post{kind: "check_suite", body: rerequested("", 4, 5, 6)}
	if got := h.post(t, suite); got.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d", got.Code)
	}
	if _, known, err := h.db.Delivery(t.Context(), "d-1"); err != nil || known {
		t.Errorf("it is known: %t, %v", known, err)
	}
	h.Queue = h.queue
	if got := h.post(t, suite); got.Code != http.StatusAccepted || h.jobs(t) != 3 {
		t.Errorf("answered %d then, with %d jobs", got.Code, h.jobs(t))
	}
	// Metrics count it once each time, whatever it calls for.
	w := httptest.NewRecorder()
	h.Metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if lines := regexp.MustCompile(`(?m)^\S*deliver\S*check_suite.*$`).FindAllString(w.Body.String(), -1); len(lines) != 2 || !strings.HasSuffix(lines[0], `"accepted"} 1`) || !strings.HasSuffix(lines[1], `"failed"} 1`) {
		t.Errorf("counted as %q", lines)
	}
}
