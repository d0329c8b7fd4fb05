package classes

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
