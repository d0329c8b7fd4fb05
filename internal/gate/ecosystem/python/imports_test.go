package python

import (
	"maps"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestNothingToInstall holds that tests of unittest that import Python's own modules and those of the
// tree alone are run without what tox and others would install beside them.
func TestNothingToInstall(t *testing.T) {
	t.Parallel()
	tools := map[string]string{
		"tox.ini":               "[testenv]\ndeps =\n    -rrequirements/test.txt\n    coverage\nextras = test\n",
		"requirements/test.txt": "coverage\n",
		"setup.py":              "from setuptools import setup\nsetup(name='p', extras_require={'test': ['responses']})\n",
		"src/calc/__init__.py":  "try:\n    import numpy\nexcept ImportError:\n    pass\n",
		"tests/helper.py":       "from . import test_a\n",
	}
	for name, c := range map[string]struct {
		imports string
		more    map[string]string
		want    string
	}{
		"its own and Python's":                  {"import os.path, sys as system\nfrom calc import f\nimport helper\nfrom .helper import g\nfrom concurrent.futures import wait\n", nil, ""},
		"another one":                           {"import os, hypothesis as h\n", nil, "-r requirements/test.txt -e '.[test]' coverage"},
		"another one, below a test":             {"def f():\n    from hypothesis.extra import numpy\n", nil, "-r requirements/test.txt -e '.[test]' coverage"},
		"requirements of its own":               {"import os\n", map[string]string{"requirements-test.txt": "six\n"}, "-r requirements-test.txt -e ."},
		"dependencies that its build reads":     {"import os\n", map[string]string{"pyproject.toml": "[project]\nname = 'p'\ndynamic = ['dependencies']\n"}, "-e ."},
		"pytest of tox":                         {"import os\n", map[string]string{"tox.ini": "[testenv]\ndeps =\n    pytest\n    pytest-cov\ncommands = pytest\n"}, ""},
		"pytest of tox, beside another one":     {"import six\n", map[string]string{"tox.ini": "[testenv]\ndeps =\n    pytest\n    pytest-cov\ncommands = pytest\n"}, "-r requirements/test.txt -e '.[test]' pytest pytest-cov"},
		"an application that needs nothing":     {"import os\n", map[string]string{"setup.py": "", "noxfile.py": "import nox\n", "docs/build.py": "import sphinx\n"}, ""},
		"an application that needs another one": {"from calc import net\n", map[string]string{"setup.py": "", "src/calc/net.py": "import requests\n"}, "-r requirements/test.txt coverage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(tools)
			maps.Copy(files, c.more)
			maps.DeleteFunc(files, func(name, text string) bool { return name == "setup.py" && text == "" })
			files["tests/test_a.py"] = "import unittest\n" + c.imports
			var problems strings.Builder
			s := trees.Survey(t, files, &problems, "python3")
			p, args := ecosystem.Project{Dir: "."}, ""
			if installPython(&p, s, pythonFacts(s, ".", candidatesIn("."))) {
				_, args, _ = strings.Cut(p.Setup[len(p.Setup)-1].Text, "--disable-pip-version-check ")
			}
			if args != c.want {
				t.Errorf("pip install %q, want %q", args, c.want)
			}
		})
	}
}
