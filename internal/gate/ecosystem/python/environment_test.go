package python

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// TestOwnEnvironment holds what tox, hatch and nox set for the tests of a project.
func TestOwnEnvironment(t *testing.T) {
	t.Parallel()
	for tox, want := range map[string]string{
		"[tox]\nenvlist = py3\n[testenv]\ndeps = pytest\nsetenv =\n    SHOP_TAX = 19\n    NAME=two words\n    WHERE = {toxinidir}\n    PYTHONPATH = x\ncommands = pytest\n": "SHOP_TAX=19 NAME='two words'",
		"[testenv]\nset_env = A = 1\n":          "A=1",
		"[testenv:lint]\nsetenv =\n    A = 1\n": "",
		"":                                      "",
	} {
		if got := ownVariables(pyFacts{tox: tox}); got != want {
			t.Errorf("%q: %q, want %q", tox, got, want)
		}
	}
	for tox, want := range map[string]string{
		"[testenv]\nsetenv =\n    A = 1\n    fr: SHOP_LANG=fr\n    fr: SHOP_TAX=20\n    de: SHOP_LANG=de\n": "SHOP_LANG=fr SHOP_TAX=20; SHOP_LANG=de",
		"[testenv:fr]\nset_env =\n    SHOP_LANG = fr\n[testenv:lint]\nsetenv = A=1\ncommands = ruff\n":      "SHOP_LANG=fr",
		"[testenv]\nsetenv =\n    fr: PYTHONPATH = x\n":                                                     "",
	} {
		var got []string
		for _, vars := range toxFactors(tox) {
			got = append(got, ecosystem.Assignments(vars))
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%q: %q, want %q", tox, got, want)
		}
	}
	hatch, _ := ecosystem.ParseTOML([]byte("[tool.hatch.envs.default.env-vars]\nSHOP_TAX = \"19\"\n[tool.hatch.envs.lint.env-vars]\nA = \"1\"\n"))
	if got := ownVariables(pyFacts{pyproject: hatch}); got != "SHOP_TAX=19" {
		t.Errorf("hatch: %q", got)
	}
	nox := "def tests(session):\n    session.install('.')\n    session.run('black', env={'A': '1'})\n    session.run(\n        'pytest', *session.posargs,\n        env={'SHOP_TAX': '19', 'WHERE': str(x)},\n    )\n"
	if got := ownVariables(pyFacts{nox: nox}); got != "SHOP_TAX=19" {
		t.Errorf("nox: %q", got)
	}
}
