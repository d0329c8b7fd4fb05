// Package native is C and C++, built with CMake, Meson or Autotools, and what people type where no
// other ecosystem has tests: targets of a Makefile and its like (make.go), an ecosystem of its own.
//
// C has no word for a test: programs.go finds out which sources make test programs by what builds
// them.
package native

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

func cClasses() ecosystem.ClassTable {
	mixed := ecosystem.MixedBy(map[string]*ecosystem.Mixture{
		"CMakeLists.txt": {Class: compare.Steering, Merge: mergeCMake},
		// https://cmake.org/cmake/help/latest/manual/cmake-presets.7.html
		"CMakePresets.json": {Class: compare.Steering, Merge: ecosystem.MergeJSON("testPresets")},
		"meson.build":       {Class: compare.Steering, Merge: ecosystem.MergeCalls("test", "benchmark", "add_test_setup")},
		"Makefile.am":       {Class: compare.Steering, Merge: mergeAutomake},
		"Makefile.in":       {Class: compare.Steering, Merge: mergeAutomake},
	})
	return ecosystem.ClassTable{
		Steering: ecosystem.OneOf(ecosystem.Called("CTestConfig.cmake", "CTestCustom.cmake", "CTestCustom.cmake.in", "CTestTestfile.cmake", "test-driver", "tap-driver.sh", "tap-driver.pl"),
			func(name string, src []byte) bool { return path.Ext(name) == ".cmake" && cmakeTestCall.Match(src) },
			func(name string, src []byte) bool { // include() takes files of any name
				return slices.Contains([]string{".txt", ".in", ".inc", ""}, path.Ext(name)) && path.Base(name) != "CMakeLists.txt" && cmakeLaunches.Match(src)
			}),
		// What builds the tests in a folder of theirs names them one by one: it is where they are.
		Test:    func(name string, _ []byte) bool { return isCTest(name) },
		Holds:   ecosystem.WhereWritten(nil, cFramework, cTested),
		Folders: cTestFolders,
		Mixed: func(name string) *ecosystem.Mixture {
			if isCTest(name) {
				return nil
			}
			if path.Ext(name) == ".am" { // of any name, as others include it
				name = path.Join(path.Dir(name), "Makefile.am")
			}
			return mixed(name)
		},
	}
}

const cEcosystemName = "C/C++"

// New is C and C++ built with CMake, Meson or Autotools.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: cEcosystemName, Units: "C/C++ projects", Bound: true,
		Describes:  SaysFlags,
		KeepsMade:  func(name string) bool { return besides.MatchString(path.Base(name)) },
		Programs:   strings.Fields("gcc cc clang cmake ctest meson ninja make autoconf automake"),
		Find:       findCProjects,
		Classes:    cClasses(),
		IsTest:     isCTest,
		Forwarding: &ecosystem.Forwarding{Whole: forward},
		IsSource:   IsSource,
		Asks:       asks(),
		Steers: func(name string) bool {
			return slices.Contains([]string{"CMakeLists.txt", "meson.build", "Makefile.am", "configure.ac", "configure.in", "conanfile.txt", "conanfile.py", "vcpkg.json"}, path.Base(name)) && !ecosystem.IsTestFolder(name, cTestFolders)
		},
		Absent:  absentInC,
		Objects: objectsOf,
	}
}

// objectsOf are the objects of a source by CMake, Meson, Automake and by hand; none of a header.
func objectsOf(source string) []string {
	base := path.Base(source)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if !slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".m", ".mm"}, path.Ext(base)) {
		return nil
	}
	return []string{base + ".o", base + ".obj", stem + ".o", stem + ".obj", stem + ".lo"}
}

var (
	cExts         = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".inc", ".ipp"}
	cTestFolders  = []string{"test", "tests", "unittest", "unittests", "autotest", "autotests", "testing"}
	cTestName     = pattern.New(`^(test_.*|test|tests|.*[_-](test|tests|unittest)|.*Tests?)\.(c|cc|cpp|cxx)$`)
	cFramework    = pattern.New(`(?m)^\s*#\s*include\s*[<"](?:gtest/|gmock/|catch2?[/.]|catch_|doctest|cmocka|check\.h|unity|criterion/|CUnit/|boost/test/|munit|greatest|utest|acutest|minunit)`)
	cTested       = pattern.New(`\bmain\s*\(|\b(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO|START_TEST|BOOST_AUTO_TEST_CASE|Test|UTEST)\s*\(`)
	cmakeLaunches = pattern.New(`(?i)\b(CMAKE_)?(CROSSCOMPILING_EMULATOR|TEST_LAUNCHER|RULE_LAUNCH_\w+|\w*LINKER_LAUNCHER)\b`)
	cmakeTestCall = pattern.New(`(?i)\b(add_test|(macro|function)\s*\(\s*(add_executable|target_link_libraries)\b|RULE_LAUNCH_\w+|\w*LINKER_LAUNCHER|set_tests_properties|enable_testing|WILL_FAIL|CTEST_\w+|(CMAKE_)?(CROSSCOMPILING_EMULATOR|TEST_LAUNCHER)|(set_property|get_property)\s*[( ]\s*TEST|(PASS|FAIL|SKIP)_REGULAR_EXPRESSION|SKIP_RETURN_CODE)\b`)
	cMissing      = pattern.New(`(?m)undefined reference to [` + "`" + `']([\w:]+)|[‘']([\w:]+)[’'] was not declared|implicit declaration of function [‘']([\w]+)`)
)

// cmakeTestCalls are the calls of CMake by which tests are declared, and by which it is said
// what they are started with (https://cmake.org/cmake/help/latest/prop_tgt/CROSSCOMPILING_EMULATOR.html).
var cmakeTestCalls = []string{
	"add_test", "set_tests_properties", "enable_testing", "gtest_discover_tests", "gtest_add_tests", "catch_discover_tests", "doctest_discover_tests",
	`set\s*\(\s*CMAKE_(?:CROSSCOMPILING_EMULATOR|TEST_LAUNCHER|\w+_LINKER_LAUNCHER)\b`,
	`(?:set_property|set_target_properties|set_directory_properties)\s*\([^)]*?\b(?:CROSSCOMPILING_EMULATOR|TEST_LAUNCHER|RULE_LAUNCH_\w+|TEST_INCLUDE_FILES?|\w+_LINKER_LAUNCHER)\b`,
	`set_property\s*\(\s*TEST\b`,
	`cmake_language\s*\([^)]*?\b(?:add_test|set_tests_properties|set_property\s+TEST)\b`,
	`(?:macro|function)\s*\(\s*(?:add_test|add_executable|target_link_libraries|enable_testing|set_tests_properties)\b`,
}

// isCTest recognises test sources, and in folders of tests also what builds them.
func isCTest(name string) bool {
	if ecosystem.IsTestFolder(name, cTestFolders) {
		return slices.Contains(cExts, path.Ext(name)) || slices.Contains([]string{"CMakeLists.txt", "meson.build", "Makefile.am"}, path.Base(name))
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

// cBuild is the folder that CMake and Meson build in. It is made again for every
// tree, because both keep absolute paths in it.
const cBuild = "build-ycbot"

func findCProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	top := func(dirs []string) []string { // without folders that are parts of one above
		return slices.DeleteFunc(slices.Clone(dirs), func(d string) bool {
			return slices.ContainsFunc(dirs, func(o string) bool { return o != d && ecosystem.Inside(o, d) })
		})
	}
	for _, dir := range top(s.Dirs("CMakeLists.txt")) {
		out = append(out, cmakeProject(s, dir))
	}
	for _, dir := range top(s.Dirs("meson.build")) {
		if !s.Has(dir, "CMakeLists.txt") {
			out = append(out, mesonProject(s, dir))
		}
	}
	for _, dir := range top(s.Dirs(configures...)) {
		same := func(p ecosystem.Project) bool { return p.Dir == dir }
		tested := slices.ContainsFunc(out, func(p ecosystem.Project) bool { return same(p) && len(p.Test) > 0 })
		if s.First(dir, "Makefile.am", "Makefile.in") == "" || tested {
			continue
		}
		if p := autotoolsProject(s, dir, s.First(dir, configures...)); p.Missing == "" || !slices.ContainsFunc(out, same) {
			out = append(slices.DeleteFunc(out, same), p)
		}
	}
	return out
}

func cmakeProject(s *ecosystem.Survey, dir string) ecosystem.Project {
	p := ecosystem.Project{Dir: dir, What: "CMake project", Why: []string{path.Join(dir, "CMakeLists.txt")}}
	if dir != "." {
		p.What += " in " + dir
	}
	switch {
	case !s.Tools.Has("cmake"):
		p.Missing = s.Tools.Lack("cmake")
		return p
	case ecosystem.LackOfCompiler(s) != "":
		p.Missing = ecosystem.LackOfCompiler(s)
		return p
	}
	generator := ""
	if s.Tools.Has("ninja") {
		generator = " -G Ninja"
	}
	options := ""
	for _, name := range cmakeTestOptions(s.Read(dir, "CMakeLists.txt")) {
		options += " -D" + name + "=ON"
	}
	options = generator + " -DBUILD_TESTING=ON" + options + " -Wno-dev"
	const configure = "cmake -S . -B"
	setup, found := fetchedByCMake(s, dir, configure, options)
	build := ecosystem.Command{Stage: results.StageBuild, Unit: dir}
	p.Setup = setup
	p.Build = []ecosystem.Command{build.Reporting("rm -rf " + cBuild + " && " + configure + " " + cBuild + options + found + " && cmake --build " + cBuild + " --parallel")}
	if !slices.ContainsFunc(s.Below(dir), func(f string) bool {
		return path.Base(f) == "CMakeLists.txt" && cmakeTests.Match(s.Read(dir, f))
	}) {
		p.Notes = append(p.Notes, "it declares no tests for ctest")
		return p
	}
	text := func(more string) string {
		return "ctest --test-dir " + cBuild + " --output-junit " + ecosystem.ResultsVar + " --output-on-failure --no-tests=ignore" + more
	}
	t := ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting(text(""))
	t.Results = &ecosystem.Results{
		Name: "JUnit XML of ctest", Collect: results.NumberedGroups(results.ParseCTest), Rebuild: true, Plant: plant,
		Narrow: func(c ecosystem.Command, _ ecosystem.Part) (ecosystem.Command, bool) { return c, false },
		Probe: func(c ecosystem.Command, _ ecosystem.Probing) (ecosystem.Command, string) {
			d := c.Reporting(text(" --schedule-random --repeat until-fail:2"))
			d.Name = c.Label()
			return d, "repeated, in a random order"
		},
	}
	p.Test = []ecosystem.Command{t}
	return p
}

var cmakeTests = pattern.New(`(?i)\b(enable_testing|add_test|include\s*\(\s*CTest|gtest_discover_tests|catch_discover_tests|doctest_discover_tests)\b`)

func mesonProject(s *ecosystem.Survey, dir string) ecosystem.Project {
	p := ecosystem.Project{Dir: dir, What: "Meson project", Why: []string{path.Join(dir, "meson.build")}}
	if dir != "." {
		p.What += " in " + dir
	}
	switch {
	case !s.Tools.Has("meson"):
		p.Missing = s.Tools.Lack("meson")
		return p
	case !s.Tools.Has("ninja"):
		p.Missing = s.Tools.Lack("ninja")
		return p
	case ecosystem.LackOfCompiler(s) != "":
		p.Missing = ecosystem.LackOfCompiler(s)
		return p
	}
	options := ""
	if file := s.First(dir, "meson.options", "meson_options.txt"); file != "" {
		for _, setting := range mesonTestOptions(s.Read(dir, "meson.build"), s.Read(dir, file)) {
			options += " -D" + setting
		}
	}
	p.Setup = fetchedByMeson(s, dir)
	build := ecosystem.Command{Stage: results.StageBuild, Unit: dir}
	p.Build = []ecosystem.Command{build.Reporting("rm -rf " + cBuild + " && meson setup --wrap-mode=nodownload" + options + " " + cBuild + " && meson compile -C " + cBuild)}
	t := ecosystem.Command{Stage: results.StageTest, Unit: dir}
	text := "meson test -C " + cBuild + " --no-rebuild --print-errorlogs"
	t = t.Reporting(text + "; status=$?; { cat " + cBuild + "/meson-logs/testlog.junit.xml; sed -n '" + mesonExpected + "' " + cBuild + `/meson-logs/testlog.json; } > "$RESULTS"; exit $status`)
	t.Text = text
	t.Results = &ecosystem.Results{
		Name: "JUnit XML of meson", Collect: results.NumberedGroups(results.ParseMeson), Rebuild: true, Plant: plant,
		Narrow: func(c ecosystem.Command, _ ecosystem.Part) (ecosystem.Command, bool) { return c, false },
	}
	p.Test = []ecosystem.Command{t}
	return p
}

// mesonExpected writes, behind the document, a comment with the name of each test that failed
// as should_fail expects it: to the document it has passed
// (https://mesonbuild.com/Reference-manual_functions.html#test).
const mesonExpected = `s/^{"name": "\(\([^"\\]\|\\.\)*\)", "stdout": "\([^"\\]\|\\.\)*", "result": "EXPECTEDFAIL".*/<!-- expected: \1 -->/p`

// IsSource recognises sources and headers of C, C++ and Objective-C.
func IsSource(name string) bool { return slices.Contains(cExts, path.Ext(name)) }

// IsProductSource recognises those that lie in no folder of tests.
func IsProductSource(name string) bool {
	return IsSource(name) && !ecosystem.IsTestFolder(name, cTestFolders)
}

// IsProductHeader recognises headers that lie in no folder of tests.
func IsProductHeader(name string) bool {
	return IsProductSource(name) && !slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".m", ".mm"}, path.Ext(name))
}
