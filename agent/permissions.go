package agent

import (
	"context"
	"encoding/json"

	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
)

// A PermissionFile is a permission file that its reader found; see [policy.File].
type PermissionFile = policy.File

// Permissions are what the agents of a run may do: the decision chain, made once
// for the run. Those of one agent are made of them by Of.
type Permissions struct {
	granted policy.Set
	terms   Terms
	rules   []policy.Rule
	own     OwnRules
	roots   []string
	name    string // of the agent
	id      string // and its own
}

// Terms are what the permissions of a run are made of.
type Terms struct {
	Trust     string // of the head: trusted, untrusted or local
	Sandboxed bool   // the sandbox gives what that trust requires; where it does not, nothing is executed
	Mode      string // verify or plan; empty is verify
	Exec      string // none, inspect or full; empty is full
	Hosts     []string
	Files     []PermissionFile
	// Hook is the operator's last word about a call: why it is refused, "" for
	// letting it go on. May be nil.
	Hook func(HookCall) string
	// Spent says why nothing is left to pay for a call, "" while something is. May be nil.
	Spent func() string
}

// A HookCall is a call that nothing but the operator's hook can refuse any more.
type HookCall struct {
	Agent, ID string   // who calls
	Tool      string   // by ycbot's name
	Targets   []string // paths and addresses, or the commands of a script one by one
}

// OwnRules are what the definition of an agent says of its own calls. They can
// only take away.
type OwnRules struct {
	Disallowed []string // tools
	// Permission says allow, ask or deny of a tool and a target, and by which
	// rule; nil: there is no map.
	Permission func(tool, target string) (action, rule string)
}

// Permit makes the permissions of a run that verifies a head of this trust
// (trusted, untrusted or local), without permission files.
func Permit(trust string, sandboxed bool) Permissions {
	p, _ := NewPermissions(Terms{Trust: trust, Sandboxed: sandboxed}) // only files can be wrong
	return p
}

// NewPermissions makes the permissions of a run. A permission file that cannot be
// read is an error that names its line: a run with one does not begin.
func NewPermissions(t Terms) (Permissions, error) {
	if t.Mode == "" {
		t.Mode = policy.ModeVerify
	}
	rules, err := policy.ParseFiles(t.Files...)
	if err != nil {
		return Permissions{}, err
	}
	granted := policy.Grant(t.Mode, t.Trust, t.Sandboxed)
	if t.Exec == string(policy.LevelNone) {
		granted = granted.WithoutExec()
	}
	if len(t.Hosts) > 0 && t.Mode == policy.ModeVerify {
		granted = granted.WithNet()
	}
	return Permissions{granted: granted, terms: t, rules: rules}, nil
}

// Warnings say what is likely wrong with rules, each with its place.
func (p Permissions) Warnings() []string { return policy.Lint(p.rules) }

// Of returns the permissions of one agent. roots are the absolute paths of
// folders that stand for the root of the project in what it calls.
func (p Permissions) Of(own OwnRules, roots ...string) Permissions {
	p.own, p.roots = own, roots
	return p
}

// For returns the permissions for the calls of one agent, whom a hook learns of.
func (p Permissions) For(name, id string) Permissions {
	p.name, p.id = name, id
	return p
}

// Allow reports whether tools of a class are granted at all.
func (p Permissions) Allow(c tool.Class) bool { return p.granted.Has(string(c)) }

// Holds reports whether agents may hold processes over several calls. Where commands share
// the network of the machine, those of an untrusted head may not.
func (p Permissions) Holds(shared bool) bool {
	shell := p.terms.Exec == "" || p.terms.Exec == string(policy.LevelFull)
	return p.Allow(tool.Exec) && shell && (!shared || p.terms.Trust != policy.Untrusted)
}

// Decide is a Config's Decide. Of a tool that runs commands it decides only
// whether it may be called; which command it may run is decided by Shell and
// Tests, so that a refused command stands in the evidence log.
func (p Permissions) Decide(_ context.Context, t tool.Tool, args json.RawMessage) *tool.Denied {
	if t.Class == tool.Delegate { // who may delegate is decided by whom it is offered to
		return nil
	}
	c := p.call(t.Name, t.Class)
	if t.Class == tool.Exec {
		c.Rules, c.Agent.Permission, c.Hook, c.Level = nil, nil, nil, policy.LevelFull
		if p.terms.Exec == string(policy.LevelNone) {
			c.Level = policy.LevelNone
		}
	} else {
		c.Targets = targets(t, args, p.below)
	}
	return refusal(policy.Decide(c, p.granted))
}

// Approved is a Config's Approved: it names the rule or grant by which a command
// runs or an address is fetched.
func (p Permissions) Approved(t tool.Tool, args json.RawMessage) string {
	if t.Class != tool.Exec && t.Class != tool.Net {
		return ""
	}
	c := p.call(t.Name, t.Class)
	c.Targets = targets(t, args, p.below)
	c.Hook, c.Spent = nil, "" // they were asked already
	v := policy.Explain(c, p.granted)
	if v.Denial != nil {
		return ""
	}
	return v.By + " (" + v.Source + ")"
}

// Shell refuses commands of run_bash.
func (p Permissions) Shell(command string) *tool.Denied {
	return p.command("run_bash", command, policy.Command(command))
}

// Tests refuses commands of run_tests: what is refused to run_bash, and what
// rules about tests say.
func (p Permissions) Tests(command string) *tool.Denied {
	return p.command("run_tests", command, policy.Tests(command))
}

func (p Permissions) command(name, command string, targets []policy.Target) *tool.Denied {
	c := p.call(name, tool.Exec)
	c.Command, c.Targets = command, targets
	return refusal(policy.Decide(c, p.granted))
}

// below is a path of a call as rules have it.
func (p Permissions) below(name string) string { return policy.Relative(name, p.roots...) }

// targets are what a call of t is about; rel gives a path of it as rules have it.
func targets(t tool.Tool, args json.RawMessage, rel func(string) string) []policy.Target {
	if t.About == nil {
		return policy.Undeclared(t.Name, string(t.Class), args, rel)
	}
	var declared []policy.Subject
	for _, s := range t.About(args, rel) {
		declared = append(declared, policy.Subject{Name: s.Rule, Text: s.Text, Aside: s.Aside})
	}
	return policy.Targets(declared)
}

// Targets are what a call of a tool is about, by its name, to explain rules.
func Targets(name string, args json.RawMessage) []policy.Target {
	if name == "run_tests" { // a rule is about the command, which the harness has
		var a struct{ Command string }
		_ = json.Unmarshal(args, &a) // without one there is none to look at
		return policy.Tests(a.Command)
	}
	for _, t := range tool.Declared() {
		if t.Name == name {
			return targets(t, args, Permissions{}.below)
		}
	}
	return nil
}

// Fetch refuses addresses, that of a call and those that it is led on to.
func (p Permissions) Fetch(url string) *tool.Denied {
	c := p.call("fetch_url", tool.Net)
	c.Targets = []policy.Target{policy.Address(url)}
	c.Agent.Permission, c.Hook = nil, nil // they were asked about the call
	return refusal(policy.Decide(c, p.granted))
}

// Behind refuses a call for what is behind symbolic links in its paths, which only the tool
// that follows them knows: real gives the path behind them.
func (p Permissions) Behind(t tool.Tool, args json.RawMessage, real func(string) string) *tool.Denied {
	c := p.call(t.Name, t.Class)
	c.Targets, c.Spent = targets(t, args, real), "" // of the call it was asked already
	return refusal(policy.Decide(c, p.granted))
}

// Hidden reports whether a rule of a kind, such as Read, keeps agents from a path of the
// project, for tools that come across it without naming it.
func (p Permissions) Hidden(rule, path string) bool {
	c := p.call("read_file", tool.Read)
	c.Targets = []policy.Target{{Name: rule, Text: path}}
	c.Agent, c.Hook, c.Spent = policy.Agent{}, nil, ""
	return policy.Decide(c, p.granted) != nil
}

// Argv returns the words of a command that runs without a shell, nil where the
// run gives agents a shell.
func (p Permissions) Argv(command string) []string {
	if p.terms.Exec != string(policy.LevelInspect) {
		return nil
	}
	argv, _ := policy.Inspect(command)
	return argv
}

// call is what all calls of an agent have in common.
func (p Permissions) call(name string, class tool.Class) policy.Call {
	c := policy.Call{
		Known: true, Offered: true, Class: string(class), Mode: p.terms.Mode, Tool: name, Trust: p.terms.Trust,
		Level: policy.Level(p.terms.Exec), Hosts: p.terms.Hosts, Rules: p.rules, Agent: policy.Agent{Disallowed: p.own.Disallowed},
	}
	if own := p.own.Permission; own != nil {
		c.Agent.Permission = func(tool, target string) (policy.Action, string) {
			action, rule := own(tool, target)
			return policy.Action(action), rule
		}
	}
	if hook := p.terms.Hook; hook != nil {
		c.Hook = func(tool string, targets []policy.Target) string {
			var texts []string
			for _, t := range targets {
				texts = append(texts, t.Text)
			}
			return hook(HookCall{Agent: p.name, ID: p.id, Tool: tool, Targets: texts})
		}
	}
	if p.terms.Spent != nil {
		c.Spent = p.terms.Spent()
	}
	return c
}

// refusal is a denial as the model, the events and the report have it.
func refusal(d *policy.Denial) *tool.Denied {
	if d == nil {
		return nil
	}
	return &tool.Denied{Code: d.Code, Target: d.Target, Rule: d.Rule, Source: d.Source, Hint: d.Hint}
}
