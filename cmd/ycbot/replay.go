package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/usage"
)

func replayCommand(p *program) *cobra.Command {
	var dry bool
	o := newRunOptions()
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Replay a finished run with the recorded answers of its model",
		Long: `Replay the finished run in DIR: the gate, the agents with the
recorded answers of their model, the audit and the conclusion. Tools and commands
are the real ones; with --dry no command is executed, and what is recorded of it
stands for it. Prints where the replay departs from the record, and compares verdict,
reasons, checks, findings, what was not covered and what was refused.

The commits come from the repository that -C names; nothing of it is changed. The
directory is checked first, as "ycbot check" does: one that is not intact is not
replayed. No model is asked and no key is needed.

Exit codes: 0 the same report, 1 it departs, 3 it could not be done.`,
		Example: `  ycbot replay ycbot-report/
  ycbot replay ycbot-report/ --dry`,
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error { return p.replay(cmd.Context(), args[0], o, dry) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&dry, "dry", false, "execute nothing: recorded results stand for the commands")
	againFlags(cmd, o)
	return cmd
}

// replay does "ycbot replay".
func (p *program) replay(ctx context.Context, dir string, flags *runOptions, dry bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usage.Errorf("%s is not a folder: name that of a finished run, which a report has under \"report:\"", dir)
	}
	dir = p.origin(dir)
	o := recheck.ReplayOptions{Repo: flags.dir, Dry: dry}
	if err := recordedModel(filepath.Join(dir, "model.jsonl"), &o); err != nil {
		return err
	}
	if dry {
		flags.sandbox.value = "none" // it is asked for nothing
	}
	runner, err := p.runner(ctx, flags)
	if err != nil {
		return err
	}
	show := p.progress(p.stderr)
	defer show.Close()
	runner.Observe = show.Event
	r, err := recheck.Replay(ctx, runner, dir, o)
	if p.notIntact(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range append(r.Way, r.Result...) {
		fmt.Fprintln(p.stdout, terminal.Printable("departs: "+d.Where+": "+d.What))
		p.indented(d.Diff)
	}
	switch {
	case len(r.Result) > 0:
		p.code = differs
		fmt.Fprintln(p.stdout, "another report")
	case len(r.Way) > 0:
		p.code = differs
		fmt.Fprintln(p.stdout, "the same report, on another way")
	default:
		fmt.Fprintln(p.stdout, "the same report")
	}
	_, err = fmt.Fprintf(p.stdout, "VERDICT: %s\n", r.Report.Verdict)
	return err
}

// origin is where the commands and answers lie that the run in dir rests on.
func (p *program) origin(dir string) string {
	from := rundir.Origin(dir)
	if from != dir {
		fmt.Fprintln(p.stderr, terminal.Printable("ycbot: "+dir+" took its verdict over from the run in "+from+": that one is looked at"))
	}
	return from
}

// recordedModel reads the answers of a run's model, where it had one.
func recordedModel(name string, o *recheck.ReplayOptions) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	m, err := script.NewReplay(file)
	if err != nil {
		return err
	}
	prices, err := model.ListPrices()
	if err != nil {
		return err
	}
	o.Model = m
	o.Price = func(u model.Usage) (float64, bool) { return prices.Cost(m.Name(), u) }
	return nil
}
