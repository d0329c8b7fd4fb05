package languages

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestTypedAgain: what is found is recognised again where a person types it into the
// configuration, so that its tests are distinguished there, too.
func TestTypedAgain(t *testing.T) {
	t.Parallel()
	script := func(s string) map[string]string {
		return map[string]string{"package.json": `{"scripts": {"test": "` + s + `", "pretest": ""}}`}
	}
	for want, files := range map[string]map[string]string{
		"npx mocha":           script("mocha"),
		"npx mocha 't/**.js'": script("mocha 't/**.js'"),
		"npx jest":            script("jest"),
		"npx vitest run":      script("vitest run"),
		"node --test":         script("node --test"),
		"PYTHONPATH=. pytest": {"pytest.ini": "", "test_a.py": ""},
		"PYTHONPATH=. python3 -m unittest discover -p '*test*.py'": {"test_a.py": "import unittest"},
		"cargo test --offline --no-fail-fast":                      {"Cargo.toml": "[package]\nname = \"m\"\n"},
		"make test":                                                {"Makefile": "test:\n"},
	} {
		var problems strings.Builder
		projects := FindProjects(trees.Survey(t, files, &problems, "node", "npm", "python3", "pytest", "cargo", "make"))
		if len(projects) != 1 || len(projects[0].Test) != 1 {
			t.Fatalf("%q: %d projects\n%s", want, len(projects), &problems)
		}
		found := projects[0].Test[0]
		again := ShellCommand(results.StageTest, found.Typed())
		if found.Typed() != want || found.Script != "" {
			t.Errorf("typed %q instead of %q, script %q", found.Typed(), want, found.Script)
		}
		if (found.Results == nil) != (again.Results == nil) || found.Results != nil && (found.Results.Name != again.Results.Name || found.Eco != again.Eco) {
			t.Errorf("%q is not recognised again", want)
		}
	}
	built := FindProjects(trees.Survey(t, script("tsc && mocha dist"), &strings.Builder{}, "node", "npm"))[0].Test[0]
	if built.Script != "npm test" {
		t.Errorf("the script is %q", built.Script)
	}
}
