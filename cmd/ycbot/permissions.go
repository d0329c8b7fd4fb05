package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
)

// permissionsOptions say which run the question is about.
type permissionsOptions struct {
	dir   string
	files []string
	hosts []string
	mode  choice
	trust choice
	exec  choice
}

func permissionsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "See what agents may do, and why",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := &permissionsOptions{
		mode:  choice{policy.ModeVerify, []string{policy.ModeVerify, policy.ModePlan}},
		trust: choice{policy.Local, []string{policy.Trusted, policy.Untrusted, policy.Local}},
		exec:  choice{string(policy.LevelFull), policy.Levels()},
	}
	test := &cobra.Command{
		Use:   "test TOOL ARGS...",
		Short: "Show whether a call would run, and which rule of which file says so",
		Long: `Show whether a call would run, and which rule of which file says so. ARGS are
the command, path or address that the tool is called with, or all its arguments
as a JSON object. The files are ` + machine.SystemPermissions + `, the one that
` + machine.PermissionsVariable + ` names and, of the project's working tree, permissions.json in
.ycbot and .yottacode, for the trust local also permissions.local.json. A run reads
the project's at the base commit, so that no change makes rules for itself. A
sandbox is taken to be there. A file that the tool does not read, whatever rules say, as its
name is that of a secret, has the code private_file. Rules that never count or that allow more than they
show are named on standard error.

Exit codes: 0 it would run, 1 it would be refused, 3 a file cannot be read.`,
		Example: `  ycbot permissions test Bash 'go test ./... && curl example.com'
  ycbot permissions test read_file secrets/key.pem
  ycbot permissions test --trust untrusted --host pkg.go.dev fetch_url https://pkg.go.dev/net/http`,
		Args: someArgs(-1, "which tool? name it"),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.permissionsTest(o, args[0], strings.Join(args[1:], " "))
		},
	}
	f := test.Flags()
	f.StringVarP(&o.dir, "directory", "C", ".", "look for the files of the project that `DIR` lies in")
	f.StringArrayVar(&o.files, "file", nil, "one more permission `FILE` of the operator")
	f.StringArrayVar(&o.hosts, "host", nil, "a `HOST` that the operator lets agents reach")
	f.Var(&o.mode, "mode", "of the run")
	f.Var(&o.trust, "trust", "of the change")
	f.Var(&o.exec, "exec", "how much the run executes")
	f.SetInterspersed(false)
	cmd.AddCommand(test)
	return cmd
}

func (p *program) permissionsTest(o *permissionsOptions, name, args string) error {
	files, err := p.machine().Permissions(machine.PermissionFiles{Dir: o.dir, Named: o.files, Local: o.trust.value == policy.Local})
	if err != nil {
		return err
	}
	rules, err := policy.ParseFiles(files...)
	if err != nil {
		return err
	}
	for _, h := range o.hosts {
		if err := policy.CheckHost(h); err != nil {
			return usage.Errorf("--host: %w", err)
		}
	}
	call, grant := agent.Question{
		Tool: name, Args: args, Mode: o.mode.value, Trust: o.trust.value, Level: policy.Level(o.exec.value), Hosts: o.hosts,
	}.Call(rules)
	v := policy.Explain(call, grant)
	if v.Denial == nil {
		v.Denial = agent.Private(call)
	}
	if err := p.printVerdict(v); err != nil {
		return err
	}
	if v.Denial != nil {
		p.code = 1
	}
	for _, warning := range policy.Lint(rules) {
		fmt.Fprintln(p.stderr, "warning: "+terminal.Printable(warning))
	}
	return nil
}

func (p *program) printVerdict(v policy.Verdict) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s:\t%s\n", key, terminal.Printable(value))
		}
	}
	if d := v.Denial; d == nil {
		line("verdict", "allow")
		line("rule", v.By)
		line("file", v.Source)
	} else {
		line("verdict", "deny")
		line("code", d.Code)
		line("rule", d.Rule)
		line("file", d.Source)
		line("target", d.Target)
		line("reason", d.Reason)
		line("hint", d.Hint)
	}
	return w.Flush()
}
