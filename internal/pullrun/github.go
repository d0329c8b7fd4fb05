// Package pullrun has one pull request verified and published. The Action, the App and
// "ycbot run --pr" do it with the same code.
package pullrun

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// GitHub is GitHub as one job sees it: what was learned of the pull request, once, and how
// to get its commits.
type GitHub struct {
	Client *github.Client
	Token  string         // for git
	Server string         // of the web pages and of git, for where the API does not say
	File   string         // a configuration at the base in place of config.Path; "": none
	Below  *config.Config // the operator's, over which the repository's is laid; nil: the defaults
	Force  *config.Force  // what the operator lays over the repository's; nil: nothing

	Repo   github.Repo
	Pull   *github.Snapshot // nil: no pull request
	Base   string           // name of the base branch, where there is no pull request
	Config *config.Config   // that holds

	blob []byte // what Config was read from; nil: there is no such file
}

// New asks GitHub with a token.
func New(m machine.Machine, token string) (*GitHub, error) {
	c, err := github.New(github.Options{
		BaseURL: m.Getenv("GITHUB_API_URL"), Token: token, Transport: m.Client.Transport, Now: m.Now, Log: m.Log,
	})
	if err != nil {
		return nil, err
	}
	return &GitHub{Client: c, Token: token, Server: github.ServerOf(m.Getenv("GITHUB_API_URL"), m.Getenv("GITHUB_SERVER_URL"))}, nil
}

// Learn asks what the decision about j depends on.
func (h *GitHub) Learn(ctx context.Context, e *event.Event, j job.Job) (job.Facts, error) {
	h.Repo = github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}
	var f job.Facts
	var err error
	switch {
	case j.Number != 0:
		f, err = h.learnPull(ctx, j)
	case j.Trigger == job.TriggerMergeGroup:
		// Who may put a pull request into the queue has write permission.
		f = job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}
		h.Base = strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/")
	case j.Trigger == job.TriggerPush:
		// Who may push to the default branch has write permission.
		f = job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}
		h.Base = e.Push.Branch
	default:
		f, err = h.learnBranch(ctx, j)
	}
	if err != nil {
		return job.Facts{}, err
	}
	if j.Asked() {
		if f.Actor, err = h.permission(ctx, j.Actor.Login); err != nil {
			return job.Facts{}, err
		}
	}
	return f, h.ReadConfig(ctx, cmp.Or(f.BaseSHA, j.BaseSHA))
}

func (h *GitHub) learnPull(ctx context.Context, j job.Job) (job.Facts, error) {
	moment := github.Moment{At: j.At}
	if j.Text != nil {
		moment.Text, moment.Title, moment.Body = true, j.Text.Title, j.Text.Body
	}
	s, err := h.Client.SnapshotAt(ctx, h.Repo, j.Number, moment)
	if err != nil {
		return job.Facts{}, err
	}
	if j.Repo.ID != 0 && s.Base.RepoID != 0 && s.Base.RepoID != j.Repo.ID {
		return job.Facts{}, &github.Error{Status: http.StatusForbidden, Message: fmt.Sprintf("the name %s is another repository's now", h.Repo)}
	}
	if behind(j, s) {
		return job.Facts{}, &github.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("pull request %s#%d as of the event is not known yet", h.Repo, j.Number)}
	}
	if s.Base.Repo.Owner != "" && s.Base.Repo.Name != "" {
		h.Repo = s.Base.Repo // it may have another name by now
	}
	h.Pull = s
	var paths []string
	if s.AllFiles { // or what the list lacks could be anywhere
		paths = change.Change{Files: s.Files}.Paths()
	}
	return job.Facts{
		Author: s.AuthorPermission, Fork: s.Fork(), Draft: s.Draft, Closed: s.State != "open", Paths: paths,
		HeadSHA: s.Head.SHA, Base: s.Base.Name, BaseSHA: s.Base.SHA, HeadRepo: s.Head.RepoID, BaseRepo: s.Base.RepoID, By: event.User(s.Author),
	}, nil
}

// behind reports whether s is older than the event that calls for j, and differs from it: GitHub's events can come
// before all of its servers know of them. What is newer than the event says that j is superseded.
func behind(j job.Job, s *github.Snapshot) bool {
	if j.Trigger != job.TriggerPullRequest || !s.Updated.Before(j.At) {
		return false
	}
	return s.Head.SHA != j.HeadSHA || j.Base != "" && s.Base.Name != j.Base || s.State != "open" || s.Draft && j.Action == "ready_for_review"
}

// learnBranch is for a dispatch on a branch: it is compared with the default one.
func (h *GitHub) learnBranch(ctx context.Context, j job.Job) (job.Facts, error) {
	branch, err := h.Client.DefaultBranch(ctx, h.Repo)
	if err != nil {
		return job.Facts{}, err
	}
	h.Base = branch
	base, err := h.Client.Commit(ctx, h.Repo, branch)
	if err != nil {
		return job.Facts{}, err
	}
	head, err := h.Client.Commit(ctx, h.Repo, strings.TrimPrefix(j.Ref, "refs/heads/"))
	if err != nil {
		return job.Facts{}, err
	}
	author, err := h.permission(ctx, j.Actor.Login)
	return job.Facts{Author: author, HeadSHA: head, BaseSHA: base, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}, err
}

// permission is that of a person; "" where the token may not ask.
func (h *GitHub) permission(ctx context.Context, login string) (string, error) {
	has, err := h.Client.Permission(ctx, h.Repo, login)
	if github.IsForbidden(err) {
		return "", nil
	}
	return has, err
}

// ReadConfig reads the configuration at the base commit, between what the operator's
// file says and what it forces.
func (h *GitHub) ReadConfig(ctx context.Context, baseSHA string) error {
	c, err := h.readConfig(ctx, baseSHA)
	if err == nil {
		h.Config = h.Force.Over(c)
	}
	return err
}

func (h *GitHub) readConfig(ctx context.Context, baseSHA string) (*config.Config, error) {
	path := cmp.Or(h.File, config.Path)
	data, err := h.Client.File(ctx, h.Repo, baseSHA, path)
	switch {
	case github.IsNotFound(err) && h.File != "":
		return nil, fmt.Errorf("input config: %s has no file %s at its base %s: only a file that the base has is read", h.Repo, path, change.Short(baseSHA))
	case github.IsNotFound(err):
		return h.below(), nil
	case err != nil:
		return nil, err
	}
	h.blob = data
	name := path + " at " + change.Short(baseSHA)
	c, err := h.below().With(name, data)
	if err != nil || h.Below == nil {
		return c, err
	}
	own, err := config.Parse(name, data)
	if err != nil {
		return nil, err
	}
	c.Limits = own.Limits.Under(h.Below.Limits)
	return c, nil
}

// Operator is what the operator's file says, for a repository whose own is not read.
func (h *GitHub) Operator() *config.Config { return h.Force.Over(h.below()) }

// below is the configuration below the repository's.
func (h *GitHub) below() *config.Config {
	if h.Below == nil {
		return config.Default()
	}
	return h.Below
}

// Job is the run of j.
func (h *GitHub) Job(j job.Job) run.Job {
	out := run.Job{Trigger: string(j.Trigger), Actor: j.Actor.Login, Trust: string(j.Trust), Machine: j.Machine, Accept: j.Accept, Pull: &run.Pull{
		Repo: h.Repo.String(), Number: j.Number, Base: j.BaseSHA, Head: j.HeadSHA, BaseRef: h.Base, HeadRef: j.Ref,
		Asked: j.Words, From: h.remote(),
	}}
	if h.File != "" {
		out.Config = &run.ConfigFile{Name: h.File, Data: h.blob}
	}
	if s := h.Pull; s != nil {
		p := out.Pull
		p.BaseRef, p.HeadRef, p.Title, p.Body = s.Base.Name, s.Head.Name, s.Title, s.Body
		for _, issue := range s.Linked {
			p.Said = append(p.Said, run.Said{Where: fmt.Sprintf("Issue #%d, which it says it closes", issue.Number), Text: issue.Title + "\n\n" + issue.Body})
		}
		if reason, ok := trailer(s.Commits, j.HeadSHA); ok && j.MayAccept && !j.Accept {
			out.Accepted = []report.Acceptance{{By: s.Author.Login, Reason: reason}}
		}
	}
	return out
}

// behaviourTrailer is the trailer by which an author who may accept does so.
const behaviourTrailer = "Changes-behaviour:"

// trailer returns the reason in the trailer of the head commit, which stands in the
// last paragraph of its message.
func trailer(commits []github.Commit, head string) (reason string, ok bool) {
	for _, c := range commits {
		if c.SHA != head {
			continue
		}
		paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.Message, "\r\n", "\n")), "\n\n")
		if len(paragraphs) < 2 { // the first is the subject
			return "", false
		}
		for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
			if len(line) >= len(behaviourTrailer) && strings.EqualFold(line[:len(behaviourTrailer)], behaviourTrailer) {
				return strings.TrimSpace(line[len(behaviourTrailer):]), true
			}
		}
	}
	return "", false
}

// Seen is the pull request as agents may read it: what was learnt of it already,
// and what other checks say of the head, which is asked here, once.
func (h *GitHub) Seen(ctx context.Context, j job.Job) *tool.Pull {
	s := h.Pull
	if s == nil {
		return nil
	}
	p := &tool.Pull{
		Number: s.Number, Repo: h.Repo.String(), Title: s.Title, Body: s.Body, Author: s.Author.Login, State: s.State,
		BaseRef: s.Base.Name, HeadRef: s.Head.Name, Draft: s.Draft, Labels: s.Labels, Missing: map[string]string{},
	}
	for _, c := range s.Comments {
		p.Comments = append(p.Comments, tool.PullComment{Author: c.Author.Login, At: c.Created.UTC().Format(time.RFC3339), Body: c.Body})
	}
	runs, err := h.Client.CheckRuns(ctx, h.Repo, j.HeadSHA, "")
	if err != nil {
		p.Missing["checks"] = err.Error()
	}
	for _, r := range runs {
		if r.Name == publish.CheckName { // ycbot's own says nothing of what others found
			continue
		}
		c := tool.PullCheck{Name: r.Name, Status: r.Status, Conclusion: r.Conclusion}
		if r.Output != nil {
			c.Summary = strings.TrimSpace(r.Output.Title + " " + r.Output.Summary)
		}
		p.Checks = append(p.Checks, c)
	}
	return p
}

// remote is where the commits are fetched from. The base repository has those of
// forks too.
func (h *GitHub) remote() git.Remote {
	r := git.Remote{URL: strings.TrimRight(h.Server, "/") + "/" + h.Repo.String() + ".git"}
	if h.Pull != nil && h.Pull.Base.CloneURL != "" {
		r.URL, r.Size = h.Pull.Base.CloneURL, h.Pull.Base.Size
	}
	u, err := url.Parse(r.URL)
	if h.Token == "" || err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return r
	}
	credential := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + h.Token))
	r.Settings = []string{"http." + u.Scheme + "://" + u.Host + "/.extraheader=Authorization: Basic " + credential}
	return r
}

// Requirement is the least tier in which the head of j may be executed. named is
// the tier that the operator asked for, "" or auto for none.
func Requirement(j job.Job, named string) sandbox.Tier {
	switch {
	case j.NeedsFull:
		return sandbox.TierFull
	case named != "" && named != "auto":
		return sandbox.Tier(named)
	case j.Trust != job.Trusted:
		return sandbox.TierFull
	default:
		return sandbox.TierBasic
	}
}
