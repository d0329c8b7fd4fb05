package githubtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/github"
)

// A Commit is a commit to make on top of a branch.
type Commit struct {
	Branch     string            // made where there is none
	From       string            // where a new branch starts: a branch or an object id; empty: main
	Message    string            // empty: "change"
	Files      map[string]string // by path
	Executable []string          // paths among Files
	Delete     []string
}

// gitRun runs git and returns what it prints. A failure ends the test.
func (s *Server) gitRun(dir string, stdin []byte, args ...string) string {
	s.t.Helper()
	out, err := s.gitTry(dir, stdin, args...)
	if err != nil {
		s.t.Fatalf("githubtest: git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// gitTry is gitRun for what may fail.
func (s *Server) gitTry(dir string, stdin []byte, args ...string) (string, error) {
	out, err := s.gitRaw(dir, stdin, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// gitRaw is gitTry with the end of the last line.
func (s *Server) gitRaw(dir string, stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("git", args...) //nolint:noctx // ends by itself, and the test's context ends before its cleanup
	cmd.Dir, cmd.Stdin, cmd.Env = dir, bytes.NewReader(stdin), s.gitEnv()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// gitFixed is gitTry for questions whose answer never changes, as they name commits
// by their ids: each is asked once.
func (s *Server) gitFixed(dir string, args ...string) (string, error) {
	question := dir + "\x00" + strings.Join(args, "\x00")
	if out, ok := s.fixed.Load(question); ok {
		return out.(string), nil
	}
	out, err := s.gitTry(dir, nil, args...)
	if err == nil { // else the commit may come later
		s.fixed.Store(question, out)
	}
	return out, err
}

// commit is the id of the commit that a name stands for; empty where there is none.
func (s *Server) commit(r *Repo, name string) string {
	if s.hasCommit(r, name) {
		return name
	}
	if oid := s.ref(r.Repo, "refs/heads/"+name); oid != "" {
		return oid
	}
	oid, err := s.gitTry(s.dir(r.Repo), nil, "rev-parse", "-q", "--verify", name+"^{commit}")
	if err != nil {
		return ""
	}
	return oid
}

// heads are the commits that a repository's branches are at.
func (s *Server) heads(r *Repo) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for name, id := range s.refs(r.Repo, "refs/heads/") {
		out[strings.TrimPrefix(name, "refs/heads/")] = id
	}
	return out
}

// gitEnv is the environment of git: none of the user's.
func (s *Server) gitEnv() []string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if git, err := exec.LookPath("git"); err == nil {
		path = filepath.Dir(git) + ":" + path
	}
	return []string{
		"PATH=" + path, "HOME=" + s.empty, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Author", "GIT_AUTHOR_EMAIL=author@github.invalid", "GIT_AUTHOR_DATE=1767323045 +0000",
		"GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@github.invalid", "GIT_COMMITTER_DATE=1767323045 +0000",
	}
}

// settings of a bare repository that serves what is asked of GitHub's.
const settings = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n" +
	"[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n[fastimport]\n\tunpackLimit = 1\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"

// initialize makes an empty bare repository, as "git init" does: to start git takes longer.
func (s *Server) initialize(r github.Repo) {
	s.t.Helper()
	for _, folder := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(s.dir(r), folder), 0o755); err != nil {
			s.t.Fatalf("githubtest: %v", err)
		}
	}
	s.writeFile(r, "HEAD", "ref: refs/heads/main\n")
	s.writeFile(r, "config", settings)
}

// writeFile puts a file into a repository's folder.
func (s *Server) writeFile(r github.Repo, name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir(r), name), []byte(text), 0o644); err != nil {
		s.t.Fatalf("githubtest: %v", err)
	}
}

// Push commits to a branch, moves the pull requests whose head it is, and
// returns the new commit.
func (s *Server) Push(repo github.Repo, c Commit) string {
	s.t.Helper()
	if c.Message == "" {
		c.Message = "change"
	}
	dir := s.dir(repo)
	var in bytes.Buffer
	at := s.Now().Unix()
	fmt.Fprintf(&in, "commit refs/heads/%s\nauthor Author <author@github.invalid> %d +0000\ncommitter GitHub <noreply@github.invalid> %d +0000\n", c.Branch, at, at)
	fmt.Fprintf(&in, "data %d\n%s\n", len(c.Message), c.Message)
	if parent := s.parent(repo, c); parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	for _, p := range c.Delete {
		fmt.Fprintf(&in, "D %s\n", p)
	}
	for _, p := range slices.Sorted(maps.Keys(c.Files)) {
		mode := "100644"
		if slices.Contains(c.Executable, p) {
			mode = "100755"
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, p, len(c.Files[p]), c.Files[p])
	}
	s.gitRun(dir, in.Bytes(), "fast-import", "--quiet")
	s.Advance(1e9)
	s.Sync()
	return s.Head(repo, c.Branch)
}

// SetBranch puts a branch elsewhere, as a forced push does.
func (s *Server) SetBranch(repo github.Repo, branch, oid string) {
	s.t.Helper()
	s.gitRun(s.dir(repo), nil, "update-ref", "refs/heads/"+branch, oid)
	s.Sync()
}

// parent is what a commit goes on; nothing for the first of a repository.
func (s *Server) parent(repo github.Repo, c Commit) string {
	if c.From == "" {
		c.From = "main"
	}
	heads := s.refs(repo, "refs/heads/")
	for _, name := range []string{c.Branch, c.From} {
		if oid := heads["refs/heads/"+name]; oid != "" {
			return oid
		}
	}
	if len(heads) == 0 {
		return ""
	}
	oid, err := s.gitTry(s.dir(repo), nil, "rev-parse", "-q", "--verify", c.From+"^{commit}")
	if err != nil {
		return ""
	}
	return oid
}

// Head is the commit that a branch is at.
func (s *Server) Head(repo github.Repo, branch string) string {
	s.t.Helper()
	oid := s.ref(repo, "refs/heads/"+branch)
	if oid == "" {
		s.t.Fatalf("githubtest: %s has no branch %s", repo, branch)
	}
	return oid
}

// Import takes over the branches of a repository on disk.
func (s *Server) Import(repo github.Repo, dir string) {
	s.t.Helper()
	s.gitRun(s.dir(repo), nil, "fetch", "-q", "--force", "--update-head-ok", dir, "+refs/heads/*:refs/heads/*")
	s.Sync()
}

// isGit distinguishes git's requests from those to the API.
func isGit(r *http.Request) bool {
	for _, end := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		if strings.HasSuffix(r.URL.Path, end) && strings.Count(r.URL.Path, "/") >= 3 && !strings.HasPrefix(r.URL.Path, "/repos/") {
			return true
		}
	}
	return false
}

// gitHandler is git's smart HTTP protocol, by git itself.
func (s *Server) gitHandler() http.Handler {
	s.t.Helper()
	programs := sync.OnceValues(func() (string, error) { return s.gitTry("", nil, "--exec-path") })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
		write := parts[2] == "git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
		repo, status := s.gitAccess(r, github.Repo{Owner: parts[0], Name: strings.TrimSuffix(parts[1], ".git")}, write)
		if status != http.StatusOK {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, http.StatusText(status), status)
			return
		}
		dir, err := programs()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r = r.Clone(r.Context())
		r.URL.Path = "/" + repo.String() + ".git/" + parts[2]
		env := append(s.gitEnv(), "GIT_PROJECT_ROOT="+s.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=git")
		if v := r.Header.Get("Git-Protocol"); v != "" {
			env = append(env, "GIT_PROTOCOL="+v)
		}
		(&cgi.Handler{Path: filepath.Join(dir, "git-http-backend"), Env: env, Stderr: io.Discard}).ServeHTTP(w, r)
		if parts[2] == "git-receive-pack" {
			s.Sync()
		}
	})
}

// gitAccess finds the repository and whether the token of the request may have
// it. To those who may not see it there is none.
func (s *Server) gitAccess(r *http.Request, name github.Repo, write bool) (github.Repo, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := s.found(name)
	_, password, given := r.BasicAuth()
	t := s.tokens[password]
	if t != nil {
		t.calls = append(t.calls, "git")
	}
	switch {
	case given && t == nil:
		return name, http.StatusUnauthorized
	case repo == nil || repo.gone:
		return name, http.StatusNotFound
	case t == nil && (write || !repo.public):
		return name, http.StatusUnauthorized
	case t == nil:
		return repo.Repo, http.StatusOK
	case !t.covers(repo):
		return name, http.StatusNotFound
	case !t.may(repo, "read", "read", "contents") || write && !t.may(repo, "write", "write", "contents"):
		return name, http.StatusForbidden
	}
	return repo.Repo, http.StatusOK
}
