package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

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
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/verdict"
)

func actionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "The GitHub Action step: verify what the workflow's event is about",
		Long: `The step of the GitHub Action. It reads the event (GITHUB_EVENT_NAME and
GITHUB_EVENT_PATH) and the inputs (INPUT_*), verifies the pull request that the
event is about, posts comment and check run as far as the token may, and sets the
outputs. docs/action.md has workflows.

Exit codes: 0 nothing to complain about, or nothing to do; 1 a verdict that fails
the step (input fail-on); 3 no verdict; 130 cancelled.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.action(cmd.Context()) },
	}
}

func (p *program) action(ctx context.Context) error {
	in, wrong := action.ReadInputs(p.getenv)
	step := action.Step{Getenv: p.getenv, Stdout: p.stdout.File, Inputs: in, Wrong: wrong}
	if h, err := p.actionHub(in); err != nil {
		step.Wrong = errors.Join(wrong, err)
	} else {
		step.Host = &host{p: p, hub: h, in: in}
	}
	var err error
	p.code, err = step.Run(ctx)
	return err
}

// actionHub is a hub for the token of the step.
func (p *program) actionHub(in action.Inputs) (*hub, error) {
	token := cmp.Or(in.Token, p.getenv("GITHUB_TOKEN"))
	if token == "" {
		return nil, errors.New("input github-token is empty and GITHUB_TOKEN is not set: leave the input out to use the job's own token")
	}
	h, err := p.newHub(token)
	if err != nil {
		return nil, err
	}
	h.file = in.Config
	return h, nil
}

// host does what the action's step decides.
type host struct {
	p      *program
	hub    *hub
	in     action.Inputs
	poster *poster
	record string           // directory of the recorded run of a job that accepts
	begun  machine.Settings // of which the machine is tried already
	stop   func()

	workflow *verdict.Workflow // whose artifacts count; nil: not read yet
}

// Rules implements [action.Host].
func (h *host) Rules(ctx context.Context) (job.Rules, error) {
	self, err := h.hub.client.Self(ctx)
	if err != nil {
		return job.Rules{}, err
	}
	if self.Type == "User" { // a person's token: that person may ask too
		self.ID = 0
	}
	return job.Rules{Self: self.ID}, nil
}

// Learn implements [action.Host].
func (h *host) Learn(ctx context.Context, e *event.Event, j job.Job) (job.Facts, *config.Config, error) {
	facts, err := h.hub.learn(ctx, e, j)
	return facts, h.hub.config, err
}

// Reply implements [action.Host].
func (h *host) Reply(ctx context.Context, j job.Job, s job.Skip) error {
	if s.Number == 0 || h.in.Comment == publish.Off {
		return nil
	}
	pub := &publish.Publisher{GitHub: h.hub.client, Comment: publish.Sticky, Now: h.p.now, Log: h.p.log()}
	t := publish.Target{Repo: github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}, Number: s.Number}
	return pub.Notice(ctx, t, s.Text)
}

// Decline implements [action.Host].
func (h *host) Decline(ctx context.Context, j job.Job, s job.Skip) error {
	po := h.posting(j, "")
	return h.checker(po).Decline(ctx, po.Target, s.Text, s.Excluded())
}

// Fail implements [action.Host]. The configuration may be what is wrong.
func (h *host) Fail(ctx context.Context, j job.Job, why error) error {
	if h.hub.config == nil {
		h.hub.config = config.Default()
	}
	h.hub.repo = github.Repo{Owner: j.Repo.Owner, Name: j.Repo.Name}
	po := h.posting(j, "")
	_, err := h.checker(po).Finish(ctx, po.Target, &report.Report{
		Schema: report.Schema, Repo: h.hub.repo.String(), PR: j.Number, BaseSHA: j.BaseSHA, HeadSHA: j.HeadSHA, Trigger: string(j.Trigger), Actor: j.Actor.Login,
		Verdict: report.Error, Outcome: report.Errored, Reasons: []string{why.Error()},
	}, publish.Ending{})
	return err
}

// checker writes the check run of a job that comes to no run, and no comment.
func (h *host) checker(po posting) *publish.Publisher {
	return &publish.Publisher{
		GitHub: h.hub.client, Comment: publish.Off, Check: po.Check, FailOn: po.FailOn, DetailsURL: po.DetailsURL,
		Redact: redact.New(redact.SecretsFrom(h.p.env)), Now: h.p.now, Log: h.p.log(),
	}
}

// Begin implements [action.Host].
func (h *host) Begin(ctx context.Context, j job.Job, dir string) error {
	if err := makeParent(dir); err != nil {
		return err
	}
	effects, err := h.p.openEffects(dir)
	if err != nil {
		return err
	}
	h.begun = machine.Settings{Remote: true, Sandbox: cmp.Or(h.in.Sandbox, "auto"), Network: cmp.Or(h.in.Network, string(rundir.NetworkSetup))}
	h.begun.Trial, h.stop = h.p.machine().Try(ctx, h.begun)
	h.poster = h.p.newPoster(h.hub.client, h.posting(j, filepath.Base(dir)), effects)
	return h.poster.begin(ctx)
}

// posting is what inputs and configuration say of how j is told of.
func (h *host) posting(j job.Job, runID string) posting {
	c := h.hub.config.Publish
	po := posting{
		Comment: cmp.Or(h.in.Comment, string(c.Comment)), Check: c.Check, Annotations: c.Annotations, Scope: h.in.WorkingDirectory,
		FailOn: cmp.Or(h.in.FailOn, string(h.hub.config.FailOn)), DetailsURL: h.p.detailsURL(),
		Target: publish.Target{
			Repo: h.hub.repo, Number: j.Number, HeadSHA: j.HeadSHA, Base: h.hub.base, Job: scoped(j.ID, h.in.WorkingDirectory), RunID: runID, CommandComment: j.Comment,
		},
	}
	po.EvidenceURL, po.Artifact = h.p.artifact(h.in)
	if h.in.Check != nil {
		po.Check = *h.in.Check
	}
	if h.hub.pull != nil {
		po.Target.Files = h.hub.pull.Files
	}
	return po
}

// scoped tells jobs on the same commit apart that are about parts of a repository.
func scoped(id, part string) string {
	if part == "" {
		return id
	}
	sum := sha256.Sum256([]byte(part))
	return id + "-" + hex.EncodeToString(sum[:4])
}

// Verify implements [action.Host].
func (h *host) Verify(ctx context.Context, j job.Job, dir string) (*report.Report, error) {
	rj := h.hub.job(j)
	rj.ID, rj.Out, rj.Timeout = filepath.Base(dir), dir, h.in.Timeout
	rj.Require = requirement(j, h.in.Sandbox)
	if h.in.Task != "" {
		rj.Pull.Said = append(rj.Pull.Said, run.Said{Where: "The task, as the workflow states it", Text: h.in.Task})
	}
	if !j.GateOnly {
		var err error
		rj.Models, err = route.Models(h.p.machine(), route.Settings{
			Provider: h.in.Provider, Model: h.in.Model, BaseURL: h.in.BaseURL, Key: h.in.APIKey, Agents: h.in.Agents, MaxTokens: h.in.MaxTokens, MaxCostUSD: h.in.MaxCostUSD,
		})
		if errors.Is(err, provider.ErrNoKey) { // as for a pull request whose workflow gets no secrets
			rj.Notes, err = append(rj.Notes, "no model looked at the change: the workflow has no key for "+h.in.Model), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if rj.Models != nil {
		rj.Pull.Seen = h.hub.seen(ctx, j)
	}
	var err error
	if rj.AgentsDir, h.begun.Agents, err = h.agentsDir(); err != nil {
		return nil, err
	}
	runner, _, err := h.p.machine().Runner(ctx, h.begun)
	if err != nil {
		return nil, err
	}
	if j.Accept {
		rj.Previous = recheck.Previous(h.record)
		rj.Accepted = []report.Acceptance{{By: j.Actor.Login, At: h.p.now().UTC().Format(time.RFC3339), Reason: j.Words}}
	} else if last, err := h.lastRun(ctx, j, dir); err != nil {
		h.p.say("the last run is not looked at again: " + err.Error())
	} else if last != "" {
		rj.Previous = recheck.Previous(last)
		before, err := report.AcceptedIn(last)
		if err != nil {
			h.p.say("what was accepted before is not known: " + err.Error())
		}
		rj.Accepted = append(rj.Accepted, before...)
	}
	show := h.p.progress(h.p.stdout)
	defer show.Close()
	runner.Observe, runner.First = observers(show.Event, h.poster.observe), h.poster.first
	rep, err := h.p.perform(ctx, "action", runner, rj)
	if err == nil && j.Trigger == job.TriggerPush {
		if err := h.warm(ctx, rj); err != nil {
			h.p.say("the results of the new base are not stored: " + err.Error())
		}
	}
	return rep, err
}

// warm runs the tests of the default branch's new commit as those of a base, so that
// their results are stored for the pull requests that begin there. Nothing of it is
// posted.
func (h *host) warm(ctx context.Context, rj run.Job) error {
	runner, _, err := h.p.machine().Runner(ctx, h.begun)
	if err != nil {
		return err
	}
	pull := *rj.Pull
	pull.Base = pull.Head
	rj.Pull, rj.Models, rj.Previous, rj.Accepted, rj.UntilFirst = &pull, nil, nil, nil, true
	rj.ID, rj.Out = h.NewRun(), ""
	if rj.Out, err = os.MkdirTemp(h.p.getenv("RUNNER_TEMP"), "ycbot-base-"); err != nil {
		return err
	}
	defer os.RemoveAll(rj.Out)
	rj.Out = filepath.Join(rj.Out, rj.ID)
	h.p.say("storing the results of the new base")
	_, err = h.p.perform(ctx, "action", runner, rj)
	return err
}

// agentsDir is what the input agents-dir names: a folder of the base commit, or
// one of the machine that lies outside of the workspace. What lies in the
// workspace may be the pull request's.
func (h *host) agentsDir() (inBase string, folders []agents.Folder, err error) {
	dir := h.in.AgentsDir
	if dir == "" {
		return "", nil, nil
	}
	if filepath.IsAbs(dir) {
		rel, err := filepath.Rel(h.p.getenv("GITHUB_WORKSPACE"), dir)
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
		return "", nil, fmt.Errorf("input agents-dir: %q: want a folder of the repository, or an absolute path outside of the workspace", h.in.AgentsDir)
	}
	return dir, nil, nil
}

// Finish implements [action.Host].
func (h *host) Finish(ctx context.Context, _ job.Job, dir string, rep *report.Report, failure error) (action.Posted, error) {
	if h.poster == nil {
		return action.Posted{}, nil
	}
	defer h.stop()
	defer h.poster.close()
	if rep == nil {
		rep = h.p.remains(dir, failure)
	}
	posted, err := h.poster.finish(ctx, dir, rep, publish.Ending{})
	if rep != nil {
		h.p.quote(rep.Text(h.p.textOptions()))
	}
	return h.p.posted(rep, publish.Ending{}, posted, h.poster.posting.Target.Files), err
}

// quote writes text of others to the log of a job, in which no line of it is taken
// for a workflow command.
func (p *program) quote(text string) {
	word := rand.Text()
	fmt.Fprintf(p.stdout.File, "::stop-commands::%s\n%s\n::%s::\n", word, text, word)
}

// remains is the report of a run that failed, made of what it left; nil where it
// left nothing.
func (p *program) remains(dir string, failure error) *report.Report {
	why := "the run ended early"
	if failure != nil {
		why = failure.Error()
	}
	rep, err := p.salvager().Salvage(dir, why)
	if err != nil {
		if !errors.Is(err, rundir.ErrNothing) {
			p.log().Warn("report on what the run left", "dir", dir, "error", err)
		}
		return nil
	}
	return rep
}

// NewRun implements [action.Host].
func (h *host) NewRun() string { return rundir.NewID(h.p.now()) }
