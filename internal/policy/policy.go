// Package policy decides what an agent's call may do: grants of tool classes,
// and what no shell command may be.
//
// It is pure and deterministic: nobody is asked, nothing is read, and an answer
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
	classRead    = "read"
	classGitRead = "git_read"
	classSession = "session"
	classExec    = "exec"
)

// A Denial says why a call is refused.
type Denial struct {
	Code   string // one of the Code constants
	Rule   string // name of the rule
	Reason string // for people
	Hint   string // what the model may do instead
}

// A Set is a set of tool classes.
type Set []string

// Has tells whether class is in the set.
func (s Set) Has(class string) bool { return slices.Contains(s, class) }

// Grant returns the classes that a run gives its agents. Reading is always
// given. Execution needs mode verify, a known trust and a sandbox that gives
// what that trust requires, which sandboxOK tells. Classes that write, publish
// or reach the network are never in a grant.
func Grant(mode, trust string, sandboxOK bool) Set {
	set := Set{classRead, classGitRead, classSession}
	known := trust == Trusted || trust == Untrusted || trust == Local
	if mode == ModeVerify && known && sandboxOK {
		set = append(set, classExec)
	}
	return set
}

// A Call is what [Decide] decides.
type Call struct {
	Known   bool   // the tool's name means something
	Offered bool   // the tool is in the schema that this agent was given
	Class   string // of the tool; empty when it is not known
	Mode    string // of the run
	Command string // of a shell tool; empty otherwise
}

// Decide gives the reason for refusing a call, nil for letting it run. Refusals
// come in a fixed order: what nobody may do, then what the mode forbids, then
// what the grant lacks, then what this agent was not given.
func Decide(c Call, grant Set) *Denial {
	switch {
	case !c.Known:
		return &Denial{CodeNotProvisioned, "unknown tool", "there is no tool of that name", "use one of the tools that you were given"}
	case mutates(c.Class):
		return &Denial{CodeHardFloor, "class " + c.Class, "agents change nothing in the project and publish nothing", "describe the change in the report instead"}
	}
	if c.Command != "" {
		if d, _ := CheckShell(c.Command); d != nil {
			return d
		}
	}
	switch {
	case c.Mode == ModePlan && !Grant(ModePlan, "", false).Has(c.Class):
		return &Denial{CodePlanMode, "mode plan", "this run reads only", "say what you would have run"}
	case c.Class == classExec && !grant.Has(classExec):
		return &Denial{CodeSandbox, "class exec", "this machine cannot contain what this change's commands could do", "read instead, and report what could not be run"}
	case !grant.Has(c.Class):
		return &Denial{CodeBackground, "class " + c.Class, "nobody is there to approve it", "use one of the tools that you were given"}
	case !c.Offered:
		return &Denial{CodeNotProvisioned, "tool not offered", "this agent was not given that tool", "use one of the tools that you were given"}
	}
	return nil
}

// mutates tells whether a class is never granted, whatever the run.
func mutates(class string) bool {
	return class == "write" || class == "git_write" || class == "publish"
}
