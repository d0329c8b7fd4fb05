package githubtest

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

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
	made   time.Time
	run    WorkflowRun
}

// A WorkflowRun is what left an artifact.
type WorkflowRun struct {
	Path    string // of the workflow's file
	Event   string
	HeadSHA string
	From    github.Repo // of the head
	Bases   []string    // commits that its pull requests go into

	ID         int64     // 0: that of its artifact
	Branch     string    // of the head; empty: that of a pull request with this head, else main
	Status     string    // empty: completed
	Conclusion string    // empty: success, where it is completed
	Actor      string    // login; empty: none is named
	Created    time.Time // zero: when its artifact was made
	Expired    bool      // its artifact
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
	if run.Branch != "" {
		a.branch = run.Branch
	} else if run.HeadSHA != "" {
		a.branch = r.branchOf(head, run.HeadSHA)
	}
}

// branchOf is the branch of a pull request from a repository with a head, else main.
func (r *Repo) branchOf(from *Repo, sha string) string {
	for _, n := range slices.Sorted(maps.Keys(r.issues)) {
		if p := r.issues[n].pull; p != nil && p.from == from && p.headSHA == sha {
			return p.head
		}
	}
	return "main"
}

// runID is the number of the workflow run that left a.
func (a *artifact) runID() int64 { return cmp.Or(a.run.ID, a.id) }

// getWorkflowRun answers for the run that left an artifact, as the newest of it says.
func (s *Server) getWorkflowRun(r *request) reply {
	for _, a := range slices.Backward(r.repo.artifacts) {
		if a.runID() != r.int("id") || a.run.Path == "" {
			continue
		}
		var actor, conclusion any
		if u := s.users[a.run.Actor]; u != nil {
			actor = u.json()
		}
		status := cmp.Or(a.run.Status, "completed")
		if status == "completed" {
			conclusion = cmp.Or(a.run.Conclusion, "success")
		}
		created := a.run.Created
		if created.IsZero() {
			created = a.made
		}
		pulls := []any{}
		for _, base := range a.run.Bases {
			pulls = append(pulls, map[string]any{"base": map[string]any{"sha": base}})
		}
		return ok(map[string]any{
			"id": a.runID(), "path": a.run.Path, "event": a.run.Event, "status": status, "conclusion": conclusion, "actor": actor,
			"head_sha": a.run.HeadSHA, "head_branch": a.branch, "created_at": stamp(created),
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
	r.artifacts = append(r.artifacts, &artifact{id: s.newID(), name: name, branch: branch, sha: sha, repo: head, host: host, made: s.tick()})
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
			"id": a.id, "name": a.name, "size_in_bytes": 1, "expired": a.run.Expired, "created_at": stamp(a.made),
			"workflow_run": map[string]any{"id": a.runID(), "head_branch": a.branch, "head_sha": a.sha, "head_repository_id": a.repo.ID, "repository_id": r.repo.ID},
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
