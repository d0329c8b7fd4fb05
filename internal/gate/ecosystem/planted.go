package ecosystem

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// PlantPath is where a copy of a test file is found by the same runner.
func PlantPath(file, name string) string {
	dir, base := path.Split(file)
	stem, ext, _ := strings.Cut(base, ".")
	switch {
	case strings.HasPrefix(base, "test"):
		sep := "-"
		if path.Ext(file) == ".py" || path.Ext(file) == ".rb" {
			sep = "_"
		}
		return dir + stem + sep + name + "." + ext
	case path.Ext(file) == ".py" || path.Ext(file) == ".rb":
		return dir + name + "_" + base
	}
	return dir + name + base
}

var (
	esModule   = pattern.New(`(?m)^\s*import\s|^export\s`)
	chaiExpect = pattern.New(`chai`)
	ownAssert  = pattern.New(`(?m)\bassert\b[^\n]*(require\(|from\s)`)
)

// FailingTest is a test that must fail in the style of a test file; empty where that
// is not known.
func FailingTest(file, src, results, name string) string {
	modern := esModule.MatchString(src) || path.Ext(file) == ".mjs" || path.Ext(file) == ".mts"
	class := strings.ToUpper(name[:1]) + name[1:]
	switch {
	case results == "results of unittest":
		return "\n\nimport unittest as " + name + "_unittest\n\n\nclass Test" + class + "(" + name + "_unittest.TestCase):\n    def test_" + name + "(self):\n        self.assertEqual(1, 2)\n"
	case results == "JUnit XML of pytest":
		return "\n\ndef test_" + name + "():\n    assert 1 == 2\n"
	case results == "events of node --test" && modern:
		return "\n;\nimport { test as " + name + "Test } from \"node:test\";\nimport " + name + "Assert from \"node:assert\";\n" + name + "Test(\"" + name + "\", () => { " + name + "Assert.strictEqual(1, 2) });\n"
	case results == "events of node --test":
		return "\n;\nrequire(\"node:test\").test(\"" + name + "\", () => { require(\"node:assert\").strictEqual(1, 2) });\n"
	case results == "JSON of vitest":
		return "\n;\nimport { test as " + name + "Test, expect as " + name + "Expect } from \"vitest\";\n" + name + "Test(\"" + name + "\", () => { " + name + "Expect(1).toBe(2) });\n"
	case results == "JSON of jest":
		return "\n;\ntest(\"" + name + "\", () => { expect(1).toBe(2) });\n"
	case results == "JSON of mocha" && ownAssert.MatchString(src):
		return "\n;\nit(\"" + name + "\", () => { assert.equal(1, 2) });\n"
	case results == "JSON of mocha" && chaiExpect.MatchString(src) && strings.Contains(src, "expect"):
		return "\n;\nit(\"" + name + "\", () => { expect(1).to.equal(2) });\n"
	case results == "JSON of mocha":
		return "\n;\nit(\"" + name + "\", () => { throw new Error(\"1 is not 2\") });\n"
	case strings.Contains(src, "Minitest::Test"):
		return "\n\nclass Test" + class + " < Minitest::Test\n  def test_" + name + "\n    assert_equal 1, 2\n  end\nend\n"
	case strings.HasSuffix(file, "_spec.rb"):
		return "\n\nRSpec.describe(\"" + name + "\") { it(\"" + name + "\") { expect(1).to eq(2) } }\n"
	}
	return ""
}
