package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An Action is what a rule says. The strings are those of permission files.
type Action string

// The actions. No one is there to be asked, so Ask refuses like Deny, with a
// code of its own.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// A Rule is one entry of a permission file: Name(Pattern).
type Rule struct {
	Action  Action
	Name    string // such as Bash
	Pattern string
	File    string
	Line    int
	// Operator distinguishes rules of the operator from those of the repository.
	Operator bool
}

// String is the rule as its file has it.
func (r Rule) String() string { return r.Name + "(" + r.Pattern + ")" }

// Source is where the rule stands.
func (r Rule) Source() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// The names of rules, by how their patterns are matched.
var (
	// pathNames match paths below the root of the project, with doublestar.
	pathNames = []string{"Read", "List", "Glob", "Grep", "Write", "Edit", "Mkdir", "Copy", "Move", "Delete"}
	// textNames match a text, with * for anything and ? for one character.
	textNames = []string{"Bash", "Tests", "Fetch", "Git", "Github", "Rollback", "Worktree"}
	// neverNames are of tools that no agent is ever given: a Deny is true anyway,
	// an Allow has no effect.
	neverNames = []string{"Write", "Edit", "Mkdir", "Copy", "Move", "Delete", "Rollback", "Worktree"}
	// foreignNames are of tools that only the system has from which the files come.
	foreignNames = []string{"Memory", "MCP", "Browser", "Document", "Media"}
)

var grammar = pattern.New(`^\s*([A-Za-z][A-Za-z0-9_]*)\s*\((.*)\)\s*$`)

// parseRule reads Name(Pattern).
func parseRule(text string) (Rule, error) {
	m := grammar.FindStringSubmatch(text)
	if m == nil {
		return Rule{}, fmt.Errorf("%q is not a rule; one looks like Bash(rm *)", text)
	}
	r := Rule{Name: m[1], Pattern: strings.TrimSpace(m[2])} // a blank too many would make a Deny that never matches
	all := slices.Concat(pathNames, textNames, foreignNames)
	switch {
	case !slices.Contains(all, r.Name):
		return Rule{}, fmt.Errorf("%q: there is no kind of rule called %s; there are %s", text, r.Name, strings.Join(all, ", "))
	case r.Pattern == "":
		return Rule{}, fmt.Errorf("%q has no pattern; * stands for everything", text)
	case slices.Contains(pathNames, r.Name) && !doublestar.ValidatePattern(r.Pattern),
		slices.Contains(textNames, r.Name) && !pattern.Whole(atHome.Replace(r.Pattern)):
		return Rule{}, fmt.Errorf("%q: the pattern is not valid", text)
	}
	return r, nil
}

// A Target is what a call is about, in the words of one kind of rule.
type Target struct {
	Name string // of the rules that apply, such as Bash
	Text string
	// Aside marks a target that can only forbid: what a tool touches besides, in
	// the words of another kind of rule.
	Aside bool

	base   string // of a Bash segment: the text without the folder of its program
	behind bool   // of a Bash segment: it may be given more words than the text has
	trap   string // of a Bash segment: why no Allow rule covers it
	plain  string // of an address: what a server may make of it
}

// matches reports whether the rule is about a target. An Allow rule has to fit
// what runs exactly, the others also what it may be.
func (r Rule) matches(t Target) bool {
	if r.Name != t.Name {
		return false
	}
	if everything(r.Pattern) {
		return r.Action != Allow || t.trap == ""
	}
	if slices.Contains(pathNames, r.Name) {
		return matchPath(r.Pattern, t.Text)
	}
	if r.Name == "Fetch" {
		return slices.ContainsFunc(pattern.Braces(r.Pattern), func(p string) bool { return r.matchesAddress(p, t) })
	}
	for _, p := range pattern.Braces(atHome.Replace(r.Pattern)) {
		switch {
		case r.Action == Allow:
			if t.trap == "" && pattern.Glob(p, t.Text) {
				return true
			}
		case pattern.Glob(p, t.Text), t.base != "" && pattern.Glob(p, t.base),
			t.behind && (pattern.Glob(p, t.Text+" "+computed) || pattern.Glob(p, t.base+" "+computed)):
			return true
		}
	}
	return false
}

// atHome are the spellings of the home directory, which is "~" in the text of a command.
var atHome = strings.NewReplacer("${HOME}", "~", "$HOME", "~")

func everything(pattern string) bool { return strings.Trim(pattern, "*") == "" }

// matchPath matches a path below the root of the project. A pattern that is a
// folder stands for what is in it too.
func matchPath(pattern, name string) bool {
	pattern = strings.TrimPrefix(pattern, "./")
	return doublestar.MatchUnvalidated(pattern, name) || doublestar.MatchUnvalidated(path.Clean(pattern)+"/**", name)
}
