package agents

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An Action is what a rule says of a call.
type Action string

// The actions, as files write them. No one is there to be asked, so that Ask
// ends like Deny; it is kept apart for the reader of the rule in a refusal.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
	Ask   Action = "ask"
)

// A Rule is one line of a permission map.
type Rule struct {
	Tool    string // ycbot's name, or "*" for every tool
	Pattern string // of the target; "*" for every one
	Action  Action
	Line    int
}

// every stands for every tool, and as a pattern for every target.
const every = "*"

// Permission is a permission map in the order of its file: of the rules that
// match a call the last one counts.
type Permission []Rule

// Decide returns what is said of a call, and the rule that says it. Without
// rules everything is allowed; with some, what none of them matches is Ask.
// Deny is final: no rule of an operator lifts what an agent's own file forbids.
func (p Permission) Decide(tool, target string) (Action, Rule) {
	if len(p) == 0 {
		return Allow, Rule{}
	}
	action, by := Ask, Rule{}
	for _, r := range p {
		if (r.Tool == every || r.Tool == tool) && pattern.GlobClasses(r.Pattern, target) {
			action, by = r.Action, r
		}
	}
	return action, by
}

// mayAllow reports whether there can be a target with which a tool is allowed.
// The tool every asks for one that no rule names.
func (p Permission) mayAllow(tool string) bool {
	if len(p) == 0 {
		return true
	}
	may := false
	for _, r := range p {
		switch {
		case r.Tool != every && r.Tool != tool:
		case r.Action == Allow:
			may = true
		case strings.Trim(r.Pattern, every) == "":
			may = false
		}
	}
	return may
}

// tools lists the tools that rules name, each once, in their order.
func (p Permission) tools() []string {
	var out []string
	for _, r := range p {
		if r.Tool != every {
			out = add(out, r.Tool)
		}
	}
	return out
}

// matchable reports whether match understands a pattern. The forms with parentheses that
// shells extend patterns with, a leading "!", and what is opened and never closed mean
// themselves to match, so that a rule with them would not do what it says.
func matchable(text string) bool {
	if text == "" || strings.HasPrefix(text, "!") {
		return false
	}
	for _, form := range []string{"!(", "@(", "+(", "?(", "*("} {
		if strings.Contains(text, form) {
			return false
		}
	}
	return pattern.WholeClasses(text)
}

// atHome are the spellings of the home directory.
var atHome = strings.NewReplacer("${HOME}", "~", "$HOME", "~")
