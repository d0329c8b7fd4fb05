package languages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// found is what ecosystems find in files, a line for each project and command.
// Of tools, only those that are named are there.
func found(t *testing.T, files map[string]string, tools ...string) string {
	t.Helper()
	var b strings.Builder
	s := trees.Survey(t, files, &b, tools...)
	for _, p := range FindProjects(s) {
		fmt.Fprintf(&b, "%s in %s", p.Eco.Name, p.Dir)
		if len(p.Uses) > 0 {
			fmt.Fprintf(&b, " with %s", strings.Join(p.Uses, " "))
		}
		if p.Within != "" {
			fmt.Fprintf(&b, " within %s", p.Within)
		}
		if p.Missing != "" {
			fmt.Fprintf(&b, ": %s", p.Missing)
		}
		b.WriteByte('\n')
		for _, list := range [][]ecosystem.Command{p.Setup, p.Build, p.Test} {
			for _, c := range list {
				fmt.Fprintf(&b, "  %s %s", c.Stage, c.Text)
				if c.Stage == results.StageTest && c.Results == nil {
					b.WriteString(" (as one)")
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// TestFind holds what is found in repositories of many shapes, with which
// commands, rooted where their files are, and that a tool that the machine lacks
// is named.
func TestFind(t *testing.T) {
	t.Parallel()
	jest := ` --ci --json --outputFile="$RESULTS"`
	node := `node --test --test-reporter="$REPORTER" --test-reporter-destination="$RESULTS"`
	junit := ` -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS"`
	const pip = "  setup python3 -m venv .venv\n  setup .venv/bin/python -m pip install --quiet --disable-pip-version-check "
	uvWorkspace := map[string]string{
		"pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n[dependency-groups]\ndev = ['pytest']\n", "uv.lock": "",
		"packages/core/pyproject.toml": "[project]\nname = 'acme-core'\n", "packages/core/test_core.py": "import pytest",
		"packages/app/pyproject.toml": "[project]\nname = 'app'\ndependencies = ['acme_core>=1']\n[tool.uv.sources]\nacme-core = {workspace = true}\n", "packages/app/test_app.py": "import pytest",
	}
	for name, tt := range map[string]struct {
		files map[string]string
		tools string
		want  string
	}{
		"nothing": {files: map[string]string{"README.md": ""}, want: ""},
		"jest by its script": {
			files: map[string]string{"package.json": `{"scripts": {"test": "eslint . && jest --coverage", "build": "tsc"}, "devDependencies": {"jest": "29"}}`, "package-lock.json": "{}"},
			tools: "node npm",
			want:  "Node.js in .\n  setup npm ci --no-audit --no-fund\n  build npm run build\n  test npx jest --coverage" + jest + "\n",
		},
		"a script that calls another, with settings": {
			files: map[string]string{"package.json": `{"scripts": {"test": "npm run unit", "unit": "cross-env NODE_ENV=test mocha --watch test/*.js"}}`},
			tools: "node npm",
			want:  "Node.js in .\n  test cross-env NODE_ENV=test mocha --reporter \"$REPORTER\" --reporter-options output=\"$RESULTS\" test/*.js\n",
		},
		"a runner that is not known": {
			files: map[string]string{"package.json": `{"scripts": {"test": "karma start"}, "devDependencies": {"karma": "6"}}`},
			tools: "node npm",
			want:  "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\n  test npm test (as one)\n",
		},
		"no script, tests for node": {
			files: map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`, "test/a.js": "import test from 'node:test'"},
			tools: "node npm",
			want:  "Node.js in .\n  test " + node + "\n",
		},
		"a workspace": {
			files: map[string]string{
				"package.json": `{"workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}}`, "package-lock.json": "{}",
				"packages/a/package.json":     `{"name": "@x/a", "scripts": {"test": "node --test"}}`,
				"packages/b/package.json":     `{"name": "@x/b", "dependencies": {"@x/a": "*"}, "scripts": {"test": "vitest"}}`,
				"node_modules/z/package.json": `{"scripts": {"test": "jest"}}`,
			},
			tools: "node npm",
			want: "Node.js in .\n  setup npm ci --no-audit --no-fund\n" +
				"Node.js in packages/a within .\n  test " + node + "\n" +
				"Node.js in packages/b with packages/a within .\n  test npx vitest run --reporter=json --outputFile=\"$RESULTS\"\n",
		},
		"a package manager that is not there": {
			files: map[string]string{"package.json": `{"scripts": {"test": "jest"}, "devDependencies": {"jest": "29"}}`, "pnpm-lock.yaml": ""},
			tools: "node npm",
			want:  "Node.js in .: no pnpm on this machine\n",
		},
		"a manifest that cannot be read": {files: map[string]string{"package.json": `{`}, tools: "node npm", want: "problem: package.json: unexpected end of JSON input\n"},
		"unittest": {
			files: map[string]string{"a.py": "", "tests/__init__.py": "", "tests/test_a.py": "import unittest"},
			tools: "python3",
			want:  "Python in .\n  test PYTHONPATH=. python3 -m unittest discover -s tests -t . -p 'test*.py'\n",
		},
		"scripts of a project in C that its Makefile calls, one with a function called like a test": {
			files: map[string]string{"Makefile": "test:\n\t./a\n", "a.c": "", "tests/test-speed.py": "def test_commit(branch):\n    pass\n", "tests/test-list.py": "import unittest\n"},
			tools: "python3 pytest make cc",
			want:  "Make in .\n  test make test (as one)\n",
		},
		"a Makefile of sources that files for other tools aside do not have": {
			files: map[string]string{"Makefile": "test:\n\t./a\n", "lib/a.c": "", "build/meson/meson.build": "project('a', 'c')\ntest('a', exe)\n"},
			tools: "make cc meson ninja",
			want:  "C/C++ in build/meson\n  build rm -rf build-ycbot && meson setup --wrap-mode=nodownload build-ycbot && meson compile -C build-ycbot\n  test meson test -C build-ycbot --no-rebuild --print-errorlogs\nMake in .\n  test make test (as one)\n",
		},
		"pytest of the machine": {
			files: map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n", "src/a/__init__.py": "", "tests/test_a.py": "def test_a(): pass"},
			tools: "python3 pytest",
			want:  "Python in .\n  test PYTHONPATH=src:. pytest" + junit + "\n",
		},
		"pytest and dependencies, beside another language": {
			files: map[string]string{
				"go.mod": "module m", "api/requirements.txt": "flask", "api/app.py": "", "api/tests/test_app.py": "import pytest", "api/tests/conftest.py": "",
			},
			tools: "python3 pytest",
			want: "Go in .: no go command on this machine\n" +
				"Python in api\n  setup python3 -m venv .venv\n  setup .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt pytest\n" +
				"  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"uv": {
			files: map[string]string{"pyproject.toml": "[project]\ndependencies = [\"a\"]\n", "uv.lock": "", "test_a.py": "import pytest"},
			tools: "python3 uv",
			want:  "Python in .\n  setup uv sync --frozen --all-extras --all-groups\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"a workspace of uv": {
			files: uvWorkspace, tools: "python3 uv",
			want: "Python in .\n  setup uv sync --frozen --all-packages --all-extras --all-groups\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n" +
				"Python in packages/app with packages/core\n  setup UV_PROJECT_ENVIRONMENT=\"$PWD/.venv\" uv sync --frozen --all-packages --all-extras --all-groups\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n" +
				"Python in packages/core\n  setup UV_PROJECT_ENVIRONMENT=\"$PWD/.venv\" uv sync --frozen --all-packages --all-extras --all-groups\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"a workspace of uv, which is missing": {
			files: uvWorkspace, tools: "python3",
			want: "Python in .\n" + pip + "pytest\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n" +
				"Python in packages/app with packages/core\n" + pip + "-e ../core -e . pytest\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n" +
				"Python in packages/core\n" + pip + "-e . pytest\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"projects of Python below settings of tools": {
			files: map[string]string{
				"pyproject.toml": "[tool.ruff]\n", "a/pyproject.toml": "[project]\nname = 'a'\n", "a/tests/test_a.py": "def test_a(): pass\n", "tests/test_top.py": "import unittest\n",
				"b/setup.cfg": "[flake8]\n", "b/c/setup.py": "", "b/c/test_c.py": "import pytest\n", "b/test_b.py": "import pytest\n",
			},
			tools: "python3 pytest",
			want: "Python in .\n  test PYTHONPATH=. pytest --ignore=a --ignore=b/c" + junit + "\nPython in a\n  test PYTHONPATH=. pytest" + junit + "\n" +
				"Python in b\n  test PYTHONPATH=. pytest --ignore=c" + junit + "\nPython in b/c\n  test PYTHONPATH=. pytest" + junit + "\n",
		},
		"packages of Python below others, by what their tests are written for": {
			files: map[string]string{
				"pyproject.toml": "[tool.ruff]\n", "tests/test_top.py": "import pytest\n",
				"plugins/tax/setup.py": "", "plugins/tax/test_tax.py": "class TestVat:\n\n    rate = 2\n\n    def test_vat(self):\n        assert True\n",
				"plugins/fee/setup.py": "", "plugins/fee/test_fee.py": "from cases import BaseCase\n\n\nclass TestFee(BaseCase):\n    def test_fee(self):\n        self.assertTrue(True)\n",
				"plugins/fee/more/setup.py": "", "plugins/fee/more/test_more.py": "import pytest\n",
				"all/tox.ini": "[testenv]\ncommands = pytest {posargs}\n", "all/a/setup.py": "", "all/a/test_a.py": "def test_a(): pass\n",
				"some/setup.cfg": "[flake8]\n", "some/noxfile.py": "def tests(session):\n    session.install('pytest')\n", "some/a/setup.py": "", "some/a/test_a.py": "def test_a(): pass\n",
			},
			tools: "python3 pytest",
			want: "Python in .\n  test PYTHONPATH=. pytest --ignore=all/a --ignore=plugins/fee/more --ignore=plugins/tax --ignore=some/a" + junit + "\n" +
				"Python in all\n  test PYTHONPATH=. pytest" + junit + "\nPython in all/a\n  test PYTHONPATH=. pytest" + junit + "\nPython in plugins/fee/more\n  test PYTHONPATH=. pytest" + junit + "\n" +
				"Python in plugins/tax\n  test PYTHONPATH=. pytest" + junit + "\nPython in some\n  test PYTHONPATH=. pytest" + junit + "\nPython in some/a\n  test PYTHONPATH=. pytest" + junit + "\n",
		},
		"classes of tests that those of unittest inherit from": {
			files: map[string]string{"test_a.py": "import unittest\n", "test_b.py": "class TestMixin:\n    def test_b(self):\n        self.assertTrue(True)\n"},
			tools: "python3 pytest",
			want:  "Python in .\n  test PYTHONPATH=. python3 -m unittest discover -p '*test*.py'\n",
		},
		"a project of Python below settings of tools alone, and one that tests read": {
			files: map[string]string{
				"pyproject.toml": "[tool.ruff]\n", "a/pyproject.toml": "[project]\nname = 'a'\n", "a/tests/test_a.py": "import unittest\n",
				"a/tests/fixtures/p/pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n", "a/tests/fixtures/p/requirements.txt": "pytest\n",
			},
			tools: "python3 pytest",
			want:  "Python in a\n  test PYTHONPATH=. python3 -m unittest discover -s tests -p 'test*.py'\n",
		},
		"groups of poetry that are optional": {
			files: map[string]string{
				"pyproject.toml": "[tool.poetry]\nname = 'a'\n[tool.poetry.group.test]\noptional = true\n[tool.poetry.group.test.dependencies]\npytest = '*'\n[tool.poetry.group.docs]\noptional = true\n[tool.poetry.group.dev.dependencies]\nsix = '*'\n",
				"poetry.lock":    "", "test_a.py": "import pytest",
			},
			tools: "python3 poetry",
			want:  "Python in .\n  setup POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras --with test\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"requirements with hashes": {
			files: map[string]string{
				"pyproject.toml": "[project]\nname = 'a'\n", "requirements.txt": "attrs==24.2.0 \\\n    --hash=sha256:00\n", "requirements-dev.txt": "-r requirements.txt\n", "requirements-test.txt": "six\n", "test_a.py": "import pytest",
			},
			tools: "python3",
			want:  "Python in .\n" + pip + "-r requirements-dev.txt -r requirements.txt\n" + strings.SplitAfter(pip, "\n")[1] + "-r requirements-test.txt -e . pytest\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"a package of tools around others": {
			files: map[string]string{
				"package.json": `{"devDependencies": {"husky": "9"}, "scripts": {"prepare": "husky"}}`, "web/package.json": `{"scripts": {"test": "jest"}}`, "web/src/a.test.js": "test('a', () => {})",
				"lib/package.json": `{"type": "module"}`, "lib/a.test.js": "import test from 'node:test'",
			},
			tools: "node npm",
			want: "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\n" +
				"Node.js in lib\n  test " + node + "\nNode.js in web\n  test npx jest" + jest + "\n",
		},
		"a runner of a package around others": {
			files: map[string]string{"package.json": `{"devDependencies": {"jest": "29"}}`, "web/package.json": `{"scripts": {"test": "jest"}}`, "web/src/a.test.js": "test('a', () => {})"},
			tools: "node npm",
			want:  "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\nNode.js in web\n  test npx jest" + jest + "\n",
		},
		"files that are no programs in a folder of tests": {
			files: map[string]string{"package.json": `{"devDependencies": {"prettier": "3"}}`, "test/input/a.js": "const ="},
			tools: "node npm",
			want:  "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\n",
		},
		"packages that tests read": {
			files: map[string]string{
				"package.json": `{"workspaces": ["packages/**", "!**/bad"], "scripts": {"test": "node --test test/*.test.js"}}`, "test/a.test.js": "",
				"test/package.json": `{"type": "module"}`, "test/fake_modules/a/package.json": `{"dependencies": {"gone": "1"}}`, "test/e2e/package.json": `{"scripts": {"test": "jest"}}`,
				"fixtures/a/package.json": `{"scripts": {"test": "jest"}}`, "fixtures/mono/package.json": `{"workspaces": ["a"]}`, "fixtures/mono/a/package.json": `{"scripts": {"test": "jest"}}`,
				"packages/templates/a/package.json": `{"scripts": {"test": "jest"}}`, "packages/fixtures/bad/package.json": `{"scripts": {"test": "jest"}}`,
			},
			tools: "node npm",
			want: "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\n  test " + node + " test/*.test.js\n" +
				"Node.js in packages/templates/a within .\n  test npx jest" + jest + "\nNode.js in test/e2e\n  test npx jest" + jest + "\n",
		},
		"a package of tests with a lockfile": {
			files: map[string]string{
				"package.json": `{"scripts": {"test": "node --test test/*.js"}}`, "test/package.json": `{"devDependencies": {"sinon": "1"}}`, "test/package-lock.json": "{}",
				"test/app/package.json": `{"devDependencies": {"gone": "1"}}`, "test/a.js": "",
			},
			tools: "node npm",
			want:  "Node.js in .\n  test " + node + " test/*.js\nNode.js in test\n  setup npm ci --no-audit --no-fund\n",
		},
		"packages below tests that others use": {
			files: map[string]string{
				"package.json": `{"scripts": {"test": "node --test test/*.js"}, "devDependencies": {"plugin": "file:./test/plugin"}}`, "test/a.js": "",
				"test/plugin/package.json": `{"name": "@x/plugin", "scripts": {"build": "tsc"}, "dependencies": {"named": "*"}}`,
				"test/named/package.json":  `{"name": "named", "scripts": {"build": "tsc"}}`, "test/other/package.json": `{"name": "other", "scripts": {"build": "tsc"}, "dependencies": {"same": "*"}}`,
				"test/same/package.json": `{"name": "same", "scripts": {"build": "tsc"}}`,
			},
			tools: "node npm",
			want: "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock\n  test " + node + " test/*.js\n" +
				"Node.js in test/named\n  build npm run build\nNode.js in test/plugin with test/named\n  setup npm install --no-audit --no-fund --no-package-lock\n  build npm run build\n",
		},
		"packages in folders of what is brought": {
			files: map[string]string{
				"package.json": `{}`, "resources/app/package.json": `{"scripts": {"test": "jest"}}`, "resources/app/a.test.js": "", "third_party/b/package.json": `{"scripts": {"test": "jest"}}`,
				"test/deps/c/package.json": `{"scripts": {"test": "jest"}}`, "test/deps/c/a.test.js": "",
			},
			tools: "node npm",
			want:  "Node.js in resources/app\n  test npx jest" + jest + "\n",
		},
		"projects of Python in folders of what is brought": {
			files: map[string]string{
				"pyproject.toml": "[tool.ruff]\n", "deps/a/setup.py": "", "deps/a/test_a.py": "import unittest\n", "third_party/b/setup.py": "", "third_party/b/b.py": "",
				"tests/resources/c/setup.py": "", "tests/resources/c/test_c.py": "import unittest\n",
			},
			tools: "python3",
			want:  "Python in deps/a\n  test PYTHONPATH=. python3 -m unittest discover -p '*test*.py'\n",
		},
		"a Cargo workspace": {
			files: map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\"]\n", "Cargo.lock": "", "a/Cargo.toml": "[package]\nname = \"a\"\n"},
			tools: "cargo",
			want:  "Rust in .\n  setup cargo fetch --locked\n  build cargo build --offline --workspace\n  test cargo test --offline --no-fail-fast --workspace\n",
		},
		"builds below another one that are none of its parts": {
			files: map[string]string{
				"r/Cargo.toml": "[workspace]\nmembers = [\"core\"]\nexclude = [\"plugin\", \"plain\", \"fixtures\"]\n", "r/core/Cargo.toml": "[package]\nname = \"core\"\n",
				"r/plugin/Cargo.toml": "[package]\nname = \"plugin\"\n", "r/plugin/src/lib.rs": "#[test]\nfn a() {}\n",
				"r/plain/Cargo.toml": "[package]\nname = \"plain\"\n", "r/plain/src/lib.rs": "",
				"r/fixtures/bad/Cargo.toml": "[package]\nname = \"bad\"\n", "r/fixtures/bad/tests/a.rs": "#[test]\nfn a() { panic!() }\n",
				"r/path/Cargo.toml": "[package]\nname = \"path\"\n", "r/path/tests/a.rs": "",
				"m/pom.xml":      "<modules><!-- <module>gone</module> --><module>core</module></modules><profile><modules><module>more/pom.xml</module></modules></profile>",
				"m/core/pom.xml": "<module>inner</module>", "m/core/inner/pom.xml": "", "m/core/inner/src/test/java/ATest.java": "", "m/more/pom.xml": "", "m/more/src/test/java/ATest.java": "",
				"m/android/pom.xml": "<module>tests</module>", "m/android/tests/pom.xml": "", "m/android/tests/src/test/java/ATest.java": "",
				"m/gone/pom.xml": "", "m/gone/src/test/java/ATest.java": "", "m/core/src/it/a/pom.xml": "", "m/core/src/it/a/src/test/java/ATest.java": "", "m/sample/pom.xml": "",
				"g/settings.gradle": "include 'a'", "g/a/build.gradle": "", "g/a/src/test/java/ATest.java": "", "g/tool/settings.gradle.kts": "", "g/tool/src/test/java/ATest.java": "",
				"x/mix.exs": "def project, do: [app: :x]", "x/installer/mix.exs": "", "x/installer/test/a_test.exs": "", "x/installer/templates/a/mix.exs": "", "x/installer/templates/a/test/a_test.exs": "",
				"u/mix.exs": "def project, do: [apps_path: \"apps\"]", "u/apps/a/mix.exs": "", "u/apps/a/test/a_test.exs": "", "u/tool/mix.exs": "", "u/tool/test/a_test.exs": "",
				"n/All.sln": `Project("{9A}") = "A.Tests", "a\A.Tests\A.Tests.csproj", "{1}"`, "n/a/A.Tests/A.Tests.csproj": "", "n/a/A.sln": `Project("{9A}") = "A.Tests", "A.Tests\A.Tests.csproj", "{1}"`,
				"n/b/B.slnx": `<Solution><Project Path="B.Tests/B.Tests.csproj" /></Solution>`, "n/b/B.Tests/B.Tests.csproj": "", "n/c/C.Tests/C.Tests.csproj": "", "n/c/C/C.csproj": "",
				"n/d/D.Specs/D.Specs.csproj": `<PackageReference Include="NUnit" Version="4.0.1" />`, "n/d/D/D.csproj": "", "n/e/e2etests/e2etests.csproj": "",
			},
			want: "Rust in r: no cargo on this machine\nRust in r/plugin: no cargo on this machine\n" +
				"Java in g: no java on this machine\nJava in g/tool: no java on this machine\nJava in m: no java on this machine\nJava in m/android: no java on this machine\nJava in m/gone: no java on this machine\n" +
				".NET in n: no dotnet on this machine\n.NET in n/b: no dotnet on this machine\n.NET in n/c/C.Tests: no dotnet on this machine\n.NET in n/d/D.Specs: no dotnet on this machine\n.NET in n/e/e2etests: no dotnet on this machine\n" +
				"Elixir in u: no mix on this machine\nElixir in u/tool: no mix on this machine\nElixir in x: no mix on this machine\nElixir in x/installer: no mix on this machine\n",
		},
		"Pest, which PHPUnit does not read": {
			files: map[string]string{"phpunit.xml": "", "composer.json": `{"require-dev": {"pestphp/pest": "^2"}}`, "tests/ATest.php": ""},
			tools: "php composer phpunit",
			want:  "PHP in .\n  setup composer install --no-interaction --no-progress\n  test vendor/bin/pest --log-junit \"$RESULTS\"\n",
		},
		"extras of uv that conflict": {
			files: map[string]string{"uv.lock": "", "test_a.py": "import pytest", "pyproject.toml": "[project]\nname = \"a\"\n[tool.uv]\nconflicts = [[{extra = \"cpu\"}, {extra = \"gpu\"}], " +
				"[{group = \"old\"}, {group = \"test\"}, {extra = \"x\", package = \"other\"}]]\n"},
			tools: "python3 uv",
			want:  "Python in .\n  setup uv sync --frozen --all-extras --all-groups --no-extra gpu --no-group old\n  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"requirements that contradict others": {
			files: map[string]string{"requirements.txt": "a==1.0\nb\n", "requirements_all.txt": "a==1.1\nc==1\n", "requirements_test.txt": "-r requirements.txt\nA==1.0\nc==2 ; python_version < '3'\n", "test_a.py": "import pytest"},
			tools: "python3",
			want: "Python in .\n  setup python3 -m venv .venv\n  setup .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements_test.txt pytest\n" +
				"  test PYTHONPATH=. .venv/bin/python -m pytest" + junit + "\n",
		},
		"nextest is there, and not called": {
			files: map[string]string{"Cargo.toml": "[package]\nname = \"a\"\n", ".config/nextest.toml": ""},
			tools: "cargo cargo-nextest",
			want:  "Rust in .\n  build cargo build --offline\n  test cargo test --offline --no-fail-fast\n",
		},
		"settings of tox and nox, which are not run": {
			files: map[string]string{"tox.ini": "[testenv]\ncommands = pytest\n", "noxfile.py": "import nox\n", "test_a.py": "def test_a(): pass\n"},
			tools: "python3 pytest tox nox",
			want:  "Python in .\n  test PYTHONPATH=. pytest" + junit + "\n",
		},
		"tests that an option of the build asks for": {
			files: map[string]string{
				"a/CMakeLists.txt": "project(a C)\noption(A_BUILD_TESTS \"tests\" OFF)\nif(A_BUILD_TESTS)\n  enable_testing()\nendif()\n",
				"b/meson.build":    "project('b', 'c')\n", "b/meson_options.txt": "option('tests', type: 'boolean', value: false)\n",
			},
			tools: "cc cmake meson ninja",
			want: "C/C++ in a\n  build rm -rf build-ycbot && cmake -S . -B build-ycbot -G Ninja -DBUILD_TESTING=ON -DA_BUILD_TESTS=ON -Wno-dev && cmake --build build-ycbot --parallel\n" +
				"  test ctest --test-dir build-ycbot --output-junit \"$RESULTS\" --output-on-failure --no-tests=ignore\n" +
				"C/C++ in b\n  build rm -rf build-ycbot && meson setup --wrap-mode=nodownload -Dtests=true build-ycbot && meson compile -C build-ycbot\n" +
				"  test meson test -C build-ycbot --no-rebuild --print-errorlogs\n",
		},
		"Autotools": {
			files: map[string]string{
				"a/configure.ac": "AM_INIT_AUTOMAKE\n", "a/Makefile.am": "SUBDIRS = t\n", "a/t/Makefile.am": "TESTS = x.sh\n",
				"b/configure.ac": "AC_INIT\n", "b/configure": "", "b/Makefile.in": "test:\n\t./x\n", "b/CMakeLists.txt": "project(b C)\n",
				"c/configure.ac": "LT_INIT\n", "c/Makefile.am": "",
				"d/configure.ac": "AC_INIT\n", "d/autogen.sh": "", "d/Makefile.am": "",
				"e/configure.ac": "AC_INIT\n", "e/Makefile.am": "TESTS = x\n", "e/CMakeLists.txt": "enable_testing()\n",
			},
			tools: "cc make autoreconf automake cmake",
			want: "C/C++ in e\n  build rm -rf build-ycbot && cmake -S . -B build-ycbot -DBUILD_TESTING=ON -Wno-dev && cmake --build build-ycbot --parallel\n" +
				"  test ctest --test-dir build-ycbot --output-junit \"$RESULTS\" --output-on-failure --no-tests=ignore\n" +
				"C/C++ in a\n  build autoreconf -fi && ./configure && make -j\"$(nproc)\"\n  test make -k -w check\n" +
				"C/C++ in b\n  build ./configure && make -j\"$(nproc)\"\n  test make -k -w test\n" +
				"C/C++ in c: no libtoolize on this machine\n" +
				"C/C++ in d\n  build NOCONFIGURE=1 ./autogen.sh && ./configure && make -j\"$(nproc)\"\n",
		},
		"options of npm as a workflow has them": {
			files: map[string]string{
				"package.json":             `{"name": "a", "scripts": {"test": "mocha"}, "dependencies": {"b": "1"}}`,
				".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: npm ci --no-audit --legacy-peer-deps\n",
			},
			tools: "node npm",
			want:  "Node.js in .\n  setup npm install --no-audit --no-fund --no-package-lock --legacy-peer-deps\n  test npx mocha --reporter \"$REPORTER\" --reporter-options output=\"$RESULTS\"\n",
		},
		"an extension in C of Python": {
			files: map[string]string{"setup.py": "setup(ext_modules=[Extension('a._b', ['b.c'])])\n", "b.c": "", "test_a.py": "import unittest\n"},
			tools: "python3 cc",
			want:  "Python in .\n  build python3 setup.py --quiet build_ext --inplace\n  test PYTHONPATH=. python3 -m unittest discover -p '*test*.py'\n",
		},
		"a setup.py beside another builder": {
			files: map[string]string{
				"setup.py": "setup(ext_modules=compiled)\n", "test_a.py": "import unittest\n",
				"pyproject.toml": "[project]\nname = 'a'\n[build-system]\nrequires = ['flit_core']\nbuild-backend = 'flit_core.buildapi'\n",
			},
			tools: "python3 cc",
			want:  "Python in .\n  test PYTHONPATH=. python3 -m unittest discover -p '*test*.py'\n",
		},
		"conftest.py below tests": {
			files: map[string]string{"a/b.py": "", "a/tests/conftest.py": "", "a/tests/test_b.py": "def test_b(): pass\n"},
			tools: "python3 pytest",
			want:  "Python in a\n  test PYTHONPATH=. pytest" + junit + "\n",
		},
		"Bundler beside Go, and RSpec that stops at a failure": {
			files: map[string]string{"go.mod": "module m\n", "Gemfile": "", ".rspec": "--color\n--fail-fast\n", "spec/a_spec.rb": ""},
			tools: "ruby bundle rspec",
			want: "Go in .: no go command on this machine\nRuby in .\n  setup BUNDLE_PATH=.bundle/gems BUNDLE_APP_CONFIG=.bundle bundle install --quiet\n" +
				"  test BUNDLE_PATH=.bundle/gems bundle exec rspec --format json --no-fail-fast --out \"$RESULTS\"\n",
		},
		"Ruby tests by the patterns of Rake": {
			files: map[string]string{
				"Rakefile":         "Rake::TestTask.new do |t|\n  # t.pattern = 'none/*.rb'\n  t.test_files = FileList[\"checks/**/{spec,case}_*.rb\", 'test/one.rb']\nend\n",
				"checks/case_a.rb": "", "test/a_test.rb": "",
				"b/Rakefile": "Minitest::TestTask.create { |t| t.test_globs = ['spec/**/*_spec.rb'] }\n", "b/spec/a_spec.rb": "",
				"c/.rspec": "", "c/spec/a_spec.rb": "", "c/test/spec_a.rb": "",
				"d/Rakefile": "task :default\n", "d/test/helper.rb": "",
				"e/Rakefile": "RSpec::Core::RakeTask.new { |t| t.pattern = 'spec/**/*_spec.rb' }\n", "e/spec/a_spec.rb": "",
			},
			tools: "ruby rspec",
			want: "Ruby in .\n  test ruby -Ilib -Itest -e 'ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }' 'checks/**/{spec,case}_*.rb' test/one.rb\n" +
				"Ruby in b\n  test ruby -Ilib -Itest -Ispec -e 'ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }' 'spec/**/*_spec.rb'\n" +
				"Ruby in c\n  test rspec --format json --no-fail-fast --out \"$RESULTS\"\n  test ruby -Ilib -Itest -e 'ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }' 'test/**/*_test.rb' 'test/**/test_*.rb' 'test/**/spec_*.rb'\n" +
				"Ruby in e\n  test rspec --format json --no-fail-fast --out \"$RESULTS\"\n",
		},
		"wraps, and sources that CMake fetches": {
			files: map[string]string{
				"a/meson.build": "project('a', 'c')\n", "a/subprojects/fmt.wrap": "[wrap-file]\n",
				"b/CMakeLists.txt": "project(b C)\nadd_subdirectory(tests)\n# FetchContent_Declare(none)\n", "b/tests/CMakeLists.txt": "FetchContent_Declare(Catch2 GIT_TAG v3)\n",
				"c/CMakeLists.txt": "project(c C)\n# FetchContent_Declare(none)\n",
			},
			tools: "cmake meson ninja cc",
			want: "C/C++ in b\n  setup rm -rf \"$HOME/.cache/ycbot-cmake\" && cmake -S . -B \"$(mktemp -d)\" -G Ninja -DBUILD_TESTING=ON -Wno-dev -DFETCHCONTENT_BASE_DIR=\"$HOME/.cache/ycbot-cmake\" -DCPM_SOURCE_CACHE=\"$HOME/.cache/ycbot-cmake\"/cpm\n" +
				"  build rm -rf build-ycbot && cmake -S . -B build-ycbot -G Ninja -DBUILD_TESTING=ON -Wno-dev -DFETCHCONTENT_BASE_DIR=\"$HOME/.cache/ycbot-cmake\" -DCPM_SOURCE_CACHE=\"$HOME/.cache/ycbot-cmake\"/cpm $(test -d \"$HOME/.cache/ycbot-cmake\" && echo -DFETCHCONTENT_FULLY_DISCONNECTED=ON) && cmake --build build-ycbot --parallel\n" +
				"C/C++ in c\n  build rm -rf build-ycbot && cmake -S . -B build-ycbot -G Ninja -DBUILD_TESTING=ON -Wno-dev && cmake --build build-ycbot --parallel\n" +
				"C/C++ in a\n  setup meson subprojects download || true\n  build rm -rf build-ycbot && meson setup --wrap-mode=nodownload build-ycbot && meson compile -C build-ycbot\n  test meson test -C build-ycbot --no-rebuild --print-errorlogs\n",
		},
		"PHPUnit where Composer is to install it, and by Symfony's bridge": {
			files: map[string]string{
				"a/composer.json": `{"require-dev": {"phpunit/phpunit": "^10"}, "config": {"bin-dir": "bin"}}`,
				"b/composer.json": `{"require-dev": {"symfony/phpunit-bridge": "^7"}, "config": {"vendor-dir": "lib/vendor"}}`,
				"c/composer.json": `{"require-dev": {"phpunit/phpunit": "^10"}, "config": {"bin-dir": "bin; rm -rf x"}}`,
			},
			tools: "php composer",
			want: "PHP in a\n  setup composer install --no-interaction --no-progress\n  test bin/phpunit --log-junit \"$RESULTS\"\n" +
				"PHP in b\n  setup composer install --no-interaction --no-progress && lib/vendor/bin/simple-phpunit install\n  test lib/vendor/bin/simple-phpunit --log-junit \"$RESULTS\"\n" +
				"PHP in c\n  setup composer install --no-interaction --no-progress\n  test vendor/bin/phpunit --log-junit \"$RESULTS\"\n",
		},
		"gems below a Gemfile, and what Rails leaves out": {
			files: map[string]string{
				"Gemfile": "gem 'rspec'\n", "core/core.gemspec": "", "core/spec/core_spec.rb": "", "site/spec/site_spec.rb": "", "tools/test/a_test.rb": "", "tools/Rakefile": "",
				"site/.rspec": "", "shop/config/application.rb": "", "shop/Gemfile": "", "shop/test/a_test.rb": "", "shop/test/system/b_test.rb": "",
				"web/config/application.rb": "", "web/Gemfile": "", "web/test/system/b_test.rb": "",
			},
			tools: "ruby bundle",
			want: "Ruby in shop\n  setup BUNDLE_PATH=vendor/bundle BUNDLE_APP_CONFIG=.bundle bundle install --quiet\n" +
				"  test BUNDLE_PATH=vendor/bundle bundle exec ruby -Ilib -Itest -e '(Dir[*ARGV] - Dir[\"test/{system,dummy,fixtures}/**/*\"]).each { |f| require File.expand_path(f) }' 'test/**/*_test.rb' 'test/**/test_*.rb' 'test/**/spec_*.rb'\n" +
				"Ruby in site within .\n  test BUNDLE_PATH=vendor/bundle bundle exec rspec --format json --no-fail-fast --out \"$RESULTS\"\n" +
				"Ruby in tools\n  test ruby -Ilib -Itest -e 'ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }' 'test/**/*_test.rb' 'test/**/test_*.rb' 'test/**/spec_*.rb'\n" +
				"Ruby in core within .\n  test BUNDLE_PATH=vendor/bundle bundle exec rspec --format json --no-fail-fast --out \"$RESULTS\"\n" +
				"Ruby in .\n  setup BUNDLE_PATH=vendor/bundle BUNDLE_APP_CONFIG=.bundle bundle install --quiet\n",
		},
		"tools that are not there": {
			files: map[string]string{
				"a/Cargo.toml": "[package]\n", "b/pom.xml": "", "c/CMakeLists.txt": "", "d/meson.build": "", "e/Gemfile": "", "e/spec/a_spec.rb": "",
				"f/x.sln": "", "g/phpunit.xml": "", "h/mix.exs": "", "i/Makefile": "test:\n\ttrue\n", "j/justfile": "test:\n  true\n", "k/build.gradle": "",
			},
			want: "Rust in a: no cargo on this machine\nJava in b: no java on this machine\nJava in k: no java on this machine\n" +
				"C/C++ in c: no cmake on this machine\nC/C++ in d: no meson on this machine\nRuby in e: no ruby on this machine\n.NET in f: no dotnet on this machine\n" +
				"PHP in g: no php on this machine\nElixir in h: no mix on this machine\nMake in i: no make on this machine\nMake in j: no just on this machine\n",
		},
		"targets": {
			files: map[string]string{"Makefile": "all: x\ncheck:\n\t./x\n", "sub/Taskfile.yml": "tasks:\n  test:\n    cmd: x\n"},
			tools: "make task",
			want:  "Make in .\n  build make all\n  test make check (as one)\nMake in sub\n  test task test (as one)\n",
		},
		"a Makefile that only calls what is known": {
			files: map[string]string{"Makefile": "test:\n\tcargo test\n", "Cargo.toml": "[package]\n"},
			tools: "make cargo",
			want:  "Rust in .\n  build cargo build --offline\n  test cargo test --offline --no-fail-fast\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, found(t, tt.files, strings.Fields(tt.tools)...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestAdopt holds which commands of a configuration are asked for results of
// each test, and that others are left alone.
func TestAdopt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"npx jest --runInBand":           `npx jest --runInBand --ci --json --outputFile="$RESULTS"`,
		"vitest":                         `npx vitest run --reporter=json --outputFile="$RESULTS"`,
		"python -m pytest -x tests/unit": `python -m pytest -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS" tests/unit`,
		"pytest":                         `pytest -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS"`,
		"cargo test --workspace":         `cargo test --workspace --no-fail-fast`,
		"pytest -xvs --maxfail 2 -q":     `pytest -vs -q -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS"`,
		"python3 -m unittest -f -v":      `python3 -m unittest -v`,
		"cargo test -- --nocapture":      `cargo test --no-fail-fast -- --nocapture`,
		"go test -failfast ./...":        `go test -json ./...`,
		"pytest --junitxml=x.xml":        "",
		"npm test":                       "",
		"make check":                     "",
		"echo jest":                      "",
		"jest || true":                   "",
	} {
		c := ShellCommand(results.StageTest, text)
		if (c.Results != nil) != (want != "") || want != "" && c.Text != want {
			t.Errorf("%q: %q, each test %v; want %q", text, c.Text, c.Results != nil, want)
		}
	}
}

// Where settings of PHPUnit, Surefire or Gradle ask to stop at a failure, no option takes that back: a note says it.
func TestStops(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"phpunit.xml: <phpunit stopOnFailure=\"true\"/>": 1, "phpunit.dist.xml: <phpunit stopOnError=\"true\"/>": 1, "phpunit.xml: <phpunit stopOnFailure=\"false\"/>": 0, "phpunit.xml: <phpunit/>": 0,
		"pom.xml: <configuration><skipAfterFailureCount>1</skipAfterFailureCount></configuration>": 1, "pom.xml: <project/>": 0,
		"build.gradle: test {\n  failFast = true\n}\n": 1, "build.gradle.kts: tasks.test { failFast.set(false) }\n": 0,
	} {
		name, src, _ := strings.Cut(text, ": ")
		s := trees.Survey(t, map[string]string{name: src, "tests/ATest.php": ""}, new(strings.Builder), "php", "phpunit", "java", "mvn", "gradle")
		for _, p := range FindProjects(s) {
			if len(p.Notes) != want {
				t.Errorf("%s: %q", text, p.Notes)
			}
		}
	}
}
