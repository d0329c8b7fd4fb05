package native

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Many projects build their tests only where an option of their own asks for it, next to
// CMake's BUILD_TESTING, which is for all projects. Only an option that is off by default
// and whose name says nothing but that it is the tests of this project is turned on: one
// for tests of another kind (INTEGRATION_TESTS) may want what a machine does not have.

var (
	cmakeComment = pattern.New(`(?m)^[ \t]*#.*$|#[^\n"]*$`)
	cmakeNamed   = pattern.New(`(?i)\bproject\s*\(\s*"?([\w.+-]+)`)
	cmakeOption  = pattern.New(`(?is)\b(?:cmake_dependent_)?option\s*\(\s*([\w.+-]+)\s+(?:"(?:[^"\\]|\\.)*"|[^\s()"]+)\s*([^\s()"]*)`)
	mesonNamed   = pattern.New(`\bproject\s*\(\s*'([^'\n]+)'`)
	mesonOption  = pattern.New(`\boption\s*\(\s*'([\w-]+)'((?:[^')]|'[^'\n]*')*)\)`)
	mesonType    = pattern.New(`\btype\s*:\s*'(\w+)'`)
	mesonValue   = pattern.New(`\bvalue\s*:\s*'?(\w+)`)
)

// cmakeTestOptions returns the options of a CMakeLists.txt that are off by default and
// build the project's tests (https://cmake.org/cmake/help/latest/command/option.html).
func cmakeTestOptions(src []byte) (names []string) {
	src = cmakeComment.ReplaceAll(src, nil)
	project := firstGroup(cmakeNamed.FindSubmatch(src))
	for _, m := range cmakeOption.FindAllSubmatch(src, -1) {
		name, value := string(m[1]), strings.ToUpper(string(m[2]))
		off := slices.Contains([]string{"", "OFF", "NO", "N", "FALSE", "0"}, value)
		if off && name != "BUILD_TESTING" && saysTests(name, project) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// mesonTestOptions returns the settings, as NAME=VALUE, that turn on what a project's
// options file has off by default and builds its tests
// (https://mesonbuild.com/Build-options.html).
func mesonTestOptions(build, options []byte) (settings []string) {
	project := firstGroup(mesonNamed.FindSubmatch(build))
	for _, m := range mesonOption.FindAllSubmatch(options, -1) {
		name := string(m[1])
		if !saysTests(name, project) {
			continue
		}
		switch firstGroup(mesonType.FindSubmatch(m[2])) + " " + firstGroup(mesonValue.FindSubmatch(m[2])) {
		case "boolean false":
			settings = append(settings, name+"=true")
		case "feature disabled":
			settings = append(settings, name+"=enabled")
		}
	}
	return settings
}

func firstGroup(m [][]byte) string {
	if m == nil {
		return ""
	}
	return string(m[1])
}

// saysTests reports whether an option's name says no more than that it is the tests of the
// project: BUILD_TESTS, PROJECT_ENABLE_TESTING, with_unit_tests, ProjectBuildTests.
func saysTests(option, project string) bool {
	words := ecosystem.NameWords(option)
	last := len(words) - 1
	if last < 0 || !slices.Contains([]string{"test", "tests", "testing", "unittest", "unittests"}, words[last]) {
		return false
	}
	whose := strings.Join(slices.DeleteFunc(words[:last], func(w string) bool {
		return slices.Contains([]string{"build", "enable", "with", "make", "unit", "all"}, w)
	}), "")
	return whose == "" || whose == strings.Join(ecosystem.NameWords(project), "")
}
