package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/cmd/ycbot/early"
	"github.com/ycbot/ycbot/internal/doctor"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox/setup"
)

// attackCommand makes the program one of the roles that "sandbox doctor" needs.
const attackCommand = "sandbox-attack"

// shim is how the sandbox starts this program as its shim; nil where its own
// file is not known, and the sandbox then says which layers are missing.
func shim() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{exe, early.ShimCommand}
}

func sandboxCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Check and prepare the sandbox of this machine",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	asJSON := false
	doctor := &cobra.Command{
		Use:   "doctor",
		Short: "Attack every tier of the sandbox on this machine, and show which protections hold and which are missing",
		Long: `Tries every tier of the sandbox on this machine: what it is made of, its
self-test, and the attacks of the threat study, on targets made for them. An
attack that does not work without a sandbox either is not applicable here.

It takes 20 to 30 seconds. The exit code is 0 when the best tier holds all that
it promises, and 1 when it does not.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.sandboxDoctor(cmd.Context(), asJSON) },
	}
	doctor.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	dry := false
	host := setup.Host{UID: p.number("SUDO_UID"), GID: p.number("SUDO_GID")}
	prepare := &cobra.Command{
		Use:   "prepare",
		Short: "Do once, as root, what tier full needs: install bubblewrap, allow it in AppArmor, delegate a cgroup",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.prepare(cmd.Context(), host, dry) },
	}
	prepare.Flags().BoolVar(&dry, "dry-run", false, "dry run: print what would be done")
	prepare.Flags().IntVar(&host.Process, "process", 0, "move this process, and what it starts from then on, into the delegated cgroup; in a shell: $$")
	prepare.Flags().StringVar(&host.Unit, "unit", "", "have systemd delegate the cgroup of this service instead, for good")
	cmd.AddCommand(doctor, prepare)
	return cmd
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
func (p *program) prepare(ctx context.Context, host setup.Host, dry bool) error {
	steps, notes := setup.Steps(host)
	for _, n := range notes {
		fmt.Fprintf(p.stdout, "note: %s\n", n)
	}
	if len(steps) == 0 {
		fmt.Fprintln(p.stdout, "nothing to do; \"ycbot sandbox doctor\" shows which protections hold here")
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
	fmt.Fprintln(p.stdout, "done; \"ycbot sandbox doctor\" shows which protections hold now")
	return nil
}

// sandboxDoctor prints what each tier gives here, and what came of attacking it.
func (p *program) sandboxDoctor(ctx context.Context, asJSON bool) error {
	temp, err := os.MkdirTemp("", "yd-")
	if err != nil {
		return fmt.Errorf("temporary directory: %w", err)
	}
	defer os.RemoveAll(temp)
	found, err := doctor.ExamineTiers(ctx, p.machine(), attackCommand, temp)
	if err != nil {
		return err
	}
	if !found.Holds {
		p.code = report.ExitFail
	}
	if asJSON {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(found)
	}
	_, err = p.stdout.WriteString(found.Text())
	return err
}
