package githubtest

import (
	"net/http"
	"net/http/httptest"

	"github.com/ycbot/ycbot/internal/github"
)

// An artifact is what a workflow run left. Its archive is on another host, which
// wants no token.
type artifact struct {
	id     int64
	name   string
	branch string
	sha    string
	repo   *Repo // of the head
	host   *httptest.Server
}

// AddArtifact leaves an archive of a workflow that ran for a branch of from.
func (s *Server) AddArtifact(repo github.Repo, name, branch string, from github.Repo, archive []byte) {
	s.t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			s.t.Errorf("githubtest: a token was sent to the host of artifacts")
		}
		_, _ = w.Write(archive)
	}))
	s.t.Cleanup(host.Close)
	sha := s.Head(from, branch)
	r, head := s.repo(repo), s.repo(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.artifacts = append(r.artifacts, &artifact{id: s.newID(), name: name, branch: branch, sha: sha, repo: head, host: host})
}

func (s *Server) listArtifacts(r *request) reply {
	want := r.URL.Query().Get("name")
	var out []any
	for i := len(r.repo.artifacts) - 1; i >= 0; i-- {
		a := r.repo.artifacts[i]
		if want != "" && a.name != want {
			continue
		}
		out = append(out, map[string]any{
			"id": a.id, "name": a.name, "size_in_bytes": 1, "expired": false, "created_at": s.now,
			"workflow_run": map[string]any{"head_branch": a.branch, "head_sha": a.sha, "head_repository_id": a.repo.ID, "repository_id": r.repo.ID},
		})
	}
	rep := list(out)
	rep.wrap = "artifacts"
	return rep
}

// getArchive says where the archive is.
func (s *Server) getArchive(r *request) reply {
	for _, a := range r.repo.artifacts {
		if a.id == r.int("id") {
			return reply{status: http.StatusFound, location: a.host.URL + "/archive.zip"}
		}
	}
	return notFound()
}
