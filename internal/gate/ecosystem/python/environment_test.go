package python

import (
	"testing"
)

// TestOwnEnvironment holds what tox sets for the tests of a project.
func TestOwnEnvironment(t *testing.T) {
	t.Parallel()
	for tox, want := range map[string]string{
		"[tox]\nenvlist = py3\n[testenv]\ndeps = pytest\nsetenv =\n    SHOP_TAX = 19\n    NAME=two words\n    WHERE = {toxinidir}\n    PYTHONPATH = x\ncommands = pytest\n": "SHOP_TAX=19 NAME='two words'",
		"[testenv]\nset_env = A = 1\n":          "A=1",
		"[testenv:lint]\nsetenv =\n    A = 1\n": "",
		"":                                      "",
	} {
		if got := toxVariables(tox); got != want {
			t.Errorf("%q: %q, want %q", tox, got, want)
		}
	}
}
