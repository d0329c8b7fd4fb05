package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestPythonGroups holds what is installed for tests: what tox installs of the extras and
// the dependency groups, else what is called after tests, and no requirements of
// documentation; the same for a head that is not trusted.
func TestPythonGroups(t *testing.T) {
	t.Parallel()
	const groups = "[project]\nname = \"p\"\n[project.optional-dependencies]\ndiagrams = [\"jinja2\"]\ntest = [\"hypothesis\"]\ndocs = [\"furo\"]\n" +
		"[dependency-groups]\ndev = [\"tox\"]\ndocs = [\"sphinx\"]\nunit = [\"pytest>=8\", {include-group = \"base\"}]\nbase = [\"freezegun; python_version > '3'\", {include-group = \"unit\"}]\n"
	for name, tt := range map[string]struct {
		files map[string]string
		args  string // of pip install
		needs string // of one that is not trusted
	}{
		"named by tox": {
			files: map[string]string{"pyproject.toml": groups, "tox.ini": "[testenv]\nextras = unit: diagrams\ndependency_groups =\n    unit\n[testenv:docs]\nextras = docs\ndependency_groups = docs\n[testenv:all]\ndependency_groups = dev\n"},
			args:  `-e '.[diagrams,test]' 'freezegun; python_version > '\''3'\''' 'pytest>=8'`,
			needs: "freezegun; python_version > '3' hypothesis jinja2 pytest pytest>=8 setuptools wheel",
		},
		"an extra of tests, and no group": {
			files: map[string]string{"pyproject.toml": groups},
			args:  `-e '.[test]' pytest`,
			needs: "hypothesis pytest setuptools wheel",
		},
		"of developers, where none is of tests": {
			files: map[string]string{"pyproject.toml": "[dependency-groups]\ndocs = [\"furo\"]\ndev = [\"six\"]\n"},
			args:  `six pytest`,
			needs: "pytest six",
		},
		"of tests": {
			files: map[string]string{"pyproject.toml": "[dependency-groups]\ntests = [\"pytest\", \"six\"]\ndev = [\"tox\"]\n"},
			args:  `pytest six`,
			needs: "pytest six",
		},
		"requirements of documentation": {
			files: map[string]string{"pyproject.toml": "[project]\nname = \"p\"\n", "docs/requirements-rtd.txt": "sphinx", "requirements-docs.txt": "furo", "requirements_lint.txt": "ruff", "requirements-test.txt": "six"},
			args:  `-r requirements-test.txt -e . pytest`,
			needs: "pytest setuptools six wheel",
		},
		"an extra of setup.py": {
			files: map[string]string{"setup.py": "setup(name=\"p\", extras_require={\"test\": [\"pytest\", 'responses'], \"docs\": [\"furo\"], 'dev': DEV})\n"},
			args:  `-e '.[test]' pytest`,
			needs: "pytest responses setuptools wheel",
		},
		"an extra of setup.cfg": {
			files: map[string]string{"setup.py": "setup()\n", "setup.cfg": "[options.extras_require]\ntesting =\n    responses\n    pytest-cov>=2  # coverage\ndocs =\n    furo\n[flake8]\nmax = 3\n"},
			args:  `-e '.[testing]' pytest`,
			needs: "pytest pytest-cov>=2 responses setuptools wheel",
		},
		"settings of tools": {
			files: map[string]string{
				"tox.ini":             "[testenv]\ndeps =\n    -r{toxinidir}/requirements/ci.txt\n    responses\n    py38: old\n    {env:MORE}\n[testenv:docs]\ndeps = furo\n",
				"requirements/ci.txt": "six",
				"noxfile.py":          "import nox\n\n\n@nox.session\ndef lint(session):\n    session.install('ruff')\n\n\n@nox.session\ndef tests(session):\n    session.install('-r', 'requirements/ci.txt', 'attrs')\n    session.install('-e', '.[x]')\n",
				"pyproject.toml":      "[tool.hatch.envs.test]\ndependencies = ['freezegun']\n[tool.uv]\ndev-dependencies = ['hypothesis']\n[tool.pdm.dev-dependencies]\ntest = ['mock', '-e file:///x']\nlint = ['black']\n",
			},
			args:  `-r requirements/ci.txt attrs freezegun hypothesis mock responses pytest`,
			needs: "attrs freezegun hypothesis mock pytest responses six",
		},
		"sessions of nox with versions of their own": {
			files: map[string]string{"noxfile.py": "@nox.session\ndef tests_old(session):\n    session.install('django==3.2')\n    session.run('pytest')\n\n\n@nox.session\ndef tests(session):\n    session.install('django==4.2')\n    session.run('pytest')\n"},
			args:  `django==4.2 pytest`,
			needs: "django==4.2 pytest",
		},
		"the session of nox that runs the tests": {
			files: map[string]string{"noxfile.py": "@nox.session\ndef check(session):\n    session.install('ruff')\n\n\n@nox.session\ndef examples(session):\n    session.install('furo')\n    session.run('pytest', 'docs')\n\n\n@nox.session\ndef unit(session):\n    session.install('six')\n    session.run('python', '-m', 'pytest')\n"},
			args:  `six pytest`,
			needs: "pytest six",
		},
		"a session of nox that runs the tests under another name": {
			files: map[string]string{"noxfile.py": "@nox.session\ndef build(session):\n    session.install('wheel')\n\n\n@nox.session\ndef py(session):\n    session.install('six')\n    session.run('pytest')\n"},
			args:  `six pytest`,
			needs: "pytest six",
		},
		"settings of tools that contradict others": {
			files: map[string]string{
				"requirements.txt": "six==1.16.0\n", "setup.py": "setup(extras_require={'test': ['mock==5']})\n",
				"tox.ini":        "[testenv]\ndeps =\n    django==4.2\n    Six==1.15.0\n    attrs==25.1\n    mock==4\n    responses==1\n",
				"pyproject.toml": "[project]\nname = 'p'\n[project.optional-dependencies]\ntest = ['attrs==25.2']\n[dependency-groups]\ntest = ['responses==2']\n[tool.hatch.envs.default]\ndependencies = ['django==3.2', 'hypothesis']\n",
			},
			args:  `-r requirements.txt -e '.[test]' django==4.2 hypothesis responses==2 pytest`,
			needs: "attrs==25.2 django==4.2 hypothesis mock==5 pytest responses==2 setuptools six==1.16.0 wheel",
		},
		"a folder of requirements": {
			files: map[string]string{"requirements/base.txt": "six", "requirements/test.txt": "-r base.txt\nresponses", "requirements/dev.txt": "tox"},
			args:  `-r requirements/test.txt pytest`,
			needs: "pytest responses six",
		},
		"poetry, which is missing": {
			files: map[string]string{
				"pyproject.toml": "[tool.poetry]\nname = 'p'\n[tool.poetry.group.test.dependencies]\nresponses = '^0.25'\nhere = {path = 'x'}\n[tool.poetry.group.docs.dependencies]\nfuro = '*'\n",
				"poetry.lock":    "[[package]]\nname = \"responses\"\nversion = \"0.25.3\"\n",
			},
			args:  `responses==0.25.3 pytest`,
			needs: "furo pytest responses",
		},
		"siblings": {
			files: map[string]string{
				"pyproject.toml":      "[project]\nname = 'p'\ndependencies = ['core', 'attrs']\n[tool.uv.sources]\ncore = {path = 'core'}\n",
				"core/pyproject.toml": "[project]\nname = 'core'\ndependencies = ['six', 'base']\n[build-system]\nrequires = ['flit_core']\n[tool.uv.sources]\nbase = {path = '../base'}\n",
				"base/pyproject.toml": "[tool.poetry]\nname = 'base'\n[tool.poetry.dependencies]\npython = '*'\nmore = '*'\n",
			},
			args:  `-e ./base -e ./core -e . pytest`,
			needs: "attrs flit_core more pytest setuptools six wheel",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.files["tests/test_a.py"] = "import pytest\n"
			var problems strings.Builder
			s := trees.Survey(t, tt.files, &problems, "python3")
			f := pythonFacts(s, ".", candidatesIn("."))
			f.siblings = siblings(s, ".")
			p := ecosystem.Project{Dir: "."}
			if !installPython(&p, s, f) || len(p.Setup) != 2 {
				t.Fatalf("no environment of its own: %v", p.Setup)
			}
			_, args, _ := strings.Cut(p.Setup[1].Text, "--disable-pip-version-check ")
			if d := cmp.Diff(tt.args, args); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.needs, strings.Join(pythonRequirements(s, "."), " ")); d != "" {
				t.Error(d)
			}
		})
	}
}
