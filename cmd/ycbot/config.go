package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

func configCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check a configuration, or print the effective settings",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dir := "."
	check := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration, and say what is wrong with it as FILE:LINE:COLUMN: KEY: TEXT",
		Long: `Check FILE, else .github/ycbot.yml of the working tree, and say what
is wrong with it as FILE:LINE:COLUMN: KEY: TEXT, with the key that was likely meant.
Valid but suspicious settings are warnings, in the same form.

Exit codes: 0 it is valid, or there is none; 3 it is not.`,
		Example: `  ycbot config check`,
		Args:    atMostOne,
		RunE:    func(_ *cobra.Command, args []string) error { return p.configCheck(dir, args) },
	}
	show := &cobra.Command{
		Use:   "print [FILE]",
		Short: "Print the effective settings of FILE, over your own file and the defaults",
		Long: `Print, as a configuration, the effective settings of FILE, else of
.github/ycbot.yml in the working tree, over your own file
($YCBOT_HOME/config.yml) and the defaults. A run reads the file at the base
commit, and flags come above it.
Where nothing is set, env, network, machines, guidance and expectations are left out, and
so are steps of the gate whose commands are
detected: "ycbot gate explain".`,
		Example: `  ycbot config print`,
		Args:    atMostOne,
		RunE:    func(_ *cobra.Command, args []string) error { return p.configPrint(dir, args) },
	}
	for _, c := range []*cobra.Command{check, show} {
		c.Flags().StringVarP(&dir, "directory", "C", ".", "look for .github/ycbot.yml in the repository in `DIR`")
	}
	cmd.AddCommand(check, show)
	return cmd
}

// atMostOne takes one file or none.
func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage.Errorf("unexpected argument %q", args[1])
	}
	return nil
}

// configuration reads the file that was named, else the repository's; nil where
// that is not there.
func (p *program) configuration(dir string, args []string) (name string, data []byte, err error) {
	if len(args) > 0 {
		data, err = regular.Read(args[0])
		return args[0], data, err
	}
	data, err = config.ReadTree(repository.Top(dir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return config.Path, data, err
}

func (p *program) configCheck(dir string, args []string) error {
	name, data, err := p.configuration(dir, args)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(repository.Top(dir), config.Misnamed)); data == nil && err == nil {
		p.code = report.ExitError
		_, err := fmt.Fprintln(p.stdout, config.NotRead)
		return err
	}
	if data == nil {
		_, err := fmt.Fprintf(p.stdout, "there is no %s: the defaults apply\n", name)
		return err
	}
	_, err = config.Parse(name, data)
	if err == nil {
		all, _, failed := p.machine().Agents(dir, "")
		if failed != nil {
			return failed
		}
		if unknown := config.UnknownAgents(name, data, all.Lacks); len(unknown) > 0 {
			err = unknown
		}
	}
	if err == nil {
		for _, w := range config.Warnings(name, data) {
			fmt.Fprintln(p.stdout, terminal.Printable(w.Error()))
		}
		_, err = fmt.Fprintf(p.stdout, "%s is valid\n", name)
		return err
	}
	p.code = report.ExitError
	_, err = fmt.Fprintln(p.stdout, terminal.PrintableLines(err.Error()))
	return err
}

func (p *program) configPrint(dir string, args []string) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	c := config.Default()
	own := filepath.Join(home, "config.yml")
	switch data, err := regular.Read(own); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if c, err = c.With(own, data); err != nil {
			return err
		}
	}
	name, data, err := p.configuration(dir, args)
	if err != nil {
		return err
	}
	if c, err = c.With(name, data); err != nil {
		return err
	}
	text, err := c.YAML()
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(text)
	return err
}
