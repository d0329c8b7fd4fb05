// Package web is what people look at in a browser: the runs, each of them live while it
// goes on, and what is left of it afterwards.
//
// All is rendered on the server from the store, so any server shows any run, and all but
// the live updates works without JavaScript. Whatever stands in a run was written by
// strangers: it is escaped by html/template, hidden characters are made visible first,
// files leave as text, and the content security policy allows scripts, styles and
// requests from this server alone.
//
// Who sees what is GitHub's to say (see [GitHub]). What someone may not see is answered
// as what is not there: 404, logged in or not.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// A GitHub says who people are and what they may see.
type GitHub interface {
	// Person returns whose token it is; [ErrToken] where it is not valid any more.
	Person(ctx context.Context, token string) (Person, error)
	// Readable lists what the person may read of the repositories that the App is
	// installed in; [ErrToken] as for Person.
	Readable(ctx context.Context, token string) ([]Repository, error)
	// Public lists the repositories of an installation that everybody may read;
	// [ErrUninstalled] where the App has no access by it any more.
	Public(ctx context.Context, installation int64) ([]Repository, error)
	// Installations lists the installations of the App.
	Installations(ctx context.Context) ([]int64, error)
	// Revoke ends a token.
	Revoke(ctx context.Context, token string) error
}

// ErrToken says that a token is not valid, or not any more.
var ErrToken = errors.New("the token is not valid")

// ErrUninstalled says that an installation is gone or suspended: no one sees runs by it.
var ErrUninstalled = errors.New("the App is not installed there any more")

// A Person is an account of GitHub's.
type Person struct {
	ID    int64
	Login string
}

// A Repository is one that someone may read.
type Repository struct {
	ID    int64
	Write bool // and write to
}

// A Button is what can be asked for on the page of a run.
type Button string

// The buttons.
const (
	Verify Button = "verify"
	Stop   Button = "stop"
	Accept Button = "accept" // what was given up is accepted, and the verdict concluded again
)

// comment is the comment that does the same.
func (b Button) comment(run store.Run) string {
	switch b {
	case Stop:
		return "/verify stop"
	case Accept:
		return "/verify accept " + run.HeadSHA
	}
	return "/verify"
}

// A Press is a button that someone pressed.
type Press struct {
	Button  Button
	Who     Person
	Request string // different each time that it is pressed
	Reason  string // of Accept, in the person's own words
}

// A Queue says what is at work and what waits. [queue.Queue] is one.
type Queue interface {
	Line(ctx context.Context) (queue.Line, error)
	Jobs(ctx context.Context, ids []string) (map[string]job.Job, error)
}

// Options are what a Site needs.
type Options struct {
	DB        *store.DB
	Queue     Queue
	GitHub    GitHub
	Login     *Login                                                  // nil: no one can log in, and only runs of public repositories are seen
	Required  bool                                                    // who has not logged in sees no page, also none of public repositories; needs Login
	PublicURL string                                                  // under which people reach the server; empty: that of the request
	Server    string                                                  // where people look at GitHub, such as https://github.com
	Press     func(ctx context.Context, run store.Run, p Press) error // does what a button says
	End       <-chan struct{}                                         // is closed when the server is about to end
	Now       func() time.Time
	Log       *slog.Logger
}

// A Site answers requests. Make it with [New].
type Site struct {
	Options
	base    string // path that is before all others
	secure  bool   // people come by https only
	pages   *template.Template
	assets  map[string]asset
	access  access
	cookies *sealer // nil: no one can log in
	csrf    *http.CrossOriginProtection
	places  places
	beat    time.Duration // between signs of life of a stream

	strangerTime time.Duration

	histories chan struct{} // of tests, that are read at a time
}

//go:embed templates
var templates embed.FS

//go:embed assets
var assets embed.FS

// New makes a Site.
func New(o Options) (*Site, error) {
	s := &Site{Options: o, csrf: http.NewCrossOriginProtection(), beat: heartbeat, strangerTime: strangerTime, histories: make(chan struct{}, testsAtOnce)}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil {
			return nil, fmt.Errorf("public URL: %w", err)
		}
		s.base, s.secure = strings.TrimRight(u.Path, "/"), u.Scheme == "https"
	}
	if o.Login != nil {
		var err error
		if s.cookies, err = newSealers(o.Login.Key, o.Login.Previous); err != nil {
			return nil, err
		}
	}
	if o.Required && o.Login == nil {
		return nil, errors.New("pages: a login is required, and there is none")
	}
	var err error
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	s.pages, err = template.New("").Funcs(s.functions()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	return s, nil
}

// Handler answers requests for everything below the server's root.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.base+"/runs", http.StatusFound) })
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.Handle("GET /runs", s.page(s.list))
	mux.Handle("GET /queue", s.page(s.queue))
	mux.Handle("GET /queue.json", s.page(s.queueJSON))
	mux.Handle("GET /queue/events", s.page(s.queueEvents))
	mux.Handle("GET /repos/{repo}/pulls/{number}", s.ofRepo(s.pull))
	mux.Handle("GET /repos/{repo}/tests", s.ofRepo(s.tests))
	mux.Handle("GET /runs/{id}", s.ofRun(s.show))
	mux.Handle("GET /runs/{id}/events", s.ofRun(s.events))
	mux.Handle("GET /runs/{id}/agents/{agent}", s.ofRun(s.transcript))
	mux.Handle("GET /runs/{id}/evidence/{evidence}", s.ofRun(s.evidence))
	mux.Handle("GET /runs/{id}/files/{name...}", s.ofRun(s.file))
	mux.Handle("POST /runs/{id}/{button}", s.ofRun(s.press))
	mux.Handle("GET /login", s.page(s.login))
	mux.Handle("GET /login/callback", s.page(s.callback))
	mux.Handle("POST /logout", s.page(s.logout))
	mux.Handle("/", s.page(func(http.ResponseWriter, *http.Request, *viewer) error { return errNotFound }))
	return compress(s.headers(mux))
}

// policy lets a page have nothing but what this server gives.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *Site) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h.Set("Cache-Control", "no-store") // what is private stays so on machines that are shared
		next.ServeHTTP(w, r)
	})
}

// An httpError is an answer that is no page.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

var errNotFound = &httpError{http.StatusNotFound, "There is nothing here, or nothing that you may see."}

var errLogin = &httpError{http.StatusForbidden, "Sign in to see the pages of this server."}

// shut reports whether a viewer must log in first.
func (s *Site) shut(v *viewer) bool { return s.Required && v.session == nil }

// page is a handler that knows who looks. What is posted must come from a page of ours.
func (s *Site) page(h func(http.ResponseWriter, *http.Request, *viewer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.viewer(w, r)
		if err == nil && !canName(r.URL) {
			err = errNotFound
		}
		if err == nil && s.shut(v) && !strings.HasPrefix(r.URL.Path, "/login") {
			err = errLogin
		}
		if err == nil && r.Method == http.MethodPost {
			err = s.checkPost(w, r, v)
		}
		if err == nil {
			err = h(w, r, v)
		}
		if err != nil {
			s.fail(w, r, v, err)
		}
	})
}

// canName reports whether an address can name what there is: PostgreSQL stores no text with a zero byte or with what is no
// UTF-8, and takes a question for such a text as a mistake.
func canName(u *url.URL) bool {
	q := u.Query()
	return !slices.ContainsFunc([]string{u.Path, q.Get("name"), q.Get("before")}, func(s string) bool {
		return !utf8.ValidString(s) || strings.ContainsRune(s, 0)
	})
}

// ofRun is page for a run that the viewer may see.
func (s *Site) ofRun(h func(http.ResponseWriter, *http.Request, *viewer, store.Run) error) http.Handler {
	return s.page(func(w http.ResponseWriter, r *http.Request, v *viewer) error {
		run, err := s.DB.Run(r.Context(), r.PathValue("id"))
		if err == nil && !v.reads(run) {
			if err := s.seeAgain(r.Context(), v, run); err != nil {
				return err
			}
		}
		if v.partial && (errors.Is(err, store.ErrNotFound) || err == nil && !v.reads(run)) {
			return errAccess // the same whether there is such a run or not
		}
		if errors.Is(err, store.ErrNotFound) || err == nil && !v.reads(run) {
			return errNotFound
		}
		if err != nil {
			return err
		}
		return h(w, r, v, run)
	})
}

// fail answers with what went wrong.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, v *viewer, err error) {
	if r.Context().Err() != nil {
		return // no one is there any more
	}
	var known *httpError
	if !errors.As(err, &known) {
		s.Log.ErrorContext(r.Context(), "page could not be shown", "path", r.URL.Path, "error", err)
		known = s.trouble(r.Context(), err)
	}
	if known.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	if v == nil {
		v = &viewer{}
	}
	data := map[string]any{
		"Status": known.status, "Name": http.StatusText(known.status), "Text": known.text, "Next": r.URL.RequestURI(),
	}
	if err := s.render(w, r, v, known.status, "error.html", known.text, data); err != nil {
		s.Log.ErrorContext(r.Context(), "page could not be shown", "path", r.URL.Path, "error", err)
	}
}

// pingTime is how long the database may take to answer.
const pingTime = 2 * time.Second

// trouble is the answer to what went wrong here.
func (s *Site) trouble(ctx context.Context, err error) *httpError {
	if errors.Is(err, store.ErrBlobsAway) {
		return &httpError{http.StatusServiceUnavailable, "What the run produced cannot be read now. Try again later."}
	}
	if store.IsLost(err) {
		return &httpError{http.StatusGone, "What the run produced here is lost, or damaged where it was stored. Its verdict is known all the same."}
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if s.DB.Ping(ctx) != nil {
		return &httpError{http.StatusServiceUnavailable, "The database does not answer. Try again later."}
	}
	return &httpError{http.StatusInternalServerError, "The page could not be made. It is in the server's log why."}
}

// A frame is what every page has.
type frame struct {
	Base    string
	Title   string
	Person  string
	CSRF    string
	Login   bool // someone can log in here
	Next    string
	Path    string            // of the page
	Version map[string]string // of the assets
	Data    any
}

// render writes a page. It is whole or not at all.
func (s *Site) render(w http.ResponseWriter, r *http.Request, v *viewer, status int, name, title string, data any) error {
	f := frame{Base: s.base, Title: title, Login: s.cookies != nil, Next: r.URL.RequestURI(), Path: r.URL.Path, Data: data}
	if v.session != nil {
		f.Person, f.CSRF = v.session.Login, s.cookies.token(v.session)
	}
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, f); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may be gone
	return nil
}

// An asset is a file that pages need.
type asset struct {
	kind, version string
	body          []byte
}

func readAssets() (map[string]asset, error) {
	out := map[string]asset{}
	entries, err := fs.ReadDir(assets, "assets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		body, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, err
		}
		kind := map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
		_, ext, _ := strings.Cut(e.Name(), ".")
		out[e.Name()] = asset{kind: kind[ext], version: digest(body), body: body}
	}
	return out, nil
}

func (s *Site) asset(w http.ResponseWriter, r *http.Request) {
	a, ok := s.assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.body)
}
