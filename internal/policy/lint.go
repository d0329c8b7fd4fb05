package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Lint says what is likely wrong with rules, as FILE:LINE: TEXT, in their order:
// rules that another one makes needless, that allow too much, and that mean
// nothing here.
func Lint(rules []Rule) []string {
	var out []string
	for i, r := range rules {
		for _, text := range append(lint(r), shadow(rules, i)...) {
			out = append(out, fmt.Sprintf("%s: %s %s: %s", r.Source(), r.Action, r, text))
		}
	}
	return out
}

func lint(r Rule) []string {
	switch {
	case slices.Contains(foreignNames, r.Name):
		return []string{"it has no effect: ycbot has no such tool"}
	case slices.Contains(neverNames, r.Name) && r.Action == Deny:
		return []string{"it changes nothing: no agent is given a tool that writes"}
	case slices.Contains(neverNames, r.Name):
		return []string{"it has no effect: tools that write are never given, whatever is allowed"}
	}
	var out []string
	if slices.Contains(pathNames, r.Name) && !strings.ContainsAny(r.Pattern, "/") && !everything(r.Pattern) && strings.ContainsAny(r.Pattern, "*?[{") {
		out = append(out, "it matches in the root of the project alone; **/"+r.Pattern+" matches everywhere")
	}
	if home := atHome.Replace(r.Pattern); slices.Contains(pathNames, r.Name) && strings.HasPrefix(home, "~") {
		out = append(out, "it matches nothing: paths are those of the project, and agents read nothing of the home directory")
	}
	if slices.Contains(pathNames, r.Name) {
		out = append(out, upwards(r.Pattern)...)
		out = append(out, rooted(r.Pattern)...)
	} else {
		out = append(out, foreign(r)...)
	}
	if slices.Contains(textNames, r.Name) && class.MatchString(r.Pattern) {
		out = append(out, "brackets mean themselves here; there are *, ? and {a,b}")
	}
	if r.Action != Allow {
		return out
	}
	if why := broad(r); why != "" {
		out = append(out, "it is very broad: "+why)
	}
	return out
}

// upwards says what is wrong with a pattern of paths that goes up a folder.
func upwards(p string) []string {
	for _, one := range pattern.Braces(p) {
		switch {
		case !slices.Contains(strings.Split(one, "/"), ".."):
		case path.Clean(one) == "..", strings.HasPrefix(path.Clean(one), "../"):
			return []string{one + " matches nothing: paths are those of the project, and agents read nothing above its root"}
		default:
			return []string{one + " does not match what it names: paths of the project have no .. in them"}
		}
	}
	return nil
}

// rooted says what is wrong with a pattern of paths that begins at a root.
func rooted(p string) []string {
	for _, one := range pattern.Braces(p) {
		if below := strings.TrimLeft(one, "/"); below != one {
			return []string{one + " matches nothing: paths are those of the project, without a / before them, as in " + below}
		}
	}
	return nil
}

// foreign says what is wrong with a pattern of texts in the spelling of other programs.
func foreign(r Rule) []string {
	for _, one := range pattern.Braces(r.Pattern) {
		host, domain := strings.CutPrefix(one, "domain:")
		words, follows := strings.CutSuffix(one, ":*")
		switch {
		case r.Name == "Fetch" && domain:
			return []string{one + " matches nothing: addresses are whole, as in https://" + host + "/*"}
		case r.Name != "Fetch" && follows:
			return []string{"the colon of " + one + " means itself; words may follow by " + words + " *"}
		}
	}
	return nil
}

// broad says why an Allow rule lets more run than it shows.
func broad(r Rule) string {
	first, _, more := strings.Cut(r.Pattern, " ")
	switch {
	case everything(r.Pattern):
		return "it allows everything"
	case r.Name == "Fetch" && (strings.HasPrefix(r.Pattern, "*") || strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(r.Pattern, "https://"), "http*://"), "*")):
		return "it allows every host"
	case r.Name != "Bash":
		return ""
	case strings.ContainsAny(first, "*?") && !more && len(strings.Trim(first, "*?")) < 3, strings.HasPrefix(first, "*"):
		return "it allows commands of every kind"
	case strings.HasSuffix(r.Pattern, "*") && slices.Contains(interpreters(), strings.TrimRight(first, "*")):
		return strings.TrimRight(first, "*") + " runs what its arguments say"
	}
	return ""
}

// interpreters are programs for which a pattern of what comes after the name
// says little about what is run.
func interpreters() []string {
	return []string{
		"sh", "bash", "dash", "zsh", "ksh", "env", "xargs", "find", "awk", "gawk", "mawk", "sed", "perl", "python", "python3", "ruby", "node", "npx",
		"git", "make", "ssh", "docker", "podman", "sudo", "timeout", "nohup", "nice", "time", "command", "exec", "eval", "tar", "sort",
	}
}

// shadow says which other rule makes the i-th needless.
func shadow(rules []Rule, i int) []string {
	r := rules[i]
	for j, s := range rules {
		if j == i || s.Name != r.Name || !covers(s, r) || rank(s.Action) < rank(r.Action) {
			continue
		}
		same := s.Action == r.Action
		if same && covers(r, s) && j > i { // two of a kind: the later is the needless one
			continue
		}
		if same {
			return []string{fmt.Sprintf("it is part of %s %s (%s)", s.Action, s, s.Source())}
		}
		return []string{fmt.Sprintf("it never counts: %s %s (%s) comes first", s.Action, s, s.Source())}
	}
	return nil
}

func rank(a Action) int { return slices.Index([]Action{Allow, Ask, Deny}, a) }

// covers reports whether s matches whatever r matches. It may miss that it does.
func covers(s, r Rule) bool {
	switch {
	case s.Action == Allow && !s.Operator && r.Operator && s.Name == "Fetch":
		return false
	case s.Pattern == r.Pattern || everything(s.Pattern):
		return true
	case slices.Contains(pathNames, s.Name):
		base, ok := strings.CutSuffix(s.Pattern, "/**")
		return ok && !strings.ContainsAny(base, "*?[{") && strings.HasPrefix(r.Pattern, base+"/")
	}
	// A * of s takes a * of r like any other text; a ? must not.
	return !strings.Contains(s.Pattern, "?") && pattern.Glob(s.Pattern, r.Pattern)
}

// class is what would be a set of characters elsewhere.
var class = pattern.New(`\[[!^]?(.-.|[^\] ]{2,})\]`)
