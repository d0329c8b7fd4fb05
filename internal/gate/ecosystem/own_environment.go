package ecosystem

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// What a project's own way to run its tests sets for them, where ycbot calls the runner itself.
var (
	// https://tox.wiki/en/stable/config.html#set_env
	toxSetEnv   = pattern.New(`(?m)^set_?env[ \t]*=(.*(?:\n[ \t]+.*)*)`)
	toxVariable = pattern.New(`(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^\n{}]*)$`)
	rakeSets    = pattern.New(`(?m)^ENV\[["'](\w+)["']\]\s*(?:\|\|)?=\s*(?:"([^"#\\\n]*)"|'([^'\\\n]*)')`)
)

// notOwn are the variables that are not taken from a project: they say where programs and their
// files are, which here is elsewhere.
var notOwn = pattern.New(`^(?:PATH|HOME|TMPDIR|TEMP|TMP|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|COVERAGE\w*|RUBYOPT|RUBYLIB|GEM_\w+|BUNDLE_\w+|PIP_\w+|UV_\w+|LD_\w+)$`)

// assignments writes variables before a command.
func assignments(found [][2]string) string {
	var out []string
	for _, v := range found {
		if !notOwn.MatchString(v[0]) {
			out = append(out, v[0]+"="+quoted(v[1]))
		}
	}
	return strings.Join(out, " ")
}

// toxVariables are those that tox sets in all environments, as assignments before a command.
func toxVariables(tox string) string {
	base := toxBase.FindStringSubmatch(tox)
	if base == nil {
		return ""
	}
	var found [][2]string
	for _, m := range toxSetEnv.FindAllStringSubmatch(base[1], -1) {
		for _, v := range toxVariable.FindAllStringSubmatch(m[1], -1) {
			found = append(found, [2]string{v[1], strings.TrimSpace(v[2])})
		}
	}
	return assignments(found)
}

// rakeVariables are those that a Rakefile sets for all of its tasks.
func rakeVariables(src []byte) string {
	var found [][2]string
	for _, m := range rakeSets.FindAllSubmatch(src, -1) {
		found = append(found, [2]string{string(m[1]), string(m[2]) + string(m[3])})
	}
	return assignments(found)
}

var (
	rakeNeeds  = pattern.New(`(?m)^\s*(?:Rake::TestTask\.new|RSpec::Core::RakeTask\.new|task)\b[\s(]*(?::|["'])?(?:test|spec)["']?\s*(?:=>|:)\s*(\[[^\]\n]*\]|%[iw]\[[^\]\n]*\]|:\w+|["']\w+["'])`)
	rakeName   = pattern.New(`\w+`)
	rakeBuilds = strings.Fields("compile generate build gen codegen racc ragel parser parsers")
)

// rakeBuild are the tasks of a Rakefile that make what the tests need, which these depend on.
func rakeBuild(src []byte) []string {
	var out []string
	for _, m := range rakeNeeds.FindAllSubmatch(src, -1) {
		for _, name := range rakeName.FindAll(m[1], -1) {
			if task := string(name); slices.Contains(rakeBuilds, task) && !slices.Contains(out, task) {
				out = append(out, task)
			}
		}
	}
	return out
}
