package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
)

func publishCommand(p *program) *cobra.Command {
	var finalize bool
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Post what a finished run found: comment, check run or commit status",
		Long: `Post the run in DIR on the pull request that it is about. No model takes part:
the directory is checked first, as "ycbot check" does, and nothing is posted of one
that is not intact. Posting again changes nothing.

The token comes from GITHUB_TOKEN or GH_TOKEN. A person's token posts a comment and
a commit status; the token of a workflow posts a comment and a check run.

In a workflow that was started by workflow_run, the directory is a claim: the change
could have written it by hand. It is posted as such, and never as a success.

With --finalize the run that "ycbot action" began in DIR is brought to its end on
GitHub if that process could not do it: what it found until then is posted. Where
nothing was begun, or all is posted, nothing happens.`,
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if finalize {
				return p.finalize(cmd.Context(), dir)
			}
			return p.publishDir(cmd.Context(), dir)
		},
	}
	cmd.Flags().BoolVar(&finalize, "finalize", false, "end a run that was begun by ycbot action and killed")
	return cmd
}

// finalize ends on GitHub what was begun there.
func (p *program) finalize(ctx context.Context, dir string) error {
	if _, err := os.Stat(effectsFile(dir)); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(p.stderr, "ycbot: nothing to finalize: no run was begun in "+dir)
		return nil
	}
	e, err := p.openEffects(dir)
	if err != nil {
		return err
	}
	po, begun, err := e.recall()
	if err != nil || !begun {
		return errors.Join(err, e.Close())
	}
	h, err := p.newHubOfEnv()
	if err != nil {
		return errors.Join(err, e.Close())
	}
	poster := p.newPoster(h.client, po, e)
	defer poster.close()
	rep := p.remains(dir, errors.New("ycbot was killed before the run had ended"))
	if rep != nil && rep.Outcome == report.Cancelled && p.getenv("JOB_STATUS") != "cancelled" {
		rep.Outcome = report.Errored // the machine killed it, perhaps for want of memory; no one cancelled it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), postTime)
	defer cancel()
	posted, err := poster.finish(ctx, dir, rep, publish.Ending{})
	p.sayPosted(posted)
	return err
}

// newHubOfEnv is a hub for the token of the environment or of the action's input.
func (p *program) newHubOfEnv() (*hub, error) {
	token := cmp.Or(p.getenv("INPUT_GITHUB_TOKEN"), p.getenv("INPUT_GITHUB-TOKEN"))
	if token == "" {
		var err error
		if token, err = github.TokenOf(p.getenv); err != nil {
			return nil, err
		}
	}
	return p.newHub(token)
}

// publishDir posts a finished run.
func (p *program) publishDir(ctx context.Context, dir string) error {
	in, err := action.ReadInputs(p.getenv)
	if err != nil {
		return err
	}
	h, err := p.newHubOfEnv()
	if err != nil {
		return err
	}
	e, err := p.eventOfEnv()
	if err != nil {
		return err
	}
	_, _, posted, err := p.post(ctx, h, in, e, dir)
	if err != nil {
		return err
	}
	p.sayPosted(posted)
	return nil
}

// eventOfEnv is the event of the workflow that this is a step of; nil elsewhere.
func (p *program) eventOfEnv() (*event.Event, error) {
	path := p.getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return nil, nil //nolint:nilnil // a terminal has no event
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	e, err := event.Parse(p.getenv("GITHUB_EVENT_NAME"), p.getenv("GITHUB_RUN_ID"), body)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	return e, nil
}

// Publish implements [action.Host].
func (h *host) Publish(ctx context.Context, e *event.Event, dir string) (*report.Report, action.Posted, error) {
	rep, ending, posted, err := h.p.post(ctx, h.hub, h.in, e, dir)
	if err != nil {
		return nil, action.Posted{}, err
	}
	return rep, h.p.posted(rep, ending, posted, nil), nil
}

// post checks a finished run and posts it.
func (p *program) post(ctx context.Context, h *hub, in action.Inputs, e *event.Event, dir string) (rep *report.Report, end publish.Ending, posted publish.Posted, err error) {
	c, err := recheck.Check(dir, "")
	if err != nil {
		return nil, end, posted, err
	}
	if len(c.Problems) > 0 {
		return nil, end, posted, fmt.Errorf("%s is not intact, so nothing of it is posted: %s", dir, terminal.Printable(strings.Join(c.Problems, "; ")))
	}
	rep = c.Report
	owner, name, ok := strings.Cut(rep.Repo, "/")
	if !ok {
		return nil, end, posted, fmt.Errorf("%s is the run of a local repository (%s): only a run of a pull request can be posted; see ycbot run --pr", dir, rep.Repo)
	}
	h.repo = github.Repo{Owner: owner, Name: name}
	if end.Claims, err = p.provenance(ctx, h, e, rep); err != nil {
		return nil, end, posted, fmt.Errorf("%s: %w", dir, err)
	}
	po := posting{
		Comment: cmp.Or(in.Comment, publish.Sticky), Check: e != nil, Annotations: e != nil, Status: e == nil, Scope: in.WorkingDirectory,
		FailOn: in.FailOn, DetailsURL: p.detailsURL(),
		Target: publish.Target{Repo: h.repo, Number: rep.PR, HeadSHA: rep.HeadSHA, Job: rep.RunID, RunID: rep.RunID, Digest: c.Digest},
	}
	if in.Check != nil {
		po.Check = *in.Check
	}
	effects, err := p.openEffects(dir)
	if err != nil {
		return nil, end, posted, err
	}
	poster := p.newPoster(h.client, po, effects)
	defer poster.close()
	posted, err = poster.finish(ctx, dir, rep, end)
	return rep, end, posted, err
}

// provenance holds what a report says it is about against the event, and says
// whether the report is only a claim. It is in a workflow that another one's end
// started: that one's file may be the change's, and what it left may name any pull
// request: only one from the very repository that it ran for is written to.
func (p *program) provenance(ctx context.Context, h *hub, e *event.Event, rep *report.Report) (claims bool, err error) {
	if e == nil {
		return false, nil
	}
	if !strings.EqualFold(rep.Repo, e.Repo.FullName()) {
		return false, fmt.Errorf("the run is of %s, and this workflow of %s", rep.Repo, e.Repo.FullName())
	}
	if e.Kind != event.Finished {
		if e.Number != 0 && rep.PR != e.Number {
			return false, fmt.Errorf("the run is of pull request %d, and this event of %d", rep.PR, e.Number)
		}
		return false, nil
	}
	if rep.HeadSHA != e.WorkflowRun.HeadSHA {
		return true, fmt.Errorf("the run is of commit %s, and the workflow that left it of %s", rep.HeadSHA, e.WorkflowRun.HeadSHA)
	}
	if rep.PR == 0 {
		return true, nil
	}
	pull, err := h.client.Pull(ctx, h.repo, rep.PR)
	if err != nil {
		return true, err
	}
	from, ran := pull.Head.RepoID, e.WorkflowRun.HeadRepo.ID
	if from != ran || pull.Head.SHA != rep.HeadSHA && from == 0 { // else the head has moved, and what is posted says so
		return true, fmt.Errorf("commit %s is not of the repository that pull request %d is from", rep.HeadSHA, rep.PR)
	}
	return true, nil
}

func (p *program) sayPosted(posted publish.Posted) {
	for _, line := range []string{posted.CommentURL, posted.CheckURL} {
		if line != "" {
			fmt.Fprintln(p.stdout, "posted: "+terminal.Printable(line))
		}
	}
	for _, left := range posted.Left {
		fmt.Fprintln(p.stderr, "ycbot: not posted: "+terminal.Printable(left))
	}
}
