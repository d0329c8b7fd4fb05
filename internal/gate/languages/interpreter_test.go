package languages

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestInterpreters holds that a call of Python's tests, of the project's own or as tox or a workflow has it, is the same
// one in an environment and without it, and is run by what the other side has.
func TestInterpreters(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"pytest":   {"test_a.py": "import pytest\n"},
		"unittest": {"test_a.py": "import unittest\n"},
		"django":   {"manage.py": "import django\n", "test_a.py": "from django.test import TestCase\n", "requirements.txt": "django\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files["tox.ini"] = "[testenv]\nsetenv =\n    fr: SHOP_LANG=fr\n"
			files[".github/workflows/ci.yml"] = "jobs:\n  a:\n    steps:\n      - run: python -m " + strings.Replace(name, "django", "pytest", 1) + " -v\n        env: {SHOP_LANG: de}\n"
			files["test_a.py"] += "import os\nprint(os.environ['SHOP_LANG'])\n"
			with := maps.Clone(files)
			with["requirements.txt"] = "# none\n"
			without, in := callsOf(t, files), callsOf(t, with)
			if len(without) < 2 || len(without) != len(in) {
				t.Fatalf("%d and %d calls", len(without), len(in))
			}
			for i, c := range without {
				there := in[i]
				if !c.CalledAs(there) || !there.CalledAs(c) {
					t.Errorf("%q is not %q", c.Text, there.Text)
				}
				if got := c.StartedAs(there); !slices.Equal(got.Argv, there.Argv) || got.Label() != c.Label() {
					t.Errorf("%q is run as %q, want %q", c.Text, got.Argv, there.Argv)
				}
				if got := there.StartedAs(c); !slices.Equal(got.Argv, c.Argv) || got.Label() != there.Label() {
					t.Errorf("%q is run as %q, want %q", there.Text, got.Argv, c.Argv)
				}
			}
		})
	}
}

// callsOf are the calls of the tests of the only project of a tree.
func callsOf(t *testing.T, files map[string]string) []ecosystem.Command {
	t.Helper()
	found := FindProjects(trees.Survey(t, files, new(strings.Builder), "python3", "pytest"))
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	out := slices.Clone(found[0].Test)
	for _, g := range found[0].Given {
		out = append(out, g.Command)
	}
	return out
}
