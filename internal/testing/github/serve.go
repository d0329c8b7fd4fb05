package githubtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
)

// A request is an API call with what was found out about it.
type request struct {
	*http.Request
	body  []byte
	token *token // nil for an App as itself
	app   *App   // as itself
	repo  *Repo  // of the path; nil where it names none
	reply reply
}

// A reply is an answer before it is written. A list is cut into pages.
type reply struct {
	status int
	body   any
	list   []any
	wrap   string // field that the list goes into, beside total_count

	location string // of a redirect
}

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func list(items []any) reply { return reply{status: http.StatusOK, list: append([]any{}, items...)} }
func notFound() reply        { return refuse(http.StatusNotFound, "Not Found") }
func invalid(what ...string) reply {
	return refuse(http.StatusUnprocessableEntity, "Validation Failed", what...)
}
func (r *request) int(n string) int64 { v, _ := strconv.ParseInt(r.PathValue(n), 10, 64); return v }

func refuse(status int, message string, details ...string) reply {
	body := map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	var errs []any
	for _, d := range details {
		errs = append(errs, map[string]any{"message": d, "code": "custom"})
	}
	if errs != nil {
		body["errors"] = errs
	}
	return reply{status: status, body: body}
}

// decode reads the body of a request; what is wrong with it the description finds.
func decode[T any](r *request) (v T) {
	_ = json.Unmarshal(r.body, &v)
	return v
}

// route makes a handler for the mux. It runs under the server's lock.
func route(h func(*request) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := w.(*answerer)
		x.req.Request = r // with the values of the path
		x.req.reply = h(x.req)
	}
}

// An answerer carries a request through the mux.
type answerer struct {
	http.ResponseWriter
	req *request
}

// ServeHTTP answers API calls and git.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isGit(r) {
		s.git.ServeHTTP(w, r)
		return
	}
	if _, pattern := s.site.Handler(r); pattern != "" {
		s.site.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/v3/") {
		http.StripPrefix("/api/v3", http.HandlerFunc(s.serveAPI)).ServeHTTP(w, r)
		return
	}
	s.serveAPI(w, r)
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return // the client is gone, or was killed, before it had asked
	}
	op, err := checkRequest(r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header, body)
	n, fault := s.record(r, body)
	// Too much of something GitHub refuses itself, as here; tests want to see that.
	if err != nil && !refusedHere(err) {
		s.t.Errorf("githubtest: request: %v", err)
	}
	if fault.set() {
		defer s.faulted(n)
	}
	if status, handled := fault.before(n, w, r); handled {
		s.answered(n, status, "")
		return
	}
	req := &request{Request: r, body: body}
	if refused := s.authenticate(req); refused != nil {
		req.reply = *refused
	} else {
		s.handle(w, req)
	}
	fault.after(n, r)
	login := ""
	if req.token != nil {
		login = req.token.who.Login
	}
	s.answered(n, s.write(w, req, op), login)
}

// refusedHere matches violations that the server answers with 422.
func refusedHere(err error) bool {
	for _, what := range []string{"maximum number of items is 50", "maximum string length is 65535"} {
		if strings.Contains(err.Error(), what) {
			return true
		}
	}
	return false
}

func (s *Server) record(r *http.Request, body []byte) (int, Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.calls) + 1
	s.calls = append(s.calls, Call{N: n, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: string(body)})
	return n, s.fault(n)
}

func (s *Server) answered(n, status int, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[n-1].Status, s.calls[n-1].Login = status, login
}

// faulted notes that a fault happened. It comes before the client notices, so
// that what a hook did is safe to look at after the next method of the Server.
func (s *Server) faulted(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[n-1].Fault = true
}

// authenticate finds out whose the request is.
func (s *Server) authenticate(r *request) *reply {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	refused := refuse(http.StatusUnauthorized, "Bad credentials")
	switch {
	case strings.HasPrefix(r.URL.Path, "/app-manifests/"): // the code is all it takes
		return nil
	case strings.HasPrefix(r.URL.Path, "/applications/"):
		if r.app = s.basic(r.Request); r.app == nil {
			return &refused
		}
		return nil
	}
	if text == "" {
		refused = refuse(http.StatusUnauthorized, "Requires authentication")
		return &refused
	}
	if r.URL.Path == "/app" || strings.HasPrefix(r.URL.Path, "/app/") || strings.HasSuffix(r.URL.Path, "/installation") {
		app, err := s.jwtApp(text)
		if err != nil || !strings.EqualFold(scheme, "bearer") {
			return &refused
		}
		r.app = app
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.token = s.tokens[text]; r.token == nil {
		return &refused
	}
	if r.token.of != nil && (r.token.of.gone || r.token.of.suspended) {
		return &refused
	}
	r.token.calls = append(r.token.calls, r.Method+" "+r.URL.Path)
	return nil
}

func (s *Server) handle(w http.ResponseWriter, r *request) {
	_, pattern := s.mux.Handler(r.Request)
	if pattern == "" {
		s.t.Errorf("githubtest: %s %s is not made", r.Method, r.URL.Path)
		r.reply = notFound()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mux.ServeHTTP(&answerer{w, r}, r.Request)
}

// inRepo finds the repository of the path, which the token must reach.
func (s *Server) inRepo(h func(*request) reply) http.HandlerFunc {
	return route(func(r *request) reply {
		name := github.Repo{Owner: r.PathValue("owner"), Name: r.PathValue("repo")}
		r.repo = s.found(name)
		if r.repo == nil || r.repo.gone || !r.token.covers(r.repo) {
			return notFound()
		}
		if key(name) != key(r.repo.Repo) {
			return s.leadOn(r, name)
		}
		return h(r)
	})
}

// leadOn is the answer to who asks for a repository by a name that it had.
func (s *Server) leadOn(r *request, name github.Repo) reply {
	u := *r.URL
	u.Path = strings.Replace(u.Path, "/repos/"+name.String(), "/repos/"+r.repo.String(), 1)
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet {
		status = http.StatusMovedPermanently
	}
	return reply{status: status, location: u.RequestURI()}
}

// needs lets only tokens through that may: with any of perms, and for a
// person's also a role.
func needs(level, role string, h func(*request) reply, perms ...string) func(*request) reply {
	return func(r *request) reply {
		if !r.token.may(r.repo, level, role, perms...) {
			return r.token.notAccessible()
		}
		return h(r)
	}
}

// write answers and returns the status.
func (s *Server) write(w http.ResponseWriter, r *request, op *operation) int {
	rep := r.reply
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	if rep.location != "" {
		h.Set("Location", rep.location)
	}
	body := []byte{}
	if v := s.paged(r, h); v != nil {
		var err error
		if body, err = json.Marshal(v); err == nil {
			body, err = op.complete(rep.status, body)
		}
		if err != nil {
			s.t.Errorf("githubtest: answer of %s %s: %v", r.Method, r.URL.Path, err)
		}
	}
	if r.Method == http.MethodGet && rep.status == http.StatusOK {
		h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
		if r.Header.Get("If-None-Match") == h.Get("ETag") {
			rep.status, body = http.StatusNotModified, nil
		}
	}
	s.limits(h, rep.status)
	if err := op.checkResponse(rep.status, h, body); err != nil {
		s.t.Errorf("githubtest: answer: %v", err)
	}
	w.WriteHeader(rep.status)
	_, _ = io.Copy(w, bytes.NewReader(body)) // the client may be gone
	return rep.status
}

// limits sets the headers of the rate limit. What has not changed is free.
func (s *Server) limits(h http.Header, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status != http.StatusNotModified {
		s.remain--
	}
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", strconv.Itoa(s.remain))
	h.Set("X-RateLimit-Used", strconv.Itoa(5000-s.remain))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.now.Unix()+3600, 10))
	h.Set("X-RateLimit-Resource", "core")
}

// paged is the page of a list that was asked for, with the Link header that
// leads to the others; anything else is as it is.
func (s *Server) paged(r *request, h http.Header) any {
	rep := r.reply
	if rep.list == nil {
		return rep.body
	}
	q := r.URL.Query()
	size, page := 30, 1
	if n, err := strconv.Atoi(q.Get("per_page")); err == nil && n > 0 {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		page = n
	}
	last := max((len(rep.list)+size-1)/size, 1)
	var links []string
	link := func(rel string, p int) {
		v := url.Values{}
		for k := range q {
			v.Set(k, q.Get(k))
		}
		v.Set("page", strconv.Itoa(p))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, s.URL, r.URL.EscapedPath(), v.Encode(), rel))
	}
	if page > 1 {
		link("prev", page-1)
	}
	if page < last {
		link("next", page+1)
		link("last", last)
	}
	if links != nil {
		h.Set("Link", strings.Join(links, ", "))
	}
	from := min((page-1)*size, len(rep.list))
	part := rep.list[from:min(from+size, len(rep.list))]
	if rep.wrap == "" {
		return part
	}
	return map[string]any{"total_count": len(rep.list), rep.wrap: part}
}
