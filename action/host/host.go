// Package host does what the Action's step decides: it verifies on this machine, and posts.
package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/orchestrator/route"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/verdict"
)

// A Host does what the Action's step decides.
type Host struct {
	Machine machine.Machine
	GitHub  *pullrun.GitHub
	Inputs  action.Inputs
	Door    pullrun.Door
	Log     io.Writer                 // of the job
	Show    func() *terminal.Progress // begins to show a run
	Text    func() report.TextOptions // how reports are printed
	Say     func(line string)         // prints a line of operation

	poster *pullrun.Poster
	record string           // directory of the recorded run of a job that accepts
	begun  machine.Settings // of which the machine is tried already
	stop   func()

	workflow *verdict.Workflow // whose artifacts count; nil: not read yet
}

// Connect asks GitHub with the token of the step.
func Connect(m machine.Machine, in action.Inputs) (*pullrun.GitHub, error) {
	token := cmp.Or(in.Token, m.Getenv("GITHUB_TOKEN"))
	if token == "" {
		return nil, errors.New("input github-token is empty and GITHUB_TOKEN is not set: leave the input out to use the job's own token")
	}
	h, err := pullrun.New(m, token)
	if err != nil {
		return nil, err
	}
	h.File = in.Config
	return h, nil
}

// Rules implements [action.Host].
func (h *Host) Rules(ctx context.Context) (job.Rules, error) {
	self, err := h.GitHub.Client.Self(ctx)
	if github.IsUnauthorized(err) {
		return job.Rules{}, fmt.Errorf("input github-token: GitHub does not take it: %w", err)
	}
	if err != nil {
		return job.Rules{}, err
	}
	if self.Type == "User" { // a person's token: that person may ask too
		self.ID = 0
	}
	return job.Rules{Self: self.ID}, nil
}

// Learn implements [action.Host].
func (h *Host) Learn(ctx context.Context, e *event.Event, j job.Job) (job.Facts, *config.Config, error) {
	facts, err := h.GitHub.Learn(ctx, e, j)
	return facts, h.GitHub.Config, err
}

// Reply implements [action.Host].
func (h *Host) Reply(ctx context.Context, j job.Job, s job.Skip) error {
	if s.Number == 0 || h.Inputs.Comment == publish.Off {
		return nil
	}
	pub := &publish.Publisher{GitHub: h.GitHub.Client, Comment: publish.Sticky, Now: h.Machine.Now, Log: h.Machine.Log}
	t := publish.Target{Repo: github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}, Number: s.Number}
	return pub.Notice(ctx, t, s.Text)
}

// Decline implements [action.Host].
func (h *Host) Decline(ctx context.Context, j job.Job, s job.Skip) error {
	po := h.posting(j, "")
	return h.checker(po).Decline(ctx, po.Target, s.Text, s.Excluded())
}

// Fail implements [action.Host]. The configuration may be what is wrong.
func (h *Host) Fail(ctx context.Context, j job.Job, why error) error {
	if h.GitHub.Config == nil {
		h.GitHub.Config = config.Default()
	}
	h.GitHub.Repo = github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}
	po := h.posting(j, "")
	_, err := h.checker(po).Finish(ctx, po.Target, &report.Report{
		Schema: report.Schema, Repo: h.GitHub.Repo.String(), PR: j.Number, BaseSHA: j.BaseSHA, HeadSHA: j.HeadSHA, Trigger: string(j.Trigger), Actor: j.Actor.Login,
		Verdict: report.Error, Outcome: report.Errored, Reasons: []string{why.Error()},
	}, publish.Ending{})
	return err
}

// checker writes the check run of a job that comes to no run, and no comment.
func (h *Host) checker(po pullrun.Posting) *publish.Publisher {
	return &publish.Publisher{
		GitHub: h.GitHub.Client, Comment: publish.Off, Check: po.Check, FailOn: po.FailOn, DetailsURL: po.DetailsURL,
		Redact: redact.New(redact.SecretsFrom(h.Machine.Env)), Now: h.Machine.Now, Log: h.Machine.Log,
	}
}

// Begin implements [action.Host].
func (h *Host) Begin(ctx context.Context, j job.Job, dir string) error {
	if err := pullrun.MakeParent(dir); err != nil {
		return err
	}
	effects, err := pullrun.OpenEffects(dir, h.Machine.Now)
	if err != nil {
		return err
	}
	h.begun = machine.Settings{Remote: true, Sandbox: cmp.Or(h.Inputs.Sandbox, "auto"), Network: cmp.Or(h.Inputs.Network, string(rundir.NetworkSetup))}
	h.begun.Trial, h.stop = h.Machine.Try(ctx, h.begun)
	h.poster = pullrun.NewPoster(h.Machine, h.GitHub.Client, h.posting(j, filepath.Base(dir)), effects, 0)
	return h.poster.Begin(ctx)
}

// posting is what inputs and configuration say of how j is posted.
func (h *Host) posting(j job.Job, runID string) pullrun.Posting {
	po := pullrun.Posting{
		Publish: h.GitHub.Config.Publish, Scope: h.Inputs.WorkingDirectory,
		FailOn: cmp.Or(h.Inputs.FailOn, string(h.GitHub.Config.FailOn)), DetailsURL: detailsURL(h.Machine.Getenv),
		Target: publish.Target{
			Repo: h.GitHub.Repo, Number: j.Number, HeadSHA: j.HeadSHA, Base: cmp.Or(j.Base, h.GitHub.Base), Job: scoped(j.ID, h.Inputs.WorkingDirectory), RunID: runID, CommandComment: j.Comment,
		},
	}
	po.EvidenceURL, po.Artifact = h.artifact()
	if h.Inputs.Comment != "" {
		po.Comment = config.Comment(h.Inputs.Comment)
	}
	if h.Inputs.Check != nil {
		po.Check = *h.Inputs.Check
	}
	if h.GitHub.Pull != nil {
		po.Target.Files = h.GitHub.Pull.Files
	}
	return po
}

// scoped distinguishes jobs on the same commit that are about parts of a repository.
func scoped(id, part string) string {
	if part == "" {
		return id
	}
	sum := sha256.Sum256([]byte(part))
	return id + "-" + hex.EncodeToString(sum[:4])
}

// Verify implements [action.Host].
func (h *Host) Verify(ctx context.Context, j job.Job, dir string) (*report.Report, error) {
	rj := h.GitHub.Job(j)
	rj.ID, rj.Out, rj.Timeout = filepath.Base(dir), dir, h.Inputs.Timeout
	rj.Require = pullrun.Requirement(j, h.Inputs.Sandbox)
	if h.Inputs.Task != "" {
		rj.Pull.Said = append(rj.Pull.Said, run.Said{Where: "The task, as the workflow states it", Text: h.Inputs.Task})
	}
	if !j.GateOnly {
		var err error
		rj.Models, err = route.Models(h.Machine, route.Settings{
			Provider: h.Inputs.Provider, Model: h.Inputs.Model, BaseURL: h.Inputs.BaseURL, Key: h.Inputs.APIKey, Agents: h.Inputs.Agents, MaxTokens: h.Inputs.MaxTokens, MaxCostUSD: h.Inputs.MaxCostUSD,
		})
		if errors.Is(err, route.ErrNoModel) {
			err = errors.New("input model is empty, as where the variable of the repository is not set that it is taken from, while provider, base-url or agents is given: set it, or leave these out")
		}
		if errors.Is(err, provider.ErrNoKey) { // as for a pull request whose workflow gets no secrets
			rj.Notes, err = append(rj.Notes, "no model looked at the change: the workflow has no key for "+h.Inputs.Model), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if rj.Models != nil {
		rj.Pull.Seen = h.GitHub.Seen(ctx, j)
	}
	var err error
	if rj.AgentsDir, h.begun.Agents, err = h.agentsDir(); err != nil {
		return nil, err
	}
	runner, _, err := h.Machine.Runner(ctx, h.begun)
	if err != nil {
		return nil, err
	}
	if j.Accept {
		rj.Previous = recheck.Previous(h.record)
		rj.Accepted = []report.Acceptance{{By: j.Actor.Login, At: h.Machine.Now().UTC().Format(time.RFC3339), Reason: j.Words}}
	} else {
		h.lookBack(ctx, j, dir, &rj)
	}
	show := h.Show()
	defer show.Close()
	runner.Observe, runner.First = pullrun.Observers(show.Event, h.poster.Observe), h.poster.First
	rep, err := h.Door.Run(ctx, runner, rj)
	if err == nil && j.Trigger == job.TriggerPush {
		if err := h.warm(ctx, rj); err != nil {
			h.Say("the results of the new base are not stored: " + err.Error())
		}
	}
	return rep, err
}

// warm runs the tests of the default branch's new commit as those of a base, so that
// their results are stored for the pull requests that begin there. Nothing of it is
// posted.
func (h *Host) warm(ctx context.Context, rj run.Job) error {
	runner, _, err := h.Machine.Runner(ctx, h.begun)
	if err != nil {
		return err
	}
	pull := *rj.Pull
	pull.Base = pull.Head
	rj.Pull, rj.Models, rj.Previous, rj.Accepted, rj.UntilFirst = &pull, nil, nil, nil, true
	rj.ID, rj.Out = h.NewRun(), ""
	if rj.Out, err = os.MkdirTemp(h.Machine.Getenv("RUNNER_TEMP"), "ycbot-base-"); err != nil {
		return err
	}
	defer os.RemoveAll(rj.Out)
	rj.Out = filepath.Join(rj.Out, rj.ID)
	h.Say("storing the results of the new base")
	_, err = h.Door.Run(ctx, runner, rj)
	return err
}

// agentsDir is what the input agents-dir names: a folder of the base commit, or
// one of the machine that lies outside of the workspace. What lies in the
// workspace may be the pull request's.
func (h *Host) agentsDir() (inBase string, folders []agents.Folder, err error) {
	dir := h.Inputs.AgentsDir
	if dir == "" {
		return "", nil, nil
	}
	if filepath.IsAbs(dir) {
		rel, err := filepath.Rel(h.Machine.Getenv("GITHUB_WORKSPACE"), dir)
		if err != nil || !filepath.IsLocal(rel) {
			folders, err := machine.OperatorAgents(dir)
			if err != nil {
				err = fmt.Errorf("input agents-dir: %w", err)
			}
			return "", folders, err
		}
		dir = rel
	}
	if dir = filepath.ToSlash(filepath.Clean(dir)); !filepath.IsLocal(dir) || dir == "." {
		return "", nil, fmt.Errorf("input agents-dir: %q: want a folder of the repository, or an absolute path outside of the workspace", h.Inputs.AgentsDir)
	}
	return dir, nil, nil
}

// Finish implements [action.Host].
func (h *Host) Finish(ctx context.Context, _ job.Job, dir string, rep *report.Report, failure error) (action.Posted, error) {
	if h.poster == nil {
		return action.Posted{}, nil
	}
	defer h.stop()
	defer h.poster.Close()
	if rep == nil {
		var cancelled *action.Cancelled
		rep = pullrun.Remains(h.Machine, dir, failure, errors.As(failure, &cancelled))
	}
	rep = publish.Clean(h.secrets(), rep)
	posted, err := h.poster.Finish(ctx, dir, rep, publish.Ending{Why: failure})
	if rep != nil {
		h.quote(rep.Text(h.Text()))
	}
	t := h.poster.Posting.Target
	return h.posted(t, rep, publish.Ending{Why: failure}, posted, t.Files), err
}

// quote writes text of others to the log of a job, in which no line of it is taken
// for a workflow command.
func (h *Host) quote(text string) {
	word := rand.Text()
	fmt.Fprintf(h.Log, "::stop-commands::%s\n%s\n::%s::\n", word, text, word)
}

// NewRun implements [action.Host].
func (h *Host) NewRun() string { return rundir.NewID(h.Machine.Now()) }
