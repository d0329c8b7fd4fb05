package github_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A read is tried again after server errors and lost answers, with growing
// pauses, and at most five times in all.
func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, w := actionsClient(t, s)
	s.FailAt(1, githubtest.Status(http.StatusBadGateway))
	s.FailAt(2, githubtest.After())
	s.FailAt(3, githubtest.Before())
	if _, err := c.Pull(t.Context(), widgets, n); err != nil {
		t.Fatal(err)
	}
	if len(w.d) < 2 || w.d[0] != time.Second || w.d[1] != 2*time.Second {
		t.Errorf("pauses %v", w.d)
	}
	before := len(s.Calls())
	s.FailAt(0, githubtest.Status(http.StatusServiceUnavailable))
	_, err := c.Pull(t.Context(), widgets, n)
	if calls := len(s.Calls()) - before; err == nil || calls != 5 || !strings.Contains(err.Error(), "pull request acme/widgets#1: 503") {
		t.Errorf("%d calls, err = %v", calls, err)
	}
}

// A try that hangs ends, and a read is tried again.
func TestHangingCallsEnd(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	w := &waits{s: s}
	c, err := github.New(github.Options{BaseURL: s.URL, Token: s.Token("", writer(), "actions"), Now: s.Now, Wait: w.wait, Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	hang := githubtest.Hook(func(_ int, r *http.Request, _ string) { <-r.Context().Done() })
	s.FailAt(1, hang)
	if _, err := c.Pull(t.Context(), widgets, n); err != nil || len(w.d) == 0 {
		t.Errorf("read: %v after %v", err, w.d)
	}
	s.FailAt(1, hang)
	if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err == nil || err.Error() != "comment on acme/widgets#1: no answer in 500ms" {
		t.Errorf("write: %v", err)
	}
}

// A write is sent once: neither a lost answer nor a server error lets it happen twice.
func TestWritesAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"answer lost": githubtest.After(), "connection lost": githubtest.Before(), "server error": githubtest.Status(502),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := world(t)
			c, w := actionsClient(t, s)
			s.FailAt(1, fault)
			if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err == nil || !strings.Contains(err.Error(), "comment on acme/widgets#1: ") {
				t.Errorf("err = %v", err)
			}
			if len(s.Calls()) != 1 || len(w.d) != 0 {
				t.Errorf("calls %v, pauses %v", s.Calls(), w.d)
			}
			if got := len(s.Comments(widgets, n)); got != map[bool]int{true: 1}[name == "answer lost"] {
				t.Errorf("%d comments", got)
			}
		})
	}
}

// A change to values that are given is tried again like a read; what appends is not.
func TestChangesAreTriedAgain(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, w := actionsClient(t, s)
	comment, err := c.CreateComment(t.Context(), widgets, n, "hi")
	if err != nil {
		t.Fatal(err)
	}
	s.FailAt(1, githubtest.Status(502))
	s.FailAt(2, githubtest.After())
	if _, err := c.EditComment(t.Context(), widgets, comment.ID, "ho"); err != nil || len(w.d) != 2 || s.Comments(widgets, n)[0].Body != "ho" {
		t.Errorf("%v after pauses %v", err, w.d)
	}
	check, err := c.CreateCheckRun(t.Context(), widgets, github.CheckRun{Name: "x", HeadSHA: s.Head(widgets, "main")})
	if err != nil {
		t.Fatal(err)
	}
	check.Output = &github.Output{Title: "a", Summary: "b"}
	s.FailAt(1, githubtest.Status(502))
	if _, err := c.UpdateCheckRun(t.Context(), widgets, check); err != nil || len(w.d) != 3 {
		t.Errorf("%v after pauses %v", err, w.d)
	}
	check.Output.Annotations = []github.Annotation{{Path: "a", StartLine: 1, EndLine: 1, Level: "notice", Message: "m"}}
	s.FailAt(1, githubtest.After())
	if _, err := c.UpdateCheckRun(t.Context(), widgets, check); err == nil || len(w.d) != 3 {
		t.Errorf("it appends: %v after pauses %v", err, w.d)
	}
}

// A write that never reached GitHub, because no one could be called, is tried again.
func TestUnsentWritesAreTriedAgain(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	var dials atomic.Int32
	w := &waits{s: s}
	c, err := github.New(github.Options{BaseURL: s.URL, Token: s.Token("", writer(), "actions"), Now: s.Now, Wait: w.wait, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials.Add(1) == 1 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err != nil || len(s.Comments(widgets, n)) != 1 || len(w.d) != 1 {
		t.Errorf("%d comments after pauses %v, %v", len(s.Comments(widgets, n)), w.d, err)
	}
}

// What GitHub refused for there being too many requests is tried again when it
// said, with its body, also a write.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	in := func(s *githubtest.Server, d time.Duration) string {
		return strconv.FormatInt(s.Now().Add(d).Unix(), 10)
	}
	tests := map[string]struct {
		fault func(*githubtest.Server) githubtest.Fault
		want  []time.Duration
	}{
		"primary": {func(s *githubtest.Server) githubtest.Fault {
			return githubtest.Status(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(s, 90*time.Second))
		}, []time.Duration{91 * time.Second}},
		"primary, over by now": {func(s *githubtest.Server) githubtest.Fault {
			return githubtest.Status(429, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(s, -time.Hour))
		}, []time.Duration{time.Second}},
		"secondary, seconds": {func(*githubtest.Server) githubtest.Fault {
			return githubtest.Status(403, "Retry-After", "30")
		}, []time.Duration{30 * time.Second}},
		"secondary, date": {func(s *githubtest.Server) githubtest.Fault {
			return githubtest.Status(429, "Retry-After", s.Now().Add(10*time.Second).Format(http.TimeFormat))
		}, []time.Duration{10 * time.Second}},
		"secondary, no time": {func(*githubtest.Server) githubtest.Fault {
			f := githubtest.Status(403)
			f.Body = `{"message":"You have exceeded a secondary rate limit."}`
			return f
		}, []time.Duration{time.Minute}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := world(t)
			c, w := actionsClient(t, s)
			s.FailAt(1, tt.fault(s))
			if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, w.d); diff != "" {
				t.Errorf("pauses:\n%s", diff)
			}
			if got := s.Comments(widgets, n); len(got) != 1 || got[0].Body != "hi" {
				t.Errorf("comments %v", got)
			}
		})
	}
}

// Pauses grow, and end when they are no longer worth it.
func TestRateLimitGivesUp(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, w := actionsClient(t, s)
	s.FailAt(0, githubtest.Status(429))
	_, err := c.CreateComment(t.Context(), widgets, n, "hi")
	var limit *github.LimitError
	if !errors.As(err, &limit) || github.IsForbidden(err) || !cmp.Equal(w.d, []time.Duration{time.Minute, 2 * time.Minute}) {
		t.Errorf("err = %v after %v", err, w.d)
	}
}

// A reset that is far away is no reason to wait: the error names the time.
func TestFarReset(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, w := actionsClient(t, s)
	reset := s.Now().Add(40 * time.Minute)
	s.FailAt(1, githubtest.Status(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10)))
	_, err := c.Pull(t.Context(), widgets, n)
	want := "pull request acme/widgets#1: rate limit: try again after " + reset.Add(time.Second).Format(time.RFC3339)
	if err == nil || err.Error() != want || len(w.d) != 0 {
		t.Errorf("err = %v after %v\nwant %s", err, w.d, want)
	}
	// After an answer that was the last of its hour, go-github by itself would
	// refuse without asking.
	s.FailAt(1, githubtest.Status(404, "X-RateLimit-Remaining", "0", "X-RateLimit-Limit", "5000",
		"X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)))
	if _, err := c.Pull(t.Context(), widgets, n); !github.IsNotFound(err) {
		t.Errorf("last call: %v", err)
	}
	if _, err := c.Pull(t.Context(), widgets, n); err != nil {
		t.Errorf("next call: %v", err)
	}
}

// No call waits past the deadline, nor on when the context ended.
func TestContextEndsWaiting(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	w := &waits{s: s}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	late, err := github.New(github.Options{BaseURL: s.URL, Token: s.Token("", nil, "actions"), Wait: w.wait, Now: func() time.Time {
		return time.Now().Add(59*time.Minute + 45*time.Second)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var limit *github.LimitError
	s.FailAt(1, githubtest.Status(429, "Retry-After", "60"))
	if _, err := late.Pull(ctx, widgets, n); !errors.As(err, &limit) || len(w.d) != 0 {
		t.Errorf("before the deadline: %v after %v", err, w.d)
	}
	ctx, cancel = context.WithCancel(t.Context())
	s.FailAt(1, githubtest.Status(502))
	waiting, err := github.New(github.Options{BaseURL: s.URL, Token: s.Token("", nil, "actions"), Now: s.Now, Wait: func(ctx context.Context, _ time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.Calls())
	if _, err := waiting.Pull(ctx, widgets, n); !errors.Is(err, context.Canceled) || len(s.Calls()) != before+1 {
		t.Errorf("cancelled: %v, %d calls", err, len(s.Calls())-before)
	}
}

// A refusal for want of permission is no rate limit.
func TestForbiddenIsFinal(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, w := client(t, s, s.Token("", nil, "actions"))
	_, err := c.CreateComment(t.Context(), widgets, n, "hi")
	if !github.IsForbidden(err) || err.Error() != "comment on acme/widgets#1: 403 Resource not accessible by integration" || len(w.d) != 0 {
		t.Errorf("err = %v after %v", err, w.d)
	}
}

// Errors distinguish what callers need to, and hold no token, not even one that
// the server sends back.
func TestErrors(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, _ := actionsClient(t, s)
	if _, err := c.Pull(t.Context(), widgets, 77); !github.IsNotFound(err) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := c.CreateStatus(t.Context(), widgets, strings.Repeat("0", 40), github.Status{State: "success", Context: "x"}); !github.IsValidation(err) {
		t.Errorf("invalid: %v", err)
	}
	const token = "a-token-of-no-known-shape-0123456789"
	wrong, _ := client(t, s, token)
	if _, err := wrong.Pull(t.Context(), widgets, n); !github.IsUnauthorized(err) {
		t.Errorf("unauthorized: %v", err)
	}
	f := githubtest.Status(422)
	f.Body = `{"message":"no ` + token + `","errors":[{"message":"nor ` + token + `"}]}`
	s.FailAt(1, f)
	_, err := wrong.Pull(t.Context(), widgets, n)
	if !github.IsValidation(err) || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "nor ") {
		t.Errorf("echo: %v", err)
	}
	s.FailAt(1, githubtest.Status(302, "Location", "http://["+token))
	if _, err = wrong.Pull(t.Context(), widgets, n); err == nil || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "Location") {
		t.Errorf("redirect: %v", err)
	}
}

// The token goes to no other host, and a redirected write is not made a read;
// within the host a redirect, as of a renamed repository, is followed.
func TestRedirects(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, _ := actionsClient(t, s)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	s.FailAt(1, githubtest.Status(301, "Location", other.URL+"/repos/acme/widgets/pulls/1"))
	if _, err := c.Pull(t.Context(), widgets, n); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("other host: %v", err)
	}
	s.FailAt(1, githubtest.Status(302, "Location", s.URL+"/repos/acme/widgets/issues/1/comments"))
	if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err == nil || !strings.Contains(err.Error(), "POST that would become a GET") {
		t.Errorf("write: %v", err)
	}
	s.FailAt(1, githubtest.Status(307, "Location", s.URL+"/repos/acme/widgets/issues/1/comments"))
	if got, err := c.CreateComment(t.Context(), widgets, n, "hi"); err != nil || got.Body != "hi" {
		t.Errorf("same host: %+v, %v", got, err)
	}
}

// An answer without end is an error, and asked for once.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if got := r.Header.Get("User-Agent"); got != "ycbot" {
			t.Errorf("User-Agent %q", got)
		}
		_, _ = io.Copy(w, io.LimitReader(spaces{}, 64<<20))
	}))
	defer endless.Close()
	c, err := github.New(github.Options{BaseURL: endless.URL, Token: "token-token", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), widgets, 1); err == nil || !strings.Contains(err.Error(), "longer than 32 MiB") || calls.Load() != 1 {
		t.Errorf("err = %v after %d calls", err, calls.Load())
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Names that would lead to another request than is meant are refused before
// anything is sent.
func TestNamesAreChecked(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, _ := actionsClient(t, s)
	for _, repo := range []github.Repo{{}, {Owner: "..", Name: "x"}, {Owner: "a", Name: "b/../../user"}, {Owner: "a?b", Name: "c"}, {Owner: "a", Name: "."}} {
		_, e1 := c.Pull(t.Context(), repo, n)
		_, e2 := c.CreateComment(t.Context(), repo, n, "x")
		_, e3 := c.Snapshot(t.Context(), repo, n, time.Time{})
		_, e4 := c.Permission(t.Context(), repo, "alice")
		for _, err := range []error{e1, e2, e3, e4, c.React(t.Context(), repo, 1, "eyes")} {
			if err == nil {
				t.Errorf("%v: no error", repo)
			}
		}
	}
	if _, err := c.Statuses(t.Context(), widgets, "../../../user"); err == nil {
		t.Error("sha: no error")
	}
	if role, err := c.Permission(t.Context(), widgets, "../../../user"); err != nil || role != "none" {
		t.Errorf("login: %q, %v", role, err)
	}
	if calls := s.Calls(); len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
}
