package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/verdict"
)

// lastRun fetches the run directory that an earlier workflow run left for the same
// branch, and returns it, or why there is none. Only what this workflow left in this
// repository is taken: any other could have written anything, such as an acceptance.
func (h *Host) lastRun(ctx context.Context, j job.Job, dir string) (string, error) {
	if h.GitHub.Pull == nil || j.Full || j.Trust != job.Trusted {
		return "", nil
	}
	name := cmp.Or(h.Inputs.ArtifactName, "ycbot")
	all, err := h.GitHub.Client.Artifacts(ctx, h.GitHub.Repo, name)
	if err != nil {
		return "", err
	}
	looked := 0
	for _, a := range all {
		if a.Expired || a.Name != name || a.HeadBranch != h.GitHub.Pull.Head.Name || a.HeadRepoID != h.GitHub.Pull.Base.RepoID {
			continue
		}
		if looked++; looked > verdict.MaxRecords {
			break
		}
		ours, err := h.ours(ctx, a, a.HeadSHA)
		if err != nil {
			return "", err
		}
		if !ours {
			continue
		}
		to := dir + ".last"
		return to, verdict.Download(ctx, h.GitHub.Client, h.GitHub.Repo, a.ID, to)
	}
	return "", nil
}

// ours reports whether an artifact is what this very workflow, as the default branch has
// it, left of a commit. Outside of a workflow there is none to compare with.
func (h *Host) ours(ctx context.Context, a github.Artifact, sha string) (bool, error) {
	ref := strings.SplitN(h.Machine.Getenv("GITHUB_WORKFLOW_REF"), "/", 3) // OWNER/NAME/PATH@REF
	if len(ref) < 3 {
		return true, nil
	}
	path, _, _ := strings.Cut(ref[2], "@")
	if h.workflow == nil {
		w, err := verdict.ReadWorkflow(ctx, h.GitHub.Client, h.GitHub.Repo, path, h.GitHub.Pull.Base.Name)
		if err != nil {
			return false, err
		}
		h.workflow = w
	}
	_, why, err := h.workflow.Left(ctx, a, sha)
	if why != "" {
		h.Say(fmt.Sprintf("artifact %d does not count: workflow run %d: %s", a.ID, a.RunID, why))
	}
	return why == "", err
}

// Recorded implements [action.Host]. Only what this workflow left in this repository is
// taken, on the pull request's own branch or on the default branch, whose workflow
// comments start: any other could have written anything. And only what is about the base
// that the pull request has now.
func (h *Host) Recorded(ctx context.Context, j job.Job, dir string) (bool, error) {
	pull := h.GitHub.Pull
	if pull == nil {
		return false, nil
	}
	home, err := h.GitHub.Client.DefaultBranch(ctx, h.GitHub.Repo)
	if err != nil {
		return false, err
	}
	name := cmp.Or(h.Inputs.ArtifactName, "ycbot")
	all, err := h.GitHub.Client.Artifacts(ctx, h.GitHub.Repo, name)
	if err != nil {
		return false, err
	}
	if err := pullrun.MakeParent(dir); err != nil {
		return false, err
	}
	looked := 0
	for _, a := range all {
		own := a.HeadRepoID == pull.Base.RepoID && (a.HeadBranch == home || a.HeadBranch == pull.Head.Name && !pull.Fork())
		if a.Expired || a.Name != name || !own || looked == verdict.MaxRecords {
			continue
		}
		looked++
		if ours, err := h.ours(ctx, a, j.HeadSHA); err != nil {
			return false, err
		} else if !ours {
			continue
		}
		to := fmt.Sprintf("%s.record%d", dir, looked)
		if err := verdict.Download(ctx, h.GitHub.Client, h.GitHub.Repo, a.ID, to); err != nil {
			return false, err
		}
		if rep, err := readReport(to); err == nil && rep.HeadSHA == j.HeadSHA && rep.PR == j.Number && rep.Outcome == report.Completed && into(to) == pull.Base.Name {
			h.record = to
			return recheck.Previous(to).Usable(), nil
		}
		if err := os.RemoveAll(to); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Settled implements [action.Host]. Other jobs of this workflow run are about the same event.
func (h *Host) Settled(ctx context.Context, j job.Job) (bool, error) {
	runs, err := h.GitHub.Client.CheckRuns(ctx, h.GitHub.Repo, j.HeadSHA, publish.CheckName)
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		id := workflowRunOf(r)
		if r.Status == "completed" || r.Name != publish.CheckName || id != "" && id == h.Machine.Getenv("GITHUB_RUN_ID") {
			continue
		}
		if left, err := h.left(ctx, id); err != nil || !left {
			return false, err
		}
	}
	return true, nil
}

// left reports whether a workflow run has ended: a check run that it did not complete was left by a job that died, and
// nothing of it is to come. Where it cannot be known which run that is, as for a check run of the App, it has not.
func (h *Host) left(ctx context.Context, id string) (bool, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false, nil //nolint:nilerr // it names none
	}
	run, err := h.GitHub.Client.WorkflowRun(ctx, h.GitHub.Repo, n)
	switch {
	case github.IsNotFound(err): // it was removed, which GitHub does with none that goes on
		return true, nil
	case github.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return run.Status == "completed", nil
}

// into is the branch that the change of a run directory went into; empty where that cannot be read.
func into(dir string) string {
	run, err := rundir.Read(dir, nil)
	if err != nil {
		return ""
	}
	return run.Begun.Source.BaseRef
}

// readReport reads the report of a run directory.
func readReport(dir string) (*report.Report, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	return report.Parse(data)
}
