package ruby

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// What a project's own way to run its tests sets for them, where ycbot calls the runner itself.
var (
	rakeSets = pattern.New(`(?m)^ENV\[["'](\w+)["']\]\s*(?:\|\|)?=\s*(?:"([^"#\\\n]*)"|'([^'\\\n]*)')`)
)

// rakeVariables are those that a Rakefile sets for all of its tasks.
func rakeVariables(src []byte) string {
	var found [][2]string
	for _, m := range rakeSets.FindAllSubmatch(src, -1) {
		found = append(found, [2]string{string(m[1]), string(m[2]) + string(m[3])})
	}
	return ecosystem.Assignments(found)
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
