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

var (
	rakeDefines = pattern.New(`(?m)^\s*(?:Rake::TestTask\.new|RSpec::Core::RakeTask\.new|task)\b[\s(]*(?::|["'])?(test|spec)\b`)
	rakePlain   = pattern.New(`(?m)^\s*(?:Rake::TestTask|RSpec::Core::RakeTask)\.new\s*(?:do\b|\{|$)`) // whose name is "test", or "spec"
	rakeAsks    = pattern.New(`(?m)^\s*task\b[\s(]*(?::|["'])?(?:test|spec)["']?\s*(?:=>|:)\s*(.+)$`)
	rakeBefore  = pattern.New(`(?m)^\s*(?:Rake::TestTask|RSpec::Core::RakeTask)\.new\b[\s(]*(?:(?:test|spec):|[:"'](?:test|spec)["']?\s*=>)\s*\S.*$|^\s*Rake::Task\[[:"'](?:test|spec)["']?\]\.enhance\b.*$`)
	rakeOptions = pattern.New(`(?m)^.*\.(?:ruby_opts|options|rspec_opts|loader)\s*=.*$|^.*\.warning\s*=\s*true.*$`)
)

// rakeTask is the task of a Rakefile for tests, and what it does in another way than a call
// of the runner, or beside it: options, and tasks that it asks for.
func rakeTask(src []byte) (task, differs string) {
	if m := rakeDefines.FindSubmatch(src); m != nil {
		task = string(m[1])
	} else if m := rakePlain.FindSubmatch(src); m != nil {
		task = "test"
		if strings.Contains(string(m[0]), "RSpec") {
			task = "spec"
		}
	}
	for _, p := range []*pattern.Pattern{rakeOptions, rakeAsks, rakeBefore} {
		if m := p.FindSubmatch(src); m != nil {
			return task, strings.TrimSpace(string(m[0]))
		}
	}
	return task, ""
}
