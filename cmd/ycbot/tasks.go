package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
)

// tasksOptions say which tasks are meant.
type tasksOptions struct {
	run    string // a run directory; empty: all below home
	most   int
	format choice
	form   choice // of a transcript
}

func tasksCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "Show the agents of past and running runs, and stop them",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	o := &tasksOptions{format: choice{"text", []string{"text", "json"}}, form: choice{"markdown", []string{"markdown", "json"}}}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the agents of the latest runs, the newest first",
		Long: `List the agents of the latest runs below YCBOT_HOME and of every running run, the
newest first. What is "orphaned" was at work when its process ended; a run
that is started again takes it up.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.tasksList(cmd.Context(), o) },
	}
	list.Flags().IntVarP(&o.most, "number", "n", 20, "list at most `N`")
	list.Flags().Var(&o.format, "format", "output format on standard output: text, json")
	show := &cobra.Command{
		Use:   "show ID",
		Short: "Show what a task cost, and its result or its last step",
		Args:  someArgs(1, "which task? name its id or how it begins"),
		RunE:  func(cmd *cobra.Command, args []string) error { return p.tasksShow(cmd.Context(), o, args[0]) },
	}
	transcript := &cobra.Command{
		Use:   "transcript ID",
		Short: "Print all that happened in a task, as Markdown or as events",
		Long: `Print all that happened in a task: as Markdown, or with --format json as its events
in their order, one {"type": "subagent_event", …} a line.`,
		Example: `  ycbot tasks transcript 3fa1 | less`,
		Args:    someArgs(1, "which task? name its id or how it begins"),
		RunE:    func(cmd *cobra.Command, args []string) error { return p.tasksTranscript(cmd.Context(), o, args[0]) },
	}
	transcript.Flags().Var(&o.form, "format", "output format on standard output: markdown, json")
	stop := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a task that is running, or with the id of a run all of it",
		Long: `Stop a task that is running, by its id or how it begins; the run goes on without
what it would have found, and its report says so. With the id of a run the whole
run is stopped: it ends in its own time, as cancelled.`,
		Args: someArgs(1, "which task? name its id or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.tasksStop(cmd.Context(), o, args[0]) },
	}
	for _, c := range []*cobra.Command{list, show, transcript, stop} {
		c.Flags().StringVar(&o.run, "run", "", "only those of the run whose directory is `DIR`")
	}
	cmd.AddCommand(list, show, transcript, stop)
	return cmd
}

// tasks reads the tasks of runs, the newest first: those of the latest runs until there
// are enough of them; 0 is all.
func (p *program) tasks(ctx context.Context, o *tasksOptions, enough int) ([]run.Task, []run.Live, error) {
	home, err := p.home()
	if err != nil {
		return nil, nil, err
	}
	return run.Tasks(ctx, home, o.run, enough)
}

// task finds the only task whose id begins with prefix.
func (p *program) task(ctx context.Context, o *tasksOptions, prefix string) (run.Task, []run.Live, error) {
	all, live, err := p.tasks(ctx, o, 0)
	if err != nil {
		return run.Task{}, nil, err
	}
	var found []run.Task
	for _, t := range all {
		if t.ID == prefix {
			return t, live, nil
		}
		if prefix != "" && strings.HasPrefix(t.ID, prefix) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return run.Task{}, live, fmt.Errorf("no task begins with %q; ycbot tasks list shows them", prefix)
	case 1:
		return found[0], live, nil
	}
	return run.Task{}, live, fmt.Errorf("%d tasks begin with %q: give more of the id, or the run with --run DIR", len(found), prefix)
}

func (p *program) tasksList(ctx context.Context, o *tasksOptions) error {
	if o.most < 1 {
		return usage.Errorf("--number: want a number above zero")
	}
	all, _, err := p.tasks(ctx, o, o.most)
	if err != nil {
		return err
	}
	all = all[:min(len(all), o.most)]
	if o.format.value == "json" {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(append([]run.Task{}, all...))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(p.stdout, "no agents recorded in these runs")
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAGENT\tSTATUS\tOUTCOME\tVERDICT\tSTARTED\tTOOK\tCALLS\tTOKENS\tRUN")
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", terminal.Printable(t.ID), terminal.Printable(t.Agent), t.Status, cmp.Or(string(t.Result.Outcome), "-"),
			cmp.Or(t.Result.Verdict, "-"), t.Started.UTC().Format(time.RFC3339), worked(t.Record, p.now()), t.ToolCalls, t.Tokens, terminal.Printable(t.Run))
	}
	return w.Flush()
}

// worked is how long a task worked; what was orphaned worked until its last event.
func worked(rec agent.Record, now time.Time) time.Duration {
	end := rec.Finished
	switch {
	case end.IsZero() && rec.Status == agent.TaskRunning:
		end = now
	case end.IsZero():
		end = rec.LastActivityAt
	}
	return max(0, end.Sub(rec.Started).Round(time.Second))
}

func (p *program) tasksShow(ctx context.Context, o *tasksOptions, prefix string) error {
	t, _, err := p.task(ctx, o, prefix)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run: %s\ndirectory: %s\n", t.Run, t.Dir)
	for _, f := range [][2]string{{"description", t.Description}, {"model", t.Model}, {"isolation", t.Isolation}, {"outcome", string(t.Result.Outcome)}, {"verdict", t.Result.Verdict}, {"did", t.Result.Provenance.String()}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
		}
	}
	if t.CanceledByUser {
		b.WriteString("someone stopped it\n")
	}
	return p.lines(b.String() + t.Describe(p.now()))
}

func (p *program) tasksTranscript(ctx context.Context, o *tasksOptions, prefix string) error {
	t, _, err := p.task(ctx, o, prefix)
	if err != nil {
		return err
	}
	if o.form.value == "json" {
		return p.taskEvents(t)
	}
	if text, err := os.ReadFile(filepath.Join(t.Dir, filepath.FromSlash(t.TranscriptPath))); err == nil {
		return p.lines(string(text))
	}
	events, err := t.Events() // it is written when the run ends
	if err != nil {
		return err
	}
	return p.lines(agent.Markdown(events, t.ID))
}

// taskEvents writes the events of a task, each in its envelope.
func (p *program) taskEvents(t run.Task) error {
	events, err := t.Events()
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.ID != t.ID {
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := p.stdout.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// lines writes a text of which parts come from strangers.
func (p *program) lines(text string) error {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(terminal.Printable(line) + "\n")
	}
	_, err := p.stdout.WriteString(b.String())
	return err
}

func (p *program) tasksStop(ctx context.Context, o *tasksOptions, prefix string) error {
	t, live, err := p.task(ctx, o, prefix)
	if err != nil {
		var runs []run.Live
		for _, l := range live {
			if prefix != "" && strings.HasPrefix(l.ID, prefix) {
				runs = append(runs, l)
			}
		}
		if len(runs) != 1 {
			return err
		}
		if err := runs[0].Stop(ctx, ""); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "run %s is being stopped\n", runs[0].ID)
		return err
	}
	if t.Live == nil || t.Status != agent.TaskRunning {
		return fmt.Errorf("task %s (%s) is not running: it is %s", t.ID, t.Agent, t.Status)
	}
	if err := t.Live.Stop(ctx, t.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "task %s (%s) is stopped\n", t.ID, t.Agent)
	return err
}
