package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/scaffold"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/verdict"
)

type verdictOptions struct {
	repo, sha string
	require   choice
	appID     string
	workflow  string
	artifact  string
	base      string
}

func verdictCommand(p *program) *cobra.Command {
	o := verdictOptions{require: choice{"pass", []string{"pass"}}}
	cmd := &cobra.Command{
		Use:   "verdict --repo OWNER/NAME --sha COMMIT",
		Short: "Look up the verdict of a commit on GitHub, for merge robots",
		Long: `Look up what ycbot came to for a commit. Nothing of the commit is run.

With --app-id, or YCBOT_APP_ID, the App's check run decides. Only one named ycbot counts
that this App wrote and completed for this very commit; the newest decides, and while
one is under way there is no verdict.

Without either it is the Action's. Check runs of Actions prove nothing, as every workflow
of the repository writes them as one App. What decides is the newest run directory for
this commit that a run of the workflow --workflow left as an artifact: the file of the
workflow must be, at the head and the base of that run, the very one that the default
branch has now; the run must be of this repository, not of a fork, and must have ended,
for a PASS with success; the change must have been verified against the branch --base;
and the verdict is computed again from its evidence log. While a check run ycbot of the
commit is under way there is no verdict.

The token comes from GITHUB_TOKEN or GH_TOKEN and needs to read checks, and without an
App contents, actions and pull requests.

Exit codes: 0 PASS, 1 FAIL, 2 PARTIAL, 3 no verdict that counts, or it could not be read.`,
		Example: `  ycbot verdict --repo acme/widget --sha "$(git rev-parse HEAD)" && gh pr merge 7 --squash`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given(cmd, "repo", "sha", "workflow", "artifact", "base", "app-id"); err != nil {
				return err
			}
			return p.verdict(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the repository, `OWNER/NAME`")
	f.StringVar(&o.sha, "sha", "", "the `COMMIT`, with all of its digits")
	f.Var(&o.require, "require", "the verdict for exit code 0")
	f.StringVar(&o.workflow, "workflow", scaffold.WorkflowPath, "the `FILE` of the workflow that runs the Action")
	f.StringVar(&o.artifact, "artifact", "ycbot", "the `NAME` of the artifact that it leaves")
	f.StringVar(&o.base, "base", "", "the `BRANCH` that the commit is to go into (default: the default branch)")
	f.StringVar(&o.appID, "app-id", "", "the `NUMBER` of the GitHub App whose check run counts")
	return cmd
}

var wholeSHA = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func (p *program) verdict(ctx context.Context, o verdictOptions) error {
	named, err := repoNamed(p.getenv, o.repo)
	if err != nil {
		return err
	}
	owner, name, ok := strings.Cut(named, "/")
	if !ok || owner == "" || name == "" {
		return usage.Errorf("--repo %q: want OWNER/NAME", o.repo)
	}
	sha := strings.ToLower(o.sha)
	if !wholeSHA.MatchString(sha) {
		return usage.Errorf("--sha %q: want all 40 or 64 hex digits of the commit", o.sha)
	}
	app := int64(0)
	if text := cmp.Or(o.appID, p.getenv("YCBOT_APP_ID")); text != "" {
		var err error
		if app, err = strconv.ParseInt(text, 10, 64); err != nil || app <= 0 {
			return usage.Errorf("--app-id %q: want the number of a GitHub App", text)
		}
	}
	h, err := p.githubOfEnv()
	if err != nil {
		return err
	}
	repo := github.Repo{Owner: owner, Name: name}
	runs, err := h.Client.CheckRuns(ctx, repo, sha, publish.CheckName)
	if errors.Is(err, github.ErrCut) {
		return fmt.Errorf("check runs of %s at %s: too many to know the newest", repo, sha)
	}
	missing := fmt.Sprintf("there is no repository %s with commit %.12s", repo, sha)
	if err != nil {
		return github.Advised(err, missing)
	}
	var v report.Verdict
	var why string
	if app != 0 {
		v, why = verdict.OfApp(runs, sha, app)
	} else if v, why, err = verdict.OfAction(ctx, h.Client, verdict.Question{Repo: repo, SHA: sha, Workflow: o.workflow, Artifact: o.artifact, Base: o.base}, runs); err != nil {
		return github.Advised(err, missing)
	}
	fmt.Fprintln(p.stdout, terminal.Printable(fmt.Sprintf("%s: %s at %s: %s", v, repo, sha, why)))
	p.code = report.Exit(v, "", report.Completed)
	return nil
}
