package agent

import (
	"context"
	"encoding/json"

	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
)

// policySource stands in denials whose rule is part of the program.
const policySource = "ycbot"

// Permissions are what the agents of a run may do: the decision chain, made once
// for the run and the same for all of its agents.
type Permissions struct {
	granted policy.Set
	mode    string
}

// Permit makes the permissions of a run that verifies a head of this trust
// (trusted, untrusted or local). sandboxed says whether the sandbox gives what
// that trust requires; where it does not, nothing is executed.
func Permit(trust string, sandboxed bool) Permissions {
	return Permissions{granted: policy.Grant(policy.ModeVerify, trust, sandboxed), mode: policy.ModeVerify}
}

// Allow reports whether tools of a class are granted at all.
func (p Permissions) Allow(c tool.Class) bool { return p.granted.Has(string(c)) }

// Decide is a Config's Decide.
func (p Permissions) Decide(_ context.Context, t tool.Tool, args json.RawMessage) *tool.Denied {
	if t.Class == tool.Delegate { // who may delegate is decided by whom it is offered to
		return nil
	}
	d := policy.Decide(policy.Call{Known: true, Offered: true, Class: string(t.Class), Mode: p.mode}, p.granted)
	if d == nil {
		return nil
	}
	return &tool.Denied{Code: d.Code, Tool: t.Name, Target: string(args), Rule: d.Rule, Source: policySource, Hint: d.Hint}
}

// Shell refuses commands that are never part of a verification; see
// [policy.CheckShell].
func (p Permissions) Shell(command string) *tool.Denied {
	d, _ := policy.CheckShell(command)
	if d == nil {
		return nil
	}
	return &tool.Denied{Code: d.Code, Rule: d.Rule, Source: policySource, Hint: d.Hint}
}
