package gate

import (
	"fmt"
	"strings"
)

// either returns one of two texts.
func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// each joins what f makes of names.
func each(names []string, f map[string]string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(f[n])
	}
	return b.String()
}

func allLanguages() []language {
	return []language{nodeTestLanguage(), jestLanguage(), vitestLanguage(), mochaLanguage(), unittestLanguage(), pytestLanguage(), cmakeLanguage(), mesonLanguage(), automakeLanguage(), makeLanguage(), rustLanguage(), rspecLanguage(), minitestLanguage(), phpLanguage(), mavenLanguage(), elixirLanguage(), toxLanguage(), noxLanguage(), poetryLanguage()}
}

func nodeTestLanguage() language {
	return language{
		name: "node --test", noticed: 1, fresh: "exports.fresh = () => 1;\n", tools: []string{"node", "npm"}, src: "lib/math.js", test: "test/math.test.js",
		files: map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}}`},
		source: func(add, abs bool, turn string) string {
			return fmt.Sprintf("'use strict';\nexports.add = (a, b) => a %s b;\nexports.abs = (a) => (a < 0 ? %s : a);\nexports.turn = %s;\n",
				either(add, "+", "-"), either(abs, "-a", "a"), turn)
		},
		tests: func(names ...string) string {
			return "const { test, describe, it } = require('node:test');\nconst assert = require('node:assert');\nconst fs = require('node:fs');\nconst m = require('../lib/math.js');\n" +
				each(names, map[string]string{
					"add":   "test('add', () => { console.log('noise'); assert.strictEqual(m.add(2, 3), 5); });\n",
					"abs":   "describe('group of', () => { it('abs / of -1', () => assert.strictEqual(m.abs(-1), 1)); });\n",
					"again": "test('again', () => assert.strictEqual(m.add(1, 1), 2));\n",
					"fresh": "test('fresh', () => assert.strictEqual(m.fresh(), 1));\n",
					"flaky": "test('flaky', () => { let n = 0; const f = process.env.COUNTS + '/runs'; try { n = +fs.readFileSync(f, 'utf8'); } catch {}\n fs.writeFileSync(f, String(n + 1)); assert.notStrictEqual(n + 1, m.turn); });\n",
				})
		},
	}
}

// nodeRuns is the body of a test that one of its runs fails, in any language of
// Node; what counts is how often it ran on a side.
const nodeRuns = "let n = 0; const f = process.env.COUNTS + '/runs'; try { n = +fs.readFileSync(f, 'utf8'); } catch {}\n fs.writeFileSync(f, String(n + 1)); "

func jestLanguage() language {
	l := nodeTestLanguage()
	l.name, l.tools = "jest", []string{"node", "npm", "jest"}
	l.files = map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "jest"}, "jest": {"testEnvironment": "node"}}`}
	l.tests = func(names ...string) string {
		return "const fs = require('node:fs');\nconst m = require('../lib/math.js');\n" + each(names, map[string]string{
			"add":   "test('add', () => { console.log('noise'); expect(m.add(2, 3)).toBe(5); });\n",
			"abs":   "describe('group of', () => { it('abs / of -1', () => expect(m.abs(-1)).toBe(1)); });\n",
			"again": "test('again', () => expect(m.add(1, 1)).toBe(2));\n",
			"fresh": "test('fresh', () => expect(m.fresh()).toBe(1));\n",
			"flaky": "test('flaky', () => { " + nodeRuns + "expect(n + 1).not.toBe(m.turn); });\n",
		})
	}
	return l
}

func vitestLanguage() language {
	l := jestLanguage()
	l.name, l.tools = "vitest", []string{"node", "npm", "vitest"}
	l.files = map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest run --globals"}}`}
	l.fresh = "export const fresh = () => 1;\n"
	tests := l.tests
	l.source = func(add, abs bool, turn string) string {
		return fmt.Sprintf("export const add = (a, b) => a %s b;\nexport const abs = (a) => (a < 0 ? %s : a);\nexport const turn = %s;\n",
			either(add, "+", "-"), either(abs, "-a", "a"), turn)
	}
	l.tests = func(names ...string) string {
		text := tests(names...)
		text = strings.Replace(text, "const fs = require('node:fs');", "import fs from 'node:fs';", 1)
		return strings.Replace(text, "const m = require('../lib/math.js');", "import * as m from '../lib/math.js';", 1)
	}
	return l
}

func mochaLanguage() language {
	l := nodeTestLanguage()
	l.name, l.tools = "mocha", []string{"node", "npm", "mocha"}
	l.files = map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "mocha"}}`}
	l.tests = func(names ...string) string {
		return "const assert = require('node:assert');\nconst fs = require('node:fs');\nconst m = require('../lib/math.js');\n" + each(names, map[string]string{
			"add":   "it('add', () => { console.log('noise'); assert.strictEqual(m.add(2, 3), 5); });\n",
			"abs":   "describe('group of', () => { it('abs / of -1', () => assert.strictEqual(m.abs(-1), 1)); });\n",
			"again": "it('again', () => assert.strictEqual(m.add(1, 1), 2));\n",
			"fresh": "it('fresh', () => assert.strictEqual(m.fresh(), 1));\n",
			"flaky": "it('flaky', () => { " + nodeRuns + "assert.notStrictEqual(n + 1, m.turn); });\n",
		})
	}
	return l
}

func pythonSource(add, abs bool, turn string) string {
	return fmt.Sprintf("TURN = %s\n\n\ndef add(a, b):\n    return a %s b\n\n\ndef abs_(a):\n    return %s if a < 0 else a\n", turn, either(add, "+", "-"), either(abs, "-a", "a"))
}

const pythonRuns = `    runs = os.environ["COUNTS"] + "/runs"
    n = int(open(runs).read()) if os.path.exists(runs) else 0
    open(runs, "w").write(str(n + 1))
`

func unittestLanguage() language {
	return language{
		name: "unittest", all: true, noticed: 2, fresh: "\n\ndef fresh():\n    return 1\n", tools: []string{"python3"}, src: "calc/__init__.py", test: "tests/test_calc.py",
		files:  map[string]string{"setup.cfg": "[metadata]\nname = calc\n"},
		source: pythonSource,
		tests: func(names ...string) string {
			return "import os\nimport unittest\n\nimport calc\n\n\nclass CalcTest(unittest.TestCase):\n" + each(names, map[string]string{
				"add":   "    def test_add(self):\n        \"\"\"It has a description.\"\"\"\n        print(\"noise\")\n        self.assertEqual(calc.add(2, 3), 5)\n\n",
				"abs":   "    def test_abs(self):\n        for n in (1, -1):\n            with self.subTest(n=n):\n                self.assertEqual(calc.abs_(n), 1)\n\n",
				"again": "    def test_again(self):\n        self.assertEqual(calc.add(1, 1), 2)\n\n",
				"fresh": "    def test_fresh(self):\n        self.assertEqual(calc.fresh(), 1)\n\n",
				"flaky": "    def test_flaky(self):\n" + indent(pythonRuns) + "        self.assertNotEqual(n + 1, calc.TURN)\n\n",
			})
		},
	}
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}

func pytestLanguage() language {
	return language{
		name: "pytest", noticed: 2, fresh: "\n\ndef fresh():\n    return 1\n", tools: []string{"python3", "pytest"}, src: "src/calc.py", test: "tests/test_calc.py",
		files:  map[string]string{"pyproject.toml": "[project]\nname = \"calc\"\nversion = \"1\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"},
		source: pythonSource,
		tests: func(names ...string) string {
			return "import os\n\nimport pytest\n\nimport calc\n\n\n" + each(names, map[string]string{
				"add":   "class TestAdd:\n    def test_add(self):\n        assert calc.add(2, 3) == 5\n\n\n",
				"abs":   "@pytest.mark.parametrize(\"a\", [-1])\ndef test_abs(a):\n    assert calc.abs_(a) == 1\n\n\n",
				"again": "def test_again():\n    assert calc.add(1, 1) == 2\n\n\n",
				"fresh": "def test_fresh():\n    assert calc.fresh() == 1\n\n\n",
				"flaky": "def test_flaky():\n" + pythonRuns + "    assert n + 1 != calc.TURN\n\n\n",
			})
		},
	}
}

func cSource(add, abs bool, turn string) string {
	return fmt.Sprintf("int add(int a, int b) { return a %s b; }\nint abs_of(int a) { return a < 0 ? %s : a; }\nint turn(void) { return %s; }\n",
		either(add, "+", "-"), either(abs, "-a", "a"), turn)
}

// cTests are programs that take the name of a test.
func cTests(names []string) string {
	return "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint add(int, int); int abs_of(int); int turn(void); int fresh(void);\n" +
		"int main(int argc, char **argv) {\n  const char *t = argc > 1 ? argv[1] : \"\";\n  (void)t;\n" + each(names, map[string]string{
		"add":   "  if (!strcmp(t, \"add\") || !*t) { if (add(2, 3) != 5) return puts(\"add is wrong\"), 1; }\n",
		"abs":   "  if (!strcmp(t, \"abs\") || !*t) { if (abs_of(-1) != 1) return puts(\"abs is wrong\"), 1; }\n",
		"again": "  if (!strcmp(t, \"again\") || !*t) { if (add(1, 1) != 2) return 1; }\n",
		"fresh": "  if (!strcmp(t, \"fresh\")) return fresh() != 1;\n",
		"flaky": "  if (!strcmp(t, \"flaky\") || !*t) {\n    int n = 0; char runs[4096]; snprintf(runs, sizeof runs, \"%s/runs\", getenv(\"COUNTS\")); FILE *f = fopen(runs, \"r\");\n    if (f) { if (fscanf(f, \"%d\", &n) != 1) n = 0; fclose(f); }\n" +
			"    f = fopen(runs, \"w\"); fprintf(f, \"%d\", n + 1); fclose(f);\n    if (n + 1 == turn()) return puts(\"not now\"), 1;\n  }\n",
	}) + "  return 0;\n}\n"
}

func cmakeLanguage() language {
	return language{
		name: "cmake", noticed: 1, tools: []string{"cmake", "gcc", "make"}, src: "math.c", test: "tests/CMakeLists.txt",
		files: map[string]string{
			"CMakeLists.txt":   "cmake_minimum_required(VERSION 3.10)\nproject(m C)\nenable_testing()\nadd_library(m math.c)\nadd_subdirectory(tests)\n",
			"tests/all_test.c": cTests([]string{"add", "abs", "again", "flaky"}),
		},
		source: cSource,
		tests: func(names ...string) string {
			out := "add_executable(all_test all_test.c)\ntarget_link_libraries(all_test m)\n"
			for _, n := range names {
				out += fmt.Sprintf("add_test(NAME %s COMMAND all_test %s)\n", n, n)
			}
			return out
		},
	}
}

func mesonLanguage() language {
	return language{
		name: "meson", noticed: 1, tools: []string{"meson", "ninja", "gcc"}, src: "math.c", test: "tests/meson.build",
		files: map[string]string{
			"meson.build":      "project('m', 'c')\nm = static_library('m', 'math.c')\nsubdir('tests')\n",
			"tests/all_test.c": cTests([]string{"add", "abs", "again", "flaky"}),
		},
		source: cSource,
		tests: func(names ...string) string {
			out := "exe = executable('all_test', 'all_test.c', link_with: m)\n"
			for _, n := range names {
				out += fmt.Sprintf("test('%s', exe, args: ['%s'])\n", n, n)
			}
			return out
		},
	}
}

func automakeLanguage() language {
	files := map[string]string{
		"configure.ac":     "AC_INIT([m], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_PROG_RANLIB\nAM_PROG_AR\nAC_CONFIG_FILES([Makefile tests/Makefile])\nAC_OUTPUT\n",
		"Makefile.am":      "SUBDIRS = . tests\nnoinst_LIBRARIES = libm.a\nlibm_a_SOURCES = math.c\n",
		"tests/all_test.c": cTests([]string{"add", "abs", "again", "flaky"}),
	}
	for _, n := range []string{"add", "abs", "again", "flaky"} {
		files["tests/"+n+".sh"] = "#!/bin/sh\nexec ./all_test " + n + "\n"
	}
	return language{
		name: "automake", noticed: 1, tools: []string{"autoreconf", "automake", "make", "gcc"}, src: "math.c", test: "tests/Makefile.am",
		files:  files,
		source: cSource,
		tests: func(names ...string) string {
			return "check_PROGRAMS = all_test\nall_test_LDADD = ../libm.a\nTEST_EXTENSIONS = .sh\nSH_LOG_COMPILER = sh\nTESTS =" + each(names, map[string]string{
				"add": " add.sh", "abs": " abs.sh", "again": " again.sh", "flaky": " flaky.sh",
			}) + "\n"
		},
	}
}

func makeLanguage() language {
	return language{
		name: "make", tools: []string{"make", "gcc"}, src: "math.c", test: "tests/all_test.c", command: true,
		files:  map[string]string{"Makefile": "CFLAGS = -O0\nall: all_test\nall_test: math.c tests/all_test.c\n\t$(CC) $(CFLAGS) -o $@ $^\ntest: all_test\n\t./all_test\n.PHONY: all test\n"},
		source: cSource,
		tests:  func(names ...string) string { return cTests(names) },
	}
}

func rustLanguage() language {
	return language{
		name: "rust", fresh: "pub fn fresh() -> i32 {\n    1\n}\n", tools: []string{"cargo", "rustc", "gcc"}, src: "src/lib.rs", test: "tests/all.rs",
		files: map[string]string{"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"},
		source: func(add, abs bool, turn string) string {
			return fmt.Sprintf("pub const TURN: i32 = %s;\npub fn add(a: i32, b: i32) -> i32 {\n    a %s b\n}\npub fn abs(a: i32) -> i32 {\n    if a < 0 {\n        %s\n    } else {\n        a\n    }\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn inner() {}\n}\n",
				turn, either(add, "+", "-"), either(abs, "-a", "a"))
		},
		tests: func(names ...string) string {
			return each(names, map[string]string{
				"add":   "#[test]\nfn add() {\n    assert_eq!(m::add(2, 3), 5);\n}\n",
				"abs":   "#[test]\nfn abs() {\n    assert_eq!(m::abs(-1), 1);\n}\n",
				"again": "#[test]\nfn again() {\n    assert_eq!(m::add(1, 1), 2);\n}\n",
				"fresh": "#[test]\nfn fresh() {\n    assert_eq!(m::fresh(), 1);\n}\n",
				"flaky": "#[test]\nfn flaky() {\n    let f = std::env::var(\"COUNTS\").unwrap() + \"/runs\";\n    let n: i32 = std::fs::read_to_string(&f).ok().and_then(|s| s.parse().ok()).unwrap_or(0);\n    std::fs::write(&f, (n + 1).to_string()).unwrap();\n    assert_ne!(n + 1, m::TURN);\n}\n",
			})
		},
	}
}

func rubySource(add, abs bool, turn string) string {
	return fmt.Sprintf("module Calc\n  TURN = %s\n  def self.add(a, b) = a %s b\n  def self.abs(a) = a.negative? ? %s : a\nend\n", turn, either(add, "+", "-"), either(abs, "-a", "a"))
}

const rubyRuns = "f = ENV['COUNTS'] + '/runs'; n = File.exist?(f) ? File.read(f).to_i : 0; File.write(f, (n + 1).to_s); "

func rspecLanguage() language {
	return language{
		name: "rspec", fresh: "def Calc.fresh = 1\n", tools: []string{"ruby", "rspec"}, src: "lib/calc.rb", test: "spec/calc_spec.rb", source: rubySource,
		files: map[string]string{".rspec": "--format progress\n"},
		tests: func(names ...string) string {
			return "require 'calc'\nRSpec.describe Calc do\n" + each(names, map[string]string{
				"add":   "  it('has add') { puts 'noise'; expect(Calc.add(2, 3)).to eq(5) }\n",
				"abs":   "  it('has abs') { expect(Calc.abs(-1)).to eq(1) }\n",
				"again": "  it('has it again') { expect(Calc.add(1, 1)).to eq(2) }\n",
				"fresh": "  it('is fresh') { expect(Calc.fresh).to eq(1) }\n",
				"flaky": "  it('is flaky') { " + rubyRuns + "expect(n + 1).not_to eq(Calc::TURN) }\n",
			}) + "end\n"
		},
	}
}

func minitestLanguage() language {
	return language{
		name: "minitest", fresh: "def Calc.fresh = 1\n", tools: []string{"ruby"}, src: "lib/calc.rb", test: "test/calc_test.rb", source: rubySource,
		files: map[string]string{"Rakefile": "task :test\n"},
		tests: func(names ...string) string {
			return "require 'minitest/autorun'\nrequire 'calc'\nclass CalcTest < Minitest::Test\n" + each(names, map[string]string{
				"add":   "  def test_add = assert_equal(5, Calc.add(2, 3))\n",
				"abs":   "  def test_abs = assert_equal(1, Calc.abs(-1))\n",
				"again": "  def test_again = assert_equal(2, Calc.add(1, 1))\n",
				"fresh": "  def test_fresh = assert_equal(1, Calc.fresh)\n",
				"flaky": "  def test_flaky\n    " + rubyRuns + "\n    refute_equal(Calc::TURN, n + 1)\n  end\n",
			}) + "end\n"
		},
	}
}

func phpLanguage() language {
	return language{
		name: "phpunit", noticed: 1, fresh: "function fresh() { return 1; }\n", tools: []string{"php", "phpunit"}, src: "src/calc.php", test: "tests/CalcTest.php",
		files: map[string]string{"phpunit.xml": `<?xml version="1.0"?><phpunit bootstrap="src/calc.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>`},
		source: func(add, abs bool, turn string) string {
			return fmt.Sprintf("<?php\nconst TURN = %s;\nfunction add($a, $b) { return $a %s $b; }\nfunction abs_of($a) { return $a < 0 ? %s : $a; }\n", turn, either(add, "+", "-"), either(abs, "-$a", "$a"))
		},
		tests: func(names ...string) string {
			return "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class CalcTest extends TestCase {\n" + each(names, map[string]string{
				"add":   "  public function testAdd(): void { $this->assertSame(5, add(2, 3)); }\n",
				"abs":   "  public function testAbs(): void { $this->assertSame(1, abs_of(-1)); }\n",
				"again": "  public function testAgain(): void { $this->assertSame(2, add(1, 1)); }\n",
				"fresh": "  public function testFresh(): void { $this->assertSame(1, fresh()); }\n",
				"flaky": "  public function testFlaky(): void { $f = getenv('COUNTS') . '/runs'; $n = (int) @file_get_contents($f); file_put_contents($f, $n + 1); $this->assertNotSame(TURN, $n + 1); }\n",
			}) + "}\n"
		},
	}
}
