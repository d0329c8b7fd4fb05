package classes

import (
	"slices"
	"strings"
	"testing"
)

// TestIsTable holds which sources have nothing but values.
func TestIsTable(t *testing.T) {
	t.Parallel()
	for src, want := range map[[2]string]bool{
		{"cases/cases.go", "// Package cases has a func.\npackage cases\n\nvar Prices = map[string]int{\"FR\": 120}\n"}: true,
		{"cases/cases.go", "package cases\n\nconst Most = 3\n"}:                                                         false,
		{"cases/cases.go", "package cases\n\nvar A = []int{1}\n\nfunc B() {}\n"}:                                        false,
		{"cases/cases.go", "package cases\n\nvar A = []func(){func() {}}\n"}:                                            false,
		{"cases/cases.go", "package cases\n\nvar A = []int{1\n"}:                                                        false,
		{"a.py", "\"\"\"def of a class\"\"\"\nPRICES = {\"DE\": 119}  # class\n"}:                                       true,
		{"a.py", "PRICES = {\"DE\": lambda: 119}\n"}:                                                                    false,
		{"a.py", "LEAST = 1\n"}:                                  false,
		{"a.py", "class A:\n    b = [1]\n"}:                      false,
		{"a.rb", "module Cases\n  ALL = [[1, 2]].freeze\nend\n"}: true,
		{"a.rb", "def all = [1]\n"}:                              false,
		{"a.js", "module.exports = [['FR', 100, 120]];\n"}:       true,
		{"a.mjs", "export const all = [{ a: 'function' }];\n"}:   true,
		{"a.js", "exports.all = [(a) => a];\n"}:                  false,
		{"a.js", "run([1]);\n"}:                                  false,
		{"a.php", "<?php\nreturn ['FR' => 120];\n"}:              true,
		{"a.php", "<?php\nreturn [fn($a) => $a];\n"}:             false,
		{"a.c", "int a[] = {1};\n"}:                              false,
	} {
		if got := IsTable(src[0], []byte(src[1])); got != want {
			t.Errorf("%s %q: %v", src[0], src[1], got)
		}
	}
}

// TestListsTests holds which texts are lists of tests.
func TestListsTests(t *testing.T) {
	t.Parallel()
	files := []string{"test/price.test.js", "test/cart.test.js", "src/price.js"}
	for text, want := range map[string]bool{
		"test/price.test.js\ntest/cart.test.js\n":                     true,
		`["test/price.test.js", "test/cart.test.js"]`:                 true,
		"{\n  \"suites\": [\"test/price.test.js\"],\n  \"n\": 1\n}\n": true,
		`["src/price.js", "src/cart.js"]`:                             false,
		`{"test/price.test.js": "slow"}`:                              false,
	} {
		if got := ListsTests(text, files); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestHelpers holds which functions of a source of tests are none that runners take.
func TestHelpers(t *testing.T) {
	t.Parallel()
	for src, want := range map[[2]string]string{
		{"a_test.go", "func near(a int) bool { return a == 1 }\nfunc (s *S) Far() {}\nfunc TestA(t *testing.T) {}\nfunc BenchmarkA(b *testing.B) {}\n"}: "Far near",
		{"test_a.py", "class A:\n    def setUp(self):\n        'def b(): pass'\n    def test_a(self): pass\ndef near(a):\n    pass\n"}:                  "near",
		{"a.test.js", "const near = (a, b) => a === b;\nasync function far() {}\nconst all = [1];\n"}:                                                   "far near",
	} {
		var got []string
		for f := range Helpers(src[0], []byte(src[1])) {
			got = append(got, f)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", src[0], got, want)
		}
	}
}

// TestImportsScript holds which files a source of JavaScript takes in by a relative path.
func TestImportsScript(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, dir, name string
		want            bool
	}{
		{"require('./a')", "shop", "shop/a.js", true},
		{"require('.')", "shop", "shop/index.js", true},
		{"require('../')", "shop/test", "shop/index.js", true},
		{"import { vat } from '..'", "shop/test", "shop/index.ts", true},
		{"require('.')", "shop", "shop/a.js", false},
		{"require('..a')", "shop/test", "shop/index.js", false},
	} {
		if got := ImportsScript(tt.text, tt.dir, tt.name); got != tt.want {
			t.Errorf("%s in %s: %s %v", tt.text, tt.dir, tt.name, got)
		}
	}
}
