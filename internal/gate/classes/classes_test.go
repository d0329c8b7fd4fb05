package classes

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// TestClassOf holds what files are to tests, by each ecosystem's own patterns.
func TestClassOf(t *testing.T) {
	t.Parallel()
	const (
		jsTest = "import test from 'node:test'\ntest('a', () => {})\n"
		pyTest = "def test_a():\n    pass\n"
		goTest = "package a\n\nfunc TestA(t *testing.T) {}\n"
	)
	also := Referred{
		Called: map[string]bool{"ci/run.sh": true, "main.py": true, "run-tests.py": true, "a_test.go": true},
		Setup:  func(name string) bool { return NamesSetup(`{"jest": {"setupFiles": ["./tools/globals.js"]}}`, name) },
		Data:   func(name string) bool { return name == "a/cases/1.in" || name == "a/page.tmpl.go" },
	}
	for name, want := range map[string]struct {
		src   string
		class compare.FileClass
	}{
		"a/a_test.go":       {goTest, compare.Test},
		"a/main_test.go":    {goTest + "func TestMain(m *testing.M) {}\n", compare.Support},
		"a/helpers_test.go": {"package a\n\nfunc help() {}\n", compare.Support},
		"a/a.go":            {"package a\n", compare.Source}, "a/helpers.go": {"package a\n", compare.Source},
		"test/util.go": {"package test\n", compare.Source}, "internal/snapshots/store.go": {"package snapshots\n", compare.Source},
		"vendor/x/x_test.go": {goTest, compare.Test}, "vendor/x/testdata.json": {"", compare.Source},
		"testdata/deep/y.go": {"package y\n", compare.Support}, "a/testdata/in.json": {"{}", compare.Data},
		"go.work": {"go 1.25\n", compare.Steering}, "go.sum": {"", compare.Source},
		"a/cases/1.in": {"1", compare.Data}, "a/page.tmpl.go": {"package a\n", compare.Source}, "a/README.md": {"", compare.Source},

		"src/a.test.ts": {jsTest, compare.Test}, "src/a.js": {jsTest, compare.Source}, "test/a.js": {jsTest, compare.Test},
		"test/helper.js": {"export const x = 1\n", compare.Support}, "test/page.html": {"", compare.Data},
		"src/__mocks__/fs.js": {"", compare.Support}, "src/__snapshots__/a.test.js.snap": {"", compare.Data}, "__tests__/fixtures/in.json": {"", compare.Data},
		"jest.config.ts": {"", compare.Steering}, ".npmrc": {"", compare.Steering}, "sub/.mocharc.yml": {"", compare.Steering},
		"nyc.config.js": {"", compare.Steering}, "gulpfile.mjs": {"", compare.Steering}, ".labrc.js": {"", compare.Steering},
		"vite.config.ts": {"export default {}", compare.Source}, "web/vite.config.js": {"export default { resolve: { alias: {} } }", compare.Steering}, "tools/globals.js": {"", compare.Support}, "yarn.lock": {"", compare.Source},

		"tests/test_a.py": {pyTest, compare.Test}, "tests/a.py": {pyTest, compare.Test}, "tests/util.py": {"x = 1\n", compare.Support},
		"conftest.py": {"", compare.Support}, "pkg/conftest.py": {"", compare.Support}, "tests/data/x.csv": {"", compare.Data},
		"pytest.ini": {"", compare.Steering}, "tox.ini": {"", compare.Steering}, "tox.toml": {"", compare.Steering}, ".pytest.toml": {"", compare.Steering}, ".coveragerc.toml": {"", compare.Steering}, "main.py": {"", compare.Source}, "run-tests.py": {"", compare.Steering},

		"cmake/options.txt": {"set(CMAKE_CROSSCOMPILING_EMULATOR true)\n", compare.Steering}, "cmake/launch.cmake": {"set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK x)\n", compare.Steering}, "cmake/list.txt": {"set(SOURCES a.c)\n", compare.Source},
		"Makefile": {"", compare.Steering}, "GNUmakefile": {"", compare.Steering}, "mk/rules.mk": {"", compare.Steering}, "ci/run.sh": {"#!/bin/sh\n", compare.Steering},
		"scripts/other.sh": {"#!/bin/sh\n", compare.Source}, "t/a.bats": {"", compare.Test},

		"tests/it.rs": {"#[test]\nfn a() {}\n", compare.Test}, "tests/common/mod.rs": {"pub fn x() {}\n", compare.Support}, "src/lib.rs": {"", compare.Source},
		".cargo/config.toml": {"", compare.Steering}, "src/test/java/ATest.java": {"", compare.Test}, "src/test/java/Util.java": {"class Util {}", compare.Support},
		"src/test/resources/a.xml": {"", compare.Data}, "src/main/java/A.java": {"", compare.Source}, ".mvn/maven.config": {"", compare.Steering},
		"spec/a_spec.rb": {"", compare.Test}, "spec/spec_helper.rb": {"", compare.Support}, "Rakefile": {"", compare.Steering}, ".rspec": {"", compare.Steering},
		"tests/ATest.php": {"", compare.Test}, "phpunit.xml": {"", compare.Steering}, "test/test_helper.exs": {"", compare.Support}, "test/a_test.exs": {"", compare.Test},
		"Tests/AppTests/A.swift": {"", compare.Data}, "Sources/App/A.swift": {"", compare.Source}, "AppTests.swift": {"", compare.Test}, "lib/a_test.dart": {"", compare.Test},
		"src/a_test.zig": {"", compare.Test}, "test_a.lua": {"", compare.Test}, "a_SUITE.erl": {"", compare.Test}, "features/a.feature": {"", compare.Test},
		"latest.lua": {"", compare.Source}, "contest.swift": {"", compare.Source}, "Testing.swift": {"", compare.Source}, "src/a.zig": {"", compare.Source}, "a.test.txt": {"", compare.Source},
		"t/lib/T.pm": {"", compare.Data}, "src/t/T.pm": {"", compare.Source}, "integration-tests/in.sql": {"", compare.Data}, "test-data/a.json": {"", compare.Data}, "testData/a.json": {"", compare.Data},
		"regress/expected/a.out": {"", compare.Data}, "contests/a.json": {"", compare.Source}, "packages/test-utils/tsconfig.json": {"", compare.Source}, "packages/test-utils/rollup.config.json": {"", compare.Source}, "tests/README.md": {"", compare.Data}, "AppTests/README.md": {"", compare.Source},
		"AppUITests/A.swift": {"", compare.Data}, "speed-test/a.lua": {"", compare.Source}, "speed-test/a.c": {"", compare.Source}, "unit_test/a.c": {"", compare.Test},
		"Testing/a.cpp": {"", compare.Test}, "autotests/a.cpp": {"", compare.Test}, "AppTests/a.m": {"", compare.Test}, "test-utils/a.c": {"", compare.Source}, "latest/a.c": {"", compare.Source},
		"tests/a.c": {"", compare.Test}, "tests/CMakeLists.txt": {"", compare.Test}, "CTestConfig.cmake": {"", compare.Steering}, "build-aux/test-driver": {"", compare.Steering}, "tap-driver.sh": {"", compare.Steering},
	} {
		if got, _ := ClassOf(name, []byte(want.src), also); got != want.class {
			t.Errorf("%s is %s, want %s", name, got, want.class)
		}
	}
	got, _ := ClassOfBoth("a/main_test.go", Versions{Base: []byte(goTest), Head: []byte(goTest + "func TestMain(m *testing.M) {}\n")}, also)
	if got != compare.Support {
		t.Errorf("a test file that becomes support is %s", got)
	}
}

// TestNamesFile holds which strings of a source name a file.
func TestNamesFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src, dir, file string
		want           bool
	}{
		{`os.ReadFile("golden.json")`, "a", "a/golden.json", true},
		{`os.ReadFile("cases/1.in")`, "a", "a/cases/1.in", true},
		{`os.ReadDir("cases")`, "a", "a/cases/1.in", true},
		{`open('../shared/x.csv')`, "tests", "shared/x.csv", true},
		{`// golden.json`, "a", "a/golden.json", false},
		{`"in"`, "a", "a/other.json", false},
		{`filepath.Glob("../*/*.golden")`, "a", "b/want.golden", true},
		{`glob("*/want.txt")`, ".", "cases/want.txt", true},
		{`glob("**/*.want")`, "test", "cases/one/1.want", true},
		{`glob('*.json')`, "test", "test/1.json", true},
		{`glob('*.json')`, "test", "config/1.json", false},
		{`glob("**/*.go")`, "test", "a/b.go", false},
		{`// */want.txt`, ".", "cases/want.txt", false},
		{`"a*b.golden"`, ".", "cases/want.golden", false},
	} {
		if got := Names(tt.src, tt.dir, tt.file); got != tt.want {
			t.Errorf("%s in %s names %s: %v", tt.src, tt.dir, tt.file, got)
		}
	}
}
