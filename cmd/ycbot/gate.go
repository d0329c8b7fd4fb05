package main

import (
	"context"
	"encoding/json"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"
)

func gateCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Explain what is built and tested without a model",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := newRunOptions()
	asJSON := false
	explain := &cobra.Command{
		Use:   "explain",
		Short: "Show which projects the gate finds, why, and what it would run",
		Long: `Show which projects the gate finds in a change of this repository, by which
files, with which commands, and what it cannot have here. Nothing is run. The
change is chosen as "ycbot run" does.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given(cmd, "base", "head", "config"); err != nil {
				return err
			}
			return p.explain(cmd.Context(), o, asJSON)
		},
	}
	f := explain.Flags()
	f.SortFlags = false
	f.StringVarP(&o.dir, "directory", "C", ".", "work as if started in `DIR`")
	f.StringVar(&o.base, "base", "", "compare with the merge base of this `REF` and the head")
	f.StringVar(&o.head, "head", "", "look at this `REF` (default HEAD)")
	f.BoolVar(&o.dirty, "dirty", false, "look at the working tree with its uncommitted changes")
	f.StringVar(&o.config, "config", "", "use this `FILE` in place of .github/ycbot.yml at the base")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	cmd.AddCommand(explain)
	return cmd
}

func (p *program) explain(ctx context.Context, o *runOptions, asJSON bool) error {
	job, err := p.job(o)
	if err != nil {
		return err
	}
	runner, err := p.runner(ctx, o)
	if err != nil {
		return err
	}
	found, err := runner.Explain(ctx, job)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(found)
	}
	_, err = p.stdout.WriteString(terminal.PrintableLines(found.Text()))
	return err
}
