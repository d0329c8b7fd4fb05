package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace"
)

// pullFlags checks the flags that speak of pull requests.
func (o *runOptions) pullFlags() error {
	switch {
	case o.pr == 0 && o.repo != "":
		return usage.Errorf("--repo says where a pull request is: give --pr N too")
	case o.pr == 0 && o.publish:
		return usage.Errorf("--publish posts on a pull request: give --pr N too")
	case o.pr < 0:
		return usage.Errorf("--pr %d: want the number of a pull request", o.pr)
	case o.pr != 0 && (o.base != "" || o.dirty):
		return usage.Errorf("--pr takes base and head from the pull request: leave --base and --dirty out")
	}
	return nil
}

// runPull does "ycbot run --pr".
func (p *program) runPull(ctx context.Context, o *runOptions) error {
	h, j, err := p.findPull(ctx, o)
	if err != nil {
		return err
	}
	rj, err := p.job(o)
	if err != nil {
		return err
	}
	pinned := h.job(j)
	rj.Pull, rj.Trust, rj.Dir = pinned.Pull, pinned.Trust, ""
	if rj.Task != "" {
		rj.Pull.Said = append(rj.Pull.Said, run.Said{Where: "The task, as --task has it", Text: rj.Task})
	}
	if j.Trust != job.Trusted { // a stranger's code on one's own machine
		rj.Require = requirement(j, o.sandbox.value)
	}
	if rj.Models, err = p.models(o); err != nil {
		return err
	}
	if rj.Models != nil {
		rj.Pull.Seen = h.seen(ctx, j)
	}
	o.remote = true
	if !o.publish {
		rep, err := p.verify(ctx, o, rj)
		if err != nil {
			return err
		}
		p.code = report.Exit(rep.Verdict, o.failOn.value, rep.Outcome)
		return p.print(rep, o.format.value)
	}
	return p.runAndPost(ctx, o, rj, h, j)
}

// findPull asks GitHub for the pull request, and pins its commits.
func (p *program) findPull(ctx context.Context, o *runOptions) (*hub, job.Job, error) {
	token, err := github.TokenOf(p.getenv)
	if err != nil {
		return nil, job.Job{}, err
	}
	h, err := p.newHub(token)
	if err != nil {
		return nil, job.Job{}, err
	}
	if h.repo, err = p.pullRepo(ctx, o); err != nil {
		return nil, job.Job{}, err
	}
	j := job.Job{
		Trigger: job.TriggerCLI, Number: o.pr, At: p.now(),
		Repo: event.Repo{Owner: h.repo.Owner, Name: h.repo.Name}, Actor: event.User{Login: p.getenv("USER")},
	}
	f, err := h.learnPull(ctx, j)
	if err != nil {
		return nil, j, err
	}
	j.Trust, j.BaseSHA, j.HeadSHA = job.Trust(f), f.BaseSHA, f.HeadSHA
	switch head := strings.ToLower(o.head); {
	case head == "" || strings.HasPrefix(f.HeadSHA, head) && len(head) >= 7:
	case fullOID.MatchString(head):
		j.HeadSHA = head // an earlier head, as a report names it
	default:
		return nil, j, usage.Errorf("--head %s: the head of pull request %d is %s: give that, or the whole id of an earlier one", o.head, o.pr, f.HeadSHA)
	}
	h.config = config.Default()
	return h, j, nil
}

// fullOID is a whole object id.
var fullOID = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// pullRepo is the repository that --repo names, or that origin is.
func (p *program) pullRepo(ctx context.Context, o *runOptions) (github.Repo, error) {
	name := o.repo
	if name == "" {
		git, err := workspace.NewGit("git", p.env, p.log())
		if err != nil {
			return github.Repo{}, err
		}
		r, err := git.Discover(ctx, o.dir)
		if err != nil {
			return github.Repo{}, fmt.Errorf("%w; or name the repository with --repo OWNER/NAME", err)
		}
		name = r.Name
	}
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return github.Repo{}, usage.Errorf("%q is no repository on GitHub: name it with --repo OWNER/NAME", name)
	}
	return github.Repo{Owner: owner, Name: repo}, nil
}

// runAndPost verifies, and posts with a person's token: a comment and a commit
// status.
func (p *program) runAndPost(ctx context.Context, o *runOptions, rj run.Job, h *hub, j job.Job) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	rj.ID = rundir.NewID(p.now())
	rj.Out = cmp.Or(rj.Out, filepath.Join(home, "projects", workspace.Slug(strings.TrimSuffix(rj.Pull.From.URL, ".git")), "runs", rj.ID))
	if err := makeParent(rj.Out); err != nil {
		return err
	}
	effects, err := p.openEffects(rj.Out)
	if err != nil {
		return err
	}
	poster := p.newPoster(h.client, posting{
		Comment: publish.Sticky, Status: true,
		Target: publish.Target{Repo: h.repo, Number: j.Number, HeadSHA: j.HeadSHA, Job: rj.ID, RunID: rj.ID},
	}, effects)
	defer poster.close()
	if err := poster.begin(ctx); err != nil {
		return err
	}
	o.first = poster.first
	rep, failure := p.verify(ctx, o, rj)
	if rep == nil {
		rep = p.remains(rj.Out, failure)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), postTime)
	defer cancel()
	posted, err := poster.finish(end, rj.Out, rep, publish.Ending{})
	if failure != nil {
		return errors.Join(failure, err)
	}
	p.code = report.Exit(rep.Verdict, o.failOn.value, rep.Outcome)
	if posted.CommentURL != "" {
		p.say("posted " + posted.CommentURL)
	}
	if len(posted.Left) > 0 {
		err = errors.Join(err, fmt.Errorf("--publish: the result could not be posted: %s", strings.Join(posted.Left, "; ")))
	}
	return errors.Join(p.print(rep, o.format.value), err)
}
