package ecosystem

import "testing"

// TestHoldsTests holds which sources are known as tests by what is in them where their path
// says nothing, and that sources which only look alike are not.
func TestHoldsTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      bool
	}{
		{"checks/sums.mjs", "import {test} from 'node:test'\n", true},
		{"demo.js", "const t = require('tape')\n", true},
		{"checks/sums.ts", "describe('sums', () => {\n  it(`adds`, () => {})\n})\n", true},
		{"lib/match.js", "module.exports = s => {\n  return /a/.test('b') || exec.test(s)\n}\n", false},
		{"lib/it.js", "function test(a) { return a }\ntest(1)\n", false},

		{"calc_checks.py", "def test_add():\n    assert True\n", true},
		{"checks.py", "class Sums(unittest.TestCase):\n    pass\n", true},
		{"suite.py", "class TestSums:\n    def test_add(self): pass\n", true},
		{"calc.py", "def testing(a):\n    return a\n\n\nclass Tester:\n    pass\n", false},

		{"check_sums.c", "#include <cmocka.h>\nint main(void) { return 0; }\n", true},
		{"sums.cc", "#include \"gtest/gtest.h\"\nTEST(Sums, Adds) {}\n", true},
		{"sums.cc", "#include <assert.h>\nint main() { assert(1); }\n", false},
		{"testing.h", "#include \"gtest/gtest.h\"\nclass Base : public testing::Test {};\n", false},

		{"it/java/Sums.java", "import org.junit.jupiter.api.Test;\nclass Sums {\n  @Test void adds() {}\n}\n", true},
		{"src/main/java/Sums.java", "import org.junit.jupiter.api.Test;\nclass Sums {\n  @Test void adds() {}\n}\n", false},
		{"java/Rule.java", "import org.junit.rules.TestRule;\nclass Rule implements TestRule {}\n", false},

		{"checks/sums.rb", "class Sums < Minitest::Test\nend\n", true},
		{"checks/sums.rb", "RSpec.describe Sums do\nend\n", true},
		{"lib/sums.rb", "class Sums < Minitest::Test\nend\n", false},
		{"checks/sums.php", "<?php\nclass Sums extends TestCase { public function testAdds() {} }\n", true},
		{"checks/sums.php", "<?php\nclass Sums extends TestCase { public function adds() {} }\n", false},
		{"checks/sums.exs", "defmodule Sums do\n  use ExUnit.Case, async: true\nend\n", true},
		{"Checks/Sums.cs", "using Xunit;\nclass Sums {\n  [Fact]\n  public void Adds() {}\n}\n", true},
		{"Checks/Sums.cs", "using Xunit;\nclass Sums {}\n", false},
		{"a/sums.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n", false}, // Go runs none that is not named as one
	} {
		if got := HoldsTests(c.name, []byte(c.src)); got != c.want {
			t.Errorf("%s holds tests: %v, want %v\n%s", c.name, got, c.want, c.src)
		}
	}
}

// TestMergeRustTests holds that the base's tests stand in the head's sources, wherever Rust
// has them.
func TestMergeRustTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, base, head, want string }{
		{
			"a module in a source",
			"fn a() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 1); }\n}\n",
			"fn a() -> i32 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 2); }\n}\n",
			"fn a() -> i32 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 1); }\n}\n",
		},
		{
			"a module in a file of its own",
			"use super::*;\n\nfn want() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
			"use super::*;\n\nfn want() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
			"use super::*;\n\nfn want() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
		},
		{
			"tests beside what they test",
			"pub fn a() -> i32 { 1 }\n\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
			"pub fn a() -> i32 { 2 }\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 2); }\n",
			"pub fn a() -> i32 { 2 }\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n",
		},
		{
			"what is compiled for tests alone",
			"pub fn a() -> i32 { 1 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a == 1 }\n\n#[cfg(test)]\nuse a::{b, c};\n\n#[cfg(test)]\nmod tests;\n",
			"#[cfg(test)]\nfn more() {}\n\npub fn a() -> i32 { 2 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a > 0 }\n\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;\n",
			"\n\npub fn a() -> i32 { 2 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a == 1 }\n\n#[cfg(test)]\nmod tests;\n\n#[cfg(test)]\nuse a::{b, c};\n",
		},
		{
			"a module that is not compiled",
			"pub fn a() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
			"pub fn a() -> i32 { 2 }\n\n#[cfg(any())]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
			"pub fn a() -> i32 { 2 }\n\n#[cfg(any())]\nmod tests {\n\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
		},
		{
			"a program with a test is the head's",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 2); }\n",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
		},
		{
			"examples of documentation",
			"/// Old.\n/// ```\n/// assert_eq!(m::a(), 1);\n/// ```\n#[inline]\npub fn a() -> i32 { 1 }\n",
			"/// ```\n/// assert_eq!(m::b(), 3);\n/// ```\npub fn b() -> i32 { 3 }\n\n/// New.\n/// ```\n/// assert_eq!(m::a(), 2);\n/// ```\n#[inline]\npub fn a() -> i32 { 2 }\n",
			"/// ```\n/// assert_eq!(m::b(), 3);\n/// ```\npub fn b() -> i32 { 3 }\n\n/// Old.\n/// ```\n/// assert_eq!(m::a(), 1);\n/// ```\n#[inline]\npub fn a() -> i32 { 2 }\n",
		},
		{
			"nothing is tested there",
			"pub fn a() -> i32 { 1 }\n",
			"pub fn a() -> i32 { 2 }\n",
			"pub fn a() -> i32 { 2 }\n",
		},
	} {
		got, err := mergeRustTests([]byte(c.base), []byte(c.head))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.what, err, got, c.want)
		}
	}
}

// TestIsTestProgram holds which C sources are known as programs of tests by what builds them.
func TestIsTestProgram(t *testing.T) {
	t.Parallel()
	const (
		plain  = "#include <stdio.h>\nint main(int argc, char **argv) { return 0; }\n"
		cmake  = "enable_testing()\nadd_executable(calctest calctest.c)\nadd_executable(all_tests check/main.c\n  a.c)\nadd_executable(tool tool.c latest.c)\nadd_test(NAME a COMMAND calctest)\n"
		meson  = "e = executable('unittests', 'src/run.c')\ntest('all', e)\nexecutable('tool', 'tool.c')\n"
		recipe = "tool: tool.c\nruntests: runtests.c\ntest: runtests\n\t./runtests\n"
	)
	for _, tt := range []struct {
		name, src string
		tree      map[string]string
		want      bool
	}{
		{"calctest.c", plain, map[string]string{"CMakeLists.txt": cmake}, true},
		{"calctest.c", "int helper(void);\n", map[string]string{"CMakeLists.txt": cmake}, false},
		{"calctest.c", plain, map[string]string{"CMakeLists.txt": "add_executable(calctest calctest.c)\n"}, false}, // runs no tests
		{"calctest.c", plain, nil, false},
		{"check/main.c", plain, map[string]string{"CMakeLists.txt": cmake}, true},
		{"tool.c", plain, map[string]string{"CMakeLists.txt": cmake, "Makefile": recipe}, false},
		{"src/calctest.c", plain, map[string]string{"CMakeLists.txt": "include(CTest)\nadd_executable(calctest src/calctest.c)\n"}, true},
		{"src/run.c", plain, map[string]string{"meson.build": meson}, true},
		{"tool.c", plain, map[string]string{"meson.build": meson}, false},
		{"runtests.c", plain, map[string]string{"Makefile": recipe}, true},
		{"othertest.c", plain, map[string]string{"Makefile": recipe}, false}, // no rule names it
		{"runtests.go", plain, map[string]string{"Makefile": recipe}, false},
		{"speedtest.c", plain, map[string]string{"CMakeLists.txt": "project(speedtest C)\nenable_testing()\nadd_executable(speedtest speedtest.c)\n"}, false}, // what the project is for
		{"memtest.c", plain, map[string]string{"CMakeLists.txt": "project(tools C)\nenable_testing()\nadd_executable(memtest memtest.c)\ninstall(TARGETS\n  other memtest\n  DESTINATION bin)\n"}, false},
		{"memtest.c", plain, map[string]string{"meson.build": "executable('memtest', 'memtest.c', install: true)\ntest('a', find_program('run.sh'))\n"}, false},
		{"memtest.c", plain, map[string]string{"Makefile": "memtest: memtest.c\ntest: memtest\n\t./run.sh\ninstall:\n\tinstall -m 755 memtest /usr/bin\n"}, false},
		{"a_b/looptest.c", plain, map[string]string{"CMakeLists.txt": "enable_testing()\nforeach(t looptest)\n  add_executable(${t} a_b/${t}.c)\nendforeach()\n"}, true},
		{"testdisk.c", plain, map[string]string{"Makefile": "testdisk: testdisk.c\ntest: testdisk\n\t./testdisk < in | diff - out\n"}, false},
	} {
		read := func(name string) []byte { return []byte(tt.tree[name]) }
		if got := IsTestProgram(tt.name, []byte(tt.src), read); got != tt.want {
			t.Errorf("%s in %v: %v", tt.name, tt.tree, got)
		}
	}
}

// Sources of Rust that declare one another are for users, and are not followed for ever.
func TestForTestsInACircle(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/main.rs": "mod lib;\n#[cfg(test)]\nmod tests;\nfn main() {}\n", "src/lib.rs": "mod main;\nmod util;\n",
		"src/tests.rs": "mod more;\n", "src/tests/more.rs": "", "src/util.rs": "",
	}
	read := func(name string) []byte {
		if text, ok := files[name]; ok {
			return append([]byte(text), '\n')
		}
		return nil
	}
	for name, want := range map[string]string{"src/main.rs": "", "src/lib.rs": "", "src/util.rs": "", "src/tests.rs": "Rust", "src/tests/more.rs": "Rust"} {
		if got := ForTests(name, read); got != want {
			t.Errorf("%s is for tests of %q, want %q", name, got, want)
		}
	}
}
