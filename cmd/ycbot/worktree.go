package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

func worktreeCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "Manage worktrees",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	age := timeLimit{}
	sweep := &cobra.Command{
		Use:   "sweep",
		Short: "Remove worktrees that runs left behind when they crashed",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := p.home()
			if err != nil {
				return err
			}
			swept, err := workspace.Sweep(cmd.Context(), home, age.Duration, p.now(), p.log())
			if err != nil {
				return err
			}
			g, err := git.New("git", p.env, p.log())
			if err != nil {
				return err
			}
			if _, err := workspace.Prune(cmd.Context(), g, home, p.log()); err != nil {
				return err
			}
			if err := workspace.SweepTemp(cmd.Context(), filepath.Join(home, "tmp"), p.now().Add(-max(age.Duration, workspace.TempAge))); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "removed %d; kept %d in use, %d too recent; %d failed\n",
				swept.Runs, swept.Live, swept.Young, swept.Broken)
			return err
		},
	}
	age.Duration = 7 * 24 * time.Hour
	sweep.Flags().Var(&age, "older-than", "only worktrees unused for this long; those of live runs are kept")
	cmd.AddCommand(sweep)
	return cmd
}
