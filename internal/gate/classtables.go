package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// goMain is what makes a test file one that others depend on.
var (
	goMain   = pattern.New(`(?m)^func TestMain\(`)
	goTested = pattern.New(`(?m)^func (Test|Example|Fuzz|Benchmark)`)
)

func goClasses() classTable {
	isTest := func(name string) bool { return strings.HasSuffix(name, "_test.go") }
	return classTable{
		steering: called("go.work"),
		support: func(name string, src []byte) bool {
			return isTest(name) && src != nil && (goMain.Match(src) || !goTested.Match(src))
		},
		test:  func(name string, _ []byte) bool { return isTest(name) },
		mixed: mixedBy(map[string]*mixture{"go.mod": {compare.Steering, mergeGoMod}}),
	}
}

// nodeTested is a call that makes a test, in a file that no name gives away.
var nodeTested = pattern.New(`\b(?:test|it|describe|suite|specify)(?:\.\w+)*\s*\(|['"](?:node:test|tape|ava|tap)['"]`)

// nodeNamed are the names that runners take for tests, wherever they are.
var nodeNamed = pattern.New(`([._-](test|spec|cy|e2e)|^test|^test-.*)\.[cm]?[jt]sx?$`)

func nodeClasses() classTable {
	folders := []string{"test", "tests", "__tests__", "spec", "e2e"}
	return classTable{
		steering: oneOf(called(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", "bunfig.toml",
			"jest.config.*", "jest-*.config.*", "vitest.config.*", "vitest.workspace.*", ".mocharc", ".mocharc.*", "mocha.opts", "karma.conf.*", "ava.config.*",
			"jasmine.json", "playwright.config.*", "cypress.config.*", ".taprc", ".nycrc", ".nycrc.*", ".c8rc", ".c8rc.*", "turbo.json", "nx.json", "lerna.json"),
			func(name string, src []byte) bool { // what vitest reads where it has no file of its own
				ok, err := path.Match("vite.config.*", path.Base(name))
				return err == nil && ok && strings.Contains(string(src), "test")
			}),
		support: func(name string, _ []byte) bool {
			return slices.Contains(nodeExts, path.Ext(name)) && (inFolder(name, "__mocks__") ||
				called("jest.setup.*", "jest-setup.*", "setupTests.*", "setup-tests.*", "vitest.setup.*", "vitest-setup.*", "test-setup.*", "test-helper.*", "test-helpers.*", "test-utils.*")(name, nil))
		},
		test: func(name string, src []byte) bool {
			switch {
			case path.Ext(name) == ".snap":
				return false // data, in whatever folder
			case !slices.Contains(nodeExts, path.Ext(name)):
				return false
			}
			return nodeNamed.MatchString(path.Base(name)) || inFolder(name, folders...) && nodeTested.Match(src)
		},
		folders: folders,
		mixed: mixedBy(map[string]*mixture{
			"package.json": {compare.Steering, mergeJSON("scripts", "config", "jest", "mocha", "vitest", "ava", "tap", "nyc", "c8", "jasmine", "karma", "cypress")},
			"deno.json":    {compare.Steering, mergeJSON("tasks", "test")},
		}),
	}
}

var (
	pythonNamed  = pattern.New(`^(test_.*|.*_test|tests?)\.py$`)
	pythonTested = pattern.New(`(?m)^\s*(?:async )?def test|^class \w+\(.*TestCase`)
)

func pythonClasses() classTable {
	folders := []string{"test", "tests"}
	return classTable{
		steering: called("pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "noxfile.py", ".coveragerc"),
		support:  called("conftest.py"),
		test: func(name string, src []byte) bool {
			return path.Ext(name) == ".py" && (pythonNamed.MatchString(path.Base(name)) || inFolder(name, folders...) && pythonTested.Match(src))
		},
		folders: folders,
		mixed: mixedBy(map[string]*mixture{
			"pyproject.toml": {compare.Steering, mergeSections("tool.pytest", "tool.tox", "tool.nox", "tool.coverage", "tool.hatch.envs", "tool.poe", "tool.taskipy")},
			"setup.cfg":      {compare.Steering, mergeSections("tool:pytest", "pytest", "tox", "testenv", "aliases", "test", "unittest", "nosetests", "coverage")},
		}),
	}
}

func rustClasses() classTable {
	return classTable{
		steering: func(name string, _ []byte) bool {
			return inFolders(name, []string{".cargo"}) && strings.HasPrefix(path.Base(name), "config") || strings.HasSuffix(name, ".config/nextest.toml")
		},
		test: func(name string, src []byte) bool {
			return path.Ext(name) == ".rs" && inFolder(name, "tests") && (src == nil || strings.Contains(string(src), "#["))
		},
		folders: []string{"tests"},
		mixed: func(name string) *mixture {
			switch {
			case path.Base(name) == "Cargo.toml":
				return &mixture{compare.Steering, mergeSections("test", "lib.test", "lib.harness", "lib.doctest", "package.autotests", "profile.test")}
			case path.Ext(name) == ".rs" && !inFolder(name, "tests"):
				return &mixture{compare.Test, mergeRustTests}
			}
			return nil
		},
	}
}

func javaClasses() classTable {
	return classTable{
		steering: func(name string, _ []byte) bool {
			return inFolders(name, []string{".mvn"}) || path.Base(name) == "junit-platform.properties" || path.Base(name) == "testng.xml"
		},
		test: func(name string, src []byte) bool {
			code := slices.Contains([]string{".java", ".kt", ".scala", ".groovy"}, path.Ext(name))
			return code && inFolders(name, []string{"src/test", "src/integrationTest"}) && (src == nil || strings.Contains(string(src), "@Test") || javaNamed.MatchString(path.Base(name)))
		},
		folders: []string{"src/test", "src/integrationTest"},
		mixed:   mixedBy(map[string]*mixture{"pom.xml": {compare.Steering, mergePom}}),
	}
}

var javaNamed = pattern.New(`^Test.*|(Test|Tests|TestCase|IT|Spec)\.\w+$`)

func cClasses() classTable {
	mixed := mixedBy(map[string]*mixture{
		"CMakeLists.txt": {compare.Steering, mergeCalls("add_test", "set_tests_properties", "enable_testing", "gtest_discover_tests", "gtest_add_tests", "catch_discover_tests", "doctest_discover_tests")},
		"meson.build":    {compare.Steering, mergeCalls("test", "benchmark", "add_test_setup")},
	})
	return classTable{
		steering: called("CTestConfig.cmake", "CTestCustom.cmake", "CTestCustom.cmake.in", "CTestTestfile.cmake"),
		// What builds the tests in a folder of theirs names them one by one: it is where they are.
		test:    func(name string, _ []byte) bool { return isCTest(name) },
		folders: cTestFolders,
		mixed: func(name string) *mixture {
			if isCTest(name) {
				return nil
			}
			return mixed(name)
		},
	}
}

func rubyClasses() classTable {
	return classTable{
		steering: called("Rakefile", "rakefile", "Rakefile.rb", ".rspec", ".rspec-local", ".simplecov"),
		support:  called("spec_helper.rb", "rails_helper.rb", "test_helper.rb", "minitest_helper.rb"),
		test: func(name string, _ []byte) bool {
			return path.Ext(name) == ".rb" && rubyTestName.MatchString(path.Base(name))
		},
		folders: []string{"spec", "test"},
	}
}

func dotnetClasses() classTable {
	return classTable{
		steering: called("*.runsettings", "xunit.runner.json", "testconfig.json"),
		test: func(name string, _ []byte) bool {
			return slices.Contains([]string{".cs", ".fs", ".vb"}, path.Ext(name)) && dotnetTests.MatchString(name)
		},
	}
}

func phpClasses() classTable {
	folders := []string{"tests", "test", "Tests"}
	return classTable{
		steering: called("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
		support: func(name string, _ []byte) bool {
			return inFolder(name, folders...) && called("bootstrap.php", "TestCase.php", "Pest.php")(name, nil)
		},
		test:    func(name string, _ []byte) bool { return strings.HasSuffix(name, "Test.php") },
		folders: folders,
		mixed:   mixedBy(map[string]*mixture{"composer.json": {compare.Steering, mergeJSON("scripts")}}),
	}
}

func elixirClasses() classTable {
	return classTable{
		support: called("test_helper.exs"),
		test: func(name string, _ []byte) bool {
			return strings.HasSuffix(name, "_test.exs") && inFolder(name, "test")
		},
		folders: []string{"test"},
	}
}

func makeClasses() classTable {
	return classTable{
		steering: called("GNUmakefile", "makefile", "Makefile", "*.mk", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml"),
		test:     called("*.bats"),
	}
}
