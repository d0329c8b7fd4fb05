package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

type check struct {
	run github.CheckRun // its Output has all annotations
	app *App
}

// checkBody is what is sent to create or update a check run. Pointers show
// what was left out.
type checkBody struct {
	Name        *string
	HeadSHA     *string    `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      *string    `json:"status"`
	Conclusion  *string    `json:"conclusion"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title, Summary, Text *string
		Annotations          []annotationJSON
	}
	Actions *[]struct{ Label, Description, Identifier string }
}

type annotationJSON struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	Level      string `json:"annotation_level"`
	Title      string `json:"title"`
	Message    string `json:"message"`
	RawDetails string `json:"raw_details"`
}

// CheckRuns returns all check runs of a repository in the order they were
// made, with all their annotations.
func (s *Server) CheckRuns(repo github.Repo) []github.CheckRun {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []github.CheckRun
	for _, c := range r.checks {
		run := c.run
		if run.Output != nil {
			o := *run.Output
			o.Annotations = slices.Clone(o.Annotations)
			run.Output = &o
		}
		out = append(out, run)
	}
	return out
}

func (s *Server) createCheck(r *request) reply {
	in := decode[checkBody](r)
	switch {
	case r.token.app == nil:
		return refuse(403, "You must authenticate via a GitHub App.")
	case in.Name == nil || *in.Name == "" || in.HeadSHA == nil:
		return invalid("name and head_sha are needed")
	case !s.hasCommit(r.repo, *in.HeadSHA):
		return refuse(422, "No commit found for SHA: "+*in.HeadSHA)
	}
	c := &check{app: r.token.app}
	c.run = github.CheckRun{AppID: c.app.ID, HeadSHA: *in.HeadSHA, Status: "queued"}
	if wrong := c.change(s, in); wrong != nil {
		return invalid(wrong...)
	}
	c.run.ID = s.newID()
	if c.run.Started.IsZero() {
		c.run.Started = s.now
	}
	c.run.HTMLURL = fmt.Sprintf("%s/%s/runs/%d", s.URL, r.repo.String(), c.run.ID)
	r.repo.checks = append(r.repo.checks, c)
	return created(s.checkJSON(r.repo, c))
}

// updateCheck lets an App change its own check runs.
func (s *Server) updateCheck(r *request) reply {
	c := r.repo.check(r.int("id"))
	switch {
	case c == nil:
		return notFound()
	case r.token.app == nil:
		return refuse(403, "You must authenticate via a GitHub App.")
	case c.app != r.token.app:
		return refuse(403, "Invalid app_id `"+strconv.FormatInt(r.token.app.ID, 10)+"` - check run can only be modified by the GitHub App that created it.")
	}
	if wrong := c.change(s, decode[checkBody](r)); wrong != nil {
		return invalid(wrong...)
	}
	return ok(s.checkJSON(r.repo, c))
}

// change applies what was sent, all or nothing, and returns what is wrong with it.
func (c *check) change(s *Server, in checkBody) []string {
	if wrong := in.wrong(); wrong != nil {
		return wrong
	}
	now := s.tick()
	for to, from := range map[*string]*string{
		&c.run.Name: in.Name, &c.run.DetailsURL: in.DetailsURL, &c.run.ExternalID: in.ExternalID, &c.run.Status: in.Status, &c.run.Conclusion: in.Conclusion,
	} {
		if from != nil {
			*to = *from
		}
	}
	if in.StartedAt != nil {
		c.run.Started = in.StartedAt.UTC()
	}
	switch {
	case in.CompletedAt != nil:
		c.run.Completed = in.CompletedAt.UTC()
	case in.Conclusion != nil:
		c.run.Completed = now
	}
	if in.Conclusion != nil {
		c.run.Status = "completed"
	}
	if c.run.Status != "completed" {
		c.run.Conclusion, c.run.Completed = "", time.Time{}
	}
	if in.Actions != nil {
		c.run.Actions = nil
		for _, a := range *in.Actions {
			c.run.Actions = append(c.run.Actions, github.Button(a))
		}
	}
	c.setOutput(in)
	return nil
}

// setOutput replaces the texts and appends the annotations, as GitHub does.
func (c *check) setOutput(in checkBody) {
	if in.Output == nil {
		return
	}
	if c.run.Output == nil {
		c.run.Output = &github.Output{}
	}
	o := c.run.Output
	for to, from := range map[*string]*string{&o.Title: in.Output.Title, &o.Summary: in.Output.Summary, &o.Text: in.Output.Text} {
		if from != nil {
			*to = *from
		}
	}
	for _, a := range in.Output.Annotations {
		o.Annotations = append(o.Annotations, github.Annotation{
			Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine, Level: a.Level, Title: a.Title, Message: a.Message, RawDetails: a.RawDetails,
		})
	}
	c.run.Annotations = len(o.Annotations)
}

func (in checkBody) wrong() []string {
	var out []string
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		out = append(out, "conclusion is needed for status completed")
	}
	if in.Actions != nil && len(*in.Actions) > 3 {
		out = append(out, "at most 3 actions")
	}
	if in.Output == nil {
		return out
	}
	for name, text := range map[string]*string{"summary": in.Output.Summary, "text": in.Output.Text} {
		if text != nil && len([]rune(*text)) > 65535 {
			out = append(out, name+" exceeds a maximum bytesize of 65535")
		}
	}
	if len(in.Output.Annotations) > 50 {
		out = append(out, "no more than 50 items are allowed: annotations")
	}
	for _, a := range in.Output.Annotations {
		if a.Path == "" || a.StartLine < 1 || a.EndLine < a.StartLine || a.Message == "" || len(a.Message) > 64<<10 || len([]rune(a.Title)) > 255 {
			out = append(out, "annotation of "+a.Path+" is invalid")
		}
	}
	return out
}

func (r *Repo) check(id int64) *check {
	for _, c := range r.checks {
		if c.run.ID == id {
			return c
		}
	}
	return nil
}

func (s *Server) getCheck(r *request) reply {
	c := r.repo.check(r.int("id"))
	if c == nil {
		return notFound()
	}
	return ok(s.checkJSON(r.repo, c))
}

// listChecks lists newest first; without filter=all, the newest of each App
// and name alone.
func (s *Server) listChecks(r *request) reply {
	q := r.URL.Query()
	sha := r.PathValue("ref")
	if oid := s.commit(r.repo, sha); oid != "" {
		sha = oid
	}
	var out []any
	seen := map[string]bool{}
	for _, c := range slices.Backward(r.repo.checks) {
		id := strconv.FormatInt(c.app.ID, 10)
		if c.run.HeadSHA != sha || q.Has("check_name") && q.Get("check_name") != c.run.Name ||
			q.Has("app_id") && q.Get("app_id") != id || q.Has("status") && q.Get("status") != c.run.Status {
			continue
		}
		if k := id + c.run.Name; q.Get("filter") != "all" {
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		out = append(out, s.checkJSON(r.repo, c))
	}
	rep := list(out)
	rep.wrap = "check_runs"
	return rep
}

func (s *Server) listAnnotations(r *request) reply {
	c := r.repo.check(r.int("id"))
	if c == nil {
		return notFound()
	}
	var out []any
	if c.run.Output != nil {
		for _, a := range c.run.Output.Annotations {
			out = append(out, map[string]any{
				"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "annotation_level": a.Level, "message": a.Message,
				"title": nilIfEmpty(a.Title), "raw_details": nilIfEmpty(a.RawDetails),
			})
		}
	}
	return list(out)
}

func (s *Server) checkJSON(r *Repo, c *check) map[string]any {
	run := c.run
	o := run.Output
	if o == nil {
		o = &github.Output{}
	}
	pulls := []any{}
	for _, n := range slices.Sorted(maps.Keys(r.issues)) {
		in := r.issues[n]
		if in.pull != nil && in.pull.headSHA == run.HeadSHA && in.state == "open" && in.pull.from == r {
			pulls = append(pulls, s.briefPull(in.pull))
		}
	}
	return map[string]any{
		"id": run.ID, "name": run.Name, "head_sha": run.HeadSHA, "external_id": run.ExternalID, "status": run.Status,
		"conclusion": nilIfEmpty(run.Conclusion), "started_at": stamp(run.Started), "completed_at": stamp(run.Completed),
		"details_url": nilIfEmpty(run.DetailsURL), "html_url": run.HTMLURL, "app": s.appJSON(c.app), "pull_requests": pulls,
		"check_suite": map[string]any{"id": c.app.ID*1000 + r.ID},
		"output": map[string]any{
			"title": nilIfEmpty(o.Title), "summary": nilIfEmpty(o.Summary), "text": nilIfEmpty(o.Text), "annotations_count": len(o.Annotations),
			"annotations_url": fmt.Sprintf("%s/repos/%s/check-runs/%d/annotations", s.URL, r.String(), run.ID),
		},
	}
}

// briefPull is a pull request as it is named within other things.
func (s *Server) briefPull(p *pull) map[string]any {
	side := func(r *Repo, ref, sha string) map[string]any {
		return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"id": r.ID, "name": r.Name, "url": s.URL + "/repos/" + r.String()}}
	}
	return map[string]any{
		"id": p.issue.number, "number": p.issue.number, "url": fmt.Sprintf("%s/repos/%s/pulls/%d", s.URL, p.repo.String(), p.issue.number),
		"head": side(p.from, p.head, p.headSHA), "base": side(p.repo, p.base, p.baseSHA),
	}
}

func (s *Server) appJSON(a *App) map[string]any {
	return map[string]any{
		"id": a.ID, "slug": a.Slug, "name": a.Name, "node_id": fmt.Sprintf("A_%d", a.ID), "owner": a.bot.json(), "description": nil,
		"external_url": "https://github.invalid/apps/" + a.Slug, "html_url": "https://github.invalid/apps/" + a.Slug,
		"permissions": a.permissions(), "events": append([]string{}, a.Events...), "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
	}
}

func (s *Server) installJSON(in *install) map[string]any {
	out := map[string]any{
		"id": in.id, "app_id": in.app.ID, "app_slug": in.app.Slug, "account": in.owner.json(), "target_id": in.owner.ID, "target_type": in.owner.Type,
		"permissions": in.perms, "events": append([]string{}, in.app.Events...), "repository_selection": "selected", "single_file_name": nil,
		"access_tokens_url": fmt.Sprintf("%s/app/installations/%d/access_tokens", s.URL, in.id), "repositories_url": s.URL + "/installation/repositories",
		"html_url": fmt.Sprintf("https://github.invalid/settings/installations/%d", in.id), "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		"suspended_at": nil, "suspended_by": nil,
	}
	if in.suspended {
		out["suspended_at"] = "2026-01-02T00:00:00Z"
	}
	return out
}
