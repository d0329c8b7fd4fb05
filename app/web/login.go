package web

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// A Login is what people log in with: the App's own OAuth.
type Login struct {
	ClientID, ClientSecret string
	Key                    []byte       // that sessions are sealed with, MinKey bytes or more
	Previous               []byte       // the key before, which counts as well while the new one is put in place; empty: there is none
	Client                 *http.Client // that asks GitHub
}

const (
	loginTime   = 10 * time.Minute // to log in at GitHub
	tokenTime   = 20 * time.Second // that GitHub may take to give a token, or to end it
	sessionTime = 8 * time.Hour    // as long as GitHub's tokens for people live
)

// A pending is someone who was sent to GitHub.
type pending struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"` // PKCE
	Next     string    `json:"next"`     // where to go then
	Expires  time.Time `json:"expires"`
}

func (s *Site) oauth(r *http.Request) *oauth2.Config {
	public := s.PublicURL
	if public == "" {
		public = "http://" + r.Host
	}
	return &oauth2.Config{
		ClientID: s.Login.ClientID, ClientSecret: s.Login.ClientSecret, RedirectURL: strings.TrimRight(public, "/") + "/login/callback",
		Endpoint: oauth2.Endpoint{
			AuthURL: s.Server + "/login/oauth/authorize", TokenURL: s.Server + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// login sends someone to GitHub.
func (s *Site) login(w http.ResponseWriter, r *http.Request, _ *viewer) error {
	if s.cookies == nil {
		return errNotFound
	}
	p := pending{State: nonce(), Verifier: oauth2.GenerateVerifier(), Next: s.local(r.URL.Query().Get("next")), Expires: s.Now().Add(loginTime)}
	sealed, err := s.cookies.seal("login", p)
	if err != nil {
		return err
	}
	s.setCookie(w, "login", sealed, loginTime)
	http.Redirect(w, r, s.oauth(r).AuthCodeURL(p.State, oauth2.S256ChallengeOption(p.Verifier)), http.StatusFound)
	return nil
}

// local is where someone may be sent: a page of ours, and nothing else.
func (s *Site) local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !slices.ContainsFunc([]string{"/runs", "/queue", "/repos/"}, func(ours string) bool { return strings.HasPrefix(next, ours) }) || strings.ContainsAny(next, "\\\r\n\t") {
		return "/runs"
	}
	return next
}

// callback takes back who comes from GitHub.
func (s *Site) callback(w http.ResponseWriter, r *http.Request, _ *viewer) error {
	if s.cookies == nil {
		return errNotFound
	}
	again := &httpError{http.StatusBadRequest, "The login did not work, or took too long. Try again."}
	var p pending
	q := r.URL.Query()
	switch {
	case !s.readCookie(r, "login", &p) || s.Now().After(p.Expires) || subtle.ConstantTimeCompare([]byte(p.State), []byte(q.Get("state"))) != 1:
		return again
	case q.Get("error") != "" || q.Get("code") == "":
		return &httpError{http.StatusForbidden, "GitHub did not log you in."}
	}
	s.setCookie(w, "login", "", 0)
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), oauth2.HTTPClient, s.Login.Client), tokenTime)
	defer cancel()
	token, err := s.oauth(r).Exchange(ctx, q.Get("code"), oauth2.VerifierOption(p.Verifier))
	if err != nil {
		s.Log.WarnContext(ctx, "GitHub refused the login", "error", err)
		return again
	}
	who, err := s.GitHub.Person(ctx, token.AccessToken)
	if err != nil {
		return err
	}
	expires := s.Now().Add(sessionTime)
	if !token.Expiry.IsZero() && token.Expiry.Before(expires) {
		expires = token.Expiry
	}
	sealed, err := s.cookies.seal("session", session{ID: nonce(), Login: who.Login, UserID: who.ID, Token: token.AccessToken, Expires: expires})
	if err != nil {
		return err
	}
	s.setCookie(w, "session", sealed, expires.Sub(s.Now()))
	s.Log.InfoContext(ctx, "user logged in", "login", who.Login)
	http.Redirect(w, r, s.base+p.Next, http.StatusFound)
	return nil
}

// logout ends the session here, and the token at GitHub, so that a copy of the cookie is
// worth nothing either.
func (s *Site) logout(w http.ResponseWriter, r *http.Request, v *viewer) error {
	s.setCookie(w, "session", "", 0)
	s.access.forget(v.session.Token)
	ctx, cancel := context.WithTimeout(r.Context(), tokenTime)
	defer cancel()
	if err := s.GitHub.Revoke(ctx, v.session.Token); err != nil {
		s.Log.WarnContext(ctx, "cannot revoke the token of a session that ended", "login", v.session.Login, "error", err)
	}
	http.Redirect(w, r, s.base+"/runs", http.StatusSeeOther)
	return nil
}
