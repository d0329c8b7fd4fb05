package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Tests in languages that no ecosystem is for are run by a Makefile or a configured
// command. What they are can be said by their names alone, which most languages write alike.

var (
	// otherTestName is what a file of tests is called: a_test.zig, test_a.lua, a.spec.jl,
	// AppTests.swift, ASpec.hs, a_SUITE.erl, and what is for tests alone.
	otherTestName = pattern.New(`(?i)^(?:tests?|runtests|specs?)\.\w+$|^(?:test|spec)[_-].*\.\w+$|.*[._-](?:tests?|specs?)\.\w+$|\.(?:feature|robot)$`)
	otherTestCase = pattern.New(`(?:[a-z0-9](?:Tests?|Specs?)|_SUITE)\.\w+$`)
	setsTools     = pattern.New(`^\.|^tsconfig|\bconfig\.|\.lock$|^(?:Dockerfile|docker-compose)`)
	testFolders   = []string{"test", "tests", "testing", "testdata", "testcase", "testcases", "unittest", "unittests", "autotest", "autotests", "spec", "specs", "e2e", "regress", "regression", "acceptance", "conformance", "expected"}
)

// otherTest is the class of a file that no ecosystem knows as code, empty where its path
// speaks of no tests.
func otherTest(name string) compare.FileClass {
	base := path.Base(name)
	switch {
	case slices.Contains(otherCode, strings.ToLower(path.Ext(name))) && (otherTestName.MatchString(base) || otherTestCase.MatchString(base)):
		return compare.Test
	case setsTools.MatchString(base): // of a package that is called after tests
		return ""
	case ecosystem.IsTestFolder(name, testFolders), strings.HasPrefix(name, "t/"):
		return compare.Data
	}
	return ""
}
