package orchestrator

import (
	"cmp"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/config"
)

// A concern is what one of several verifications looks at first.
type concern struct{ name, text string }

// concerns are those of several verifications, in the order in which they are taken.
func concerns() []concern {
	return []concern{
		{"behaviour", "behaviour: does the program do what the task promises, for the inputs that the task names and for those next to them, and does everything else still do what it did on the base? Use it as its users do"},
		{"security", "security: input from outside that the changed lines read, checks of rights that were moved, weakened or left out, secrets in output, limits on size, count and time. Send the input that an attacker would send"},
		{"data", "data: what the changed lines write, read back, convert or delete. Old records, empty stores, migrations in both directions, the same write twice, a write that is cut off halfway, several writers at once"},
		{"interface", "interfaces: exported names and signatures, command line, exit codes, routes, file and wire formats, configuration keys and defaults, messages that programs read. Run what a caller written for the base would run"},
	}
}

// When auto adds verifications: above so many changed lines, and where there is as much
// to spend as all of them would have by themselves.
const (
	manyLines = 800
	oneTokens = 2_000_000 // what one verification may use where only tokens bound it
)

// verifiers is how many verifications look at the change.
func (a *Agents) verifiers() int {
	all := len(concerns())
	switch v := a.config.Agents.Verifiers; {
	case v == config.VerifiersAuto && a.lines() > manyLines && a.affords(all):
		return all
	case v == config.VerifiersAuto:
		return 1
	default:
		return min(max(1, int(v)), all)
	}
}

// lines is how many lines the change adds and deletes.
func (a *Agents) lines() int {
	n := 0
	for _, f := range a.source.Change.Files {
		n += f.Added + f.Deleted
	}
	return n
}

// affords says whether the limits are n times what one verification has by default.
func (a *Agents) affords(n int) bool {
	one := config.DefaultLimits()
	usd := a.budget.CostUSD == 0 || a.budget.CostUSD >= float64(n)*one.CostUSD
	tokens := a.budget.Tokens == 0 || a.budget.Tokens >= n*cmp.Or(one.Tokens, oneTokens)
	return usd && tokens
}

// verifications are the orders of the agents that owe a verdict. Where there are several
// each has a concern of its own, which stands behind what is the same for all of them,
// so that a provider has that in its cache.
func (w *work) verifications(notes string) []agent.Order {
	prompt := verificationPrompt(w.source.Change, w.agents.briefing(), w.gate, w.previous, notes)
	n := w.agents.verifiers()
	if n == 1 {
		return []agent.Order{{Agent: Verification, Prompt: prompt}}
	}
	var out []agent.Order
	for _, c := range concerns()[:n] {
		text := "\n## Your part\n\nSeveral agents verify this change side by side, each in a worktree of its own. Yours is " + c.text +
			". Leave the rest to the others, unless you come across a fault there: report every fault that you can show. Where the change has nothing of your part, say so under \"Not checked\" and attack what comes closest to it.\n"
		out = append(out, agent.Order{Agent: Verification, Description: c.name, Prompt: prompt + text})
	}
	return out
}
