package githubtest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

// A Pull is a pull request to open.
type Pull struct {
	Title, Body string
	Author      string      // login; empty: the owner of the head's repository
	Base        string      // branch; empty: main
	Head        string      // branch, which must be there
	From        github.Repo // of the head; zero: the same repository
	Draft       bool
	Labels      []string
}

// An Issue is an issue to open.
type Issue struct{ Title, Body, Author string }

type issue struct {
	number           int
	title, body      string
	state            string
	author           *account
	labels           []string
	created, updated time.Time
	closed           time.Time
	events           []event
	pull             *pull
}

// An event is what happened to an issue.
type event struct {
	name string
	at   time.Time
}

type pull struct {
	issue    *issue
	repo     *Repo // of the base
	from     *Repo
	base     string
	head     string
	baseSHA  string
	headSHA  string
	mergeSHA string
	before   string // the head before it moved
	was      string // the base before it was led to another one
	merged   bool
	draft    bool
}

// OpenPull opens a pull request and returns its number. refs/pull/N/head is
// there then, and refs/pull/N/merge where it can be merged.
func (s *Server) OpenPull(repo github.Repo, p Pull) int {
	s.t.Helper()
	if p.Base == "" {
		p.Base = "main"
	}
	if p.From == (github.Repo{}) {
		p.From = repo
	}
	r, from := s.repo(repo), s.repo(p.From)
	s.Head(p.From, p.Head) // there must be one
	n := s.OpenIssue(repo, Issue{Title: p.Title, Body: p.Body, Author: p.Author})
	s.mu.Lock()
	in := r.issues[n]
	if p.Author == "" {
		in.author = from.owner
	}
	in.labels = slices.Clone(p.Labels)
	in.pull = &pull{issue: in, repo: r, from: from, base: p.Base, head: p.Head, draft: p.Draft}
	s.mu.Unlock()
	s.Sync()
	return n
}

// OpenIssue opens an issue and returns its number.
func (s *Server) OpenIssue(repo github.Repo, in Issue) int {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	author := r.owner
	if in.Author != "" {
		author = s.account(in.Author)
	}
	r.lastIssue++
	now := s.tick()
	r.issues[r.lastIssue] = &issue{number: r.lastIssue, title: in.Title, body: in.Body, state: "open", author: author, created: now, updated: now}
	return r.lastIssue
}

// SetIssue edits an issue or pull request as its author would: f gets what it
// says and returns what it shall say.
func (s *Server) SetIssue(repo github.Repo, n int, f func(title, body string) (string, string)) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	in := r.issue(s, n)
	in.title, in.body = f(in.title, in.body)
	in.updated = s.tick()
}

// SetLabels replaces the labels of an issue or pull request.
func (s *Server) SetLabels(repo github.Repo, n int, labels ...string) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	in := r.issue(s, n)
	in.labels, in.updated = slices.Clone(labels), s.tick()
}

// SetDraft makes a pull request a draft or no longer one.
func (s *Server) SetDraft(repo github.Repo, n int, draft bool) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	in := r.issue(s, n)
	in.pull.draft, in.updated = draft, s.tick()
}

// Close closes an issue or pull request.
func (s *Server) Close(repo github.Repo, n int) {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	in := r.issue(s, n)
	in.state, in.updated = "closed", s.tick()
	in.closed = in.updated
}

// SetBase leads a pull request to another base, which must be there.
func (s *Server) SetBase(repo github.Repo, n int, branch string) {
	s.t.Helper()
	s.Head(repo, branch)
	r := s.repo(repo)
	s.mu.Lock()
	in := r.issue(s, n)
	in.pull.was, in.pull.base, in.updated = in.pull.base, branch, s.tick()
	in.events = append(in.events, event{"base_ref_changed", in.updated})
	s.mu.Unlock()
	s.Sync()
}

// issue is an issue that there must be.
func (r *Repo) issue(s *Server, n int) *issue {
	s.t.Helper()
	in := r.issues[n]
	if in == nil {
		s.t.Fatalf("githubtest: no issue %s#%d", r.Repo, n)
	}
	return in
}

// Sync moves the open pull requests to where their branches are now. Pushes to
// the server do it by themselves.
func (s *Server) Sync() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[*Repo]map[string]string{}
	heads := func(r *Repo) map[string]string {
		if known[r] == nil {
			known[r] = s.heads(r)
		}
		return known[r]
	}
	for _, r := range s.sorted() {
		for _, n := range slices.Sorted(maps.Keys(r.issues)) {
			in := r.issues[n]
			if p := in.pull; p != nil && in.state == "open" && !p.from.gone {
				s.move(p, heads(p.from)[p.head], heads(p.repo)[p.base])
			}
		}
	}
}

// move puts a pull request at the commits of its branches; empty is a branch that
// is gone: GitHub keeps the heads.
func (s *Server) move(p *pull, head, base string) {
	s.t.Helper()
	if head == "" || base == "" || head == p.headSHA && base == p.baseSHA {
		return
	}
	dir := s.dir(p.repo.Repo)
	if head != p.headSHA {
		p.before = p.headSHA
		p.issue.updated = s.tick()
	}
	p.headSHA, p.baseSHA, p.mergeSHA = head, base, ""
	number := strconv.Itoa(p.issue.number)
	if p.from == p.repo {
		s.setRef(p.repo.Repo, "refs/pull/"+number+"/head", head)
	} else {
		s.gitRun(dir, nil, "fetch", "-q", s.dir(p.from.Repo), "+refs/heads/"+p.head+":refs/pull/"+number+"/head")
	}
	tree, err := s.gitTry(dir, nil, "merge-tree", "--write-tree", base, head)
	if err != nil {
		_, _ = s.gitTry(dir, nil, "update-ref", "-d", "refs/pull/"+number+"/merge") // conflicts: there is none
		return
	}
	p.mergeSHA = s.gitRun(dir, nil, "commit-tree", tree, "-p", base, "-p", head, "-m", "Merge "+head+" into "+base)
	s.setRef(p.repo.Repo, "refs/pull/"+number+"/merge", p.mergeSHA)
}

// PullHead is the head of a pull request.
func (s *Server) PullHead(repo github.Repo, n int) string {
	s.t.Helper()
	r := s.repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.issue(s, n).pull.headSHA
}

// mergeBase is what a pull request is compared with.
func (s *Server) mergeBase(p *pull) string {
	out, err := s.gitFixed(s.dir(p.repo.Repo), "merge-base", p.baseSHA, p.headSHA)
	if err != nil {
		return p.baseSHA // no common history
	}
	return out
}

// gitSpan asks git about what a pull request brings.
func (s *Server) gitSpan(p *pull, args ...string) string {
	s.t.Helper()
	out, err := s.gitFixed(s.dir(p.repo.Repo), append(args, s.mergeBase(p)+".."+p.headSHA)...)
	if err != nil {
		s.t.Fatalf("githubtest: git %s: %v", args[0], err)
	}
	return out
}

func (s *Server) pullCommits(p *pull) []any {
	out := []any{}
	text := s.gitSpan(p, "log", "-z", "--reverse", "--format=%H%n%an%n%B")
	for _, one := range strings.Split(text, "\x00") {
		part := strings.SplitN(one, "\n", 3)
		if len(part) == 3 && len(out) < 250 {
			out = append(out, map[string]any{
				"sha": part[0], "author": nil, "committer": nil, "parents": []any{},
				"commit": map[string]any{"message": strings.TrimRight(part[2], "\n"), "author": map[string]any{"name": part[1]}},
			})
		}
	}
	return out
}

func (s *Server) pullFiles(p *pull) []any {
	names := strings.Split(s.gitSpan(p, "diff", "-z", "-M", "--name-status"), "\x00")
	counts := strings.Split(s.gitSpan(p, "diff", "-z", "-M", "--numstat"), "\x00")
	out := []any{}
	for len(names) > 1 {
		f := map[string]any{"status": fileStatus(names[0]), "sha": nil, "filename": names[1]}
		added, deleted, path := cut2(counts[0])
		skip := 1
		if path == "" { // a rename: the names follow
			f["previous_filename"], f["filename"] = names[1], names[2]
			names, skip = names[1:], 3
		}
		names, counts = names[2:], counts[skip:]
		f["additions"], f["deletions"], f["changes"] = added, deleted, added+deleted
		out = append(out, f)
	}
	return out
}

func cut2(line string) (added, deleted int, path string) {
	part := strings.SplitN(line, "\t", 3)
	added, _ = strconv.Atoi(part[0]) // "-" for binary files is 0, as GitHub has it
	deleted, _ = strconv.Atoi(part[1])
	return added, deleted, part[2]
}

func fileStatus(letter string) string {
	switch letter[0] {
	case 'A':
		return "added"
	case 'D':
		return "removed"
	case 'R':
		return "renamed"
	case 'C':
		return "copied"
	case 'T':
		return "changed"
	}
	return "modified"
}

func (s *Server) repoJSON(r *Repo) map[string]any {
	html := s.URL + "/" + r.String()
	return map[string]any{
		"id": r.ID, "name": r.Name, "full_name": r.String(), "private": !r.public, "owner": r.owner.json(), "fork": r.parent != nil,
		"html_url": html, "clone_url": s.GitURL(r.Repo), "size": r.size, "default_branch": "main", "url": s.URL + "/repos/" + r.String(),
		"visibility": map[bool]string{true: "public", false: "private"}[r.public],
	}
}

// getRepo shows a person also what that person may do.
func (s *Server) getRepo(r *request) reply {
	out := s.repoJSON(r.repo)
	if r.token.kind == "personal" {
		n := rank(r.repo.role(r.token.who))
		out["permissions"] = map[string]any{"pull": n >= 1, "triage": n >= 2, "push": n >= 3, "maintain": n >= 4, "admin": n >= 5}
	}
	return ok(out)
}

func (in *issue) labelsJSON() []any {
	out := []any{}
	for i, l := range in.labels {
		out = append(out, map[string]any{"id": i + 1, "name": l, "color": "ededed", "default": false, "description": nil})
	}
	return out
}

func (s *Server) issueJSON(r *Repo, in *issue) map[string]any {
	html := s.URL + "/" + r.String() + "/issues/" + strconv.Itoa(in.number)
	out := map[string]any{
		"id": 500000 + r.ID*1000 + int64(in.number), "number": in.number, "title": in.title, "body": in.body, "state": in.state,
		"user": in.author.json(), "labels": in.labelsJSON(), "created_at": stamp(in.created), "updated_at": stamp(in.updated), "closed_at": stamp(in.closed),
		"html_url": html, "url": s.URL + "/repos/" + r.String() + "/issues/" + strconv.Itoa(in.number),
	}
	if in.pull != nil {
		out["html_url"] = strings.Replace(html, "/issues/", "/pull/", 1)
		out["pull_request"] = map[string]any{"url": s.URL + "/repos/" + r.String() + "/pulls/" + strconv.Itoa(in.number)}
		out["draft"] = in.pull.draft
	}
	return out
}

func (s *Server) pullJSON(p *pull) map[string]any {
	out := s.issueJSON(p.repo, p.issue)
	delete(out, "pull_request")
	files, added, deleted := s.pullFiles(p), 0, 0
	for _, f := range files {
		f := f.(map[string]any)
		added, deleted = added+f["additions"].(int), deleted+f["deletions"].(int)
	}
	out["head"], out["base"] = s.side(p.from, p.head, p.headSHA), s.side(p.repo, p.base, p.baseSHA)
	out["mergeable"], out["mergeable_state"], out["merged"], out["merged_at"] = p.mergeSHA != "", "unknown", p.merged, nil
	out["merge_commit_sha"], out["rebaseable"] = nilIfEmpty(p.mergeSHA), nil
	out["commits"], out["changed_files"], out["additions"], out["deletions"] = len(s.pullCommits(p)), len(files), added, deleted
	out["author_association"] = "NONE"
	return out
}

// listPulls answers with the pull requests of a branch or of all, the newest first.
func (s *Server) listPulls(r *request) reply {
	q := r.URL.Query()
	var out []any
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(r.repo.issues))) {
		in := r.repo.issues[n]
		if p := in.pull; p != nil && (q.Get("state") == "all" || cmp.Or(q.Get("state"), "open") == in.state) &&
			(q.Get("head") == "" || q.Get("head") == p.from.Owner+":"+p.head) && (q.Get("base") == "" || q.Get("base") == p.base) {
			out = append(out, s.pullJSON(p))
		}
	}
	return list(out)
}

// listEvents answers with what happened to an issue.
func (s *Server) listEvents(r *request) reply {
	in := r.repo.issues[int(r.int("number"))]
	if in == nil {
		return notFound()
	}
	var out []any
	for i, e := range in.events {
		out = append(out, map[string]any{"id": i + 1, "event": e.name, "created_at": stamp(e.at), "actor": nil})
	}
	return list(out)
}

func (s *Server) side(r *Repo, ref, sha string) map[string]any {
	out := map[string]any{"ref": ref, "sha": sha, "label": r.Owner + ":" + ref, "user": r.owner.json(), "repo": nil}
	if !r.gone {
		out["repo"] = s.repoJSON(r)
	}
	return out
}

func (s *Server) getPull(r *request) *pull {
	if in := r.repo.issues[int(r.int("number"))]; in != nil {
		return in.pull
	}
	return nil
}

// ofPull answers with what f makes of the pull request of the path.
func (s *Server) ofPull(f func(*pull) reply) func(*request) reply {
	return func(r *request) reply {
		p := s.getPull(r)
		if p == nil {
			return notFound()
		}
		return f(p)
	}
}

func (s *Server) getPermission(r *request) reply {
	a := s.users[r.PathValue("login")]
	if a == nil {
		return refuse(http.StatusNotFound, r.PathValue("login")+" is not a user")
	}
	role, coarse, madeUp := strings.Cut(r.repo.role(a), ":")
	if !madeUp {
		coarse = cmp.Or(map[string]string{"maintain": "write", "triage": "read"}[role], role)
	}
	who := a.json()
	who["role_name"] = role
	return ok(map[string]any{"permission": coarse, "role_name": role, "user": who})
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}
