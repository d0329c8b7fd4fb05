// Package githubtest is a small GitHub for tests: the part of the REST API that
// ycbot uses, with state, and real git repositories behind it.
//
// It runs in the test's process on the loopback interface. Every request is
// checked against GitHub's own description of its API, and so is every answer;
// what is wrong fails the test. Tokens may only what they were made for. Any
// call can be made to fail, before or after it took effect (see
// [Server.FailAt]).
//
// The clock stands still but for a second at each thing that is made or
// changed, so that times are the same in every run.
package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

// ActionsAppID is the App behind the token of a job in Actions.
const ActionsAppID = 15368

// A Server is a GitHub. Its methods are safe for concurrent use; those that set
// something up end the test where they cannot.
type Server struct {
	URL string // base of the API; URL + "/api/v3" is the same, as on GitHub Enterprise

	t     testing.TB
	http  *httptest.Server
	root  string // of the git repositories
	git   http.Handler
	mux   *http.ServeMux
	site  *http.ServeMux
	empty string   // folder without git configuration
	fixed sync.Map // what git answered to gitFixed

	mu       sync.Mutex
	now      time.Time
	lastID   int64
	users    map[string]*account
	apps     map[int64]*App
	installs map[int64]*install
	tokens   map[string]*token
	made     []*token         // by Apps
	grants   map[string]grant // by code
	signedIn *account
	repos    map[string]*Repo
	moved    map[string]*Repo // by names that they had
	calls    []Call
	faults   map[int]Fault
	every    *Fault
	remain   int
}

// A Repo is a repository. It is private unless made public.
type Repo struct {
	github.Repo
	ID int64

	public    bool
	gone      bool
	size      int // in KB, as the API says
	parent    *Repo
	owner     *account
	roles     map[int64]string
	protected map[string]bool
	ruled     map[string][]required // what a ruleset requires, by branch
	required  map[string][]string   // checks that the protection requires, by branch
	issues    map[int]*issue
	comments  []*comment
	checks    []*check
	statuses  []*status
	artifacts []*artifact
	lastIssue int
}

// A Call is one API call, as it arrived.
type Call struct {
	N      int // from 1
	Method string
	Path   string // below the base, escaped
	Query  string
	Body   string
	Login  string // whose token; empty: of no one, or of an App as itself
	Status int    // 0: no answer was given
	Fault  bool   // one happened to it
}

// String is such as "POST /repos/acme/widgets/statuses/… 201".
func (c Call) String() string { return fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status) }

// New starts a Server that ends with the test. Without git the test is skipped.
func New(tb testing.TB) *Server {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("git is not installed")
	}
	s := &Server{
		t: tb, root: tb.TempDir(), empty: tb.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), lastID: 1000, remain: 4999,
		users: map[string]*account{}, apps: map[int64]*App{}, installs: map[int64]*install{}, tokens: map[string]*token{}, grants: map[string]grant{},
		repos: map[string]*Repo{}, moved: map[string]*Repo{}, faults: map[int]Fault{},
	}
	s.git = s.gitHandler()
	s.mux, s.site = s.routes(), s.website()
	s.http = httptest.NewServer(s)
	tb.Cleanup(s.http.Close)
	s.URL = s.http.URL
	s.AddUser("github-actions[bot]", 41898282, "Bot")
	s.apps[ActionsAppID] = &App{ID: ActionsAppID, Slug: "github-actions", bot: s.users["github-actions[bot]"]}
	return s
}

// Now is the time of the server's clock.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Advance moves the server's clock.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// tick is the time of a change: later than any before.
func (s *Server) tick() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *Server) newID() int64 {
	s.lastID++
	return s.lastID
}

// Calls returns all API calls so far. What was done through methods of the
// Server, and git's own traffic, is not among them.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// AddRepo makes a private repository with one commit on main. The owner is
// made too where there is none of that name.
func (s *Server) AddRepo(owner, name string) *Repo {
	s.t.Helper()
	r := s.newRepo(owner, name)
	s.initialize(r.Repo)
	s.Push(r.Repo, Commit{Branch: "main", Message: "first", Files: map[string]string{"README.md": "# " + name + "\n"}})
	return r
}

// AddFork copies a repository to another owner.
func (s *Server) AddFork(of github.Repo, owner string) *Repo {
	s.t.Helper()
	parent := s.repo(of)
	r := s.newRepo(owner, of.Name)
	s.mu.Lock()
	r.parent, r.public = parent, parent.public
	s.mu.Unlock()
	s.gitRun("", nil, "clone", "-q", "--bare", s.dir(of), s.dir(r.Repo))
	s.writeFile(r.Repo, "config", settings)
	return r
}

// RemoveRepo makes a repository disappear, as a fork does whose owner leaves.
func (s *Server) RemoveRepo(repo github.Repo) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.gone = true
}

func (s *Server) newRepo(owner, name string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.users[owner]
	if o == nil {
		o = s.addUser(owner, s.newID(), "Organization")
	}
	r := &Repo{
		Repo: github.Repo{Owner: owner, Name: name}, ID: s.newID(), owner: o, roles: map[int64]string{o.ID: "admin"},
		protected: map[string]bool{}, issues: map[int]*issue{},
	}
	s.repos[key(r.Repo)] = r
	return r
}

// Rename gives a repository another name, and returns that. Who asks for the one before is led on, until another
// repository has it.
func (s *Server) Rename(repo github.Repo, name string) github.Repo {
	s.t.Helper()
	r, to := s.repo(repo), github.Repo{Owner: repo.Owner, Name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(s.dir(r.Repo), s.dir(to)); err != nil {
		s.t.Fatal(err)
	}
	delete(s.repos, key(r.Repo))
	s.moved[key(r.Repo)] = r
	r.Repo = to
	s.repos[key(to)] = r
	return to
}

// found is a repository by its name, or by one that it had; nil: there is none.
func (s *Server) found(name github.Repo) *Repo {
	if r := s.repos[key(name)]; r != nil {
		return r
	}
	return s.moved[key(name)]
}

// Resize has the API say that a repository is of so many KB, whatever it has.
func (s *Server) Resize(repo github.Repo, kb int) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.size = kb
}

// SetPublic lets everybody read a repository.
func (s *Server) SetPublic(repo github.Repo) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.public = true
}

// SetProtected protects a branch.
func (s *Server) SetProtected(repo github.Repo, branch string) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.protected[branch] = true
}

// GitURL is where git finds a repository: x-access-token and a token get in.
func (s *Server) GitURL(repo github.Repo) string { return s.URL + "/" + repo.String() + ".git" }

// repo is a repository that there must be.
func (s *Server) repo(name github.Repo) *Repo {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[key(name)]
	if r == nil {
		s.t.Fatalf("githubtest: no repository %s", name)
	}
	return r
}

// sorted is all repositories in the order they were made.
func (s *Server) sorted() []*Repo {
	return slices.SortedFunc(maps.Values(s.repos), func(a, b *Repo) int { return cmp.Compare(a.ID, b.ID) })
}

// key is how GitHub compares names: without case.
func key(r github.Repo) string { return strings.ToLower(r.String()) }

func (s *Server) dir(r github.Repo) string { return filepath.Join(s.root, r.Owner, r.Name+".git") }
