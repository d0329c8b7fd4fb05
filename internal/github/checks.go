package github

import (
	"context"
	"errors"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// CheckRuns lists the check runs of a commit that have a name, those of every
// App and also those that a newer one of the same name hides; with name "" the
// latest of each name.
func (c *Client) CheckRuns(ctx context.Context, repo Repo, sha, name string) ([]CheckRun, error) {
	if err := errors.Join(repo.check(), checkOID(sha)); err != nil {
		return nil, err
	}
	wanted := gh.ListCheckRunsOptions{CheckName: &name, Filter: gh.String("all")}
	if name == "" {
		wanted = gh.ListCheckRunsOptions{Filter: gh.String("latest")}
	}
	items, err := all(func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		wanted.ListOptions = o
		found, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, sha, &wanted)
		if err != nil {
			return nil, resp, err
		}
		return found.CheckRuns, resp, nil
	})
	return listed(c, items, err, checkRun, "check runs of %s@%.12s", repo, sha)
}

// CreateCheckRun creates a check run.
func (c *Client) CreateCheckRun(ctx context.Context, repo Repo, r CheckRun) (CheckRun, error) {
	if err := errors.Join(repo.check(), checkOID(r.HeadSHA)); err != nil {
		return CheckRun{}, err
	}
	out, _, err := c.api.Checks.CreateCheckRun(ctx, repo.Owner, repo.Name, gh.CreateCheckRunOptions{
		Name: r.Name, HeadSHA: r.HeadSHA, DetailsURL: opt(r.DetailsURL), ExternalID: opt(r.ExternalID),
		Status: opt(r.Status), Conclusion: opt(r.Conclusion), StartedAt: stamp(r.Started), CompletedAt: stamp(r.Completed),
		Output: output(r.Output), Actions: buttons(r.Actions),
	})
	return checkRun(out), c.fail(err, "create check run %q of %s@%.12s", r.Name, repo, r.HeadSHA)
}

// UpdateCheckRun changes the check run with the ID of r: what r leaves empty
// stays as it is, except the Name, which must be given, and the commit and the
// start, which stay.
func (c *Client) UpdateCheckRun(ctx context.Context, repo Repo, r CheckRun) (CheckRun, error) {
	if err := repo.check(); err != nil {
		return CheckRun{}, err
	}
	if r.Output != nil && len(r.Output.Annotations) > 0 {
		ctx = context.WithValue(ctx, appends{}, true)
	}
	out, _, err := c.api.Checks.UpdateCheckRun(ctx, repo.Owner, repo.Name, r.ID, gh.UpdateCheckRunOptions{
		Name: r.Name, DetailsURL: opt(r.DetailsURL), ExternalID: opt(r.ExternalID),
		Status: opt(r.Status), Conclusion: opt(r.Conclusion), CompletedAt: stamp(r.Completed),
		Output: output(r.Output), Actions: buttons(r.Actions),
	})
	return checkRun(out), c.fail(err, "update check run %d in %s", r.ID, repo)
}

// Annotations lists the annotations of a check run.
func (c *Client) Annotations(ctx context.Context, repo Repo, checkRunID int64) ([]Annotation, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	items, err := all(func(o gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return c.api.Checks.ListCheckRunAnnotations(ctx, repo.Owner, repo.Name, checkRunID, &o)
	})
	return listed(c, items, err, annotation, "annotations of check run %d in %s", checkRunID, repo)
}

func checkRun(in *gh.CheckRun) CheckRun {
	out := CheckRun{
		ID: in.GetID(), AppID: in.GetApp().GetID(), Name: in.GetName(), HeadSHA: in.GetHeadSHA(), ExternalID: in.GetExternalID(),
		Status: in.GetStatus(), Conclusion: in.GetConclusion(), Started: in.GetStartedAt().Time, Completed: in.GetCompletedAt().Time,
		DetailsURL: in.GetDetailsURL(), HTMLURL: in.GetHTMLURL(),
	}
	if o := in.GetOutput(); o != nil {
		out.Output = &Output{Title: o.GetTitle(), Summary: o.GetSummary(), Text: o.GetText()}
		out.Annotations = o.GetAnnotationsCount()
	}
	if in == nil {
		return out
	}
	for _, l := range in.PullRequests {
		out.Pulls = append(out.Pulls, Linked{Number: l.GetNumber(), HeadSHA: l.GetHead().GetSHA()})
	}
	return out
}

func annotation(in *gh.CheckRunAnnotation) Annotation {
	return Annotation{
		Path: in.GetPath(), StartLine: in.GetStartLine(), EndLine: in.GetEndLine(), Level: in.GetAnnotationLevel(),
		Title: in.GetTitle(), Message: in.GetMessage(), RawDetails: in.GetRawDetails(),
	}
}

func output(o *Output) *gh.CheckRunOutput {
	if o == nil {
		return nil
	}
	out := &gh.CheckRunOutput{Title: &o.Title, Summary: &o.Summary, Text: opt(o.Text)}
	for _, a := range o.Annotations {
		out.Annotations = append(out.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.StartLine, EndLine: &a.EndLine, AnnotationLevel: &a.Level,
			Title: opt(a.Title), Message: &a.Message, RawDetails: opt(a.RawDetails),
		})
	}
	return out
}

func buttons(in []Button) []*gh.CheckRunAction {
	var out []*gh.CheckRunAction
	for _, b := range in {
		out = append(out, &gh.CheckRunAction{Label: b.Label, Description: b.Description, Identifier: b.Identifier})
	}
	return out
}

func stamp(t time.Time) *gh.Timestamp {
	if t.IsZero() {
		return nil
	}
	return &gh.Timestamp{Time: t.UTC()}
}
