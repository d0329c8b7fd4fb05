package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
)

const (
	maxTries    = 5
	maxWait     = 2 * time.Minute // for one pause
	maxWaits    = 4 * time.Minute // for all pauses of a request
	maxResponse = 32 << 20
	// limitPause is what GitHub asks for after a secondary rate limit that names no time.
	limitPause = time.Minute
	// newTries are the tries of a request whose token, made a moment ago, not all of GitHub's servers know yet.
	newTries = 4
)

// bearer sends the token.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(req)
}

// whole reads answers to their end, so that one that is cut off counts as lost
// and one that does not end is an error. One that does not come in time is lost.
type whole struct {
	next    http.RoundTripper
	timeout time.Duration
}

func (w whole) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), w.timeout, errSlow)
	defer cancel()
	resp, err := w.read(req.WithContext(ctx))
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return nil, fmt.Errorf("%w in %v", errSlow, w.timeout)
	}
	return resp, err
}

func (w whole) read(req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(body) > maxResponse {
		return nil, errTooLong
	}
	setBody(resp, body)
	return resp, nil
}

var (
	errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxResponse>>20)
	errSlow    = errors.New("no answer")
)

func setBody(resp *http.Response, body []byte) {
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
}

// appends marks the context of a request that adds to what is there each time that it is sent.
type appends struct{}

// repeatable reports whether a request may have happened before and does the same again: a
// read, one for a token, and a change to values that are given.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPatch:
		return req.Context().Value(appends{}) == nil
	}
	return tokenRequest(req)
}

// retry tries again: what is repeatable whenever no proper answer came, and everything that
// GitHub refused because there were too many requests.
type retry struct {
	next  http.RoundTripper
	when  func(*http.Request) bool // else passed on as it is
	makes bool                     // tokens are made on the way, which GitHub may take for unknown at first
	now   func() time.Time
	wait  func(context.Context, time.Duration) error
	log   *slog.Logger
}

func newRetry(opts Options, next http.RoundTripper, when func(*http.Request) bool) *retry {
	return &retry{next: next, when: when, now: opts.Now, wait: opts.Wait, log: opts.Log}
}

func anyRequest(*http.Request) bool { return true }

// tokenRequest matches requests for the token of an installation. To make one too
// many does no harm, so that they count as reads.
func tokenRequest(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/access_tokens")
}

// finished lets a request for a token come to its end though its context does: a token
// that was made and reaches no one cannot be given back. Who asked waits no longer than
// its context lasts; who asks next, as to give the token back, gets what came of it.
type finished struct {
	next http.RoundTripper // which ends by itself in time
	now  func() time.Time

	mu  sync.Mutex
	out *mint // is under way, or has made a token that reached no one; nil: there is none
}

// A mint is a request for a token, and what came of it.
type mint struct {
	done chan struct{} // is closed when the rest is set
	at   time.Time
	resp *http.Response
	body []byte
	err  error
}

// leftMost is how old a token may be that was made for no one: it lives for an hour.
const leftMost = 10 * time.Minute

// RoundTrip implements [http.RoundTripper]. All requests for tokens ask for the same one.
func (f *finished) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if !tokenRequest(req) || ctx.Err() != nil {
		return f.next.RoundTrip(req)
	}
	m := f.begin(req)
	select {
	case <-m.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f.forget(m)
	if m.err != nil {
		return nil, m.err
	}
	resp := *m.resp
	resp.Header = m.resp.Header.Clone()
	setBody(&resp, m.body)
	return &resp, nil
}

// begin returns the request that is under way, or sends req.
func (f *finished) begin(req *http.Request) *mint {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.out; m != nil {
		select {
		case <-m.done:
			if f.now().Sub(m.at) < leftMost {
				return m
			}
		default:
			return m
		}
	}
	m := &mint{done: make(chan struct{})}
	f.out = m
	go func() {
		m.resp, m.body, m.err = read(f.next.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))) //nolint:bodyclose // read closes it
		if m.at = f.now(); m.err != nil || m.resp.StatusCode/100 != 2 {                                       // no token: the next asks again
			f.forget(m)
		}
		close(m.done)
	}()
	return m
}

func (f *finished) forget(m *mint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == m {
		f.out = nil
	}
}

func read(resp *http.Response, err error) (*http.Response, []byte, error) {
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// A single has one caller at a time ask for the token of an installation; the others wait
// for their turn as long as their contexts last, which a lock would not look at.
type single struct {
	installation *ghinstallation.Transport
	turn         chan struct{} // holds one while there is a token to ask for
}

func (s single) token(ctx context.Context) (string, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	return s.installation.Token(ctx)
}

func (t *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.when(req) {
		return t.next.RoundTrip(req)
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	ctx, waited := req.Context(), time.Duration(0)
	for try := 1; ; try++ {
		resp, err := t.next.RoundTrip(replay(req, body))
		p := t.judge(req, resp, err, try)
		if !p.again {
			hideLimits(resp)
			return resp, err
		}
		if try == maxTries || p.d > maxWait || waited+p.d > maxWaits || t.late(ctx, p.d) {
			return p.giveUp(t.now(), resp, err)
		}
		t.log.InfoContext(ctx, "github call is tried again", "method", req.Method, "path", req.URL.Path, "try", try, "wait", p.d, "why", p.why)
		if err := t.wait(ctx, p.d); err != nil {
			return nil, err
		}
		waited += p.d
	}
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// replay is a copy of req to send, with its body from the start.
func replay(req *http.Request, body []byte) *http.Request {
	out := req.Clone(req.Context())
	if body == nil {
		out.Body = nil
		return out
	}
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.ContentLength = int64(len(body))
	return out
}

// late reports whether a pause would outlast the context.
func (t *retry) late(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && t.now().Add(d).After(deadline)
}

// A pause is what to do about a try.
type pause struct {
	again bool
	limit bool // GitHub wants fewer requests
	d     time.Duration
	why   string
}

// giveUp is the end of trying: the last answer, or the time that GitHub named.
func (p pause) giveUp(now time.Time, resp *http.Response, err error) (*http.Response, error) {
	if p.limit {
		return nil, &LimitError{Until: now.Add(p.d)}
	}
	hideLimits(resp)
	return resp, err
}

// backoff is the pause after a try, where GitHub asks for none.
func backoff(try int) time.Duration { return time.Second << (try - 1) }

func (t *retry) judge(req *http.Request, resp *http.Response, err error, try int) pause {
	switch {
	case err != nil:
		return pause{again: lost(req.Context(), err) && (repeatable(req) || neverSent(err)), d: backoff(try), why: "no answer"}
	case resp.StatusCode >= 500:
		return pause{again: repeatable(req), d: backoff(try), why: resp.Status}
	case resp.StatusCode == http.StatusUnauthorized: // nothing happened; what is given back need not be known
		return pause{again: t.makes && try < newTries && req.Method != http.MethodDelete, d: backoff(try), why: "the token may not be known yet"}
	case resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests:
		d, limited := t.limited(resp, try)
		return pause{again: limited, limit: true, d: d, why: "rate limit"}
	}
	return pause{}
}

// lost distinguishes errors of the connection from those that come again.
func lost(ctx context.Context, err error) bool {
	var auth *ghinstallation.HTTPError
	var limit *LimitError
	return ctx.Err() == nil && !errors.Is(err, errTooLong) && !errors.As(err, &auth) && !errors.As(err, &limit)
}

// neverSent says that no connection came about, so that the request cannot
// have had an effect.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// limited reports whether a refusal is a rate limit and how long it lasts.
func (t *retry) limited(resp *http.Response, try int) (time.Duration, bool) {
	if d, ok := t.retryAfter(resp.Header.Get("Retry-After")); ok {
		return d, true
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			// The second that is added is for clocks that differ.
			return max(time.Unix(reset, 0).Sub(t.now()), 0) + time.Second, true
		}
		return limitPause << (try - 1), true
	}
	return limitPause << (try - 1), resp.StatusCode == http.StatusTooManyRequests || namesLimit(resp)
}

// retryAfter reads both forms of the header: seconds and a date.
func (t *retry) retryAfter(s string) (time.Duration, bool) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(t.now()), 0), true
	}
	return 0, false
}

// namesLimit looks for the words by which GitHub names a secondary rate limit
// from a refusal.
func namesLimit(resp *http.Response) bool {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return false
	}
	setBody(resp, body)
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	return strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection")
}

// hideLimits keeps the headers from go-github, which would refuse the next
// request by itself, by a clock of its own. Here GitHub is asked.
func hideLimits(resp *http.Response) {
	if resp == nil {
		return
	}
	for _, h := range []string{"X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Limit", "Retry-After"} {
		resp.Header.Del(h)
	}
}
