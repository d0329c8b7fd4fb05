package githubtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
)

type account struct {
	ID    int64
	Login string
	Type  string
}

func (a *account) user() github.User { return github.User{ID: a.ID, Login: a.Login, Type: a.Type} }

func (a *account) json() map[string]any {
	return map[string]any{
		"id": a.ID, "login": a.Login, "type": a.Type, "node_id": fmt.Sprintf("U_%d", a.ID), "site_admin": false,
		"user_view_type": "public",
		"html_url":       "https://github.invalid/" + a.Login,
	}
}

// AddUser makes an account; typ is User, Bot or Organization.
func (s *Server) AddUser(login string, id int64, typ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addUser(login, id, typ)
}

func (s *Server) addUser(login string, id int64, typ string) *account {
	a := &account{ID: id, Login: login, Type: typ}
	s.users[login] = a
	return a
}

// account is an account that there must be.
func (s *Server) account(login string) *account {
	s.t.Helper()
	a := s.users[login]
	if a == nil {
		s.t.Fatalf("githubtest: no user %s", login)
	}
	return a
}

// SetPermission gives someone a role in a repository: admin, maintain, write,
// triage, read or none; "reviewer:write" is a role that the owner made up on the
// base of another.
func (s *Server) SetPermission(repo github.Repo, login, role string) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.roles[s.account(login).ID] = role
}

// role is what an account may do in a repository.
func (r *Repo) role(a *account) string {
	switch {
	case a != nil && r.roles[a.ID] != "":
		return r.roles[a.ID]
	case r.public:
		return "read"
	}
	return "none"
}

func rank(role string) int {
	if _, base, madeUp := strings.Cut(role, ":"); madeUp {
		role = base
	}
	return map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
}

// An App is a GitHub App.
type App struct {
	ID          int64
	Slug        string
	Key         []byte            // private key, PEM
	Permissions map[string]string // what its settings say, such as "checks": "write"
	Events      []string

	Name, Owner            string // Owner: login of the organization, or "me"
	ClientID, ClientSecret string
	WebhookSecret          string
	Callbacks              []string // nil: any
	Hook                   string   // address of the webhook
	Public                 bool

	public *rsa.PublicKey
	bot    *account
}

// Ask sets what an App's settings ask for, also while the server is asked.
func (s *Server) Ask(a *App, permissions map[string]string, events []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Permissions, a.Events = permissions, events
}

func (a *App) permissions() map[string]any {
	out := map[string]any{}
	for name, level := range a.Permissions {
		out[name] = level
	}
	return out
}

type install struct {
	id    int64
	app   *App
	perms map[string]string
	repos []*Repo
	owner *account // of all of them

	suspended, gone bool
}

// sees reports whether an installation may have to do with a repository now.
func (in *install) sees(r *Repo) bool {
	return !in.gone && !in.suspended && slices.Contains(in.repos, r)
}

// AddApp makes an App with a key of its own, and its bot user.
func (s *Server) AddApp(id int64, slug string) *App {
	s.t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &App{
		ID: id, Slug: slug, Name: slug, ClientID: fmt.Sprintf("Iv1.%d", id), ClientSecret: fmt.Sprintf("secret of client %d", id),
		WebhookSecret: fmt.Sprintf("secret of webhook %d", id), public: &private.PublicKey, bot: s.addUser(slug+"[bot]", s.newID(), "Bot"),
	}
	a.Key = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	s.apps[id] = a
	return a
}

// Install installs an App for repositories and returns the installation's id.
// perms is what it may write, as for [Server.Token].
func (s *Server) Install(app *App, perms map[string]string, repos ...github.Repo) int64 {
	s.t.Helper()
	in := &install{app: app, perms: maps.Clone(perms)}
	for _, r := range repos {
		in.repos = append(in.repos, s.repo(r))
		in.owner = in.repos[0].owner
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in.id = s.newID()
	s.installs[in.id] = in
	return in.id
}

// Uninstall ends an installation. Who installs the App again makes another.
func (s *Server) Uninstall(installation int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.installs[installation].gone = true
}

// SetInstalled says which repositories an installation is for.
func (s *Server) SetInstalled(installation int64, repos ...github.Repo) {
	s.t.Helper()
	var list []*Repo
	for _, r := range repos {
		list = append(list, s.repo(r))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.installs[installation].repos = list
}

// Suspend ends the tokens of an installation and lets it have none, or lets it again.
func (s *Server) Suspend(installation int64, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.installs[installation].suspended = yes
}

// A token belongs to someone and may do no more than perms says.
type token struct {
	who   *account
	app   *App // whose check runs it makes; nil for people
	kind  string
	perms map[string]string
	repos []*Repo // nil: all
	via   *App    // whose login gave it to a person; nil: none
	of    *install

	installed bool // it was made by an App, and is listed
	revoked   bool
	calls     []string
}

// A TokenUse is a token that an App made for an installation of it, and what was done
// with it.
type TokenUse struct {
	Permissions map[string]string
	Repos       []string // names
	Calls       []string // such as "POST /repos/acme/widgets/check-runs", and "git"
	Revoked     bool
}

// TokenUses returns the tokens that Apps made, in their order.
func (s *Server) TokenUses() []TokenUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []TokenUse
	for _, t := range s.made {
		u := TokenUse{Permissions: maps.Clone(t.perms), Calls: slices.Clone(t.calls), Revoked: t.revoked}
		for _, r := range t.repos {
			u.Repos = append(u.Repos, r.Name)
		}
		out = append(out, u)
	}
	return out
}

// Token makes a token of someone. kind is "personal", "installation" (the
// login is an App's bot) or "actions" (github-actions[bot], whatever the login).
//
// perms is what the token may do, such as "checks": "write". Everything may be
// read that is not "none"; nil lets a personal token do what its owner may, and
// the others nothing but read.
func (s *Server) Token(login string, perms map[string]string, kind string) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &token{kind: kind, perms: maps.Clone(perms)}
	switch kind {
	case "personal":
		t.who = s.account(login)
	case "actions":
		t.app = s.apps[ActionsAppID]
		t.who = t.app.bot
	case "installation":
		for _, a := range s.apps {
			if a.bot.Login == login {
				t.app, t.who = a, a.bot
			}
		}
	}
	if t.who == nil {
		s.t.Fatalf("githubtest: no token of %s as %q", login, kind)
	}
	return s.addToken(t)
}

// addToken makes the text of a token in GitHub's shape.
func (s *Server) addToken(t *token) string {
	prefix := "ghs_"
	switch {
	case t.via != nil:
		prefix = "ghu_"
	case t.kind == "personal":
		prefix = "ghp_"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "token %d", s.newID()))
	text := prefix + fmt.Sprintf("%x", sum)[:36]
	s.tokens[text] = t
	return text
}

// covers reports whether the token is for the repository at all.
func (t *token) covers(r *Repo) bool {
	if t.kind == "personal" {
		return r.role(t.who) != "none"
	}
	if r.public || t.repos == nil {
		return true
	}
	if t.of != nil && !t.of.sees(r) {
		return false
	}
	for _, have := range t.repos {
		if have == r {
			return true
		}
	}
	return false
}

// may reports whether a token may do something: any of perms is enough. Of a
// person, also the role must be.
func (t *token) may(r *Repo, level, role string, perms ...string) bool {
	if t.kind == "personal" && rank(r.role(t.who)) < rank(role) {
		return false
	}
	if t.kind == "personal" && t.perms == nil {
		return true
	}
	for _, p := range perms {
		if t.perms[p] == "write" || level == "read" && (t.perms[p] == "read" || t.perms[p] == "" && !t.installed || p == "metadata") {
			return true
		}
	}
	return false
}

// notAccessible is what GitHub says to a token that may not.
func (t *token) notAccessible() reply {
	if t.kind == "personal" {
		return refuse(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	return refuse(http.StatusForbidden, "Resource not accessible by integration")
}

// jwtApp finds the App that signed a JSON web token. Times are only compared
// with each other, because the server's clock is not that of the client.
func (s *Server) jwtApp(text string) (*App, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, errors.New("a JSON web token could not be decoded")
	}
	var head struct{ Alg string }
	var claims struct {
		Iss      json.RawMessage
		Iat, Exp int64
	}
	for i, v := range []any{&head, &claims} {
		b, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, v); err != nil {
			return nil, err
		}
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, err
	}
	if head.Alg != "RS256" || claims.Exp <= claims.Iat || claims.Exp-claims.Iat > 600 {
		return nil, errors.New("'Expiration time' claim ('exp') is too far in the future")
	}
	var id int64
	if _, err := fmt.Sscanf(strings.Trim(string(claims.Iss), `"`), "%d", &id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	app := s.apps[id]
	s.mu.Unlock()
	if app == nil || app.public == nil {
		return nil, errors.New("integration not found")
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return app, rsa.VerifyPKCS1v15(app.public, crypto.SHA256, sum[:], sig)
}
