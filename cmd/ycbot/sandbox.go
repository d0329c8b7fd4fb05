package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// shimCommand makes the program the shim of its own sandbox. It is no command
// of cobra's: it is looked for before anything else is done.
const shimCommand = "sandbox-exec"

// shim is how the sandbox starts this program as its shim; nil where its own
// file is not known, and the sandbox then says which layers are missing.
func shim() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{exe, shimCommand}
}

func sandboxCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "See and improve how commands of a change are contained on this machine",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	doctor := &cobra.Command{
		Use:   "doctor",
		Short: "Try every tier of the sandbox here, and tell what holds and what is missing",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.sandboxDoctor(cmd.Context()) },
	}
	dry := false
	host := sandbox.Host{UID: p.number("SUDO_UID"), GID: p.number("SUDO_GID")}
	prepare := &cobra.Command{
		Use:   "prepare",
		Short: "Do once, as root, what tier full needs: install bubblewrap, allow it in AppArmor, delegate a cgroup",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.prepare(cmd.Context(), host, dry) },
	}
	prepare.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be done")
	prepare.Flags().IntVar(&host.Process, "process", 0, "move this process, and what it starts from then on, into the delegated cgroup; in a shell: $$")
	prepare.Flags().StringVar(&host.Unit, "unit", "", "have systemd delegate the cgroup of this service instead, for good")
	cmd.AddCommand(doctor, prepare)
	return cmd
}

// sandboxDoctor prints what each tier gives here.
func (p *program) sandboxDoctor(ctx context.Context) error {
	temp, err := os.MkdirTemp("", "ycbot-doctor-")
	if err != nil {
		return fmt.Errorf("temporary directory: %w", err)
	}
	defer os.RemoveAll(temp)
	var b strings.Builder
	best := ""
	for _, mode := range []sandbox.Tier{sandbox.TierFull, sandbox.TierBasic, sandbox.TierNone} {
		box, err := sandbox.Detect(ctx, sandbox.Options{
			Mode: string(mode), PATH: p.getenv("PATH"), Home: p.getenv("HOME"), TempDir: temp, Shim: p.shim, Now: p.now,
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(&b, "%s: not available\n  %s\n", mode, err)
			continue
		}
		best = cmp.Or(best, string(mode))
		describe(&b, string(mode), box.Status())
	}
	fmt.Fprintf(&b, "--sandbox auto takes %s here.\n", best)
	if best != string(sandbox.TierFull) {
		b.WriteString("\"ycbot sandbox prepare\", as root, does what it can for tier full; docs/security.md has the rest.\n")
	}
	_, err = p.stdout.WriteString(b.String())
	return err
}

func describe(b *strings.Builder, mode string, s sandbox.Status) {
	fmt.Fprintf(b, "%s: works", mode)
	if n := len(s.SelfTest); n > 0 {
		held := 0
		for _, c := range s.SelfTest {
			if c.Held {
				held++
			}
		}
		fmt.Fprintf(b, ", %d of %d canaries held", held, n)
	}
	b.WriteString("\n")
	for _, l := range s.Layers {
		fmt.Fprintf(b, "  + %s\n", l)
	}
	for _, m := range s.Missing {
		fmt.Fprintf(b, "  - %s\n", m)
	}
	for _, c := range s.SelfTest {
		if !c.Held {
			fmt.Fprintf(b, "  ! did not hold: %s (%s)\n", c.Name, c.Note)
		}
	}
}

// number is a variable that holds one; 0 where it does not.
func (p *program) number(name string) int {
	n, err := strconv.Atoi(p.getenv(name))
	if err != nil {
		return 0
	}
	return n
}

// prepare says what it will do and does it.
func (p *program) prepare(ctx context.Context, host sandbox.Host, dry bool) error {
	steps, notes := sandbox.Preparation(host)
	for _, n := range notes {
		fmt.Fprintf(p.stdout, "note: %s\n", n)
	}
	if len(steps) == 0 {
		fmt.Fprintln(p.stdout, "nothing to do; \"ycbot sandbox doctor\" tells what holds here")
		return nil
	}
	for _, s := range steps {
		fmt.Fprintf(p.stdout, "will %s\n", s.What)
	}
	if dry {
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New("sandbox prepare: needs root: run it again with sudo")
	}
	for _, s := range steps {
		if err := s.Do(ctx, p.stderr); err != nil {
			return fmt.Errorf("%s: %w", s.What, err)
		}
	}
	fmt.Fprintln(p.stdout, "done; \"ycbot sandbox doctor\" tells what holds now")
	return nil
}
