package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/action/host"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
)

func publishCommand(p *program) *cobra.Command {
	var finalize bool
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Post what a finished run found: comment, check run or commit status",
		Long: `Post the run in DIR on the pull request that it is about. No model takes part:
the directory is checked first, as "ycbot check" does, and nothing is posted of one
that is not intact, or of a run of no pull request. Posting again changes nothing.

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
	posted, err := pullrun.Finalize(ctx, p.machine(), p.githubOfEnv, dir)
	if errors.Is(err, pullrun.ErrNotBegun) {
		if _, err := os.Stat(dir); err != nil {
			return usage.Errorf("%s: no such folder: name that of a run which ycbot action began", dir)
		}
		fmt.Fprintln(p.stderr, "ycbot: nothing to finalize: ycbot action began no run in "+dir)
		return nil
	}
	p.sayPosted(posted)
	return err
}

// githubOfEnv asks GitHub with the token of the environment or of the action's input.
func (p *program) githubOfEnv() (*pullrun.GitHub, error) {
	token := cmp.Or(p.getenv("INPUT_GITHUB_TOKEN"), p.getenv("INPUT_GITHUB-TOKEN"))
	if token == "" {
		var err error
		if token, err = github.TokenOf(p.getenv); err != nil {
			return nil, err
		}
	}
	return pullrun.New(p.machine(), token)
}

// publishDir posts a finished run.
func (p *program) publishDir(ctx context.Context, dir string) error {
	in, err := action.ReadInputs(p.getenv)
	if err != nil {
		return err
	}
	h, err := p.githubOfEnv()
	if err != nil {
		return err
	}
	e, err := p.eventOfEnv()
	if err != nil {
		return err
	}
	done, err := pullrun.Publish(ctx, p.machine(), h, host.Presentation(in, p.getenv), e, dir)
	if err != nil {
		return err
	}
	p.sayPosted(done.Posted)
	return nil
}

// eventOfEnv is the event of the workflow that this is a step of; nil elsewhere.
func (p *program) eventOfEnv() (*event.Event, error) {
	path := p.getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return nil, nil //nolint:nilnil // a terminal has no event
	}
	body, err := regular.Read(path)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	e, err := event.Parse(p.getenv("GITHUB_EVENT_NAME"), p.getenv("GITHUB_RUN_ID"), body)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	return e, nil
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
