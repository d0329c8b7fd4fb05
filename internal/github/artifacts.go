package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// An Artifact is what a workflow run left.
type Artifact struct {
	ID         int64
	Name       string
	Size       int64
	Expired    bool
	Created    time.Time
	HeadBranch string // of the workflow run
	HeadSHA    string
	HeadRepoID int64 // 0: the repository is gone
	RunID      int64 // the workflow run
}

// A WorkflowRun is one run of a workflow.
type WorkflowRun struct {
	ID         int64
	Path       string // of the workflow's file
	Event      string // that started it, such as "pull_request"
	Status     string // queued, in_progress, completed … of the newest attempt
	Conclusion string // success, failure, cancelled …; empty until completed
	Actor      User   // who started its first attempt
	Created    time.Time
	HeadBranch string
	HeadSHA    string // whose version of the file ran, for a pull request merged into its base
	RepoID     int64
	HeadRepoID int64
	Bases      []string // commits that the pull requests of the run go into; GitHub names none of forks
}

// WorkflowRun returns a run of a workflow.
func (c *Client) WorkflowRun(ctx context.Context, repo Repo, id int64) (WorkflowRun, error) {
	if err := repo.check(); err != nil {
		return WorkflowRun{}, err
	}
	run, _, err := c.api.Actions.GetWorkflowRunByID(ctx, repo.Owner, repo.Name, id)
	if err != nil {
		return WorkflowRun{}, c.fail(err, "workflow run %d of %s", id, repo)
	}
	// Of a workflow of another branch the path ends in "@" and that.
	path, _, _ := strings.Cut(run.GetPath(), "@")
	out := WorkflowRun{
		ID: run.GetID(), Path: path, Event: run.GetEvent(), Status: run.GetStatus(), Conclusion: run.GetConclusion(),
		Actor: user(run.GetActor()), Created: run.GetCreatedAt().Time, HeadBranch: run.GetHeadBranch(), HeadSHA: run.GetHeadSHA(),
		RepoID: run.GetRepository().GetID(), HeadRepoID: run.GetHeadRepository().GetID(),
	}
	for _, p := range run.PullRequests {
		out.Bases = append(out.Bases, p.GetBase().GetSHA())
	}
	return out, nil
}

// maxArtifact is how many bytes of an archive are fetched.
const maxArtifact = 256 << 20

// Artifacts returns the newest artifacts of a name, at most 100, the newest first.
func (c *Client) Artifacts(ctx context.Context, repo Repo, name string) ([]Artifact, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	var page struct {
		Artifacts []struct {
			ID          int64     `json:"id"`
			Name        string    `json:"name"`
			Size        int64     `json:"size_in_bytes"`
			Expired     bool      `json:"expired"`
			Created     time.Time `json:"created_at"`
			WorkflowRun struct {
				ID         int64  `json:"id"`
				HeadBranch string `json:"head_branch"`
				HeadSHA    string `json:"head_sha"`
				HeadRepoID int64  `json:"head_repository_id"`
			} `json:"workflow_run"`
		} `json:"artifacts"`
	}
	if err := c.get(ctx, "repos/"+repo.String()+"/actions/artifacts?per_page=100&name="+url.QueryEscape(name), &page); err != nil {
		return nil, c.fail(err, "artifacts %q of %s", name, repo)
	}
	var out []Artifact
	for _, a := range page.Artifacts {
		out = append(out, Artifact{
			ID: a.ID, Name: a.Name, Size: a.Size, Expired: a.Expired, Created: a.Created,
			HeadBranch: a.WorkflowRun.HeadBranch, HeadSHA: a.WorkflowRun.HeadSHA, HeadRepoID: a.WorkflowRun.HeadRepoID,
			RunID: a.WorkflowRun.ID,
		})
	}
	return out, nil
}

// Download writes the zip archive of an artifact to w. GitHub answers with the
// address of another host, which gets no token.
func (c *Client) Download(ctx context.Context, repo Repo, artifact int64, w io.Writer) error {
	if err := repo.check(); err != nil {
		return err
	}
	from, _, err := c.api.Actions.DownloadArtifact(ctx, repo.Owner, repo.Name, artifact, 1)
	if err != nil {
		return c.fail(err, "artifact %d of %s", artifact, repo)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return c.fail(err, "artifact %d of %s", artifact, repo)
	}
	resp, err := c.plain.RoundTrip(req)
	if err != nil {
		return c.fail(err, "artifact %d of %s", artifact, repo)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("github: artifact %d of %s: %s", artifact, repo, resp.Status)
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, maxArtifact+1))
	if err == nil && n > maxArtifact {
		err = fmt.Errorf("more than %d bytes", maxArtifact)
	}
	if err != nil {
		return fmt.Errorf("github: artifact %d of %s: %w", artifact, repo, err)
	}
	return nil
}
