package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
)

func rerunCommand(p *program) *cobra.Command {
	var o recheck.RerunOptions
	box := newRunOptions()
	cmd := &cobra.Command{
		Use:   "rerun DIR",
		Short: "Run the recorded commands of a finished run again, and show what differs",
		Long: `Run the commands that the finished run in DIR recorded once more, in clean
worktrees of the commits that it verified, and compare exit codes and outputs.
Setup and build come first, as they did then. Times, addresses, temporary paths,
ports, process ids and the order of tests make no difference.

The commits come from the repository that -C names; nothing of it is changed. The
directory is checked first, as "ycbot check" does: for one that is not intact
nothing is executed.

Exit codes: 0 the same, 1 something differs, 3 it could not be run.`,
		Example: `  ycbot rerun ycbot-report/
  ycbot rerun ycbot-report/ --check C3`,
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := given(cmd, "check"); err != nil {
				return err
			}
			return p.rerun(cmd.Context(), args[0], box, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Check, "check", "", "only the commands that this check of the report rests on, by `ID`")
	againFlags(cmd, box)
	return cmd
}

// againFlags are those of the commands that execute a recorded run's commands.
func againFlags(cmd *cobra.Command, o *runOptions) {
	cmd.Flags().StringVarP(&o.dir, "directory", "C", ".", "take the commits from the repository in `DIR`")
	cmd.Flags().Var(&o.sandbox, "sandbox", "how commands are sandboxed; fail if `TIER` is unavailable:\nauto, full, strong, basic, none")
}

// rerun does "ycbot rerun".
func (p *program) rerun(ctx context.Context, dir string, box *runOptions, o recheck.RerunOptions) error {
	runner, err := p.runner(ctx, box)
	if err != nil {
		return err
	}
	show := p.progress(p.stderr)
	defer show.Close()
	o.Repo, o.Each = box.dir, p.reran
	count, err := recheck.Rerun(ctx, runner, p.origin(dir), o)
	if p.notIntact(err) {
		return nil
	}
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%d run again: %d the same, %d different", count.Same+count.Different, count.Same, count.Different)
	if count.NotRun > 0 {
		line += fmt.Sprintf("; %d could not be run", count.NotRun)
		p.code = report.ExitError
	}
	if count.Different > 0 {
		p.code = differs
	}
	_, err = fmt.Fprintln(p.stdout, line)
	return err
}

// differs is the exit code of what was done again and came to something else.
const differs = 1

// reran prints what came of one command.
func (p *program) reran(r recheck.RerunResult) {
	word := "same"
	switch {
	case r.Why != "":
		word = "not run"
	case r.What != "":
		word = "differs"
	}
	said := r.Record.Command
	if said == "" {
		said = strings.Join(r.Record.Argv, " ")
	}
	text := fmt.Sprintf("%-7s %s %s: %s", word, r.Record.ID, r.Record.Task, said)
	if why := r.Why + r.What; why != "" {
		text += ": " + why
	}
	fmt.Fprintln(p.stdout, terminal.Printable(text))
	p.indented(r.Diff)
}

// indented prints a diff below the line that it belongs to.
func (p *program) indented(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(p.stdout, "    "+terminal.Printable(strings.TrimRight(line, "\n")))
	}
}

// notIntact prints why a run directory is not taken for what it says it is.
func (p *program) notIntact(err error) bool {
	var bad *recheck.NotIntactError
	if !errors.As(err, &bad) {
		return false
	}
	for _, problem := range bad.Problems {
		fmt.Fprintln(p.stdout, "not intact: "+terminal.Printable(problem))
	}
	p.code = report.ExitError
	return true
}
