package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
)

// A required is a check that a branch takes no merge without.
type required struct {
	check string
	app   int64 // whose check it must be; 0: anyone's
}

// RequireByRule has a ruleset require checks on a branch, no matter who makes them.
func (s *Server) RequireByRule(repo github.Repo, branch string, checks ...string) {
	s.rule(repo, branch, 0, checks)
}

// RequireByRuleOf has a ruleset require checks of an App on a branch.
func (s *Server) RequireByRuleOf(repo github.Repo, branch string, app int64, checks ...string) {
	s.rule(repo, branch, app, checks)
}

func (s *Server) rule(repo github.Repo, branch string, app int64, checks []string) {
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ruled = map[string][]required{}
	for _, c := range checks {
		r.ruled[branch] = append(r.ruled[branch], required{c, app})
	}
}

// RequireByProtection has the protection of a branch require checks.
func (s *Server) RequireByProtection(repo github.Repo, branch string, checks ...string) {
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.required = map[string][]string{branch: checks}
}

func (s *Server) getBranch(r *request) reply {
	name := r.PathValue("branch")
	oid := s.ref(r.repo.Repo, "refs/heads/"+name)
	if oid == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	contexts := r.repo.required[name]
	checks := []any{}
	for _, c := range contexts {
		checks = append(checks, map[string]any{"context": c, "app_id": nil})
	}
	return ok(map[string]any{
		"name": name, "commit": map[string]any{"sha": oid}, "protected": r.repo.protected[name] || len(contexts) > 0,
		"protection": map[string]any{
			"enabled":                len(contexts) > 0,
			"required_status_checks": map[string]any{"enforcement_level": "everyone", "contexts": append([]string{}, contexts...), "checks": checks},
		},
	})
}

// listRules answers with the rules that are in force for a branch. It need not exist.
func (s *Server) listRules(r *request) reply {
	var out []any
	if checks := r.repo.ruled[r.PathValue("branch")]; len(checks) > 0 {
		var named []any
		for _, c := range checks {
			one := map[string]any{"context": c.check}
			if c.app != 0 {
				one["integration_id"] = c.app
			}
			named = append(named, one)
		}
		out = append(out, map[string]any{"type": "deletion"}, map[string]any{
			"type": "required_status_checks", "ruleset_id": 1, "ruleset_source_type": "Repository",
			"parameters": map[string]any{"required_status_checks": named, "strict_required_status_checks_policy": false},
		})
	}
	return list(out)
}

// Merge tries to merge a pull request as someone does with a token of their own, and
// returns the status and the message of the answer.
func (s *Server) Merge(repo github.Repo, n int, login string) (status int, message string) {
	s.t.Helper()
	url := fmt.Sprintf("%s/repos/%s/pulls/%d/merge", s.URL, repo, n)
	body := fmt.Sprintf(`{"sha": %q}`, s.PullHead(repo, n))
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatalf("githubtest: %v", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token(login, nil, "personal"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatalf("githubtest: %v", err)
	}
	defer resp.Body.Close()
	var said struct{ Message string }
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		s.t.Fatalf("githubtest: answer of a merge: %v", err)
	}
	return resp.StatusCode, strings.TrimSpace(said.Message)
}

// mergePull merges a pull request, or says as GitHub does what keeps it from that.
// No one may bypass a rule here.
func (s *Server) mergePull(r *request) reply {
	in := decode[struct {
		SHA *string `json:"sha"`
	}](r)
	p := s.getPull(r)
	switch {
	case p == nil:
		return notFound()
	case p.issue.state != "open" || p.mergeSHA == "":
		return refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case p.draft:
		return refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case in.SHA != nil && *in.SHA != p.headSHA:
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	}
	for _, need := range r.repo.ruled[p.base] {
		if lack := r.repo.lacks(p.headSHA, need); lack != "" {
			return refuse(http.StatusMethodNotAllowed, "Repository rule violations found\n\n"+lack+"\n\n")
		}
	}
	for _, name := range r.repo.required[p.base] {
		if lack := r.repo.lacks(p.headSHA, required{check: name}); lack != "" {
			return refuse(http.StatusMethodNotAllowed, lack)
		}
	}
	s.setRef(r.repo.Repo, "refs/heads/"+p.base, p.mergeSHA)
	p.merged = true
	p.issue.state, p.issue.updated = "closed", s.tick()
	p.issue.closed = p.issue.updated
	return ok(map[string]any{"sha": p.mergeSHA, "merged": true, "message": "Pull Request successfully merged"})
}

// lacks says what a commit lacks of a required check, "" where it has it: of each App the
// newest check run of the name counts, and of the commit statuses the newest.
func (r *Repo) lacks(sha string, need required) string {
	seen, found := map[int64]bool{}, false
	bad := func(what string) string { return fmt.Sprintf("Required status check %q is %s.", need.check, what) }
	for _, c := range slices.Backward(r.checks) {
		if c.run.Name != need.check || c.run.HeadSHA != sha || seen[c.app.ID] || need.app != 0 && need.app != c.app.ID {
			continue
		}
		seen[c.app.ID], found = true, true
		switch {
		case c.run.Status != "completed":
			return bad("in progress")
		case !slices.Contains([]string{"success", "neutral", "skipped"}, c.run.Conclusion):
			return bad("failing")
		}
	}
	if need.app == 0 {
		for _, st := range slices.Backward(r.statuses) {
			if st.status.Context != need.check || st.sha != sha {
				continue
			}
			if found = true; st.status.State != "success" {
				return bad("failing")
			}
			break
		}
	}
	if !found {
		return bad("expected")
	}
	return ""
}
