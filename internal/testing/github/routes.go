package githubtest

import (
	"maps"
	"net/http"
	"slices"

	"github.com/ycbot/ycbot/internal/github"
)

// routes is what this GitHub can do.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	const repo = "/repos/{owner}/{repo}"
	read := func(h func(*request) reply, perms ...string) http.HandlerFunc {
		return s.inRepo(needs("read", "read", h, perms...))
	}
	m.HandleFunc("GET /app", route(func(r *request) reply { return ok(s.appJSON(r.app)) }))
	m.HandleFunc("GET /app/installations", route(s.listInstallations))
	m.HandleFunc("GET /repositories/{number}/installation", route(s.getInstallation))
	m.HandleFunc("POST /app/installations/{id}/access_tokens", route(s.createToken))
	m.HandleFunc("DELETE /installation/token", route(s.revokeToken))
	m.HandleFunc("GET /user", route(s.getSelf))
	m.HandleFunc("GET /users/{login}", route(s.getUser))
	m.HandleFunc("GET /rate_limit", route(s.getLimit))
	m.HandleFunc("GET /installation/repositories", route(s.listInstalled))
	m.HandleFunc("GET /user/installations", route(s.listUserInstalls))
	m.HandleFunc("GET /user/installations/{id}/repositories", route(s.listUserRepos))
	m.HandleFunc("DELETE /applications/{client}/token", route(s.revoke))
	m.HandleFunc("POST /app-manifests/{code}/conversions", route(s.convert))

	m.HandleFunc("GET "+repo+"/installation", route(s.getInstallation))
	m.HandleFunc("GET "+repo, read(s.getRepo, "metadata"))
	m.HandleFunc("GET "+repo+"/collaborators/{login}/permission", read(s.getPermission, "metadata"))
	m.HandleFunc("GET "+repo+"/contents/{path...}", read(s.getContents, "contents"))
	m.HandleFunc("GET "+repo+"/commits/{ref}", read(s.getCommit, "contents"))
	m.HandleFunc("GET "+repo+"/actions/artifacts", read(s.listArtifacts, "actions"))
	m.HandleFunc("GET "+repo+"/actions/runs/{id}", read(s.getWorkflowRun, "actions"))
	m.HandleFunc("GET "+repo+"/actions/artifacts/{id}/zip", read(s.getArchive, "actions"))
	m.HandleFunc("GET "+repo+"/branches/{branch}", read(s.getBranch, "contents"))
	m.HandleFunc("GET "+repo+"/rules/branches/{branch}", read(s.listRules, "metadata"))
	m.HandleFunc("GET "+repo+"/compare/{basehead}", read(s.compare, "contents"))
	m.HandleFunc("GET "+repo+"/pulls", read(s.listPulls, "pull_requests"))
	m.HandleFunc("PUT "+repo+"/pulls/{number}/merge", s.inRepo(needs("write", "write", s.mergePull, "contents")))
	m.HandleFunc("GET "+repo+"/pulls/{number}", read(s.ofPull(func(p *pull) reply { return ok(s.pullJSON(p)) }), "pull_requests"))
	m.HandleFunc("GET "+repo+"/pulls/{number}/files", read(s.ofPull(func(p *pull) reply {
		files := s.pullFiles(p)
		return list(files[:min(len(files), 3000)]) // GitHub ends the list there
	}), "pull_requests"))
	m.HandleFunc("GET "+repo+"/pulls/{number}/commits", read(s.ofPull(func(p *pull) reply { return list(s.pullCommits(p)) }), "pull_requests"))

	m.HandleFunc("GET "+repo+"/issues/{number}", read(s.getIssue, "issues", "pull_requests"))
	// Patterns for both, a comment and the comments of an issue, would conflict.
	m.HandleFunc("GET "+repo+"/issues/{number}/{id}", read(func(r *request) reply {
		switch {
		case r.PathValue("number") == "comments":
			return s.getComment(r)
		case r.PathValue("id") == "comments":
			return s.listComments(r)
		case r.PathValue("id") == "events":
			return s.listEvents(r)
		}
		return notFound()
	}, "issues", "pull_requests"))
	m.HandleFunc("POST "+repo+"/issues/{number}/comments", s.inRepo(s.createComment))
	m.HandleFunc("PATCH "+repo+"/issues/comments/{id}", s.inRepo(s.editComment))
	m.HandleFunc("POST "+repo+"/issues/comments/{id}/reactions", s.inRepo(needs("write", "read", s.createReaction, "issues", "pull_requests")))

	m.HandleFunc("POST "+repo+"/check-runs", s.inRepo(needs("write", "read", s.createCheck, "checks")))
	m.HandleFunc("GET "+repo+"/check-runs/{id}", read(s.getCheck, "checks"))
	m.HandleFunc("PATCH "+repo+"/check-runs/{id}", s.inRepo(needs("write", "read", s.updateCheck, "checks")))
	m.HandleFunc("GET "+repo+"/check-runs/{id}/annotations", read(s.listAnnotations, "checks"))
	m.HandleFunc("GET "+repo+"/commits/{ref}/check-runs", read(s.listChecks, "checks"))
	m.HandleFunc("GET "+repo+"/commits/{ref}/statuses", read(s.listStatuses, "statuses"))
	m.HandleFunc("POST "+repo+"/statuses/{sha}", s.inRepo(needs("write", "write", s.createStatus, "statuses")))
	return m
}

func (s *Server) createToken(r *request) reply {
	in := s.installs[r.int("id")]
	if in == nil || in.gone || in.app != r.app {
		return notFound()
	}
	if in.suspended {
		return refuse(http.StatusForbidden, "This installation has been suspended")
	}
	asked := decode[struct {
		Repositories  []string
		RepositoryIDs []int64 `json:"repository_ids"`
		Permissions   map[string]string
	}](r)
	named := len(asked.Repositories) + len(asked.RepositoryIDs)
	t := &token{who: in.app.bot, app: in.app, kind: "installation", perms: map[string]string{"metadata": "read"}, installed: true, of: in}
	for _, repo := range in.repos {
		if named == 0 || slices.Contains(asked.Repositories, repo.Name) || slices.Contains(asked.RepositoryIDs, repo.ID) {
			t.repos = append(t.repos, repo)
		}
	}
	if named > 0 && len(t.repos) != named {
		return refuse(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
	}
	for k, v := range in.perms {
		if v != "none" && asked.Permissions == nil {
			t.perms[k] = v
		}
	}
	for k, v := range asked.Permissions {
		if has := in.perms[k]; has != "write" && has != v {
			return refuse(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
		t.perms[k] = v
	}
	s.made = append(s.made, t)
	// Far away, because clients compare it with a clock that is not the server's.
	return created(map[string]any{"token": s.addToken(t), "expires_at": "2099-01-01T00:00:00Z", "permissions": t.perms, "repository_selection": "selected"})
}

// getInstallation is for an App as itself.
func (s *Server) getInstallation(r *request) reply {
	repo := s.found(github.Repo{Owner: r.PathValue("owner"), Name: r.PathValue("repo")})
	for _, have := range s.repos {
		if have.ID == r.int("number") {
			repo = have
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.installs)) {
		if in := s.installs[id]; in.app == r.app && !in.gone && repo != nil && slices.Contains(in.repos, repo) {
			return ok(s.installJSON(in))
		}
	}
	return notFound()
}

// listInstallations is for an App as itself.
func (s *Server) listInstallations(r *request) reply {
	var out []any
	for _, id := range slices.Sorted(maps.Keys(s.installs)) {
		if in := s.installs[id]; in.app == r.app && !in.gone {
			out = append(out, s.installJSON(in))
		}
	}
	return list(out)
}

func (s *Server) revokeToken(r *request) reply {
	if !r.token.installed {
		return r.token.notAccessible()
	}
	r.token.revoked = true
	for text, t := range s.tokens {
		if t == r.token {
			delete(s.tokens, text)
		}
	}
	return reply{status: http.StatusNoContent}
}

func (s *Server) getSelf(r *request) reply {
	if r.token.kind != "personal" {
		return r.token.notAccessible()
	}
	return ok(r.token.who.json())
}

func (s *Server) getUser(r *request) reply {
	a := s.users[r.PathValue("login")]
	if a == nil {
		return notFound()
	}
	return ok(a.json())
}

func (s *Server) getIssue(r *request) reply {
	in := r.repo.issues[int(r.int("number"))]
	if in == nil {
		return notFound()
	}
	return ok(s.issueJSON(r.repo, in))
}

func (s *Server) getLimit(*request) reply {
	core := map[string]any{"limit": 5000, "remaining": s.remain, "reset": s.now.Unix() + 3600, "used": 5000 - s.remain}
	return ok(map[string]any{"resources": map[string]any{"core": core, "search": core}, "rate": core})
}

func (s *Server) listInstalled(r *request) reply {
	if r.token.kind == "personal" {
		return refuse(http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
	}
	var out []any
	for _, repo := range r.token.repos {
		out = append(out, s.repoJSON(repo))
	}
	rep := list(out)
	rep.wrap = "repositories"
	return rep
}

// installationOf is the installation that hears of a repository, for webhooks.
func (s *Server) installationOf(r *Repo) (id int64, ok bool) {
	for _, in := range s.installs {
		for _, have := range in.repos {
			if have == r && !in.gone && (!ok || in.id < id) {
				id, ok = in.id, true
			}
		}
	}
	return id, ok
}
