package workspace

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A gitServer serves one repository over HTTP.
type gitServer struct {
	URL     string
	secret  string      // what a request must have as its authorization; empty: nothing
	cut     atomic.Bool // packs end after some bytes
	fetches atomic.Int32
	during  func() // called before a pack is sent

	mu     sync.Mutex
	bodies []string
}

func (s *gitServer) saw(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.bodies, func(b string) bool { return strings.Contains(b, text) })
}

func serve(t *testing.T, repo string) *gitServer {
	t.Helper()
	s := &gitServer{}
	backend := &cgi.Handler{
		Path: filepath.Join(user(t, "/", "--exec-path"), "git-http-backend"), Stderr: io.Discard,
		Env: append(slices.Clone(userEnv), "GIT_PROJECT_ROOT="+filepath.Dir(repo), "GIT_HTTP_EXPORT_ALL=1"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.secret != "" && r.Header.Get("Authorization") != s.secret {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		h := *backend
		h.Env = append(slices.Clone(backend.Env), "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
		if !strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
			h.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("Content-Encoding") == "" && !bytes.Contains(body, []byte("command=fetch")) {
			h.ServeHTTP(w, r)
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		s.fetches.Add(1)
		if s.during != nil {
			s.during()
		}
		if s.cut.Load() {
			w = &cutWriter{ResponseWriter: w, left: 20}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/" + filepath.Base(repo) + "/.git"
	return s
}

// A cutWriter ends the connection after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(p)
}
