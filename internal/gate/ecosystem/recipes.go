package ecosystem

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// TestTargets are the targets for tests in a Makefile or its like. The last group is what one runs.
var TestTargets = pattern.New(`(?m)^\s*@?["']?(?:tests?|check)["']?(?:\s[^:=\n]*)?:[^=\n]*\n?((?:[ \t]+.*\n?|\n)*)`)

var nodeScripts = pattern.New(`"(?:pre|post)?test[\w:-]*"\s*:\s*"((?:\\.|[^"\\])*)"`)

// TestRecipes is what a file of targets or scripts runs for tests, with the scripts that these
// run by name and what targets depend on.
func TestRecipes(name, src string) string {
	if name == "package.json" {
		return nodeTestScripts(src)
	}
	src = plainRules(src)
	var out, next []string
	for _, m := range TestTargets.FindAllStringSubmatch(src, -1) {
		out, next = append(out, m[len(m)-1]), append(next, strings.TrimSpace(m[0]))
	}
	rules := makeRules(src)
	for len(next) > 0 && len(rules) > 0 {
		first, rest, _ := strings.Cut(next[0], "\n")
		line := first + " " + strings.Join(makeAgain.FindAllString(rest, -1), " ")
		next = next[1:]
		wanted := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n:&|;\"'", r) })
		rules = slices.DeleteFunc(rules, func(r makeRule) bool {
			if !slices.ContainsFunc(r.targets, func(t string) bool { return wants(line, wanted, t) }) {
				return false
			}
			if !slices.Contains(out, r.recipe) { // the target for tests is a rule, too
				out = append(out, r.recipe)
			}
			next = append(next, r.needs+"\n"+r.recipe)
			return true
		})
	}
	return strings.Join(out, "\n")
}

// nodeTestScripts are the scripts of a package.json for tests, with those that these run by name.
func nodeTestScripts(src string) string {
	scripts := map[string]string{}
	for _, m := range allScripts.FindAllStringSubmatch(src, -1) {
		scripts[m[1]] = m[2]
	}
	var out, next []string
	for _, m := range nodeScripts.FindAllStringSubmatch(src, -1) {
		out, next = append(out, m[len(m)-1]), append(next, m[0])
	}
	for len(next) > 0 && len(scripts) > 0 {
		line := strings.Join(runsNamed.FindAllString(next[0], -1), " ")
		next = next[1:]
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n:&|;\"'", r) }) {
			for _, n := range []string{w, "pre" + w, "post" + w} {
				if script, ok := scripts[n]; ok {
					delete(scripts, n)
					out, next = append(out, script), append(next, script)
				}
			}
		}
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), `\"`, `"`)
}

// A makeRule is a rule of a Makefile or its like
// (https://www.gnu.org/software/make/manual/html_node/Rule-Syntax.html).
type makeRule struct {
	targets []string
	needs   string // what they depend on, as it is written
	recipe  string
}

// plainRules has each line of a Makefile whole, and recipes on lines of their own.
func plainRules(src string) string {
	return oneLineRule.ReplaceAllString(goesOn.ReplaceAllString(src, " "), "$1\n\t$2\n")
}

func makeRules(src string) []makeRule {
	var out []makeRule
	for _, m := range makeTargets.FindAllStringSubmatch(src, -1) {
		out = append(out, makeRule{strings.Fields(strings.ReplaceAll(m[1], "&", " ")), m[2], m[3]})
	}
	return out
}

// wants says whether a rule for a target is one for what a line names: by its name, or as a
// pattern. A name that the Makefile makes up can be that of any target that it makes up.
func wants(line string, names []string, target string) bool {
	if slices.Contains(names, target) {
		return true
	}
	if strings.Contains(target, "$") {
		return strings.Contains(line, "$")
	}
	head, tail, ok := strings.Cut(target, "%")
	return ok && (strings.Contains(line, "$") || slices.ContainsFunc(names, func(n string) bool {
		return len(n) >= len(head)+len(tail) && strings.HasPrefix(n, head) && strings.HasSuffix(n, tail)
	}))
}

// Recipes are what the targets of a Makefile run, by name.
func Recipes(src string) map[string]string {
	out := map[string]string{}
	for _, r := range makeRules(plainRules(src)) {
		for _, t := range r.targets {
			out[t] = r.recipe
		}
	}
	return out
}

var (
	allScripts  = pattern.New(`"([\w:.-]+)"\s*:\s*"((?:\\.|[^"\\])*)"`)
	runsNamed   = pattern.New(`\b(?:run|run-s|run-p|npm-run-all|yarn|pnpm|bun)\s[^&|;]*`)
	makeTargets = pattern.New(`(?m)^([^\s#:=][^#:=\n]*?)[ \t]*::?([^=\n][^\n]*)?$\n?((?:[ \t]+.*\n?|\n)*)`)
	goesOn      = pattern.New(`[ \t]*\\\n[ \t]*`)
	oneLineRule = pattern.New(`(?m)^([^\s#:=][^#:=\n]*::?[^=;\n]*);[ \t]*(\S.*)$`)
	makeAgain   = pattern.New(`(?:\$\(MAKE\)|\$\{MAKE\}|\bmake\b|\bjust\b|\btask\b)[^\n;&|]*`)
)
