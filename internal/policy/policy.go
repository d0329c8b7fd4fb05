// Package policy decides what an agent's call may do: grants of tool classes,
// the rules of permission files, and what no shell command may be. [Decide] is
// the one chain that all of them are links of.
//
// It is pure and deterministic: no one is asked, nothing is read, and an answer
// depends on nothing but the arguments. It is no boundary either: what a
// command can reach is the sandbox's business, and [CheckShell] only refuses
// early what could serve no verification.
package policy

import "slices"

// The codes of refusals that this package gives. They are stored: do not change them.
const (
	CodeNotProvisioned = "not_provisioned"
	CodeHardFloor      = "hard_floor"
	CodePlanMode       = "plan_mode"
	CodeBackground     = "background_auto_deny"
	CodeSandbox        = "sandbox"
	CodeAgentVeto      = "agent_veto"
	CodePolicyDeny     = "policy_deny"
	CodeAsk            = "ask_unattended"
	CodeHook           = "hook_deny"
	CodeBudget         = "budget"
	CodePrivate        = "private_file"
)

// The modes of a run.
const (
	ModeVerify = "verify" // reads, and runs commands where the sandbox holds
	ModePlan   = "plan"   // reads only
)

// The trust that a head can have.
const (
	Trusted   = "trusted"
	Untrusted = "untrusted"
	Local     = "local"
)

// The tool classes that grants are made of; package tool says what each is.
const (
	classRead     = "read"
	classGitRead  = "git_read"
	classSession  = "session"
	classExec     = "exec"
	classNet      = "net"
	classDelegate = "delegate"
)

// builtIn stands in denials whose rule is part of the program.
const builtIn = "ycbot"

// A Denial says why a call is refused.
type Denial struct {
	Code   string // one of the Code constants
	Target string // the part of the call that the rule is about; empty: the call
	Rule   string // name of the rule, or its text
	Source string // who made the rule: ycbot, grant, agent, hook, or FILE:LINE
	Reason string // for people
	Hint   string // what the model may do instead
}

// A Set is a set of tool classes.
type Set []string

// Has reports whether class is in the set.
func (s Set) Has(class string) bool { return slices.Contains(s, class) }

// A Level is how much execution a run allows.
type Level string

// The levels of execution.
const (
	LevelNone    Level = "none"    // nothing is executed
	LevelInspect Level = "inspect" // a few commands that only read, without a shell; see [Inspect]
	LevelFull    Level = "full"    // what bash runs, within the sandbox
)

// Levels are the names of the levels, for code that lets a person choose.
func Levels() []string { return []string{string(LevelNone), string(LevelInspect), string(LevelFull)} }

// Grant returns the classes that a run gives its agents. Reading is always
// given. Execution needs mode verify, a known trust and a sandbox that gives
// what that trust requires, which sandboxOK says. Classes that write, publish
// or reach the network are never in a grant that this function makes; see
// [Set.WithNet] for the last.
func Grant(mode, trust string, sandboxOK bool) Set {
	set := Set{classRead, classGitRead, classSession}
	known := trust == Trusted || trust == Untrusted || trust == Local
	if mode == ModeVerify && known && sandboxOK {
		set = append(set, classExec)
	}
	return set
}

// WithNet adds the class that reaches the network, which an operator turns on by
// naming hosts. Mode plan has no use for it: there it is refused all the same.
func (s Set) WithNet() Set { return append(slices.Clone(s), classNet) }

// WithoutExec takes execution away again.
func (s Set) WithoutExec() Set {
	return slices.DeleteFunc(slices.Clone(s), func(c string) bool { return c == classExec })
}

// mutates reports whether a class is never granted, whatever the run.
func mutates(class string) bool {
	return class == "write" || class == "git_write" || class == "publish"
}
