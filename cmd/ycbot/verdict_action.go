package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
)

// verdictOfAction is what the newest artifact of the Action says of a commit, computed
// again, and what was found: ERROR for whatever is no verdict that counts.
func (p *program) verdictOfAction(ctx context.Context, h *hub, repo github.Repo, sha string, checks []github.CheckRun, o verdictOptions) (report.Verdict, string, error) {
	for _, c := range checks {
		if c.Name == publish.CheckName && c.HeadSHA == sha && c.Status != "completed" {
			return report.Error, fmt.Sprintf("check run %d is not completed (%s)", c.ID, c.Status), nil
		}
	}
	w, err := readWorkflow(ctx, h, repo, o.workflow)
	if err != nil {
		return report.Error, "", err
	}
	all, err := h.client.Artifacts(ctx, repo, o.artifact)
	if err != nil {
		return report.Error, "", err
	}
	dir, err := os.MkdirTemp("", "ycbot-verdict-")
	if err != nil {
		return report.Error, "", err
	}
	defer os.RemoveAll(dir)
	h.repo = repo
	x := &host{p: p, hub: h}
	others, looked := 0, 0
	for _, a := range all {
		if a.Expired || a.Name != o.artifact || looked == maxRecords {
			continue
		}
		why, err := w.left(ctx, a, sha)
		if err != nil {
			return report.Error, "", err
		}
		if why != "" {
			others++
			continue
		}
		looked++
		to := filepath.Join(dir, fmt.Sprint(looked))
		if err := x.download(ctx, a.ID, to, to); err != nil {
			return report.Error, "", err
		}
		rep, err := readReport(to)
		if err != nil || rep.HeadSHA != sha || !strings.EqualFold(rep.Repo, repo.String()) {
			continue // a run on another commit
		}
		c, err := recheck.Check(to, "")
		if err != nil {
			return report.Error, "", err
		}
		if len(c.Problems) > 0 {
			return report.Error, fmt.Sprintf("the artifact of workflow run %d is not intact: %s", a.RunID, strings.Join(c.Problems, "; ")), nil
		}
		if c.Report.Outcome != report.Completed {
			return report.Error, fmt.Sprintf("workflow run %d: the run ended as %s", a.RunID, c.Report.Outcome), nil
		}
		return c.Report.Verdict, fmt.Sprintf("artifact of workflow run %d, computed again, %q", a.RunID, c.Report.Title), nil
	}
	return report.Error, fmt.Sprintf("no artifact %q of %s as the default branch has it (%d others do not count)", o.artifact, o.workflow, others), nil
}

// A workflowFile is the workflow whose runs count, as the default branch has it.
type workflowFile struct {
	hub  *hub
	repo github.Repo
	path string
	text []byte
	same map[string]bool // by commit: it has this very text
}

func readWorkflow(ctx context.Context, h *hub, repo github.Repo, path string) (*workflowFile, error) {
	branch, err := h.client.DefaultBranch(ctx, repo)
	if err != nil {
		return nil, err
	}
	tip, err := h.client.Commit(ctx, repo, branch)
	if err != nil {
		return nil, err
	}
	text, err := h.client.File(ctx, repo, tip, path)
	if github.IsNotFound(err) {
		return nil, fmt.Errorf("--workflow %s: the default branch %s of %s has no such file", path, branch, repo)
	}
	return &workflowFile{hub: h, repo: repo, path: path, text: text, same: map[string]bool{tip: true}}, err
}

// left says why an artifact is not what this workflow left of a commit, "" where it may be.
func (w *workflowFile) left(ctx context.Context, a github.Artifact, sha string) (string, error) {
	if a.RunID == 0 {
		return "its workflow run is not known", nil
	}
	run, err := w.hub.client.WorkflowRun(ctx, w.repo, a.RunID)
	if github.IsNotFound(err) {
		return "its workflow run is gone", nil
	}
	if err != nil {
		return "", err
	}
	byPull := run.Event == "pull_request"
	switch {
	case run.Path != w.path:
		return "of another workflow", nil
	case !slices.Contains([]string{"pull_request", "issue_comment", "merge_group", "push", "workflow_dispatch"}, run.Event):
		return "started by " + run.Event, nil
	case run.RepoID == 0 || run.HeadRepoID != run.RepoID:
		return "of a fork", nil
	case byPull && (run.HeadSHA != sha || len(run.Bases) == 0):
		return "of another commit", nil
	}
	// What ran is the file at the head; for a pull request that of the head merged into
	// its base, which is this text where both have it.
	for _, commit := range append([]string{run.HeadSHA}, run.Bases...) {
		same, known := w.same[commit]
		if !known {
			text, err := w.hub.client.File(ctx, w.repo, commit, w.path)
			if err != nil && !github.IsNotFound(err) {
				return "", err
			}
			same = err == nil && bytes.Equal(text, w.text)
			w.same[commit] = same
		}
		if !same {
			return "the workflow's file is another one there", nil
		}
	}
	return "", nil
}
