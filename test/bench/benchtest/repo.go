package benchtest

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// A Repo is a repository, and a clone of it that the test works in.
type Repo struct {
	Owner, Name string
	Dir         string // the clone

	g *GitHub
}

// Repo makes acme/name, with files in one commit on main. Bob may write, rita may read.
func (g *GitHub) Repo(name string, files map[string]string) *Repo {
	g.t.Helper()
	return g.repo("acme", &github.Repository{Name: &name}, files)
}

// OwnRepo makes alice/name, which only who is let in may see. Bob and rita are, as in [GitHub.Repo].
func (g *GitHub) OwnRepo(name string, files map[string]string) *Repo {
	g.t.Helper()
	return g.repo("alice", &github.Repository{Name: &name, Private: github.Bool(true)}, files)
}

func (g *GitHub) repo(owner string, like *github.Repository, files map[string]string) *Repo {
	g.t.Helper()
	org := owner
	if owner == "alice" { // who makes it
		org = ""
	}
	if _, _, err := g.As("alice").Repositories.Create(g.t.Context(), org, like); err != nil {
		g.t.Fatal(err)
	}
	r := &Repo{Owner: owner, Name: like.GetName(), Dir: g.t.TempDir(), g: g}
	r.git("init", "-q", "-b", "main")
	r.git("remote", "add", "origin", g.ServerURL+"/"+r.FullName()+".git")
	r.Push("alice", "main", "", files)
	r.Permit("bob", "push")
	r.Permit("rita", "pull")
	return r
}

// Import makes acme/name of a clone: main is what the parent of a commit has, in one commit
// with what prepare then writes into the folder, and the branch feature, which bob pushes,
// what the commit itself has. It returns the head.
func (g *GitHub) Import(name, clone, commit string, prepare func(dir string)) (r *Repo, head string) {
	g.t.Helper()
	r = g.Repo(name, map[string]string{"README.md": "# " + name + "\n"})
	commit = r.git("-C", clone, "rev-parse", commit+"^{commit}")
	for side, branch := range []string{"main", "feature"} {
		r.git("fetch", "-q", "--no-tags", clone, commit)
		r.git("checkout", "-q", "-B", branch, "main")
		r.git("read-tree", "-u", "--reset", commit+[]string{"^", ""}[side])
		if prepare(r.Dir); side == 1 {
			head = r.Push("bob", branch, "", nil)
			continue
		}
		r.Push("alice", branch, "", nil)
	}
	return r, head
}

// FullName is "owner/name".
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// Permit gives a user a role: pull, triage, push, maintain or admin.
func (r *Repo) Permit(login, role string) {
	r.g.t.Helper()
	opts := &github.RepositoryAddCollaboratorOptions{Permission: role}
	if _, _, err := r.g.As("alice").Repositories.AddCollaborator(r.g.t.Context(), r.Owner, r.Name, login, opts); err != nil {
		r.g.t.Fatal(err)
	}
}

// Push makes a commit with files on a branch, which starts at from where it is
// new, pushes it as a user, and returns the commit. A file without text is removed.
func (r *Repo) Push(login, branch, from string, files map[string]string) string {
	r.g.t.Helper()
	if from != "" {
		r.git("checkout", "-q", "-B", branch, from)
	}
	for name, text := range files {
		path := filepath.Join(r.Dir, name)
		if text == "" {
			r.git("rm", "-q", "--", name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.g.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.g.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", branch)
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:tok_" + login))
	r.git("-c", "http.extraHeader=Authorization: Basic "+basic, "push", "-q", "--force", r.g.direct+"/"+r.FullName()+".git", "HEAD:refs/heads/"+branch)
	return r.git("rev-parse", "HEAD")
}

// Fork makes the user's fork. What is pushed to it starts at main.
func (r *Repo) Fork(login string) *Repo {
	r.g.t.Helper()
	// GitHub answers 202, which go-github calls an error.
	_, resp, err := r.g.As(login).Repositories.CreateFork(r.g.t.Context(), r.Owner, r.Name, nil)
	if resp == nil || resp.StatusCode >= 300 {
		r.g.t.Fatal(err)
	}
	return &Repo{Owner: login, Name: r.Name, Dir: r.Dir, g: r.g}
}

// OpenPull opens a pull request into main as a user. The head is a branch, or
// owner:branch in a fork.
func (r *Repo) OpenPull(login, head, title string) *github.PullRequest {
	r.g.t.Helper()
	pull, _, err := r.g.As(login).PullRequests.Create(r.g.t.Context(), r.Owner, r.Name,
		&github.NewPullRequest{Title: &title, Head: &head, Base: github.String("main"), Body: github.String("As the title says.")})
	if err != nil {
		r.g.t.Fatal(err)
	}
	return pull
}

// OpenIssue opens an issue that is no pull request.
func (r *Repo) OpenIssue(login, title string) *github.Issue {
	r.g.t.Helper()
	issue, _, err := r.g.As(login).Issues.Create(r.g.t.Context(), r.Owner, r.Name, &github.IssueRequest{Title: &title})
	if err != nil {
		r.g.t.Fatal(err)
	}
	return issue
}

// Comment writes a comment and returns its number. The client says who writes.
func (r *Repo) Comment(as *github.Client, n int, body string) int64 {
	r.g.t.Helper()
	c, _, err := as.Issues.CreateComment(r.g.t.Context(), r.Owner, r.Name, n, &github.IssueComment{Body: &body})
	if err != nil {
		r.g.t.Fatal(err)
	}
	return c.GetID()
}

// EditComment changes the text of a comment.
func (r *Repo) EditComment(as *github.Client, id int64, body string) {
	r.g.t.Helper()
	if _, _, err := as.Issues.EditComment(r.g.t.Context(), r.Owner, r.Name, id, &github.IssueComment{Body: &body}); err != nil {
		r.g.t.Fatal(err)
	}
}

// Comments are those on an issue or pull request.
func (r *Repo) Comments(n int) []*github.IssueComment {
	r.g.t.Helper()
	all, _, err := r.g.As("alice").Issues.ListComments(r.g.t.Context(), r.Owner, r.Name, n, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		r.g.t.Fatal(err)
	}
	return all
}

// BotComments are the comments of the Apps that ycbot posts as.
func (r *Repo) BotComments(n int) []*github.IssueComment {
	r.g.t.Helper()
	var out []*github.IssueComment
	for _, c := range r.Comments(n) {
		if login := c.GetUser().GetLogin(); login == "github-actions[bot]" || login == "ycbot[bot]" {
			out = append(out, c)
		}
	}
	return out
}

// Reactions are the reactions to a comment.
func (r *Repo) Reactions(comment int64) []string {
	r.g.t.Helper()
	all, _, err := r.g.As("alice").Reactions.ListIssueCommentReactions(r.g.t.Context(), r.Owner, r.Name, comment, nil)
	if err != nil {
		r.g.t.Fatal(err)
	}
	var out []string
	for _, reaction := range all {
		out = append(out, reaction.GetContent())
	}
	return out
}

// CheckRuns are the check runs of a commit.
func (r *Repo) CheckRuns(sha string) []*github.CheckRun {
	r.g.t.Helper()
	all, _, err := r.g.As("alice").Checks.ListCheckRunsForRef(r.g.t.Context(), r.Owner, r.Name, sha, nil)
	if err != nil {
		r.g.t.Fatal(err)
	}
	return all.CheckRuns
}

// Annotations are those of a check run.
func (r *Repo) Annotations(checkRun int64) []*github.CheckRunAnnotation {
	r.g.t.Helper()
	all, _, err := r.g.As("alice").Checks.ListCheckRunAnnotations(r.g.t.Context(), r.Owner, r.Name, checkRun, nil)
	if err != nil {
		r.g.t.Fatal(err)
	}
	return all
}

// git runs git in the clone. Who commits and when is fixed, so that a test has
// the same commits each time.
func (r *Repo) git(args ...string) string {
	r.g.t.Helper()
	cmd := exec.CommandContext(r.g.t.Context(), "git", args...)
	cmd.Dir = r.Dir
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Test", "GIT_AUTHOR_EMAIL=test@example.test", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=Test", "GIT_COMMITTER_EMAIL=test@example.test", "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.g.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
