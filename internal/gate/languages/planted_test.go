package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/java"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/php"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
)

// A test that must fail is planted where its runner finds it and under the name by which
// that reports it: in a copy, or at the end of the file itself.
func TestPlant(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	for name, text := range map[string]string{
		"src/test/java/m/CalcTest.java":       "package m;\nimport org.junit.Test;\npublic class CalcTest { CalcTest() {} @Test public void adds() {} }\n",
		"src/test/java/m/TestCalc.java":       "package m;\nimport org.junit.jupiter.api.Test;\nclass TestCalc { @Test void adds() {} }\n",
		"src/test/java/m/Strange.java":        "package m;\nclass Strange { }\n",
		"target/src/test/java/m/OldTest.java": "package m;\nimport org.junit.Test;\npublic class OldTest { }\n",
		"tests/CalcTest.php":                  "<?php\nclass CalcTest extends TestCase { function testAdd() {} }\n",
		"tests/functions.php":                 "<?php\nfunction testAdd() {}\n",
		"member/src/lib.rs":                   "pub fn add() {}\n",
		"member/tests/all.rs":                 "#[test]\nfn adds() {}\n",
		"test/calc.test.ts":                   "import { test } from \"vitest\";\n",
		"test/calc.test-d.ts":                 "import { test } from \"vitest\";\n",
		"test/calc_test.exs":                  "defmodule CalcTest do\n  use ExUnit.Case\nend\n",
	} {
		if err := os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	java := java.javaTests(".", "mvn test", "x", "JUnit XML of Maven", func(class string) string { return " -Dtest=" + class })
	rust := rust.cargoTests(ecosystem.Command{Unit: "."}, "cargo test")
	var vitest ecosystem.Command
	for _, r := range node.nodeRunners() {
		if r.words[0] == "vitest" {
			vitest = r.command(ecosystem.Command{Unit: "."}, node.nodeCall{runner: "vitest"}, nil)
		}
	}
	for _, c := range []struct {
		command  ecosystem.Command
		passing  string
		at, pkg  string
		has, run string
	}{
		{java, "m.CalcTest", "src/test/java/m/QzCalcTest.java", "m.QzCalcTest", "class QzCalcTest { QzCalcTest() {}", "-Dtest=m.QzCalcTest "},
		{java, "m.TestCalc", "src/test/java/m/TestQzCalc.java", "m.TestQzCalc", "jupiter.api.Assertions.assertEquals(1, 2)", "-Dtest=m.TestQzCalc "},
		{java, "m.Strange", "", "", "", ""},
		{java, "m.OldTest", "", "", "", ""},
		{php.phpunitCommand(".", "phpunit"), "tests/CalcTest.php", "tests/QzCalcTest.php", "tests/QzCalcTest.php", "function testQz()", " ./tests/QzCalcTest.php"},
		{php.phpunitCommand(".", "phpunit"), "tests/functions.php", "", "", "", ""},
		{rust, "src/lib.rs", "member/src/lib.rs", "src/lib.rs", "pub fn add() {}\n\n#[cfg(test)]\nmod qz {", "cargo test --lib"},
		{vitest, "test/calc.test.ts", "test/qzcalc.test.ts", "test/qzcalc.test.ts", "qzExpect(1).toBe(2)", "./test/qzcalc.test.ts"},
		{vitest, "test/calc.test-d.ts", "test/qzcalc.test-d.ts", "test/qzcalc.test-d.ts", "const qzValue: string = 1", "./test/qzcalc.test-d.ts"},
		{rust, "tests/all.rs", "member/tests/all.rs", "tests/all.rs", "fn adds() {}\n\n#[cfg(test)]\nmod qz {", "cargo test --test all"},
	} {
		run, files := c.command.Results.Plant(c.command, ecosystem.Planting{
			Tree: tree, Passing: []string{c.passing}, Name: "qz",
			IsTest: IsTestSource, Near: func(string) bool { return false },
		})
		if c.at == "" {
			if len(files) > 0 {
				t.Errorf("%s: %+v", c.passing, files)
			}
			continue
		}
		if len(files) != 1 || files[0].Path != c.at || files[0].Package != c.pkg || !strings.Contains(files[0].Text, c.has) {
			t.Errorf("%s: %+v", c.passing, files)
		}
		if text := ecosystem.ShellWords(run); !strings.Contains(text, c.run) {
			t.Errorf("%s: is run by %q", c.passing, text)
		}
	}
}
