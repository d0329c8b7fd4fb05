package host

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// Publish implements [action.Host].
func (h *Host) Publish(ctx context.Context, e *event.Event, dir string) (*report.Report, action.Posted, error) {
	done, err := pullrun.Publish(ctx, h.Machine, h.GitHub, Presentation(h.Inputs, h.Machine.Getenv), e, dir)
	if err != nil {
		return nil, action.Posted{}, err
	}
	return done.Report, h.posted(publish.Target{}, done.Report, done.Ending, done.Posted, nil), nil
}

// Ended implements [action.Host]. GitHub names no pull request of a fork with a workflow.
func (h *Host) Ended(ctx context.Context, e *event.Event) ([]job.Job, error) {
	ran := e.WorkflowRun
	if ran.HeadRepo.ID == 0 {
		return nil, nil // it is gone
	}
	pulls, err := h.GitHub.Client.OpenPulls(ctx, github.Repo{Owner: e.Repo.Owner, Name: e.Repo.Name}, ran.HeadRepo.Owner, ran.HeadBranch)
	var out []job.Job
	for _, p := range pulls {
		if p.Head.SHA == ran.HeadSHA && p.Head.RepoID == ran.HeadRepo.ID {
			out = append(out, job.Ended(e, p.Number))
		}
	}
	return out, err
}

// Presentation is how inputs and environment say that a finished run is posted.
func Presentation(in action.Inputs, getenv func(string) string) pullrun.Presentation {
	return pullrun.Presentation{Comment: in.Comment, Check: in.Check, Scope: in.WorkingDirectory, FailOn: in.FailOn, DetailsURL: detailsURL(getenv)}
}

func (h *Host) secrets() *redact.Redactor { return redact.New(redact.SecretsFrom(h.Machine.Env)) }

// posted is what the action's step reports it. What stands in the check run
// anyway is not repeated in the log.
func (h *Host) posted(t publish.Target, rep *report.Report, e publish.Ending, in publish.Posted, files []change.File) action.Posted {
	out := action.Posted{CommentURL: in.CommentURL, CheckURL: in.CheckURL, Left: in.Left}
	out.Summary = publish.Summary(t, rep, e, in, h.secrets())
	rep = publish.Clean(h.secrets(), rep)
	if in.CheckURL == "" {
		for _, c := range publish.WorkflowCommands(rep, files) {
			out.Annotations = append(out.Annotations, action.Annotation{Level: c.Level, File: c.File, Line: c.Line, Title: c.Title, Message: c.Message})
		}
	}
	return out
}

// detailsURL is the page of this job, or of the workflow run where its number is not
// known; "" outside of Actions.
func detailsURL(getenv func(string) string) string {
	run := workflowRunURL(getenv)
	if id := getenv("JOB_CHECK_RUN_ID"); run != "" && id != "" && strings.Trim(id, "0123456789") == "" {
		return run + "/job/" + id
	}
	return run
}

// workflowRunURL is the page of this workflow run, "" outside of Actions.
func workflowRunURL(getenv func(string) string) string {
	server, repo, id := getenv("GITHUB_SERVER_URL"), getenv("GITHUB_REPOSITORY"), getenv("GITHUB_RUN_ID")
	if server == "" || repo == "" || id == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%s", server, repo, id)
}

// artifact is where the evidence of this workflow run is, and its name; nothing where it
// is not uploaded.
func (h *Host) artifact() (address, name string) {
	run := workflowRunURL(h.Machine.Getenv)
	if run == "" || !h.Inputs.Upload {
		return "", ""
	}
	return run + "#artifacts", cmp.Or(h.Inputs.ArtifactName, "ycbot")
}

var workflowRunPattern = pattern.New(`/actions/runs/([0-9]+)(/|$)`)

// workflowRunOf is the number of the workflow run that a check run's page is of, see [detailsURL]; empty: of none.
func workflowRunOf(r github.CheckRun) string {
	m := workflowRunPattern.FindStringSubmatch(r.DetailsURL)
	if m == nil {
		return ""
	}
	return m[1]
}
