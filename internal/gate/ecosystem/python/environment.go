package python

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// https://tox.wiki/en/stable/config.html#set_env
var toxSetEnv = pattern.New(`(?m)^set_?env[ \t]*=(.*(?:\n[ \t]+.*)*)`)

var toxVariable = pattern.New(`(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^\n{}]*)$`)

// https://hatch.pypa.io/latest/config/environment/overview/#environment-variables
var hatchEnvironments = []string{"hatch-test", "default", "test"}

var (
	// https://nox.thea.codes/en/stable/config.html
	noxRuns     = pattern.New(`(?s)session\.run\(((?:[^()]|\([^()]*\))*)\)`)
	noxTests    = pattern.New(`["'](?:pytest|py\.test|unittest)["']`)
	noxEnv      = pattern.New(`(?s)\benv\s*=\s*\{([^{}]*)\}`)
	noxVariable = pattern.New(`["']([A-Za-z_]\w*)["']\s*:\s*["']([^"'\n{}]*)["']`)
)

// ownVariables are those that the project's own way to run its tests sets, by tox, hatch or nox,
// as assignments before a command.
func ownVariables(f pyFacts) string {
	found := toxVariables(f.tox)
	for _, name := range hatchEnvironments {
		vars := f.pyproject.Table("tool", "hatch", "envs", name, "env-vars")
		for _, key := range vars.Keys() {
			found = append(found, [2]string{key, vars.Text(key)})
		}
	}
	for _, run := range noxRuns.FindAllStringSubmatch(f.nox, -1) {
		if !noxTests.MatchString(run[1]) {
			continue
		}
		for _, env := range noxEnv.FindAllStringSubmatch(run[1], -1) {
			for _, v := range noxVariable.FindAllStringSubmatch(env[1], -1) {
				found = append(found, [2]string{v[1], v[2]})
			}
		}
	}
	seen := map[string]bool{}
	found = slices.DeleteFunc(found, func(v [2]string) bool {
		was := seen[v[0]]
		seen[v[0]] = true
		return was
	})
	return ecosystem.Assignments(found)
}

// toxVariables are those that tox sets in all environments.
func toxVariables(tox string) [][2]string {
	base := toxBase.FindStringSubmatch(tox)
	if base == nil {
		return nil
	}
	var found [][2]string
	for _, m := range toxSetEnv.FindAllStringSubmatch(base[1], -1) {
		for _, v := range toxVariable.FindAllStringSubmatch(m[1], -1) {
			found = append(found, [2]string{v[1], strings.TrimSpace(v[2])})
		}
	}
	return found
}

var (
	toxFactor  = pattern.New(`(?m)^[ \t]*([a-z0-9_,{}!.-]+)[ \t]*:[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^\n{}]*)$`)
	toxSection = pattern.New(`(?ms)^\[testenv:([^\]\n]+)\][ \t]*$(.*?)(?:^\[|\z)`)
	toxPytest  = pattern.New(`\b(?:pytest|unittest|posargs)\b`)
)

// toxFactors are the sets of variables that tox gives the tests in single environments: by a
// factor, or in a section of an environment that runs the tests as all do.
func toxFactors(tox string) [][][2]string {
	var out [][][2]string
	at := map[string]int{}
	add := func(name string, v [2]string) {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, nil)
		}
		out[i] = append(out[i], v)
	}
	if base := toxBase.FindStringSubmatch(tox); base != nil {
		for _, m := range toxSetEnv.FindAllStringSubmatch(base[1], -1) {
			for _, v := range toxFactor.FindAllStringSubmatch(m[1], -1) {
				add(v[1], [2]string{v[2], strings.TrimSpace(v[3])})
			}
		}
	}
	for rest := tox; ; {
		m := toxSection.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		name, text := rest[m[2]:m[3]], rest[m[4]:m[5]]
		rest = rest[m[5]:]
		if strings.Contains(text, "commands") && !toxPytest.MatchString(text) {
			continue
		}
		for _, set := range toxSetEnv.FindAllStringSubmatch(text, -1) {
			for _, v := range toxVariable.FindAllStringSubmatch(set[1], -1) {
				add(name, [2]string{v[1], strings.TrimSpace(v[2])})
			}
		}
	}
	return slices.DeleteFunc(out, func(vars [][2]string) bool { return ecosystem.Assignments(vars) == "" })
}
