package pullrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// A Request names a pull request.
type Request struct {
	Number int
	Repo   string // OWNER/NAME; "": what the origin of the repository in Dir is
	Dir    string
	Head   string          // commit to verify; "": the head of the pull request
	Config *run.ConfigFile // that holds in place of the one at the base; nil: none
}

// Find asks GitHub for the pull request, pins its commits, and reads whether its author is a
// machine: the configuration says so, as it does through the other doors.
func Find(ctx context.Context, m machine.Machine, r Request) (*GitHub, job.Job, error) {
	token, err := github.TokenOf(m.Getenv)
	if err != nil {
		return nil, job.Job{}, err
	}
	h, err := New(m, token)
	if err != nil {
		return nil, job.Job{}, err
	}
	if h.Repo, err = pullRepo(ctx, m, r); err != nil {
		return nil, job.Job{}, err
	}
	j := job.Job{
		Trigger: job.TriggerCLI, Number: r.Number, At: m.Now(),
		Repo: event.Repo{Owner: h.Repo.Owner, Name: h.Repo.Name}, Actor: event.User{Login: m.Getenv("USER")},
	}
	f, err := h.learnPull(ctx, j)
	if err != nil {
		return nil, j, github.Advised(err, fmt.Sprintf("there is no pull request %d in %s", r.Number, h.Repo))
	}
	j.Trust, j.BaseSHA, j.HeadSHA = job.Trust(f), f.BaseSHA, f.HeadSHA
	switch head := strings.ToLower(r.Head); {
	case head == "" || strings.HasPrefix(f.HeadSHA, head) && len(head) >= 7:
	case fullOID.MatchString(head):
		j.HeadSHA = head // an earlier head, as a report names it
	default:
		return nil, j, usage.Errorf("--head %s: the head of pull request %d is %s: give that, or the whole id of an earlier one", r.Head, r.Number, f.HeadSHA)
	}
	if err := h.configure(ctx, m, f.BaseSHA, r.Config); err != nil {
		return nil, j, err
	}
	j.Machine = job.ByMachine(f, h.Config)
	return h, j, nil
}

// configure reads the configuration over the user's own, as the run does.
func (h *GitHub) configure(ctx context.Context, m machine.Machine, baseSHA string, named *run.ConfigFile) error {
	home, err := m.Home()
	if err != nil {
		return err
	}
	if h.Below, err = run.UserConfig(home); err != nil {
		return err
	}
	if named == nil {
		return h.ReadConfig(ctx, baseSHA)
	}
	h.Config, err = h.Below.With(named.Name, named.Data)
	return err
}

// fullOID is a whole object id.
var fullOID = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// pullRepo is the repository that is named, or that origin is.
func pullRepo(ctx context.Context, m machine.Machine, r Request) (github.Repo, error) {
	name := r.Repo
	if name == "" {
		g, err := git.New("git", m.Env, m.Log)
		if err != nil {
			return github.Repo{}, err
		}
		found, err := repository.Discover(ctx, g, r.Dir)
		if err != nil {
			return github.Repo{}, fmt.Errorf("%w; or name the repository with --repo OWNER/NAME", err)
		}
		if found.Host != "" && !github.Serves(m.Getenv, found.Host) {
			return github.Repo{}, usage.Errorf("origin is on %s, and %s is the API of another host: name the repository with --repo OWNER/NAME, "+
				"or have GITHUB_API_URL name the API of your GitHub, as https://HOST/api/v3", found.Host, cmp.Or(m.Getenv("GITHUB_API_URL"), github.DefaultBaseURL))
		}
		name = found.Name
	}
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return github.Repo{}, usage.Errorf("%q is not a repository on GitHub: name it with --repo OWNER/NAME", name)
	}
	return github.Repo{Owner: owner, Name: repo}, nil
}

// Pin is the run of j as rj has it: with the commits and the author of the pull request, and
// where the change is a stranger's with the tier that this needs. sandbox is the tier that was asked
// for, "" or auto for none.
func (h *GitHub) Pin(rj run.Job, j job.Job, sandbox string) run.Job {
	pinned := h.Job(j)
	rj.Pull, rj.Trust, rj.Machine, rj.Dir = pinned.Pull, pinned.Trust, pinned.Machine, ""
	if rj.Task != "" {
		rj.Pull.Said = append(rj.Pull.Said, run.Said{Where: "The task, as --task has it", Text: rj.Task})
	}
	if j.Trust != job.Trusted { // a stranger's code on one's own machine
		rj.Require = Requirement(j, sandbox)
	}
	return rj
}

// Done is a run that was verified and posted.
type Done struct {
	Report  *report.Report
	Posted  publish.Posted
	Failure error // of posting
}

// RunAndPost has verify do a run, and posts with a person's token: a comment and a commit
// status. verify calls first with what the decisive part came to. Where the run itself
// fails, what it left is posted, and its error returned.
func RunAndPost(ctx context.Context, m machine.Machine, h *GitHub, rj run.Job, verify func(ctx context.Context, rj run.Job, first func(*report.Report)) (*report.Report, error)) (Done, error) {
	home, err := m.Home()
	if err != nil {
		return Done{}, err
	}
	rj.ID = rundir.NewID(m.Now())
	rj.Out = cmp.Or(rj.Out, filepath.Join(home, "projects", workspace.Slug(strings.TrimSuffix(rj.Pull.From.URL, ".git")), "runs", rj.ID))
	if err := MakeParent(rj.Out); err != nil {
		return Done{}, err
	}
	effects, err := OpenEffects(rj.Out, m.Now)
	if err != nil {
		return Done{}, err
	}
	poster := NewPoster(m, h.Client, Posting{
		Publish: config.Publish{Comment: config.CommentSticky}, Status: true,
		Target: publish.Target{Repo: h.Repo, Number: rj.Pull.Number, HeadSHA: rj.Pull.Head, Base: rj.Pull.BaseRef, Job: rj.ID, RunID: rj.ID},
	}, effects, 0)
	defer poster.Close()
	if err := poster.Begin(ctx); err != nil {
		return Done{}, err
	}
	var began atomic.Bool // else what lies there is another run's
	rj.Kept = func() error { began.Store(true); return nil }
	rep, failure := verify(ctx, rj, poster.First)
	if rep == nil && began.Load() {
		rep = Remains(m, rj.Out, failure, ctx.Err() != nil)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), PostTime)
	defer cancel()
	posted, err := poster.Finish(end, rj.Out, rep, publish.Ending{Why: failure})
	if failure != nil {
		return Done{}, errors.Join(failure, err)
	}
	return Done{rep, posted, err}, nil
}
