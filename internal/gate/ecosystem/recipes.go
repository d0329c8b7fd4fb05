package ecosystem

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// TestTargets are the targets for tests in a Makefile or its like. The last group is what one runs.
var TestTargets = pattern.New(`(?m)^\s*@?["']?(?:tests?|check)["']?(?:\s[^:=\n]*)?:[^=\n]*\n?((?:[ \t]+.*\n?|\n)*)`)

var nodeScripts = pattern.New(`"(?:pre|post)?test[\w:-]*"\s*:\s*"((?:\\.|[^"\\])*)"`)

// TestRecipes is what a file of targets or scripts runs for tests, with the scripts that these
// run by name and what targets depend on.
func TestRecipes(name, src string) string {
	by, more := TestTargets, makeTargets
	if name == "package.json" {
		by, more = nodeScripts, allScripts
	}
	recipes := map[string]string{}
	for _, m := range more.FindAllStringSubmatch(src, -1) {
		recipes[m[1]] = strings.Join(m[2:], "\n")
	}
	var out, next []string
	for _, m := range by.FindAllStringSubmatch(src, -1) {
		out, next = append(out, m[len(m)-1]), append(next, m[0])
	}
	for len(next) > 0 && len(recipes) > 0 {
		line := next[0]
		next = next[1:]
		if name == "package.json" {
			line = strings.Join(runsNamed.FindAllString(line, -1), " ")
		} else {
			first, rest, _ := strings.Cut(strings.TrimSpace(line), "\n")
			line = first + " " + strings.Join(makeAgain.FindAllString(rest, -1), " ")
		}
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n:&|;\"'", r) }) {
			for _, n := range []string{w, "pre" + w, "post" + w} {
				recipe, ok := recipes[n]
				if !ok || name != "package.json" && n != w {
					continue
				}
				delete(recipes, n)
				_, body, found := strings.Cut(recipe, "\n") // of a target, behind what it depends on
				if !found {
					body = recipe
				}
				out, next = append(out, body), append(next, recipe)
			}
		}
	}
	text := strings.Join(out, "\n")
	if name == "package.json" {
		text = strings.ReplaceAll(text, `\"`, `"`)
	}
	return text
}

// Recipes are what the targets of a Makefile run, by name.
func Recipes(src string) map[string]string {
	out := map[string]string{}
	for _, m := range makeTargets.FindAllStringSubmatch(src, -1) {
		out[m[1]] = m[len(m)-1]
	}
	return out
}

var (
	allScripts  = pattern.New(`"([\w:.-]+)"\s*:\s*"((?:\\.|[^"\\])*)"`)
	runsNamed   = pattern.New(`\b(?:run|run-s|run-p|npm-run-all|yarn|pnpm|bun)\s[^&|;]*`)
	makeTargets = pattern.New(`(?m)^([\w.-]+)(?:\s[^:=\n]*)?:([^=\n]*)\n?((?:[ \t]+.*\n?|\n)*)`)
	makeAgain   = pattern.New(`(?:\$\(MAKE\)|\$\{MAKE\}|\bmake\b|\bjust\b|\btask\b)[^\n;&|]*`)
)
