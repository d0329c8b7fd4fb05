package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/store"
)

// A jobHost does what GitHub, the sandbox and the model are needed for, for one job of
// the App.
type jobHost struct {
	*service
	hub      *pullrun.GitHub
	comments *commenter
	poster   *pullrun.Poster // nil: another process began, or nothing was begun
}

// host implements [app.Worker.Hosts].
func (s *service) host(_ context.Context, j job.Job) (app.Host, error) {
	if j.Installation == 0 {
		return nil, &app.Permanent{Err: errors.New("the event names no installation: set the webhook up in the App's settings, not in the repository's")}
	}
	client, err := s.client(j, watching())
	if err != nil {
		return nil, &app.Permanent{Err: err}
	}
	comments := commenting()
	if job.Code(j.Action) == job.CodeNotPull {
		comments = onIssues()
	}
	return &jobHost{
		service: s, comments: &commenter{Client: client, log: s.log, mint: func() (*github.Client, error) { return s.client(j, comments) }},
		hub: &pullrun.GitHub{Client: client, Server: s.gitServer(), Below: s.o.Operator, Force: s.o.Force, Repo: github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}},
	}, nil
}

// installed implements [app.Installed].
func (s *service) installed(ctx context.Context, repo event.Repo) (event.Repo, int64, error) {
	client, err := s.client(job.Job{}, github.Permissions{})
	if err != nil {
		return repo, 0, err
	}
	id, err := client.InstallationOf(ctx, github.Repo{Owner: repo.Owner, Name: repo.Name}, repo.ID)
	if err != nil || id == 0 || repo.ID == 0 {
		return repo, id, away(err)
	}
	// A token for the number alone lists that repository, by the name that it has now.
	if client, err = s.client(job.Job{Installation: id, Repo: repo}, fetching()); err != nil {
		return repo, 0, err
	}
	defer revoke(ctx, client, s.log)
	list, err := client.Installed(ctx)
	if github.IsUnauthorized(err) { // another repository has the name by which the installation was found
		return repo, 0, nil
	}
	if err != nil {
		return repo, 0, away(err)
	}
	for _, r := range list {
		if r.ID == repo.ID {
			return event.Repo{ID: r.ID, Owner: r.Repo.Owner, Name: r.Repo.Name, Private: !r.Public}, id, nil
		}
	}
	return repo, 0, nil
}

// Close implements [app.Host].
func (h *jobHost) Close(ctx context.Context) {
	if h.poster != nil {
		if err := h.poster.Close(); err != nil {
			h.log.WarnContext(ctx, "cannot close what was posted of a run", "error", err)
		}
	}
	h.comments.giveBack(ctx)
	revoke(ctx, h.hub.Client, h.log)
}

// gitServer is where git finds repositories whose address GitHub did not name.
func (s *service) gitServer() string {
	return github.ServerOf(s.o.GitHubURL, s.m.Getenv("GITHUB_SERVER_URL"))
}

// Learn implements [app.Speaker].
func (h *jobHost) Learn(ctx context.Context, j job.Job) (job.Facts, *config.Config, error) {
	e := &event.Event{}
	if j.Trigger == job.TriggerMergeGroup {
		e.MergeGroup = &event.MergeGroup{BaseRef: job.QueuedBase(j.Ref)}
	}
	facts, err := h.hub.Learn(ctx, e, j)
	if err == nil && j.Trust != "" {
		err = h.hub.ReadConfig(ctx, j.BaseSHA)
	}
	var problems config.Problems
	if errors.As(err, &problems) {
		err = &app.Permanent{Err: err}
	}
	return facts, h.hub.Config, unknown(err)
}

// unknown is why GitHub's part of a decision is not known. A pull request that is not found may be too
// new for all of GitHub's servers to know it, and is looked for again.
func unknown(err error) error {
	if github.IsNotFound(err) {
		return err
	}
	return barred(err)
}

// barred marks what GitHub refuses and will refuse again, and what is [away].
func barred(err error) error {
	if github.IsNotFound(err) || github.IsUnauthorized(err) || github.IsForbidden(err) {
		return &app.Permanent{Err: err}
	}
	return away(err)
}

// away marks what failed because GitHub does not answer, or wants to be asked later.
func away(err error) error {
	if until, yes := github.IsAway(err); yes {
		return &queue.Outside{Err: err, Until: until}
	}
	return err
}

// talker posts what is not the result of a run.
func (h *jobHost) talker() *publish.Publisher {
	return &publish.Publisher{
		GitHub: h.comments, Ledger: &publish.Ledger{Store: h.db}, Comment: publish.Sticky, App: true, AppID: h.o.ID, Now: h.m.Now, Log: h.log,
	}
}

func (h *jobHost) said(j job.Job) publish.Target {
	return publish.Target{Repo: h.hub.Repo, Number: j.Number, Job: j.ID, CommandComment: j.Comment}
}

// Seen implements [app.Speaker].
func (h *jobHost) Seen(ctx context.Context, j job.Job) error {
	defer h.comments.giveBack(ctx)
	return h.talker().Begin(ctx, h.said(j))
}

// Reply implements [app.Speaker].
func (h *jobHost) Reply(ctx context.Context, j job.Job, s job.Skip) error {
	if cmp.Or(h.hub.Config, h.hub.Operator()).Publish.Comment == config.CommentOff {
		return nil
	}
	defer h.comments.giveBack(ctx)
	t, text := h.said(j), s.Text
	t.Number = s.Number
	if j.Comment != 0 {
		text = fmt.Sprintf("In answer to [this comment](#issuecomment-%d):\n\n%s", j.Comment, text)
	}
	return away(h.talker().Notice(ctx, t, text))
}

// Decline implements [app.Speaker].
func (h *jobHost) Decline(ctx context.Context, j job.Job, s job.Skip) error {
	defer h.comments.giveBack(ctx)
	c := cmp.Or(h.hub.Config, h.hub.Operator())
	p := h.talker()
	p.Check, p.FailOn = c.Publish.Check, string(c.FailOn)
	t := h.said(j)
	t.HeadSHA, t.Base = j.HeadSHA, h.hub.Base
	return away(p.Decline(ctx, t, s.Text, s.Excluded()))
}

// waiting posts that j waits, or does not any more.
func (h *jobHost) waiting(j job.Job) (*publish.Publisher, publish.Target) {
	p := h.talker()
	p.Check = cmp.Or(h.hub.Config, h.hub.Operator()).Publish.Check
	if h.o.PublicURL != "" {
		p.DetailsURL = strings.TrimRight(h.o.PublicURL, "/") + "/queue"
	}
	t := h.said(j)
	t.Repo, t.HeadSHA = github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}, j.HeadSHA
	return p, t
}

// Queued implements [app.Announcer].
func (h *jobHost) Queued(ctx context.Context, j job.Job, title, text string) (bool, error) {
	p, t := h.waiting(j)
	shown, err := p.Queued(ctx, t, title, text)
	return shown, barred(err)
}

// Unqueued implements [app.Announcer].
func (h *jobHost) Unqueued(ctx context.Context, j job.Job, c queue.Reason, why string) error {
	p, t := h.waiting(j)
	return barred(p.Unqueue(ctx, t, publish.Ending{Kind: endKind(c)}, why))
}

// Begin implements [app.Performer].
func (h *jobHost) Begin(ctx context.Context, a app.Assignment) error {
	if err := pullrun.MakeParent(a.Dir); err != nil {
		return err
	}
	kept := kept{db: h.db, run: a.Run}
	po, ok, err := kept.recall(ctx)
	if err != nil {
		return err
	}
	if !ok {
		po = h.posting(a)
	}
	h.poster = pullrun.NewPoster(h.m, h.comments, po, kept, h.o.ID)
	defer h.comments.giveBack(ctx)
	defer h.comments.executing(true)
	return away(h.poster.Begin(ctx))
}

// evidenceOn is where the page of a run shows an execution.
func evidenceOn(page string) string {
	if page == "" {
		return ""
	}
	return page + "#{id}"
}

// posting is what the configuration says of how a run is posted.
func (h *jobHost) posting(a app.Assignment) pullrun.Posting {
	c := cmp.Or(h.hub.Config, h.hub.Operator())
	po := pullrun.Posting{
		Publish: c.Publish, FailOn: string(c.FailOn), DetailsURL: a.Details,
		EvidenceURL: evidenceOn(a.Details),
		Target: publish.Target{
			Repo: h.hub.Repo, Number: a.Job.Number, HeadSHA: a.Job.HeadSHA, Base: cmp.Or(a.Job.Base, h.hub.Base), Job: a.Job.ID, RunID: a.Run, CommandComment: a.Job.Comment,
		},
	}
	if h.hub.Pull != nil {
		po.Target.Files = h.hub.Pull.Files
	}
	return po
}

// Readable implements [app.Performer].
func (*jobHost) Readable(dir string) bool { return recheck.Previous(dir).Usable() }

// Verify implements [app.Performer].
func (h *jobHost) Verify(ctx context.Context, a app.Assignment, l app.Link) (*report.Report, error) {
	if _, err := os.Stat(filepath.Join(a.Dir, "SHA256SUMS")); err == nil {
		return pullrun.Salvager(h.m).Salvage(a.Dir, "", false) // it had ended, and was not reported
	}
	fetcher, err := h.client(a.Job, fetching())
	if err != nil {
		return nil, err
	}
	defer revoke(ctx, fetcher, h.log)
	if h.hub.Token, err = fetcher.Token(ctx); err != nil {
		return nil, away(err)
	}
	rj := h.hub.Job(a.Job)
	rj.ID, rj.Out, rj.Previous, rj.Kept = a.Run, a.Dir, recheck.Previous(a.Previous), l.Kept
	rj.Results, rj.Flakes = h.db.BaseResults(basesOf(a.Job)), h.db.Flakes(basesOf(a.Job))
	rj.Accept, rj.Accepted = a.Job.Accept, append(rj.Accepted, a.Accepted...)
	rj.Require = requirement(a.Job, h.o.Sandbox)
	bounded := h.o.Operator != nil && h.hub.Config != nil
	if bounded {
		rj.Timeout = h.hub.Config.Limits.Under(config.Limits{}).Timeout
	}
	if !a.Job.GateOnly {
		if rj.Models = h.models; rj.Models != nil {
			if bounded {
				m := *h.models
				m.MaxTokens, m.MaxCostUSD = h.hub.Config.Limits.Tokens, h.hub.Config.Limits.CostUSD
				rj.Models = &m
			}
			rj.Words = l.Words
			rj.Pull.Seen = h.hub.Seen(ctx, a.Job)
		}
	}
	runner := *h.runner
	runner.First, runner.Force = h.poster.First, h.o.Force
	runner.Observe = pullrun.Observers(h.poster.Observe, h.metrics.Event, func(agent.Event) {
		if err := l.Wrote(); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "cannot copy the run", "run", a.Run, "error", err)
		}
	})
	var rep *report.Report
	err = h.bounded(ctx, append(runner.Writes(rj), a.Dir), func(ctx context.Context) (err error) {
		rep, err = h.door.Run(ctx, &runner, rj)
		return err
	})
	if errors.Is(err, rundir.ErrInUse) { // a worker that counts as dead, on the same disk, has not ended yet
		err = fmt.Errorf("%w: %w", queue.ErrLater, err)
	}
	return rep, decided(a.Job, err)
}

// decided is err of a run of j. That a recorded run cannot be concluded again does not pass.
func decided(j job.Job, err error) error {
	var usage *rundir.UsageError
	if j.Accept && errors.As(err, &usage) {
		return &app.Permanent{Err: err}
	}
	return err
}

// basesOf is what results of the bases of a job's repository are kept under: its
// number, as a name can become another's.
func basesOf(j job.Job) string {
	if j.Repo.ID != 0 {
		return strconv.FormatInt(j.Repo.ID, 10)
	}
	return j.Repo.FullName()
}

// requirement is the least tier in which the head of j may be executed. The machine
// holds the App's key and works for many, so it is full; only for trusted heads can the
// operator name another.
func requirement(j job.Job, named string) sandbox.Tier {
	if j.Trust != job.Trusted || j.NeedsFull || named == "" || named == "auto" {
		return sandbox.TierFull
	}
	return sandbox.Tier(named)
}

// Finish implements [app.Performer].
func (h *jobHost) Finish(ctx context.Context, a app.Assignment, rep *report.Report, e app.Ending) (*report.Report, error) {
	if h.poster == nil {
		kept := kept{db: h.db, run: a.Run}
		po, ok, err := kept.recall(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			po = h.posting(a)
		}
		if e.Late {
			po.Comment = publish.Off
		}
		h.poster = pullrun.NewPoster(h.m, h.comments, po, kept, h.o.ID)
	}
	if rep == nil {
		rep = pullrun.Remains(h.m, a.Dir, e.Failure, e.Kind != "")
	}
	h.comments.executing(false)
	defer h.comments.giveBack(ctx)
	_, err := h.poster.Finish(ctx, a.Dir, rep, publish.Ending{Kind: endKind(e.Kind), Why: e.Failure})
	return rep, barred(err)
}

func endKind(r queue.Reason) publish.EndKind {
	switch r {
	case queue.Superseded:
		return publish.Superseded
	case queue.Stopped:
		return publish.Stopped
	case queue.Removed:
		return publish.Removed
	}
	return publish.Normal
}

// kept is what was posted of a run, in the database.
type kept struct {
	db  *store.DB
	run string
}

func (k kept) key() string { return "posting/" + k.run }

// Record implements [publish.Store].
func (k kept) Record(ctx context.Context, key, value string) error {
	return k.db.Record(ctx, key, value)
}

// Lookup implements [publish.Store].
func (k kept) Lookup(ctx context.Context, key string) (string, bool, error) {
	return k.db.Lookup(ctx, key)
}

// Close implements [pullrun.Record].
func (k kept) Close() error { return nil }

// Keep implements [pullrun.Record].
func (k kept) Keep(po pullrun.Posting) error {
	data, err := json.Marshal(po)
	if err != nil {
		return err
	}
	return k.db.Record(context.Background(), k.key(), string(data))
}

func (k kept) recall(ctx context.Context) (po pullrun.Posting, ok bool, err error) {
	text, ok, err := k.db.Lookup(ctx, k.key())
	if err == nil && ok {
		err = json.Unmarshal([]byte(text), &po)
	}
	if err != nil {
		err = fmt.Errorf("posting of run %s: %w", k.run, err)
	}
	return po, ok, err
}
