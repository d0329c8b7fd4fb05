package github_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

var widgets = github.Repo{Owner: "acme", Name: "widgets"}

// writer is what a job's token may do in the tests.
func writer() map[string]string {
	return map[string]string{"issues": "write", "pull_requests": "write", "checks": "write", "statuses": "write"}
}

// world is a GitHub with acme/widgets and a pull request of alice.
func world(t *testing.T) (*githubtest.Server, int) {
	t.Helper()
	s := githubtest.New(t)
	s.AddUser("alice", 11, "User")
	s.AddRepo("acme", "widgets")
	s.SetPermission(widgets, "alice", "write")
	s.Push(widgets, githubtest.Commit{Branch: "topic", Message: "Add a", Files: map[string]string{"a.txt": "a\n"}})
	return s, s.OpenPull(widgets, githubtest.Pull{Title: "A", Body: "Fixes #99", Author: "alice", Head: "topic"})
}

// waits notes the pauses, by which the server's clock moves on.
type waits struct {
	s *githubtest.Server
	d []time.Duration
}

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.d = append(w.d, d)
	w.s.Advance(d)
	return ctx.Err()
}

func client(t *testing.T, s *githubtest.Server, token string) (*github.Client, *waits) {
	t.Helper()
	w := &waits{s: s}
	c, err := github.New(github.Options{BaseURL: s.URL, Token: token, Now: s.Now, Wait: w.wait})
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

// actionsClient is a client with the token of a job.
func actionsClient(t *testing.T, s *githubtest.Server) (*github.Client, *waits) {
	t.Helper()
	return client(t, s, s.Token("", writer(), "actions"))
}

// Whatever a list is, all pages of it are read, in order.
func TestPages(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	for range 205 {
		s.AddComment(widgets, n, "alice", "hello")
	}
	c, _ := actionsClient(t, s)
	got, err := c.Comments(t.Context(), widgets, n)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Comments(widgets, n), got); diff != "" {
		t.Errorf("comments (-there +read):\n%s", diff)
	}
	if calls := s.Calls(); len(calls) != 3 {
		t.Errorf("%d calls, want 3: %v", len(calls), calls)
	}
}

// A personal token posts as its owner, a job's token as github-actions[bot], an
// App as its bot; who it is is asked once.
func TestSelf(t *testing.T) {
	t.Parallel()
	s, _ := world(t)
	app := s.AddApp(7, "ycbot")
	id := s.Install(app, writer(), widgets)
	personal, _ := client(t, s, s.Token("alice", nil, "personal"))
	actions, _ := actionsClient(t, s)
	asApp, err := github.New(github.Options{BaseURL: s.URL, App: &github.App{ID: 7, Key: app.Key, Installation: id}, Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]*github.Client{"alice": personal, "github-actions[bot]": actions, "ycbot[bot]": asApp} {
		got, err := c.Self(t.Context())
		if err != nil || got.Login != want || got.ID == 0 {
			t.Errorf("Self = %+v, %v; want %s", got, err, want)
		}
		before := len(s.Calls())
		if again, err := c.Self(t.Context()); err != nil || again != got || len(s.Calls()) != before {
			t.Errorf("asked again, Self = %+v, %v after %d calls", again, err, len(s.Calls())-before)
		}
	}
}

// An App's installation writes as the App's bot with one token for all calls.
func TestApp(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	app := s.AddApp(7, "ycbot")
	c, err := github.New(github.Options{
		BaseURL: s.URL + "/api/v3/", Now: s.Now,
		App: &github.App{ID: 7, Key: app.Key, Installation: s.Install(app, writer(), widgets)},
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.CreateCheckRun(t.Context(), widgets, github.CheckRun{Name: "ycbot", HeadSHA: s.PullHead(widgets, n), Status: "in_progress"})
	if err != nil || run.AppID != 7 {
		t.Errorf("check run of App %d, %v", run.AppID, err)
	}
	got, err := c.CreateComment(t.Context(), widgets, n, "hi")
	if err != nil || got.Author.Login != "ycbot[bot]" || got.Author.Type != "Bot" {
		t.Errorf("comment of %+v, %v", got.Author, err)
	}
	tokens := 0
	for _, call := range s.Calls() {
		if strings.HasSuffix(call.Path, "/access_tokens") {
			tokens++
		}
	}
	if tokens != 1 {
		t.Errorf("%d tokens were made, want 1", tokens)
	}
}

// That an App is not installed is an error of its own: nothing is known of
// what was asked for.
func TestAppNotInstalled(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	app := s.AddApp(7, "ycbot")
	c, err := github.New(github.Options{BaseURL: s.URL, App: &github.App{ID: 7, Key: app.Key, Installation: 5}, Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), widgets, n); !github.IsUnauthorized(err) || github.IsNotFound(err) || !strings.Contains(err.Error(), "installation 5") {
		t.Errorf("err = %v", err)
	}
}

// A token that an App asks for is asked for again when the answer is lost or
// GitHub has a bad moment: also before a write, which is itself sent once.
func TestAppTokenIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	app := s.AddApp(7, "ycbot")
	w := &waits{s: s}
	c, err := github.New(github.Options{
		BaseURL: s.URL, Now: s.Now, Wait: w.wait,
		App: &github.App{ID: 7, Key: app.Key, Installation: s.Install(app, writer(), widgets)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.FailAt(1, githubtest.Status(http.StatusBadGateway))
	s.FailAt(2, githubtest.After())
	if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err != nil || len(s.Comments(widgets, n)) != 1 {
		t.Errorf("%d comments, %v", len(s.Comments(widgets, n)), err)
	}
	s.FailAt(0, githubtest.Status(http.StatusBadGateway))
	other, err := github.New(github.Options{
		BaseURL: s.URL, Now: s.Now, Wait: w.wait,
		App: &github.App{ID: 7, Key: app.Key, Installation: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.Calls())
	if _, err := other.Pull(t.Context(), widgets, n); err == nil || len(s.Calls())-before != 5 {
		t.Errorf("%d calls, %v; the tries of the token and of the call must not multiply", len(s.Calls())-before, err)
	}
}

// An App with the wrong key gets an error that says so.
func TestAppWithWrongKey(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	app, other := s.AddApp(7, "ycbot"), s.AddApp(8, "other")
	id := s.Install(app, writer(), widgets)
	c, err := github.New(github.Options{BaseURL: s.URL, App: &github.App{ID: 7, Key: other.Key, Installation: id}, Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), widgets, n); !github.IsUnauthorized(err) {
		t.Errorf("call: %v", err)
	}
	if _, err := c.Self(t.Context()); !github.IsUnauthorized(err) {
		t.Errorf("self: %v", err)
	}
	if _, err := github.New(github.Options{App: &github.App{ID: 7, Key: []byte("no key"), Installation: 1}, Now: s.Now}); err == nil {
		t.Error("no key: no error")
	}
}

// The base URL is taken as it is, with or without a slash at its end; /api/v3
// is not added.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	for _, base := range []string{"", "/", "/api/v3", "/api/v3/"} {
		c, err := github.New(github.Options{BaseURL: s.URL + base, Token: s.Token("", nil, "actions"), Now: s.Now})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := c.Pull(t.Context(), widgets, n); err != nil || p.Title != "A" {
			t.Errorf("%q: %v", base, err)
		}
	}
	for _, bad := range []string{"ftp://x", "https://", "https://me:secret@host/", "https://h/?q=secret", "::"} {
		if _, err := github.New(github.Options{BaseURL: bad, Token: "t", Now: s.Now}); err == nil || strings.Contains(err.Error(), ":secret@") {
			t.Errorf("%q: err = %v", bad, err)
		}
	}
}

// A read that is asked again is free while nothing changed, and new when something did.
func TestConditional(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, _ := actionsClient(t, s)
	var bodies []string
	for range 2 {
		p, err := c.Pull(t.Context(), widgets, n)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, p.Body)
	}
	s.SetIssue(widgets, n, func(title, _ string) (string, string) { return title, "new" })
	p, err := c.Pull(t.Context(), widgets, n)
	if err != nil {
		t.Fatal(err)
	}
	if got := append(bodies, p.Body); !cmp.Equal(got, []string{"Fixes #99", "Fixes #99", "new"}) {
		t.Errorf("bodies %q", got)
	}
	var status []int
	for _, call := range s.Calls() {
		status = append(status, call.Status)
	}
	if !cmp.Equal(status, []int{200, http.StatusNotModified, 200}) {
		t.Errorf("statuses %v", status)
	}
}

// A list that was full to its page, and goes on, is read to its new end.
func TestConditionalPageThatWasFull(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	c, _ := actionsClient(t, s)
	for i := range 101 {
		if _, err := c.CreateComment(t.Context(), widgets, n, "hi"); err != nil {
			t.Fatal(err)
		}
		if i < 98 {
			continue
		}
		if all, err := c.Comments(t.Context(), widgets, n); err != nil || len(all) != i+1 {
			t.Errorf("%d comments, %v; want %d", len(all), err, i+1)
		}
	}
}

// A stalled transport answers requests for tokens when released.
type stalled struct {
	asked   *atomic.Int32
	release chan struct{}
}

func (s stalled) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/access_tokens") {
		s.asked.Add(1)
		select {
		case <-s.release:
		case <-req.Context().Done():
			return nil, context.Cause(req.Context())
		}
	}
	return http.DefaultTransport.RoundTrip(req)
}

// While GitHub makes no token, callers have their answer within their own time, also those
// that wait behind one that has more of it; the one request goes on, and the token that it
// made is given back.
func TestTokenOfAHangingGitHub(t *testing.T) {
	t.Parallel()
	real, n := world(t)
	app := real.AddApp(7, "ycbot")
	slow := stalled{new(atomic.Int32), make(chan struct{})}
	c, err := github.New(github.Options{
		BaseURL: real.URL, Now: real.Now, Transport: slow,
		App: &github.App{ID: 7, Key: app.Key, Installation: real.Install(app, writer(), widgets)},
	})
	if err != nil {
		t.Fatal(err)
	}
	long, end := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := c.Pull(long, widgets, n)
		first <- err
	}()
	for slow.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for name, call := range map[string]func(context.Context) error{
		"token": func(ctx context.Context) error { _, err := c.Token(ctx); return err },
		"call":  func(ctx context.Context) error { _, err := c.Pull(ctx, widgets, n); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		began := time.Now()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
		cancel()
	}
	end()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	close(slow.release)
	if err := c.Revoke(t.Context()); err != nil || slow.asked.Load() != 1 {
		t.Errorf("%v after %d requests for a token", err, slow.asked.Load())
	}
	if uses := real.TokenUses(); len(uses) != 1 || !uses[0].Revoked {
		t.Errorf("tokens: %+v", uses)
	}
}

// A cutter cuts the call short for which a token is made, after GitHub made it and before
// its answer is there.
type cutter struct{ cut func() }

func (c cutter) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/access_tokens") {
		return resp, err
	}
	c.cut()
	if err := req.Context().Err(); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// A token that GitHub makes while the call that wants it is cut short is given back, and no
// other is made for that.
func TestTokenOfACutCall(t *testing.T) {
	t.Parallel()
	real, n := world(t)
	app := real.AddApp(7, "ycbot")
	id := real.Install(app, writer(), widgets)
	ctx, cut := context.WithCancel(t.Context())
	c, err := github.New(github.Options{
		BaseURL: real.URL, Now: real.Now, Transport: cutter{cut}, App: &github.App{ID: 7, Key: app.Key, Installation: id},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateComment(ctx, widgets, n, "hi"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := c.Revoke(t.Context()); err != nil {
		t.Error(err)
	}
	if uses := real.TokenUses(); len(uses) != 1 || !uses[0].Revoked || len(real.Comments(widgets, n)) != 0 {
		t.Errorf("tokens: %+v", uses)
	}
}

// That GitHub is away, or wants to be asked later, is distinguished from what it refuses.
func TestAway(t *testing.T) {
	t.Parallel()
	s, n := world(t)
	at := s.Now().Add(3 * time.Hour).Truncate(time.Second)
	for name, test := range map[string]struct {
		fault githubtest.Fault
		away  bool
		until time.Time
	}{
		"server error": {githubtest.Status(http.StatusBadGateway), true, time.Time{}},
		"rate limit":   {githubtest.Status(http.StatusForbidden, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(at.Unix(), 10)), true, at.Add(time.Second)},
		"forbidden":    {githubtest.Status(http.StatusForbidden), false, time.Time{}},
		"not found":    {githubtest.Status(http.StatusNotFound), false, time.Time{}},
		"invalid":      {githubtest.Status(http.StatusUnprocessableEntity), false, time.Time{}},
	} {
		s.FailAt(1, test.fault)
		c, err := github.New(github.Options{
			BaseURL: s.URL, Token: s.Token("", writer(), "actions"), Now: s.Now, Wait: func(context.Context, time.Duration) error { s.FailAt(1, test.fault); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Pull(t.Context(), widgets, n)
		s.Heal()
		if until, away := github.IsAway(err); err == nil || away != test.away || !until.Equal(test.until) {
			t.Errorf("%s: away %t until %v, want %t until %v: %v", name, away, until, test.away, test.until, err)
		}
	}
	for name, o := range map[string]github.Options{
		"no connection":               {Token: "t"},
		"no connection for the token": {App: &github.App{ID: 7, Key: s.AddApp(7, "ycbot").Key, Installation: 5}},
	} {
		o.BaseURL, o.Now, o.Wait = "http://127.0.0.1:1", s.Now, func(context.Context, time.Duration) error { return nil }
		c, err := github.New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Pull(t.Context(), widgets, n)
		if _, away := github.IsAway(err); !away {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	c, _ := client(t, s, s.Token("", writer(), "actions"))
	if _, err := c.Pull(ended, widgets, n); err == nil {
		t.Error("no error")
	} else if _, away := github.IsAway(err); away {
		t.Errorf("who asks has gone away, not GitHub: %v", err)
	}
}
