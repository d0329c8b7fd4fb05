package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An Agent is what the definition of an agent says of its own calls. It can only
// take away.
type Agent struct {
	Disallowed []string // tools
	// Permission says what the definition's map has for a tool and a target, and
	// the rule that says so; nil: there is no map. Deny is final. What nothing
	// was said of is Ask.
	Permission func(tool, target string) (Action, string)
}

// A Call is what [Decide] decides.
type Call struct {
	Known   bool   // the tool's name means something
	Offered bool   // the tool is in the schema that this agent was given
	Class   string // of the tool; empty when it is not known
	Mode    string // of the run
	Command string // of a shell tool; empty otherwise

	Tool    string   // ycbot's name of it
	Targets []Target // what it is about; see [Targets]
	Trust   string   // of the head
	Level   Level    // of execution, where it is granted; empty is LevelFull
	Hosts   []string // that the operator lets agents reach
	Rules   []Rule   // of permission files
	Agent   Agent
	// Hook is the operator's last word; it returns why a call is refused, "" for
	// letting it go on. May be nil.
	Hook  func(tool string, targets []Target) string
	Spent string // why nothing is left to pay for the call; empty: something is
}

// A Verdict is what is decided of a call, and by what.
type Verdict struct {
	Denial *Denial // nil: it may run
	By     string  // what lets it run: a rule, or the grant
	Source string  // and where that stands
}

// Decide gives the reason for refusing a call, nil for letting it run.
func Decide(c Call, grant Set) *Denial { return Explain(c, grant).Denial }

// Explain decides a call. Refusals come in a fixed order: a tool that does not
// exist, what no one may do, a tool that this agent was not given, what its own
// definition forbids, Deny rules, the mode, the grant, Ask rules, commands that change
// or publish something, the hook, the budget. Only what none of them refuses can be allowed, so that no Allow rule,
// however broad, gives back what one of them took.
func Explain(c Call, grant Set) Verdict {
	for _, link := range []func(Call, Set) *Denial{
		stripped, floor, notOffered, vetoed, denied, gated, ungranted, levelled, asked, mutating, hooked, spent,
	} {
		if d := link(c, grant); d != nil {
			return Verdict{Denial: d}
		}
	}
	return allowed(c)
}

func stripped(c Call, _ Set) *Denial {
	if c.Known {
		return nil
	}
	return &Denial{Code: CodeNotProvisioned, Rule: "unknown tool", Source: builtIn, Reason: "there is no tool of that name", Hint: "use one of the tools that you were given"}
}

func floor(c Call, _ Set) *Denial {
	if mutates(c.Class) {
		return Mutation("class "+c.Class, "")
	}
	if c.Command == "" {
		return nil
	}
	d, _ := CheckShell(c.Command)
	return d
}

// testTool runs the project's test commands.
const testTool = "run_tests"

// mutating is what the words of a command would change or publish. A test command is
// the project's own, as its base has it.
func mutating(c Call, _ Set) *Denial {
	if c.Command == "" || c.Tool == testTool {
		return nil
	}
	return CheckMutation(c.Command)
}

func notOffered(c Call, _ Set) *Denial {
	if c.Offered {
		return nil
	}
	return &Denial{Code: CodeNotProvisioned, Rule: "tool not offered", Source: "grant", Reason: "this agent was not given that tool", Hint: "use one of the tools that you were given"}
}

// vetoed is what the agent's own definition forbids.
func vetoed(c Call, _ Set) *Denial {
	if action, rule, target := c.ownWord(); action == Deny {
		return &Denial{Code: CodeAgentVeto, Target: target, Rule: rule, Source: "agent", Reason: "the agent's own definition forbids it", Hint: "this agent works without it; say what could not be looked at"}
	}
	if slices.Contains(c.Agent.Disallowed, c.Tool) {
		return &Denial{Code: CodeAgentVeto, Rule: "disallowed_tools: " + c.Tool, Source: "agent", Reason: "the agent's own definition takes the tool away", Hint: "use one of the tools that you were given"}
	}
	return nil
}

// ownWord is the strictest thing that the agent's definition says of any target.
func (c Call) ownWord() (action Action, rule, target string) {
	if c.Agent.Permission == nil || c.Class == classSession { // its own notes and its result are no matter of permission
		return Allow, "", ""
	}
	action = Allow
	texts := []string{}
	for _, t := range c.Targets {
		if !t.Aside {
			texts = append(texts, t.Text)
		}
	}
	if len(texts) == 0 {
		texts = []string{c.Command}
	}
	for _, t := range c.Targets {
		if t.plain == "" {
			continue
		}
		if a, by := c.Agent.Permission(c.Tool, t.plain); a == Deny {
			return Deny, by, t.Text
		}
	}
	for _, text := range texts {
		switch a, by := c.Agent.Permission(c.Tool, text); {
		case a == Deny:
			return Deny, by, text
		case a != Allow && action == Allow:
			action, rule, target = Ask, by, text
		}
	}
	return action, rule, target
}

// first returns the first rule of an action that is about one of the targets.
func (c Call) first(a Action) (Rule, Target, bool) {
	for _, r := range c.Rules {
		if r.Action != a {
			continue
		}
		for _, t := range c.Targets {
			if r.matches(t) {
				return r, t, true
			}
		}
	}
	return Rule{}, Target{}, false
}

func denied(c Call, _ Set) *Denial {
	r, t, ok := c.first(Deny)
	if !ok {
		return nil
	}
	return &Denial{Code: CodePolicyDeny, Target: t.Text, Rule: r.String(), Source: r.Source(), Reason: "a rule of the permission file forbids it", Hint: "do it another way that no rule forbids, or report that it could not be done" + c.others(r.Name)}
}

// others says which rules of a kind there are besides, so that a model need not
// find them out one refusal after another.
func (c Call) others(name string) string {
	var out []string
	for _, r := range c.Rules {
		if r.Name == name && len(out) < 8 {
			out = append(out, string(r.Action)+" "+r.String())
		}
	}
	return "; the rules: " + strings.Join(out, ", ")
}

func gated(c Call, _ Set) *Denial {
	if c.Mode != ModePlan || Grant(ModePlan, "", false).Has(c.Class) || c.Class == classDelegate {
		return nil
	}
	return &Denial{Code: CodePlanMode, Rule: "mode plan", Source: builtIn, Reason: "this run reads only", Hint: "say what you would have run"}
}

// ungranted is the contract of work that no one watches: what is not granted is
// refused at once.
func ungranted(c Call, grant Set) *Denial {
	switch {
	case grant.Has(c.Class):
		return nil
	case c.Class == classExec && c.Level == LevelNone:
		return &Denial{Code: CodeBackground, Rule: "exec: none", Source: "operator", Reason: "this run executes nothing", Hint: "read instead, and report what could not be run"}
	case c.Class == classExec:
		return &Denial{Code: CodeSandbox, Rule: "class exec", Source: "grant", Reason: "this machine cannot contain what this change's commands could do", Hint: "read instead, and report what could not be run"}
	case c.Class == classNet:
		return &Denial{Code: CodeBackground, Rule: "class net", Source: "grant", Reason: "agents reach no network", Hint: "work without it; an operator turns it on by naming hosts"}
	}
	return &Denial{Code: CodeBackground, Rule: "class " + c.Class, Source: "grant", Reason: "no one is there to approve it", Hint: "use one of the tools that you were given"}
}

// levelled refuses what a level below full does not run.
func levelled(c Call, _ Set) *Denial {
	if c.Class != classExec || c.Level != LevelInspect {
		return nil
	}
	if _, why := Inspect(c.Command); why != "" {
		return &Denial{Code: CodePolicyDeny, Rule: "exec: inspect", Source: "operator", Reason: why, Hint: why + "; one command of " + strings.Join(inspectors(), " ") + " with plain words is run"}
	}
	return nil
}

func asked(c Call, _ Set) *Denial {
	if r, t, ok := c.first(Ask); ok {
		return &Denial{Code: CodeAsk, Target: t.Text, Rule: r.String(), Source: r.Source(), Reason: "someone would have to be asked, and no one is there", Hint: "do it another way, or report that it could not be done" + c.others(r.Name)}
	}
	if action, rule, target := c.ownWord(); action == Ask {
		if rule == "" {
			rule = "no rule for " + c.Tool
		}
		return &Denial{Code: CodeAsk, Target: target, Rule: rule, Source: "agent", Reason: "the agent's definition wants someone asked, and no one is there", Hint: "do it another way, or report that it could not be done"}
	}
	// Rules about commands are worth something only where the commands are seen.
	restricted := slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.Name == "Bash" && r.Action != Allow }) || c.listed()
	if c.Class != classExec || !restricted {
		return nil
	}
	if doubt := Read(c.Command).Doubt; doubt != "" {
		return &Denial{Code: CodeAsk, Rule: "unclear command", Source: builtIn, Reason: doubt, Hint: doubt + "; there are rules about commands, so write it plainly, one command after another" + c.others("Bash")}
	}
	return nil
}

// listed reports whether the agent's definition allows some commands only: one whose
// program is not known is not among them.
func (c Call) listed() bool {
	if c.Agent.Permission == nil || c.Command == "" {
		return false
	}
	action, _ := c.Agent.Permission(c.Tool, computed)
	return action != Allow
}

func hooked(c Call, _ Set) *Denial {
	if c.Hook == nil {
		return nil
	}
	why := c.Hook(c.Tool, c.Targets)
	if why == "" {
		return nil
	}
	return &Denial{Code: CodeHook, Rule: "PreToolUse", Source: "hook", Reason: why, Hint: why}
}

func spent(c Call, _ Set) *Denial {
	if c.Spent == "" || c.Class == classSession {
		return nil
	}
	return &Denial{Code: CodeBudget, Rule: c.Spent, Source: "operator", Reason: c.Spent, Hint: "give the final report now, with what you know"}
}

// allowed is what becomes of a call that nothing refuses: what reads runs, and
// what executes by its grant. The network is open to the operator's hosts and to
// what an Allow rule names; one of the repository counts only for a head that is
// trusted.
func allowed(c Call) Verdict {
	r, ok := c.covered()
	switch {
	case ok:
		return Verdict{By: r.String(), Source: r.Source()}
	case c.Class != classNet:
		return Verdict{By: "class " + c.Class, Source: "grant"}
	case c.hostAllowed():
		return Verdict{By: "host " + c.host(), Source: "operator"}
	}
	return Verdict{Denial: &Denial{
		Code: CodeBackground, Target: c.host(), Rule: "class net", Source: "grant", Reason: "no rule and no operator allows this address",
		Hint: fmt.Sprintf("hosts that are allowed: %s; a rule such as Fetch(https://%s/*) would allow it", strings.Join(c.Hosts, " "), c.host()) + c.others("Fetch"),
	}}
}

// covered says whether each target is one that an Allow rule names, and by which.
func (c Call) covered() (Rule, bool) {
	var first Rule
	n := 0
	for _, t := range c.Targets {
		if t.Aside {
			continue
		}
		i := slices.IndexFunc(c.Rules, func(r Rule) bool {
			return r.Action == Allow && r.matches(t) && (r.Operator || c.Class != classNet || c.Trust == Trusted || c.Trust == Local)
		})
		if i < 0 {
			return Rule{}, false
		}
		if n++; n == 1 {
			first = c.Rules[i]
		}
	}
	return first, n > 0
}

func (c Call) host() string {
	for _, t := range c.Targets {
		if u, err := url.Parse(t.Text); err == nil && t.Name == "Fetch" {
			return strings.ToLower(u.Hostname())
		}
	}
	return ""
}

// hostPattern is what names hosts: one, or all below one.
var hostPattern = pattern.New(`^(?:\*\.)?[^\s*?/:@#\[\]]+$`)

// CheckHost says what is wrong with a pattern of hosts; nil: nothing.
func CheckHost(name string) error {
	if !hostPattern.MatchString(name) {
		return fmt.Errorf("%q: want a host such as pkg.go.dev, or *.example.com for all below it, without scheme, port and path", name)
	}
	return nil
}

// hostAllowed reports whether the operator named the host, as itself or with *.
// for all below it.
func (c Call) hostAllowed() bool {
	host := c.host()
	return host != "" && slices.ContainsFunc(c.Hosts, func(h string) bool {
		h = strings.ToLower(h)
		below, wild := strings.CutPrefix(h, "*.")
		return host == h || wild && strings.HasSuffix(host, "."+below)
	})
}
