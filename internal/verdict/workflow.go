package verdict

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
)

// ofHead reports whether what a run verifies is its own head, as [Workflow.Left] has found it to be
// the commit. A comment and a dispatch run on a branch and verify what they name.
func ofHead(run github.WorkflowRun) bool {
	return run.Event != "issue_comment" && run.Event != "workflow_dispatch"
}

// counts is the verdict of the run directory that a run of the workflow left of a commit,
// and how it was found; ERROR and the reason where it is none.
func (w *Workflow) counts(ctx context.Context, run github.WorkflowRun, c recheck.Checked, sha string) (report.Verdict, string, error) {
	rep := c.Report
	switch {
	case len(c.Problems) > 0:
		return report.Error, "its artifact is not intact: " + strings.Join(c.Problems, "; "), nil
	case rep.HeadSHA != sha:
		return report.Error, "its artifact is about commit " + rep.HeadSHA, nil
	case !strings.EqualFold(rep.Repo, w.repo.String()):
		return report.Error, "its artifact is about the repository " + rep.Repo, nil
	case run.Status != "completed":
		return report.Error, fmt.Sprintf("it has not ended (%s): ask again when it has", run.Status), nil
	case rep.Outcome != report.Completed:
		return report.Error, fmt.Sprintf("it ended as %s", rep.Outcome), nil
	case rep.Verdict == report.Pass && run.Conclusion != "success":
		return report.Error, fmt.Sprintf("its artifact says PASS, and the workflow run ended as %s", run.Conclusion), nil
	}
	queued := run.Event == "merge_group" && strings.HasPrefix(run.HeadBranch, "gh-readonly-queue/"+w.base+"/")
	if !queued { // a queue's base may be the group before
		in, err := w.client.Contains(ctx, w.repo, w.base, rep.BaseSHA)
		if err != nil {
			return report.Error, "", err
		}
		if !in {
			return report.Error, fmt.Sprintf("it verified the change against %s, which is not in the history of %s", rep.BaseSHA, w.base), nil
		}
	}
	return rep.Verdict, fmt.Sprintf("artifact computed again, %q", rep.Title), nil
}

// A Workflow is the workflow whose runs count, as the default branch has it.
type Workflow struct {
	client *github.Client
	repo   github.Repo
	path   string
	text   []byte
	base   string          // branch that the commit is to go into
	local  string          // an action or a workflow that the file names by a path; "": none
	same   map[string]bool // by commit: it has this very text
}

// ReadWorkflow reads the workflow at path as the default branch has it. base is the branch
// that the commit is to go into, "" for the default branch.
func ReadWorkflow(ctx context.Context, client *github.Client, repo github.Repo, path, base string) (*Workflow, error) {
	branch, err := client.DefaultBranch(ctx, repo)
	if err != nil {
		return nil, err
	}
	tip, err := client.Commit(ctx, repo, branch)
	if err != nil {
		return nil, err
	}
	text, err := client.File(ctx, repo, tip, path)
	if github.IsNotFound(err) {
		return nil, fmt.Errorf("workflow %s: the default branch %s of %s has no such file", path, branch, repo)
	}
	if err != nil {
		return nil, err
	}
	local, err := localAction(text)
	if err != nil {
		return nil, fmt.Errorf("workflow %s of %s: %w", path, branch, err)
	}
	return &Workflow{
		client: client, repo: repo, path: path, text: text, base: cmp.Or(base, branch), local: local, same: map[string]bool{tip: true},
	}, nil
}

// localAction is the first action or workflow that a workflow names by a path of the
// repository, "" where it names none.
func localAction(workflow []byte) (string, error) {
	type step struct {
		Uses string `yaml:"uses"`
	}
	var w struct {
		Jobs map[string]struct {
			Uses  string `yaml:"uses"`
			Steps []step `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(workflow, &w); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		for _, s := range append([]step{{j.Uses}}, j.Steps...) {
			if strings.HasPrefix(s.Uses, ".") {
				return s.Uses, nil
			}
		}
	}
	return "", nil
}

// Left says why an artifact is not what this workflow left of a commit, "" where it may be.
func (w *Workflow) Left(ctx context.Context, a github.Artifact, sha string) (github.WorkflowRun, string, error) {
	if a.RunID == 0 {
		return github.WorkflowRun{}, "it is not known", nil
	}
	run, err := w.client.WorkflowRun(ctx, w.repo, a.RunID)
	if github.IsNotFound(err) {
		return run, "it is gone", nil
	}
	if err != nil {
		return run, "", err
	}
	byPull := run.Event == "pull_request"
	switch {
	case run.ID != a.RunID || run.Path != w.path:
		return run, "of another workflow, " + run.Path, nil
	case !slices.Contains([]string{"pull_request", "issue_comment", "merge_group", "push", "workflow_dispatch"}, run.Event):
		return run, "started by " + run.Event, nil
	case run.RepoID == 0 || run.HeadRepoID != run.RepoID:
		return run, "of a fork", nil
	case (byPull || run.Event == "merge_group" || run.Event == "push") && run.HeadSHA != sha:
		return run, "of another commit, " + run.HeadSHA, nil
	case byPull && len(run.Bases) == 0:
		return run, "of no pull request that is open", nil
	case byPull && (run.Actor.Type == "Bot" || strings.HasSuffix(run.Actor.Login, "[bot]")):
		return run, fmt.Sprintf("started by %s: what it left is a claim, comment /verify %s", run.Actor.Login, sha), nil
	case w.local != "" && run.Event != "issue_comment":
		return run, fmt.Sprintf("the workflow uses %s, which a change can replace: name it by repository and commit", w.local), nil
	}
	// What ran is the file at the head; for a pull request that of the head merged into
	// its base, which is this text where both have it.
	for _, commit := range append([]string{run.HeadSHA}, run.Bases...) {
		same, known := w.same[commit]
		if !known {
			text, err := w.client.File(ctx, w.repo, commit, w.path)
			if err != nil && !github.IsNotFound(err) && !errors.Is(err, github.ErrNoCommit) {
				return run, "", err
			}
			same = err == nil && bytes.Equal(text, w.text)
			w.same[commit] = same
		}
		if !same {
			return run, "the workflow's file is another one at " + commit, nil
		}
	}
	if !byPull {
		return run, "", nil
	}
	why, err := w.elsewhere(ctx, run)
	return run, why, err
}

// settling is how long after its event a workflow run may be made.
const settling = 10 * time.Minute

// elsewhere says which pull request of the branch went into another base when the
// run was made, "" where none did. GitHub names the bases that the pull requests of a run
// have now, and the file that ran was that of the base of then.
func (w *Workflow) elsewhere(ctx context.Context, run github.WorkflowRun) (string, error) {
	pulls, err := w.client.PastPulls(ctx, w.repo, run.HeadBranch)
	if errors.Is(err, github.ErrCut) {
		return "its branch has too many pull requests to know their bases", nil
	}
	if err != nil {
		return "", err
	}
	then := run.Created.Add(-settling)
	some := false
	for _, p := range pulls {
		if p.Created.After(run.Created) || !p.Closed.IsZero() && p.Closed.Before(then) {
			continue
		}
		some = true
		if p.Base != w.base {
			return fmt.Sprintf("pull request %d of its branch goes into %s, not %s", p.Number, p.Base, w.base), nil
		}
		for _, moved := range p.Moved {
			if moved.After(then) {
				return fmt.Sprintf("pull request %d of its branch went into another base then: verify the commit again", p.Number), nil
			}
		}
	}
	if !some {
		return "there was no pull request of its branch", nil
	}
	return "", nil
}
