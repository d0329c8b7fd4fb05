package githubtest

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// getContents answers with a file at a commit; folders are not among what ycbot
// asks for.
func (s *Server) getContents(r *request) reply {
	dir, path, ref := s.dir(r.repo.Repo), r.PathValue("path"), r.URL.Query().Get("ref")
	if ref == "" {
		ref = "main"
	}
	if s.commit(r.repo, ref) == "" {
		return refuse(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	oid, err := s.gitTry(dir, nil, "rev-parse", "-q", "--verify", ref+":"+path)
	if err != nil {
		return notFound()
	}
	text, err := s.gitRaw(dir, nil, "cat-file", "blob", oid)
	if err != nil {
		return notFound()
	}
	self := s.URL + "/repos/" + r.repo.String() + "/contents/" + url.PathEscape(path)
	return ok(map[string]any{
		"type": "file", "encoding": "base64", "size": len(text), "name": path, "path": path, "sha": oid,
		"content": base64.StdEncoding.EncodeToString([]byte(text)),
		"url":     self, "git_url": self, "html_url": self, "download_url": self,
		"_links": map[string]any{"self": self, "git": self, "html": self},
	})
}

// compare answers how two commits lie to one another; what they bring is left out.
func (s *Server) compare(r *request) reply {
	from, to, cut := strings.Cut(r.PathValue("basehead"), "...")
	base, head := s.commit(r.repo, from), s.commit(r.repo, to)
	dir := s.dir(r.repo.Repo)
	common, err := s.gitTry(dir, nil, "merge-base", base, head)
	if !cut || base == "" || head == "" || err != nil {
		return notFound()
	}
	status := "diverged"
	switch common {
	case base:
		status = "ahead"
		if base == head {
			status = "identical"
		}
	case head:
		status = "behind"
	}
	return ok(map[string]any{"status": status, "commits": []any{}, "total_commits": 0})
}

// getCommit answers with the commit that a branch, tag or id names.
func (s *Server) getCommit(r *request) reply {
	ref := r.PathValue("ref")
	oid := s.commit(r.repo, ref)
	if oid == "" {
		return invalid("No commit found for SHA: " + ref)
	}
	return ok(map[string]any{
		"sha": oid, "author": nil, "committer": nil, "parents": []any{},
		"commit": map[string]any{"message": "", "author": map[string]any{"name": "Author"}},
	})
}
