package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/usage"
)

// agentsOptions say where agents are looked for.
type agentsOptions struct {
	dir      string
	operator string
}

func agentsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Show the available agents, or check agent files",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	o := &agentsOptions{}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the available agents",
		Long: `List the available agents: the built-in ones, those of your own folders,
those of the project in its working tree, and those of --agents-dir. Of two with
one name the later counts. What is wrong with a file is said on standard error.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return p.agentsList(o) },
	}
	show := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show an agent's effective definition",
		Example: `  ycbot agents show verification`,
		Args:    someArgs(1, "which agent? name it"),
		RunE:    func(_ *cobra.Command, args []string) error { return p.agentsShow(o, args[0]) },
	}
	check := &cobra.Command{
		Use:   "check [FILE|DIR]...",
		Short: "Check agent files, and say what is wrong with them as FILE:LINE: TEXT",
		Long: `Check agent files, and say what is wrong with them as FILE:LINE: TEXT. For which
system a file was written is known by the folders of its path, such as .claude.
Of a folder its *.md files are checked, and without an argument those of the project's
folders of agents, such as .ycbot/agents.

Exit codes: 0 every file is an agent, if with warnings; 3 one of them is not.`,
		Example: `  ycbot agents check
  ycbot agents check .ycbot/agents/review.md`,
		RunE: func(_ *cobra.Command, args []string) error { return p.agentsCheck(args) },
	}
	for _, c := range []*cobra.Command{list, show} {
		c.Flags().StringVarP(&o.dir, "directory", "C", ".", "look for the project's agents in `DIR`")
		c.Flags().StringVar(&o.operator, "agents-dir", "", "load agent files from `DIR`, too; they override all others")
	}
	cmd.AddCommand(list, show, check)
	return cmd
}

// someArgs wants at least one argument, and at most limit unless that is below
// zero.
func someArgs(limit int, question string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage.Errorf("%s: %s", question, cmd.UseLine())
		case limit >= 0 && len(args) > limit:
			return usage.Errorf("unexpected argument %q", args[limit])
		}
		return nil
	}
}

// loadAgents reads the agents that a run by hand could have, and says what is
// wrong with their files.
func (p *program) loadAgents(o *agentsOptions) (agents.Cast, error) {
	all, problems, err := p.machine().Agents(o.dir, o.operator)
	for _, problem := range problems {
		p.say(problem.String())
	}
	return all, err
}

func (p *program) agentsList(o *agentsOptions) error {
	all, err := p.loadAgents(o)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSOURCE\tTOOLS\tBACKGROUND\tISOLATION\tMODEL")
	for _, d := range all.Definitions {
		source := d.Source
		if d.Origin == agents.Builtin {
			source = string(d.Origin)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, terminal.Printable(source), toolsOf(d), yesNo(d.Background), cmp.Or(d.Isolation, "-"), terminal.Printable(cmp.Or(d.Model, "-")))
	}
	return w.Flush()
}

// toolsOf says in a few words what an agent may use.
func toolsOf(d agents.Definition) string {
	text := fmt.Sprint(len(d.Tools))
	if d.AllTools {
		text = "all"
		if n := len(d.DisallowedTools); n > 0 {
			text += fmt.Sprintf(" but %d", n)
		}
	}
	if d.Executes() {
		return text + ", runs commands"
	}
	return text
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (p *program) agentsShow(o *agentsOptions, name string) error {
	all, err := p.loadAgents(o)
	if err != nil {
		return err
	}
	d, err := all.Find(name)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range effective(d) {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", f[0], terminal.Printable(f[1]))
		}
	}
	for line := range strings.SplitSeq("\n"+d.Prompt, "\n") {
		b.WriteString(terminal.Printable(line) + "\n")
	}
	_, err = io.WriteString(p.stdout, b.String())
	return err
}

// effective lists what a definition comes to; what is empty is not shown.
func effective(d agents.Definition) [][2]string {
	tools, never := strings.Join(d.Tools, ", "), []string(nil)
	if d.AllTools {
		tools = "all that the run grants"
	}
	for _, t := range d.Tools {
		switch class, _ := tool.ClassOf(t); class {
		case tool.Write, tool.GitWrite, tool.Publish, tool.Delegate:
			never = append(never, t)
		}
	}
	builtin := "replaces"
	if d.Extends {
		builtin = "extends"
	}
	out := [][2]string{
		{"name", d.Name},
		{"description", d.Description},
		{"source", fmt.Sprintf("%s (%s)", d.Source, d.Origin)},
		{builtin, d.Replaces},
		{"role", d.Role},
		{"tools", tools},
		{"never granted", strings.Join(never, ", ")},
		{"without", strings.Join(d.DisallowedTools, ", ")},
	}
	for _, r := range d.Permission {
		out = append(out, [2]string{"permission", fmt.Sprintf("%s %q: %s", r.Tool, r.Pattern, r.Action)})
	}
	out = append(out, [][2]string{
		{"phase", d.Phase},
		{"model", cmp.Or(d.Model, "the run's")},
		{"provider", d.Provider},
		{"background", yesNo(d.Background)},
		{"isolation", cmp.Or(d.Isolation, "as its tools need")},
		{"max iterations", fmt.Sprint(d.MaxIterations)},
		{"timeout", limit(d.Timeout, "the run's")},
		{"max output tokens", limit(d.MaxOutputTokens, "")},
		{"max budget usd", limit(d.MaxBudgetUSD, "")},
		{"mode", d.Mode},
	}...)
	if d.Structured {
		out = append(out, [2]string{"result", "structured"})
	}
	for _, c := range d.SuccessCriteria {
		out = append(out, [2]string{"success criterion", c})
	}
	if d.Appends {
		out = append(out, [2]string{"prompt", "append"})
	}
	return out
}

// limit shows a bound, where zero means that there is none.
func limit[T comparable](bound T, none string) string {
	var zero T
	if bound == zero {
		return none
	}
	return fmt.Sprint(bound)
}

func (p *program) agentsCheck(named []string) error {
	files, err := machine.AgentFiles(named)
	if err != nil {
		return err
	}
	wrong, errs, warnings := 0, 0, 0
	for _, problems := range machine.CheckAgents(files) {
		for _, problem := range problems {
			kind := "warning"
			if problem.Fatal {
				kind = "error"
				errs++
			} else {
				warnings++
			}
			problem.Text = kind + ": " + problem.Text
			fmt.Fprintln(p.stdout, terminal.Printable(problem.String()))
		}
		if problems.Err() != nil {
			wrong++
		}
	}
	if wrong > 0 {
		p.code = report.ExitError
	}
	_, err = fmt.Fprintf(p.stdout, "files: %d, agents: %d, errors: %d, warnings: %d\n", len(files), len(files)-wrong, errs, warnings)
	return err
}
