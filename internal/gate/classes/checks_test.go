package classes

import "testing"

// TestChecksForTests holds which sources are written with a library of tests.
func TestChecksForTests(t *testing.T) {
	t.Parallel()
	for src, want := range map[[2]string]bool{
		{"contract/run.go", "package contract\n\nimport \"testing\"\n"}:                                   true,
		{"a/b.go", "package b\n\nimport (\n\t\"fmt\"\n\tis \"github.com/stretchr/testify/require\"\n)\n"}: true,
		{"a/b.go", "package b\n\nimport \"fmt\"\n\n// as \"testing\" does\n"}:                             false,
		{"shop/checks.py", "import unittest\n"}:                                                           true,
		{"shop/checks.py", "import unittesting\n"}:                                                        false,
		{"lib/contract.js", "import assert from 'node:assert/strict'\n"}:                                  false,
		{"lib/contract.js", "import test from 'node:test'\n"}:                                             true,
		{"check.h", "#define CHECK(x) do { } while (0)\n"}:                                                true,
		{"a.h", "#define mu_assert(x) x\n"}:                                                               true,
		{"a.h", "#define latest(x) x\n"}:                                                                  false,
		{"lib/a.sh", "is() {\n"}:                                                                          true,
		{"lib/a.sh", "list() {\n"}:                                                                        false,
		{"lib/a.sh", "check_args() {\n"}:                                                                  false,
		{"lib/a.ts", "import { x } from './chai'\n"}:                                                      false,
		{"lib/a.rs", "#[cfg(test)]\n"}:                                                                    false,
		{"shop/rules.py", "class Rules:\n    def test_a(self):\n        self.assertEqual(1, 1)\n"}:        true,
		{"shop/rules.py", "class Rules:\n    def test_a(self):\n        assert 1\n"}:                      true,
		{"shop/db.py", "class DB:\n    def test_connection(self):\n        return self.ping()\n"}:         false,
		{"shop/db.py", "class DB:\n    def a(self):\n        assert 1\n    def b(self):\n        pass\n    def test_a(self):\n        pass\n"}: false,
		{"shop/rules.py", "def test_a(self):\n    assert 1\n"}:                                                                                 false,
		{"lib/rules.rb", "module Rules\n  def test_a\n    assert_equal 1, 1\n"}:                                                                true,
		{"lib/rules.rb", "module Rules\n  def test_a\n    ping\n"}:                                                                             false,
		{"src/Rules.php", "trait Rules { function testA() { $this->assertSame(1, 1); } }\n"}:                                                   true,
		{"src/Rules.php", "trait Rules { function testA() { return 1; } }\n"}:                                                                  false,
		{"src/rules.js", "module.exports = (vat) => {\n  it('adds', () => {});\n}\n"}:                                                          true,
		{"src/rules.js", "module.exports = (vat) => {\n  if (x) test('adds');\n  /a/.test('b');\n}\n"}:                                         false,
	} {
		if got := ChecksForTests(src[0], []byte(src[1])); got != want {
			t.Errorf("%s %q: %v", src[0], src[1], got)
		}
	}
}
