package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/verdict"
)

// lookBack has a run begin with what the runs before left. Without that it begins from nothing.
func (h *Host) lookBack(ctx context.Context, j job.Job, dir string, rj *run.Job) {
	if last, err := h.lastRun(ctx, j, dir); err != nil {
		h.Say("the last run is not looked at again: " + err.Error())
	} else {
		rj.Previous = recheck.Previous(last)
	}
	before, err := h.accepted(ctx, j, dir)
	if err != nil {
		h.Say("cannot read what was accepted before: " + err.Error())
	}
	rj.Accepted = append(rj.Accepted, before...)
}

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
		if ours, err := h.ours(ctx, a, a.HeadSHA); err != nil {
			return "", err
		} else if !ours {
			continue
		}
		to := dir + ".last"
		return to, verdict.Download(ctx, h.GitHub.Client, h.GitHub.Repo, a.ID, to)
	}
	return "", nil
}

// ours reports whether an artifact is what this very workflow, as the default branch has
// it, left of a commit, and says why where it is not.
func (h *Host) ours(ctx context.Context, a github.Artifact, sha string) (bool, error) {
	_, why, err := h.from(ctx, a, sha)
	if why != "" {
		h.Say(fmt.Sprintf("artifact %d does not count: workflow run %d: %s", a.ID, a.RunID, why))
	}
	return why == "", err
}

// from is the run that left an artifact, and why that is not what this very workflow left of a commit; empty: it may
// be. Outside of a workflow there is none to compare with.
func (h *Host) from(ctx context.Context, a github.Artifact, sha string) (run github.WorkflowRun, why string, err error) {
	ref := strings.SplitN(h.Machine.Getenv("GITHUB_WORKFLOW_REF"), "/", 3) // OWNER/NAME/PATH@REF
	if len(ref) < 3 {
		return run, "", nil
	}
	path, _, _ := strings.Cut(ref[2], "@")
	if h.workflow == nil {
		w, err := verdict.ReadWorkflow(ctx, h.GitHub.Client, h.GitHub.Repo, path, h.base())
		if err != nil {
			return run, "", err
		}
		h.workflow = w
	}
	return h.workflow.Left(ctx, a, sha)
}

// base is the branch that the change goes into.
func (h *Host) base() string {
	if h.GitHub.Pull != nil {
		return h.GitHub.Pull.Base.Name
	}
	return h.GitHub.Base
}

// maxLooked is how many artifacts are looked at for what was accepted. Of most their workflow run is enough.
const maxLooked = 3 * verdict.MaxRecords

// accepted are what people accepted on the pull request of j, or on that which the merge queue has, for the base that
// it goes into now: as the newest finished run of it has them, which took over those from before. Only what this
// workflow left in this repository is taken, see [Host.Recorded]; how far the head is trusted makes no difference, as
// a person with the permission has accepted.
func (h *Host) accepted(ctx context.Context, j job.Job, dir string) ([]report.Acceptance, error) {
	number := cmp.Or(j.Number, job.QueuedPull(j.Ref))
	if number == 0 {
		return nil, nil
	}
	all, err := h.own(ctx, j, "")
	if err != nil {
		return nil, err
	}
	fetched := 0
	for _, a := range all[:min(len(all), maxLooked)] {
		if pull := h.GitHub.Pull; fetched == verdict.MaxRecords || pull != nil && a.Created.Before(pull.Created) {
			break
		}
		by, why, err := h.from(ctx, a, a.HeadSHA)
		if err != nil {
			return nil, err
		}
		if why != "" || by.Event == "push" || by.Event == "merge_group" { // which are of no pull request
			continue
		}
		fetched++
		to := fmt.Sprintf("%s.before%d", dir, fetched)
		if err := verdict.Download(ctx, h.GitHub.Client, h.GitHub.Repo, a.ID, to); err != nil {
			return nil, err
		}
		rep, err := readReport(to)
		found := err == nil && rep.PR == number && rep.Verdict != report.Error && rep.Outcome != report.Cancelled && into(to) == h.base()
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
		if found {
			return rep.Accepted, nil
		}
	}
	return nil, nil
}

// own are the artifacts of runs of this repository on the pull request's own branch, or on the default branch, whose
// workflow comments start for whatever commit; the newest first. Those of its own branch are of the commit sha, where
// that is not empty. Which branch a pull request of the merge queue is from is not known.
func (h *Host) own(ctx context.Context, j job.Job, sha string) ([]github.Artifact, error) {
	home, err := h.GitHub.Client.DefaultBranch(ctx, h.GitHub.Repo)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(h.Inputs.ArtifactName, "ycbot")
	all, err := h.GitHub.Client.Artifacts(ctx, h.GitHub.Repo, name)
	if err != nil {
		return nil, err
	}
	pull, repo := h.GitHub.Pull, j.Repo.ID
	if pull != nil {
		repo = pull.Base.RepoID
	}
	return slices.DeleteFunc(all, func(a github.Artifact) bool {
		here := pull == nil || a.HeadBranch == home || a.HeadBranch == pull.Head.Name && !pull.Fork() && (sha == "" || a.HeadSHA == sha)
		return a.Expired || a.Name != name || repo == 0 || a.HeadRepoID != repo || !here
	}), nil
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
	all, err := h.own(ctx, j, j.HeadSHA)
	if err != nil {
		return false, err
	}
	if err := pullrun.MakeParent(dir); err != nil {
		return false, err
	}
	fetched := 0
	for _, a := range all {
		if fetched == verdict.MaxRecords || a.Created.Before(pull.Created) {
			break
		}
		if ours, err := h.ours(ctx, a, j.HeadSHA); err != nil {
			return false, err
		} else if !ours {
			continue
		}
		fetched++
		to := fmt.Sprintf("%s.record%d", dir, fetched)
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
	switch {
	case github.IsForbidden(err) || github.IsNotFound(err): // with such a token no check run is written either
		return true, nil
	case err != nil:
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
