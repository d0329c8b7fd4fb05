package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/joshdk/go-junit"

	"github.com/ycbot/ycbot/internal/pattern"
)

// cEcosystem is C and C++ built with CMake or Meson.
func cEcosystem() *ecosystem {
	return &ecosystem{
		name: "C/C++", units: "C/C++ projects", bound: true,
		find:     findCProjects,
		classes:  cClasses(),
		isTest:   isCTest,
		isSource: func(name string) bool { return slices.Contains(cExts, path.Ext(name)) },
		steers: func(name string) bool {
			return slices.Contains([]string{"CMakeLists.txt", "meson.build", "conanfile.txt", "conanfile.py", "vcpkg.json"}, path.Base(name)) && !inFolder(name, cTestFolders...)
		},
		absent: absentInC,
	}
}

var (
	cExts        = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".inc", ".ipp"}
	cTestFolders = []string{"test", "tests", "unittest", "unittests", "testing"}
	cTestName    = pattern.New(`^(test_.*|test|tests|.*[_-](test|tests|unittest)|.*Tests?)\.(c|cc|cpp|cxx)$`)
	cMissing     = pattern.New(`(?m)undefined reference to [` + "`" + `']([\w:]+)|[‘']([\w:]+)[’'] was not declared|implicit declaration of function [‘']([\w]+)`)
)

// isCTest tells test sources, and in folders of tests also what builds them.
func isCTest(name string) bool {
	if inFolder(name, cTestFolders...) {
		return slices.Contains(cExts, path.Ext(name)) || path.Base(name) == "CMakeLists.txt" || path.Base(name) == "meson.build"
	}
	return cTestName.MatchString(path.Base(name))
}

func absentInC(output string) (name string, deps bool) {
	m := cMissing.FindStringSubmatch(output)
	if m == nil {
		return "", false
	}
	return m[1] + m[2] + m[3], false
}

// cBuild is the folder that CMake and Meson build in. It is made anew for every
// tree, because both keep absolute paths in it.
const cBuild = "build-ycbot"

func findCProjects(s *survey) []project {
	var out []project
	top := func(dirs []string) []string { // without folders that are parts of one above
		return slices.DeleteFunc(slices.Clone(dirs), func(d string) bool {
			return slices.ContainsFunc(dirs, func(o string) bool { return o != d && inside(o, d) })
		})
	}
	for _, dir := range top(s.dirs("CMakeLists.txt")) {
		out = append(out, cmakeProject(s, dir))
	}
	for _, dir := range top(s.dirs("meson.build")) {
		if !s.has(dir, "CMakeLists.txt") {
			out = append(out, mesonProject(s, dir))
		}
	}
	return out
}

func compiler(s *survey) string {
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if s.tools.has(cc) {
			return ""
		}
	}
	return "no C compiler on this machine"
}

func cmakeProject(s *survey, dir string) project {
	p := project{dir: dir, what: "CMake project", why: []string{path.Join(dir, "CMakeLists.txt")}}
	if dir != "." {
		p.what += " in " + dir
	}
	switch {
	case !s.tools.has("cmake"):
		p.missing = "no cmake on this machine"
		return p
	case compiler(s) != "":
		p.missing = compiler(s)
		return p
	}
	generator := ""
	if s.tools.has("ninja") {
		generator = " -G Ninja"
	}
	build := command{stage: StageBuild, unit: dir}
	p.build = []command{build.reporting("rm -rf " + cBuild + " && cmake -S . -B " + cBuild + generator + " -DBUILD_TESTING=ON -Wno-dev && cmake --build " + cBuild + " --parallel")}
	if !slices.ContainsFunc(s.below(dir), func(f string) bool {
		return path.Base(f) == "CMakeLists.txt" && cmakeTests.Match(s.read(dir, f))
	}) {
		p.notes = append(p.notes, "it declares no tests for ctest")
		return p
	}
	text := func(more string) string {
		return "ctest --test-dir " + cBuild + " --output-junit " + resultsVar + " --output-on-failure --no-tests=ignore" + more
	}
	t := command{stage: StageTest, unit: dir}.reporting(text(""))
	t.results = &results{
		name: "JUnit XML of ctest", collect: grouped(parseJUnit(byCTest)), rebuild: true,
		narrow: func(c command, _ part) (command, bool) { return c, false },
		probe: func(c command, _ probing) (command, string) {
			d := c.reporting(text(" --schedule-random --repeat until-fail:2"))
			d.name = c.label()
			return d, "repeated, in a random order"
		},
	}
	p.test = []command{t}
	return p
}

var cmakeTests = pattern.New(`(?i)\b(enable_testing|add_test|include\s*\(\s*CTest|gtest_discover_tests|catch_discover_tests|doctest_discover_tests)\b`)

// byCTest is the style of ctest, whose tests have no groups.
func byCTest(_ []string, t junit.Test) (pkg, name string) { return "ctest", t.Name }

func mesonProject(s *survey, dir string) project {
	p := project{dir: dir, what: "Meson project", why: []string{path.Join(dir, "meson.build")}}
	if dir != "." {
		p.what += " in " + dir
	}
	switch {
	case !s.tools.has("meson"):
		p.missing = "no meson on this machine"
		return p
	case !s.tools.has("ninja"):
		p.missing = "no ninja on this machine"
		return p
	case compiler(s) != "":
		p.missing = compiler(s)
		return p
	}
	build := command{stage: StageBuild, unit: dir}
	p.build = []command{build.reporting("rm -rf " + cBuild + " && meson setup --wrap-mode=nodownload " + cBuild + " && meson compile -C " + cBuild)}
	t := command{stage: StageTest, unit: dir}
	text := "meson test -C " + cBuild + " --no-rebuild --print-errorlogs"
	t = t.reporting(text + "; status=$?; cp " + cBuild + `/meson-logs/testlog.junit.xml "$RESULTS"; exit $status`)
	t.text = text
	t.results = &results{
		name: "JUnit XML of meson", collect: grouped(parseJUnit(byMeson)), rebuild: true,
		narrow: func(c command, _ part) (command, bool) { return c, false },
	}
	p.test = []command{t}
	return p
}

// byMeson is the style of meson: a suite for each suite of its own.
func byMeson(suites []string, t junit.Test) (pkg, name string) {
	return strings.Join(suites, nameSep), t.Name
}
