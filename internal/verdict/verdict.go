// Package verdict says what ycbot found of a commit, from what GitHub has: the check runs
// of the App, or the artifacts of the Action.
package verdict

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A Question is about a commit, to what the Action left.
type Question struct {
	Repo     github.Repo
	SHA      string // with all of its digits
	Workflow string // file of the workflow that runs the Action
	Artifact string // name of the artifact that it leaves
	Base     string // branch that the commit is to go into; "": the default branch
}

// MaxRecords is how many artifacts are looked into for the run of a commit.
const MaxRecords = 10

// OfAction is what the newest artifact of the Action says of a commit, computed
// again, and what was found: ERROR for whatever is no verdict that counts.
func OfAction(ctx context.Context, client *github.Client, q Question, checks []github.CheckRun) (report.Verdict, string, error) {
	for _, c := range checks {
		if c.Name == publish.CheckName && c.HeadSHA == q.SHA && c.Status != "completed" {
			return report.Error, fmt.Sprintf("check run %d is not completed (%s)", c.ID, c.Status), nil
		}
	}
	w, err := ReadWorkflow(ctx, client, q.Repo, q.Workflow, q.Base)
	if err != nil {
		return report.Error, "", err
	}
	all, err := client.Artifacts(ctx, q.Repo, q.Artifact)
	if err != nil {
		return report.Error, "", err
	}
	sorted.By(all, func(a, b github.Artifact) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	dir, err := os.MkdirTemp("", "ycbot-verdict-")
	if err != nil {
		return report.Error, "", err
	}
	defer os.RemoveAll(dir)
	why, others, looked := "", 0, 0
	for _, a := range all {
		if a.Name != q.Artifact {
			continue
		}
		run, other, err := w.Left(ctx, a, q.SHA)
		switch {
		case err != nil:
			return report.Error, "", err
		case other != "":
			why, others = cmp.Or(why, fmt.Sprintf("workflow run %d: %s", a.RunID, other)), others+1
			continue
		case a.Expired:
			return report.Error, fmt.Sprintf("the artifact of workflow run %d has expired: verify the commit again", a.RunID), nil
		case looked == MaxRecords:
			return report.Error, fmt.Sprintf("none of the newest %d artifacts %q is of this commit: verify it again", looked, q.Artifact), nil
		}
		looked++
		to := filepath.Join(dir, fmt.Sprint(looked))
		if err := Download(ctx, client, q.Repo, a.ID, to); err != nil {
			return report.Error, "", fmt.Errorf("the artifact of workflow run %d: %w", a.RunID, err)
		}
		c, err := recheck.Check(to, "")
		if err != nil {
			return report.Error, "", fmt.Errorf("the artifact of workflow run %d: %w", a.RunID, err)
		}
		if rep := c.Report; rep != nil && rep.HeadSHA != q.SHA && !ofHead(run) {
			others++ // such as what a comment on another pull request asked for
			continue
		}
		v, says, err := w.counts(ctx, run, c, q.SHA)
		return v, fmt.Sprintf("workflow run %d: %s", a.RunID, says), err
	}
	says := fmt.Sprintf("no artifact %q of %s as the default branch has it (%d others do not count)", q.Artifact, q.Workflow, others)
	if why != "" {
		says += "; the newest of them, " + why
	}
	return report.Error, says, nil
}

// externalID is what ycbot writes as the external id of a check run: the identity of a
// job, with the part of a repository that it is about, or the name of a run.
var externalID = pattern.New(`^([0-9a-f]{64}(-[0-9a-f]{8})?|[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8})$`)

// OfApp is what the check runs named ycbot of a commit say, and what was found:
// ERROR for whatever is no verdict that counts.
func OfApp(runs []github.CheckRun, sha string, app int64) (v report.Verdict, why string) {
	others := 0
	var own []github.CheckRun
	for _, r := range runs {
		if r.AppID != app || r.Name != publish.CheckName || r.HeadSHA != sha || !externalID.MatchString(r.ExternalID) {
			others++
			continue
		}
		own = append(own, r)
	}
	if len(own) == 0 {
		return report.Error, fmt.Sprintf("no check run of App %d (%d others of that name do not count)", app, others)
	}
	for _, r := range own {
		if r.Status != "completed" {
			return report.Error, fmt.Sprintf("check run %d is not completed (%s)", r.ID, r.Status)
		}
	}
	newest := slices.MaxFunc(own, func(a, b github.CheckRun) int { return cmp.Compare(a.ID, b.ID) })
	title := ""
	if newest.Output != nil {
		title = newest.Output.Title
	}
	return publish.VerdictOf(newest), fmt.Sprintf("check run %d, %s, %q", newest.ID, newest.Conclusion, title)
}
