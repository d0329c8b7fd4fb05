package githubtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// A grant is what a code that GitHub sent along is worth, once.
type grant struct {
	app       *App
	who       *account // of a login
	challenge string   // PKCE
	redirect  string
}

// A manifest describes an App that is to be made.
type manifest struct {
	Name        string               `json:"name"`
	URL         string               `json:"url"`
	RedirectURL string               `json:"redirect_url"`
	Callbacks   []string             `json:"callback_urls"`
	Hook        struct{ URL string } `json:"hook_attributes"`
	Permissions map[string]string    `json:"default_permissions"`
	Events      []string             `json:"default_events"`
	Public      bool                 `json:"public"`
}

// SignIn says who is signed in at GitHub in all browsers; empty: no one, so a login is
// refused.
func (s *Server) SignIn(login string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signedIn = nil
	if login != "" {
		s.signedIn = s.account(login)
	}
}

// Made returns the App of this name, as a manifest or AddApp made it; nil where there is none.
func (s *Server) Made(name string) *App {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.apps {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// website is what people see of GitHub in a browser.
func (s *Server) website() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /login/oauth/authorize", s.authorize)
	m.HandleFunc("POST /login/oauth/access_token", s.exchange)
	m.HandleFunc("POST /settings/apps/new", s.makeApp)
	m.HandleFunc("POST /organizations/{org}/settings/apps/new", s.makeApp)
	return m
}

// back sends a browser back to a program with a code.
func back(w http.ResponseWriter, r *http.Request, to string, q url.Values) {
	u, err := url.Parse(to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	have := u.Query()
	for key := range q {
		have.Set(key, q.Get(key))
	}
	u.RawQuery = have.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	app := s.client(q.Get("client_id"))
	to := q.Get("redirect_uri")
	if app == nil || app.Callbacks != nil && !contains(app.Callbacks, to) {
		http.Error(w, "The redirect_uri is not associated with this application.", http.StatusNotFound)
		return
	}
	if s.signedIn == nil {
		back(w, r, to, url.Values{"error": {"access_denied"}, "state": {q.Get("state")}})
		return
	}
	code := s.grant(grant{app: app, who: s.signedIn, challenge: q.Get("code_challenge"), redirect: to})
	back(w, r, to, url.Values{"code": {code}, "state": {q.Get("state")}})
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

func (s *Server) client(id string) *App {
	for _, a := range s.apps {
		if a.ClientID != "" && a.ClientID == id {
			return a
		}
	}
	return nil
}

func (s *Server) grant(g grant) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "code %d", s.newID()))
	code := fmt.Sprintf("%x", sum)[:20]
	s.grants[code] = g
	return code
}

// exchange gives a token for a code, as GitHub does: with 200 also when it does not.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := r.PostFormValue("code")
	g, ok := s.grants[code]
	delete(s.grants, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	answer := map[string]any{"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."}
	switch {
	case !ok || g.who == nil || g.redirect != r.PostFormValue("redirect_uri"):
	case g.app.ClientID != r.PostFormValue("client_id") || g.app.ClientSecret != r.PostFormValue("client_secret"):
		answer["error"] = "incorrect_client_credentials"
	case g.challenge != "" && g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
	default:
		token := s.addToken(&token{who: g.who, kind: "personal", via: g.app})
		answer = map[string]any{"access_token": token, "token_type": "bearer", "scope": "", "expires_in": 28800}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// makeApp makes an App of a manifest, as if the person had confirmed it at once.
func (s *Server) makeApp(w http.ResponseWriter, r *http.Request) {
	var m manifest
	if err := json.Unmarshal([]byte(r.PostFormValue("manifest")), &m); err != nil || m.Name == "" || m.URL == "" || m.RedirectURL == "" {
		http.Error(w, "Error: the manifest is not valid.", http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	id := s.newID()
	s.mu.Unlock()
	app := s.AddApp(id, slug(m.Name))
	s.mu.Lock()
	defer s.mu.Unlock()
	app.Name, app.Callbacks, app.Hook, app.Permissions, app.Events, app.Public = m.Name, m.Callbacks, m.Hook.URL, m.Permissions, m.Events, m.Public
	app.Owner = cmp.Or(r.PathValue("org"), "me")
	back(w, r, m.RedirectURL, url.Values{"code": {s.grant(grant{app: app})}, "state": {r.URL.Query().Get("state")}})
}

// slug is what addresses call an App of this name.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

// convert says what an App that was made of a manifest is, once.
func (s *Server) convert(r *request) reply {
	code := r.PathValue("code")
	g, ok := s.grants[code]
	if !ok || g.who != nil {
		return notFound()
	}
	delete(s.grants, code)
	a := g.app
	return created(map[string]any{
		"id": a.ID, "slug": a.Slug, "name": a.Name, "html_url": s.URL + "/apps/" + a.Slug, "client_id": a.ClientID, "client_secret": a.ClientSecret,
		"webhook_secret": a.WebhookSecret, "pem": string(a.Key), "permissions": a.Permissions, "events": a.Events,
	})
}

// listUserInstalls lists where the App is installed and the person may read something.
func (s *Server) listUserInstalls(r *request) reply {
	if r.token.via == nil {
		return r.token.notAccessible()
	}
	var out []any
	for _, in := range s.installs {
		if in.app == r.token.via && len(s.explicit(r.token.who, in)) > 0 {
			out = append(out, map[string]any{"id": in.id, "app_id": in.app.ID})
		}
	}
	rep := list(out)
	rep.wrap = "installations"
	return rep
}

func (s *Server) listUserRepos(r *request) reply {
	in := s.installs[r.int("id")]
	if r.token.via == nil || in == nil || in.app != r.token.via {
		return notFound()
	}
	var out []any
	for _, repo := range s.explicit(r.token.who, in) {
		j := s.repoJSON(repo)
		have := rank(repo.role(r.token.who))
		j["permissions"] = map[string]bool{
			"pull": have >= rank("read"), "triage": have >= rank("triage"), "push": have >= rank("write"), "maintain": have >= rank("maintain"), "admin": have >= rank("admin"),
		}
		out = append(out, j)
	}
	rep := list(out)
	rep.wrap = "repositories"
	return rep
}

// explicit are the repositories of an installation in which someone has a role. What
// everybody may read is not among them.
func (s *Server) explicit(who *account, in *install) (out []*Repo) {
	for _, repo := range in.repos {
		if role := repo.roles[who.ID]; role != "" && role != "none" && !repo.gone {
			out = append(out, repo)
		}
	}
	return out
}

// revoke ends a token of the App's login.
func (s *Server) revoke(r *request) reply {
	in := decode[struct {
		AccessToken string `json:"access_token"`
	}](r)
	if t := s.tokens[in.AccessToken]; t == nil || t.via != r.app {
		return notFound()
	}
	delete(s.tokens, in.AccessToken)
	return reply{status: http.StatusNoContent}
}

// basic finds the App whose client id and secret a request has.
func (s *Server) basic(r *http.Request) *App {
	id, secret, ok := r.BasicAuth()
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.client(id); ok && a != nil && a.ClientSecret == secret {
		return a
	}
	return nil
}
