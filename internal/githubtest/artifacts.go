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
	run    WorkflowRun
}

// A WorkflowRun is what left an artifact.
type WorkflowRun struct {
	Path    string // of the workflow's file
	Event   string
	HeadSHA string
	From    github.Repo // of the head
	Bases   []string    // commits that its pull requests go into
}

// AddArtifactOf leaves an archive of a workflow run.
func (s *Server) AddArtifactOf(repo github.Repo, name string, run WorkflowRun, archive []byte) {
	s.t.Helper()
	s.AddArtifact(repo, name, "main", repo, archive)
	r, head := s.repo(repo), s.repo(run.From)
	s.mu.Lock()
	defer s.mu.Unlock()
	a := r.artifacts[len(r.artifacts)-1]
	a.run, a.sha, a.repo = run, run.HeadSHA, head
}

// getWorkflowRun answers for the run with the number of its artifact.
func (s *Server) getWorkflowRun(r *request) reply {
	for _, a := range r.repo.artifacts {
		if a.id != r.int("id") || a.run.Path == "" {
			continue
		}
		pulls := []any{}
		for _, base := range a.run.Bases {
			pulls = append(pulls, map[string]any{"base": map[string]any{"sha": base}})
		}
		return ok(map[string]any{
			"id": a.id, "path": a.run.Path, "event": a.run.Event, "status": "completed", "head_sha": a.run.HeadSHA,
			"repository": map[string]any{"id": r.repo.ID}, "head_repository": map[string]any{"id": a.repo.ID}, "pull_requests": pulls,
		})
	}
	return notFound()
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
			"workflow_run": map[string]any{"id": a.id, "head_branch": a.branch, "head_sha": a.sha, "head_repository_id": a.repo.ID, "repository_id": r.repo.ID},
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
