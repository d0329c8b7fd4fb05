package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
)

// systemPermissions is the permission file of whoever runs the machine.
const systemPermissions = "/etc/ycbot/permissions.json"

// projectPermissions are the permission files of a project, in the order in
// which they are read; the last two are a person's own and count in local runs.
func projectPermissions() (shared, local []string) {
	return []string{".ycbot/permissions.json", ".yottacode/permissions.json"}, []string{".ycbot/permissions.local.json", ".yottacode/permissions.local.json"}
}

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
		Short: "Tell whether a call would run, and which rule of which file says so",
		Long: `Tell whether a call would run, and which rule of which file says so. ARGS are
the command, path or address that the tool is called with, or all its arguments
as a JSON object. The files are ` + systemPermissions + `, the one that
` + permissionsVariable + ` names and, of the project's working tree, permissions.json in
.ycbot and .yottacode, for the trust local also permissions.local.json. A run reads
the project's at the base commit, so that no change makes rules for itself. A
sandbox is taken to be there. Rules that never count or that allow more than they
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
	f.StringArrayVar(&o.files, "file", nil, "a further permission `FILE` of the operator's")
	f.StringArrayVar(&o.hosts, "host", nil, "a `HOST` that the operator lets agents reach")
	f.Var(&o.mode, "mode", "of the run")
	f.Var(&o.trust, "trust", "of the change")
	f.Var(&o.exec, "exec", "how much the run executes")
	f.SetInterspersed(false)
	cmd.AddCommand(test)
	return cmd
}

func (p *program) permissionsTest(o *permissionsOptions, name, args string) error {
	files, err := p.rulesOf(o)
	if err != nil {
		return err
	}
	rules, err := policy.ParseFiles(files...)
	if err != nil {
		return err
	}
	call, grant := o.call(name, args, rules)
	v := policy.Explain(call, grant)
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

// rulesOf reads the files that are there: the operator's, those that are named, and
// those of the project's working tree.
func (p *program) rulesOf(o *permissionsOptions) ([]policy.File, error) {
	out, err := p.operatorRules()
	if err != nil {
		return nil, err
	}
	add := func(path, name string, operator bool) error {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && !operator {
			return nil
		}
		if err != nil {
			return fmt.Errorf("permission file: %w", err)
		}
		out = append(out, policy.File{Name: name, Data: data, Operator: operator})
		return nil
	}
	for _, f := range o.files {
		if err := add(f, f, true); err != nil {
			return nil, err
		}
	}
	shared, local := projectPermissions()
	if o.trust.value == policy.Local {
		shared = append(shared, local...)
	}
	top := p.topOf(o.dir)
	for _, name := range shared {
		if err := add(filepath.Join(top, filepath.FromSlash(name)), name, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// call is the call that is asked about, of an agent that has every tool.
func (o *permissionsOptions) call(name, args string, rules []policy.Rule) (policy.Call, policy.Set) {
	name = toolOf(name)
	class, known := tool.ClassOf(name)
	raw := arguments(name, args)
	c := policy.Call{
		Known: known, Offered: true, Class: string(class), Mode: o.mode.value, Tool: name, Trust: o.trust.value,
		Level: policy.Level(o.exec.value), Hosts: o.hosts, Rules: rules, Targets: agent.Targets(name, raw),
	}
	if class == tool.Exec {
		var a struct{ Command string }
		_ = json.Unmarshal(raw, &a) // without a command there is none to look at
		c.Command = a.Command
	}
	grant := policy.Grant(o.mode.value, o.trust.value, true)
	if o.exec.value == string(policy.LevelNone) {
		grant = grant.WithoutExec()
	}
	if len(o.hosts) > 0 {
		grant = grant.WithNet()
	}
	return c, grant
}

// toolOf is the tool that a name stands for, which may be the one of its rules.
func toolOf(name string) string {
	switch name {
	case "List":
		return "list_dir"
	case "Fetch":
		return "fetch_url"
	case "Tests":
		return "run_tests"
	case "Github":
		return "pr_read"
	}
	return tool.Canonical(name)
}

// arguments are those of a call: an object as it is, else the one that matters.
func arguments(name, args string) json.RawMessage {
	if json.Valid([]byte(args)) && strings.HasPrefix(strings.TrimSpace(args), "{") {
		return json.RawMessage(args)
	}
	key := "path"
	switch name {
	case "run_bash", "run_tests", "start_process":
		key = "command"
	case "fetch_url", "screenshot":
		key = "url"
	case "glob":
		key = "pattern"
	}
	var value any = args
	if name == "read_many_files" || name == "git_diff_files" {
		key, value = "paths", strings.Fields(args)
	}
	raw, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return nil // texts always marshal
	}
	return raw
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

// permissionsVariable names a further permission file of the operator's.
const permissionsVariable = "YCBOT_PERMISSIONS"

// operatorRules are the permission files of whoever runs ycbot: the machine's,
// where there is one, and the one that the environment names, which has to be there.
func (p *program) operatorRules() ([]policy.File, error) {
	var files []policy.File
	for _, path := range []string{systemPermissions, p.getenv(permissionsVariable)} {
		if path == "" {
			continue
		}
		if path != systemPermissions {
			if err := p.outside(path); err != nil {
				return nil, &usageError{fmt.Errorf("%s: %w", permissionsVariable, err)}
			}
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && path == systemPermissions {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("permission file of %s: %w", whose(path), err)
		}
		files = append(files, policy.File{Name: path, Data: data, Operator: true})
	}
	return files, nil
}

// whose says what names an operator's permission file.
func whose(path string) string {
	if path == systemPermissions {
		return "this machine"
	}
	return permissionsVariable
}

// outside refuses a file that a pull request may have written: in an Action what
// lies in the workspace.
func (p *program) outside(path string) error {
	workspace := p.getenv("GITHUB_WORKSPACE")
	if workspace == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q: want an absolute path outside of the workspace", path)
	}
	if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%q lies in the workspace, which may be the pull request's: want an absolute path outside of it, or .ycbot/permissions.json at the base", path)
	}
	return nil
}
