package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A run of an intact directory is the same when it is run again and when it is played
// back, whatever the runner of the tests writes about itself: durations and ids are no
// difference. Nor is what only fills caches, which the first run on a machine does and the
// second does not, nor the name of a planted test.
func TestRerunOtherRunners(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		program    string
		base, head map[string]string
		passes     bool
	}{
		"go, the first on a machine": {"go", map[string]string{
			"go.mod":    "module example.com/a\n\ngo 1.24\n",
			"a.go":      "package a\n\nfunc Div(a, b int) int { return a / b }\n",
			"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestDiv(t *testing.T) {\n\tif Div(4, 2) != 2 {\n\t\tt.Fatal(\"4/2\")\n\t}\n}\n",
		}, map[string]string{"a.go": "package a\n\nfunc Div(a, b int) int {\n\tif b == 0 {\n\t\treturn 0\n\t}\n\treturn a / b\n}\n"}, true},
		"node": {"node", map[string]string{
			"package.json":   `{"name": "a", "type": "module", "scripts": {"test": "node --test"}}`,
			"a.js":           "export const div = (a, b) => Math.trunc(a / b)\n",
			"test/a.test.js": "import test from 'node:test'\nimport assert from 'node:assert'\nimport { div } from '../a.js'\ntest('cuts', () => assert.equal(div(-7, 2), -3))\n",
		}, map[string]string{"a.js": "export const div = (a, b) => Math.floor(a / b)\n"}, false},
		"unittest": {"python3", map[string]string{
			"pyproject.toml":    "[project]\nname = \"a\"\nversion = \"1\"\n",
			"a.py":              "def div(a, b):\n    return int(a / b)\n",
			"tests/__init__.py": "",
			"tests/test_a.py":   "import unittest\nfrom a import div\n\nclass Div(unittest.TestCase):\n    def test_cuts(self):\n        self.assertEqual(div(-7, 2), -3)\n",
		}, map[string]string{"a.py": "def div(a, b):\n    return a // b\n"}, false},
	} {
		variants.Run(t, name, true, func(t *testing.T) {
			t.Parallel()
			if tools, _ := gate.FindToolchains(t.Context(), os.Environ()); !tools.Has(tt.program) {
				t.Skip(tt.program + " is not installed")
			}
			dir := t.TempDir()
			repo, out, home := filepath.Join(dir, "repo"), filepath.Join(dir, "out"), filepath.Join(dir, "home")
			makeChange(t, repo, tt.base, tt.head)
			verdict := report.ExitFail
			if tt.passes {
				verdict = report.ExitPass
			}
			for _, step := range []struct {
				code int
				args []string
			}{
				{verdict, []string{"run", "-C", repo, "--no-model", "--sandbox", "none", "--out", out}},
				{0, []string{"check", out}},
				{0, []string{"rerun", "-C", repo, "--sandbox", "none", out}},
				{0, []string{"replay", "-C", repo, out}},
			} {
				if tt.passes && step.args[0] == "replay" {
					continue // a replay of what was planted gives it a name of its own, and departs
				}
				cmd := realProgram(t, home, step.args...)
				cmd.Dir = repo
				if said, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != step.code {
					t.Fatalf("%q: %v, want exit %d\n%s", step.args[0], err, step.code, said)
				}
			}
		})
	}
}
