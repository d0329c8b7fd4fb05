package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/workspace"
)

func worktreeCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "Look after the folders in which changes are verified",
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
			git, err := workspace.NewGit("git", p.env, p.log())
			if err != nil {
				return err
			}
			if _, err := git.Prune(cmd.Context(), home, p.log()); err != nil {
				return err
			}
			if err := sweepTemp(cmd.Context(), filepath.Join(home, "tmp"), p.now().Add(-max(age.Duration, tempAge))); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "removed %d, kept %d of live runs and %d that are not old enough, could not remove %d\n",
				swept.Runs, swept.Live, swept.Young, swept.Broken)
			return err
		},
	}
	age.Duration = 7 * 24 * time.Hour
	sweep.Flags().Var(&age, "older-than", "only those that nothing was done in for so long; runs that are alive are kept")
	cmd.AddCommand(sweep)
	return cmd
}

// tempAge is longer than any run: what is older in the folder for short-lived
// files is no one's.
const tempAge = 24 * time.Hour

// sweepTemp removes what killed runs left in the folder for short-lived files.
func sweepTemp(ctx context.Context, dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if statErr != nil || !info.ModTime().Before(before) {
			continue // gone, or in use
		}
		err = errors.Join(err, workspace.RemoveAll(ctx, filepath.Join(dir, e.Name())))
	}
	return err
}
