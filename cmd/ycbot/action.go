package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/action/host"
	"github.com/ycbot/ycbot/internal/terminal"
)

func actionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "The GitHub Action step: verify what the workflow's event is about",
		Long: `The step of the GitHub Action. It reads the event (GITHUB_EVENT_NAME and
GITHUB_EVENT_PATH) and the inputs (INPUT_*), verifies the pull request that the
event is about, posts comment and check run as far as the token may, and sets the
outputs. docs/action.md has workflows.

Exit codes: 0 the step passes, or there is nothing to do; 1 a verdict that fails
the step (input fail-on); 3 no verdict; 130 cancelled.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.action(cmd.Context()) },
	}
}

func (p *program) action(ctx context.Context) error {
	in, wrong := action.ReadInputs(p.getenv)
	step := action.Step{Getenv: p.getenv, Stdout: p.stdout.File, Inputs: in, Wrong: wrong}
	m := p.machine()
	if h, err := host.Connect(m, in); err != nil {
		step.Wrong = errors.Join(wrong, err)
	} else {
		step.Host = &host.Host{
			Machine: m, GitHub: h, Inputs: in, Door: p.door("action"), Log: p.stdout.File, Text: p.textOptions, Say: p.say,
			Show: func() *terminal.Progress { return p.progress(p.stdout) },
		}
	}
	var err error
	p.code, err = step.Run(ctx)
	return err
}
