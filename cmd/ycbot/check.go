package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
)

func checkCommand(p *program) *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Verify that a finished run is intact and that its verdict follows from the log",
		Long: `Check the directory of a finished run, such as the artifact of a workflow:
whether every file is as the run wrote it, whether the evidence log is unbroken,
whether verdict, reasons, checks and findings follow from what is recorded, and
whether agents' claims are supported by the log as the report says. It
needs neither model nor network, executes nothing and writes nothing.

A directory that someone made up as a whole can be detected by its digest alone:
compare it with the one in the check run, or give that with --expect.

Exit codes: 0 intact, 3 not.`,
		Example: `  ycbot check ycbot-report/
  ycbot check ycbot-report/ --expect 5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef`,
		Args: oneDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := given(cmd, "expect"); err != nil {
				return err
			}
			return p.check(args[0], expect)
		},
	}
	cmd.Flags().StringVar(&expect, "expect", "", "the `DIGEST` of SHA256SUMS that the check run shows")
	return cmd
}

// oneDir wants the one argument of commands that read a run directory.
func oneDir(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return usage.Errorf("which run? name its directory: %s DIR", cmd.CommandPath())
	case len(args) == 1:
		return nil
	default:
		return usage.Errorf("unexpected argument %q", args[1])
	}
}

func (p *program) check(dir, expect string) error {
	c, err := recheck.Audit(dir, expect, version())
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, problem := range c.Problems {
		fmt.Fprintln(&out, "not intact: "+terminal.Printable(problem))
	}
	if len(c.Problems) > 0 {
		p.code = report.ExitError
	} else {
		fmt.Fprintf(&out, "intact: run %s of %s, %d commands in the log\n", terminal.Printable(c.Report.RunID), terminal.Printable(c.Report.Repo), c.Records)
		fmt.Fprintf(&out, "digest: %s\nVERDICT: %s\n", c.Digest, c.Report.Verdict)
	}
	_, err = io.WriteString(p.stdout, out.String())
	return err
}
