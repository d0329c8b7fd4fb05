package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// configPath is where a repository keeps its configuration.
const configPath = config.Path

// A hub is GitHub as one job sees it: what was learnt of the pull request, once,
// and how to get its commits.
type hub struct {
	client *github.Client
	token  string
	server string         // of the web pages and of git, for where the API does not tell
	file   string         // a configuration at the base in place of configPath; empty: none
	below  *config.Config // the operator's, over which the repository's is laid; nil: the defaults

	repo   github.Repo
	pull   *github.Snapshot // nil: no pull request
	base   string           // name of the base branch, where there is no pull request
	config *config.Config
	blob   []byte // what config was read from; nil: there is no such file
}

// newHub makes a hub for a token.
func (p *program) newHub(token string) (*hub, error) {
	c, err := github.New(github.Options{
		BaseURL: p.getenv("GITHUB_API_URL"), Token: token, Transport: p.client.Transport, Now: p.now, Log: p.log(),
	})
	if err != nil {
		return nil, err
	}
	return &hub{client: c, token: token, server: cmp.Or(p.getenv("GITHUB_SERVER_URL"), "https://github.com")}, nil
}

// learn asks what the decision about j depends on.
func (h *hub) learn(ctx context.Context, e *event.Event, j job.Job) (job.Facts, error) {
	h.repo = github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}
	var f job.Facts
	var err error
	switch {
	case j.Number != 0:
		f, err = h.learnPull(ctx, j)
	case j.Trigger == job.TriggerMergeGroup:
		// Who may put a pull request into the queue has write permission.
		f = job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}
		h.base = strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/")
	case j.Trigger == job.TriggerPush:
		// Who may push to the default branch has write permission.
		f = job.Facts{Author: "write", HeadSHA: j.HeadSHA, BaseSHA: j.BaseSHA, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}
		h.base = e.Push.Branch
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
	return f, h.readConfig(ctx, cmp.Or(f.BaseSHA, j.BaseSHA))
}

func (h *hub) learnPull(ctx context.Context, j job.Job) (job.Facts, error) {
	moment := github.Moment{At: j.At}
	if j.Text != nil {
		moment.Text, moment.Title, moment.Body = true, j.Text.Title, j.Text.Body
	}
	s, err := h.client.SnapshotAt(ctx, h.repo, j.Number, moment)
	if err != nil {
		return job.Facts{}, err
	}
	h.pull = s
	return job.Facts{
		Author: s.AuthorPermission, Fork: s.Fork(), Draft: s.Draft, Closed: s.State != "open", Paths: change.Change{Files: s.Files}.Paths(),
		HeadSHA: s.Head.SHA, BaseSHA: s.Base.SHA, HeadRepo: s.Head.RepoID, BaseRepo: s.Base.RepoID, By: event.User(s.Author),
	}, nil
}

// learnBranch is for a dispatch on a branch: it is compared with the default one.
func (h *hub) learnBranch(ctx context.Context, j job.Job) (job.Facts, error) {
	branch, err := h.client.DefaultBranch(ctx, h.repo)
	if err != nil {
		return job.Facts{}, err
	}
	h.base = branch
	base, err := h.client.Commit(ctx, h.repo, branch)
	if err != nil {
		return job.Facts{}, err
	}
	head, err := h.client.Commit(ctx, h.repo, strings.TrimPrefix(j.Ref, "refs/heads/"))
	if err != nil {
		return job.Facts{}, err
	}
	author, err := h.permission(ctx, j.Actor.Login)
	return job.Facts{Author: author, HeadSHA: head, BaseSHA: base, HeadRepo: j.Repo.ID, BaseRepo: j.Repo.ID}, err
}

// permission is that of a person; "" where the token may not ask.
func (h *hub) permission(ctx context.Context, login string) (string, error) {
	has, err := h.client.Permission(ctx, h.repo, login)
	if github.IsForbidden(err) {
		return "", nil
	}
	return has, err
}

// readConfig reads the configuration at the base commit.
func (h *hub) readConfig(ctx context.Context, baseSHA string) error {
	path := cmp.Or(h.file, configPath)
	data, err := h.client.File(ctx, h.repo, baseSHA, path)
	switch {
	case github.IsNotFound(err) && h.file != "":
		return fmt.Errorf("input config: %s has no file %s at its base %s: only a file that the base has is read", h.repo, path, change.Short(baseSHA))
	case github.IsNotFound(err):
		h.config = h.operator()
		return nil
	case err != nil:
		return err
	}
	h.blob = data
	name := path + " at " + change.Short(baseSHA)
	if h.config, err = h.operator().With(name, data); err != nil || h.below == nil {
		return err
	}
	own, err := config.Parse(name, data)
	if err != nil {
		return err
	}
	bounded := *h.config
	bounded.Limits = own.Limits.Under(h.below.Limits)
	h.config = &bounded
	return nil
}

func (h *hub) operator() *config.Config {
	if h.below == nil {
		return config.Default()
	}
	return h.below
}

// job is the run of j.
func (h *hub) job(j job.Job) run.Job {
	out := run.Job{Trigger: string(j.Trigger), Actor: j.Actor.Login, Trust: string(j.Trust), Machine: j.Machine, Accept: j.Accept, Pull: &run.Pull{
		Repo: h.repo.String(), Number: j.Number, Base: j.BaseSHA, Head: j.HeadSHA, BaseRef: h.base, HeadRef: j.Ref,
		Asked: j.Words, From: h.remote(),
	}}
	if h.file != "" {
		out.Config = &run.ConfigFile{Name: h.file, Data: h.blob}
	}
	if s := h.pull; s != nil {
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

// seen is the pull request as agents may read it: what was learnt of it already,
// and what other checks say of the head, which is asked here, once.
func (h *hub) seen(ctx context.Context, j job.Job) *tool.Pull {
	s := h.pull
	if s == nil {
		return nil
	}
	p := &tool.Pull{
		Number: s.Number, Repo: h.repo.String(), Title: s.Title, Body: s.Body, Author: s.Author.Login, State: s.State,
		BaseRef: s.Base.Name, HeadRef: s.Head.Name, Draft: s.Draft, Labels: s.Labels, Missing: map[string]string{},
	}
	for _, c := range s.Comments {
		p.Comments = append(p.Comments, tool.PullComment{Author: c.Author.Login, At: c.Created.UTC().Format(time.RFC3339), Body: c.Body})
	}
	runs, err := h.client.CheckRuns(ctx, h.repo, j.HeadSHA, "")
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
func (h *hub) remote() workspace.Remote {
	r := workspace.Remote{URL: strings.TrimRight(h.server, "/") + "/" + h.repo.String() + ".git"}
	if h.pull != nil && h.pull.Base.CloneURL != "" {
		r.URL, r.Size = h.pull.Base.CloneURL, h.pull.Base.Size
	}
	u, err := url.Parse(r.URL)
	if h.token == "" || err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return r
	}
	credential := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + h.token))
	r.Settings = []string{"http." + u.Scheme + "://" + u.Host + "/.extraheader=Authorization: Basic " + credential}
	return r
}

// requirement is the least tier in which the head of j may be executed. named is
// the tier that the operator asked for, "" or auto for none.
func requirement(j job.Job, named string) sandbox.Tier {
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
