package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/redirect"
)

// DefaultBaseURL is where the REST API of github.com is.
const DefaultBaseURL = "https://api.github.com"

// actionsLogin is who posts with the token of a job in Actions.
const actionsLogin = "github-actions[bot]"

// An App says as which installation of which GitHub App a Client acts.
type App struct {
	ID           int64
	Key          []byte // private key, PEM
	Installation int64
	Repository   string // name of the only one that the tokens are for; empty: all of the installation's
	RepositoryID int64  // number of it, which holds whatever it is called; 0: not known
	May          Permissions
}

// Permissions are what a token may: "read" or "write", or empty for nothing. The zero
// Permissions is all that the installation may; metadata can always be read.
type Permissions struct{ Checks, Contents, Issues, PullRequests string }

// Options say where a Client asks and as whom. Either Token or App is given.
type Options struct {
	BaseURL   string            // of the REST API, as GITHUB_API_URL has it; empty: DefaultBaseURL
	Transport http.RoundTripper // nil: http.DefaultTransport
	Token     string
	App       *App
	Now       func() time.Time
	Wait      func(ctx context.Context, d time.Duration) error // between tries; nil: a timer
	Timeout   time.Duration                                    // of one try; 0: a minute
	Log       *slog.Logger                                     // nil: nothing is logged
}

// A Client makes calls as one identity. It is safe for concurrent use.
type Client struct {
	api    *gh.Client
	app    *gh.Client // as the App itself, nil for a token
	wait   func(ctx context.Context, d time.Duration) error
	redact *redact.Redactor
	plain  http.RoundTripper // without a token
	token  func(context.Context) (string, error)

	made atomic.Bool // a token of the installation, which can be given back

	mu   sync.Mutex
	self User
}

// New makes a Client. It asks nothing yet.
func New(opts Options) (*Client, error) {
	base, err := baseURL(opts.BaseURL)
	if err != nil {
		return nil, err
	}
	if opts.Now == nil {
		return nil, errors.New("github: no clock")
	}
	if (opts.Token == "") == (opts.App == nil) {
		return nil, errors.New("github: either a token or an App is needed")
	}
	opts = withDefaults(opts)
	direct := whole{next: opts.Transport, timeout: opts.Timeout}
	if opts.App == nil {
		return &Client{
			api:    apiClient(base, &conditional{next: newRetry(opts, bearer{token: opts.Token, next: direct}, anyRequest)}),
			redact: redact.New(map[string]string{"GITHUB_TOKEN": opts.Token}), plain: opts.Transport, wait: opts.Wait,
			token: func(context.Context) (string, error) { return opts.Token, nil },
		}, nil
	}
	// Only asking for a token is tried again below ghinstallation: all else is
	// above it, so that each try has a token that is valid then.
	apps, err := ghinstallation.NewAppsTransport(newRetry(opts, &finished{next: direct, now: opts.Now}, tokenRequest), opts.App.ID, opts.App.Key)
	if err != nil {
		return nil, fmt.Errorf("github: key of App %d: %w", opts.App.ID, err)
	}
	apps.BaseURL = strings.TrimSuffix(base.String(), "/")
	installation := ghinstallation.NewFromAppsTransport(apps, opts.App.Installation)
	limit(installation, opts.App)
	c := &Client{app: apiClient(base, newRetry(opts, apps, anyRequest)), plain: opts.Transport, wait: opts.Wait}
	one := single{installation, make(chan struct{}, 1)}
	c.token = func(ctx context.Context) (string, error) {
		c.made.Store(true)
		return one.token(ctx)
	}
	tries := newRetry(opts, minted{installation, c.token}, anyRequest)
	tries.makes = true
	c.api = apiClient(base, &conditional{next: tries})
	return c, nil
}

// minted has the token made before a request needs it.
type minted struct {
	next  http.RoundTripper
	token func(context.Context) (string, error)
}

// RoundTrip implements [http.RoundTripper].
func (m minted) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := m.token(r.Context()); err != nil {
		return nil, err
	}
	return m.next.RoundTrip(r)
}

// limit says what the tokens of an installation are for.
func limit(installation *ghinstallation.Transport, a *App) {
	if a.Repository == "" && a.RepositoryID == 0 && a.May == (Permissions{}) {
		return
	}
	o := allocate(&installation.InstallationTokenOptions)
	switch {
	case a.RepositoryID != 0:
		o.RepositoryIDs = []int64{a.RepositoryID}
	case a.Repository != "":
		o.Repositories = []string{a.Repository}
	}
	if a.May != (Permissions{}) {
		p := allocate(&o.Permissions)
		p.Checks, p.Contents, p.Issues, p.PullRequests = opt(a.May.Checks), opt(a.May.Contents), opt(a.May.Issues), opt(a.May.PullRequests)
	}
}

func withDefaults(opts Options) Options {
	if opts.Transport == nil {
		opts.Transport = http.DefaultTransport
	}
	if opts.Wait == nil {
		opts.Wait = wait
	}
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return opts
}

// baseURL is the base with the slash at its end that go-github wants.
func baseURL(s string) (*url.URL, error) {
	if s == "" {
		s = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimRight(s, "/") + "/")
	switch {
	case err != nil:
		return nil, errors.New("github: the address of GitHub's API is not a URL: want http(s)://HOST/… in GITHUB_API_URL, or in YCBOT_GITHUB_URL for the App") // the text may hold a password
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("github: base URL %s: want http(s)://HOST/…", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("github: base URL %s: want no user, query or fragment", u.Redacted())
	}
	return u, nil
}

func apiClient(base *url.URL, rt http.RoundTripper) *gh.Client {
	c := gh.NewClient(&http.Client{Transport: rt, CheckRedirect: sameHost})
	c.BaseURL = base
	c.UserAgent = "ycbot"
	return c
}

// sameHost follows a redirect, as of a renamed repository, only where the token
// goes to whom it is for and the request stays what it was.
func sameHost(req *http.Request, via []*http.Request) error {
	if err := redirect.Same(req, via); err != nil {
		return err
	}
	if first := via[0]; req.Method != first.Method {
		return fmt.Errorf("redirect of a %s that would become a %s", first.Method, req.Method)
	}
	return nil
}

// wait is the Wait of production.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Pause waits before what is tried again by the caller, which alone can look whether it happened.
func (c *Client) Pause(ctx context.Context, try int) error { return c.wait(ctx, backoff(try)) }

// Self returns who posts: the owner of a personal token, the bot of an App, or
// github-actions[bot] for the token of a job. The answer is kept.
//
// A token of another App's installation cannot be distinguished from a job's token: it
// too may not ask who it is. Self answers github-actions[bot] for both.
func (c *Client) Self(ctx context.Context) (User, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self.ID != 0 {
		return c.self, nil
	}
	u, err := c.whoami(ctx)
	if err != nil {
		return User{}, c.fail(err, "who posts")
	}
	c.self = user(u)
	return c.self, nil
}

func (c *Client) whoami(ctx context.Context) (*gh.User, error) {
	if c.app != nil {
		app, _, err := c.app.Apps.Get(ctx, "")
		if err != nil {
			return nil, err
		}
		if !loginPattern.MatchString(app.GetSlug()) {
			return nil, fmt.Errorf("%q is not the name of an App", app.GetSlug())
		}
		return c.botUser(ctx, app.GetSlug()+"[bot]")
	}
	u, _, err := c.api.Users.Get(ctx, "")
	if IsForbidden(convert(err)) {
		return c.botUser(ctx, actionsLogin)
	}
	return u, err
}

func (c *Client) botUser(ctx context.Context, login string) (*gh.User, error) {
	u, _, err := c.api.Users.Get(ctx, url.PathEscape(login))
	return u, err
}

func user(u *gh.User) User {
	return User{ID: u.GetID(), Login: u.GetLogin(), Type: u.GetType()}
}
