package gate

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/joshdk/go-junit"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// pythonEcosystem is Python, by the files that its packaging tools read.
func pythonEcosystem() *ecosystem {
	return &ecosystem{
		name: "Python", units: "Python projects",
		hosts:   strings.Fields("pypi.org files.pythonhosted.org"),
		fetched: []string{".cache/pip", wheelFolder, ".cache/uv", ".cache/pypoetry/cache", ".cache/pypoetry/artifacts"},
		registries: []string{
			"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_PROXY", "PIP_NO_INDEX", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES",
			"UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_HTTP_TIMEOUT", "PIPENV_PYPI_MIRROR",
		},
		registryFiles: []string{"PIP_CERT", "PIP_FIND_LINKS", "UV_FIND_LINKS"},
		settingsFiles: []settingsFile{{
			variable: "PIP_CONFIG_FILE", places: []string{".config/pip/pip.conf", ".pip/pip.conf"},
			keep: keepKeys([]string{"index-url", "extra-index-url", "trusted-host", "find-links", "no-index", "cert", "proxy", "timeout"}, []string{"global", "install"}),
		}},
		find:     findPythonProjects,
		classes:  pythonClasses(),
		isTest:   isPythonTest,
		isSource: func(name string) bool { return slices.Contains([]string{".py", ".pyx", ".pyi"}, path.Ext(name)) },
		steers:   steersPython,
		adopt:    adoptPython,
		absent:   absentInPython,
	}
}

var pythonTestName = pattern.New(`^(test_.*|.*_test|tests?|conftest)\.py$`)

func isPythonTest(name string) bool {
	return path.Ext(name) == ".py" && (pythonTestName.MatchString(path.Base(name)) || inFolder(name, "test", "tests"))
}

func steersPython(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{"pyproject.toml", "setup.py", "setup.cfg", "poetry.lock", "uv.lock", "Pipfile", "Pipfile.lock", "tox.ini", "noxfile.py", "pytest.ini"}, base) ||
		requirements.MatchString(base)
}

var requirements = pattern.New(`^requirements.*\.(txt|in)$|^(dev|test)[-_]requirements\.txt$`)

var pythonMissing = pattern.New(`(?m)ModuleNotFoundError: No module named '([\w.]+)'|ImportError: cannot import name '(\w+)'|` +
	`AttributeError: .* has no attribute '(\w+)'|NameError: name '(\w+)' is not defined|TypeError: .*unexpected keyword argument '(\w+)'|` +
	`AttributeError: .* does not have the attribute '(\w+)'`)

func absentInPython(output string) (name string, deps bool) {
	m := pythonMissing.FindStringSubmatch(output)
	if m == nil {
		return "", false
	}
	for _, g := range m[1:] {
		if g != "" {
			name = g
		}
	}
	return name[strings.LastIndexByte(name, '.')+1:], m[1] != ""
}

// findPythonProjects makes a project of every folder that has tests and a file
// of a packaging tool, or of the top where there are tests alone.
func findPythonProjects(s *survey) []project {
	dirs := s.dirs("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "pytest.ini", "Pipfile", "requirements.txt", "conftest.py")
	tested := slices.ContainsFunc(s.files, func(f string) bool { return isPythonTest(f) && !ignoredDir(path.Dir(f)) })
	if len(dirs) == 0 && tested {
		dirs = []string{"."}
	}
	var out []project
	for _, dir := range dirs {
		marks := slices.ContainsFunc([]string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "Pipfile"}, func(n string) bool { return s.has(dir, n) })
		within := func(o string) bool { return o != dir && inside(o, dir) }
		if !marks && slices.ContainsFunc(dirs, within) { // such as tests/requirements.txt and tests/conftest.py
			continue
		}
		if p := pythonProject(s, dir, dirs); p.what != "" {
			out = append(out, p)
		}
	}
	return out
}

// A pyFacts is what the files of a project say about its tests.
type pyFacts struct {
	pytest, unittest bool
	why              string // for pytest
	deps             []string
	lock             string
	pyproject        string
}

func pythonFacts(s *survey, dir string, all []string) pyFacts {
	f := pyFacts{pyproject: string(s.read(dir, "pyproject.toml")), lock: s.first(dir, "uv.lock", "poetry.lock", "Pipfile.lock", "Pipfile")}
	config := string(s.read(dir, "setup.cfg")) + string(s.read(dir, "tox.ini"))
	switch {
	case s.has(dir, "pytest.ini"):
		f.pytest, f.why = true, "pytest.ini"
	case strings.Contains(f.pyproject, "[tool.pytest"):
		f.pytest, f.why = true, "[tool.pytest] in pyproject.toml"
	case strings.Contains(config, "[tool:pytest]") || strings.Contains(config, "[pytest]"):
		f.pytest, f.why = true, "settings of pytest in setup.cfg or tox.ini"
	}
	asked := regexp.MustCompile(`(?m)(^|["'\s])pytest\b`)
	for _, name := range s.below(dir) {
		if within := path.Join(dir, path.Dir(name)); ignoredDir(path.Dir(name)) || slices.ContainsFunc(all, func(o string) bool { return o != dir && inside(o, within) && inside(dir, o) }) && !isPythonTest(name) {
			continue
		}
		base := path.Base(name)
		if requirements.MatchString(base) && len(strings.Split(name, "/")) <= 2 {
			f.deps = append(f.deps, name)
		}
		if !isPythonTest(name) || f.pytest {
			continue
		}
		src := s.read(dir, name)
		switch {
		case base == "conftest.py":
			f.pytest, f.why = true, name
		case bytes.Contains(src, []byte("import pytest")), bytes.Contains(src, []byte("from pytest")), bareTest.Match(src):
			f.pytest, f.why = true, name+", which is written for pytest"
		case bytes.Contains(src, []byte("unittest")):
			f.unittest = true
		}
	}
	for _, name := range slices.Concat(f.deps, []string{"pyproject.toml", "setup.py", "setup.cfg", "Pipfile"}) {
		if !f.pytest && asked.Match(s.read(dir, name)) {
			f.pytest, f.why = true, "pytest is asked for in "+name
		}
	}
	return f
}

// bareTest is a test that is a function, which unittest does not run.
var bareTest = pattern.New(`(?m)^(async )?def test_\w*\(`)

func pythonProject(s *survey, dir string, all []string) project {
	f := pythonFacts(s, dir, all)
	if !f.pytest && !f.unittest {
		return project{}
	}
	p := project{dir: dir, what: "Python project in " + dir}
	if dir == "." {
		p.what = "Python project"
	}
	for _, n := range []string{"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", f.lock} {
		if n != "" && s.has(dir, n) && !slices.Contains(p.why, path.Join(dir, n)) {
			p.why = append(p.why, path.Join(dir, n))
		}
	}
	if f.why != "" {
		p.why = append(p.why, f.why)
	} else {
		p.why = append(p.why, "tests for unittest")
	}
	if !s.tools.has("python3") {
		p.missing = "no python3 on this machine"
		return p
	}
	python := "python3"
	if p.installPython(s, f) {
		python = ".venv/bin/python"
	} else if f.pytest && s.tools.has("pytest") {
		python = ""
	}
	where := "."
	if slices.ContainsFunc(s.below(dir), func(n string) bool { return strings.HasPrefix(n, "src/") && strings.HasSuffix(n, ".py") }) {
		where = "src:."
	}
	c := command{stage: StageTest, unit: dir}
	if f.pytest {
		p.test = append(p.test, pytestCommand(c, "PYTHONPATH="+where, python, nil, nil))
		return p
	}
	p.test = append(p.test, unittestCommand(c, "PYTHONPATH="+where, python, unittestArgs(s, dir)))
	return p
}

// unittestArgs are those of discovery: where the tests are.
func unittestArgs(s *survey, dir string) []string {
	for _, sub := range []string{"tests", "test"} {
		for _, f := range s.below(dir) {
			if !strings.HasPrefix(f, sub+"/") || !isPythonTest(f) {
				continue
			}
			pattern := "test*.py"
			if !slices.ContainsFunc(s.below(dir), func(f string) bool { return strings.HasPrefix(f, sub+"/test") || strings.Contains(f, "/test_") }) {
				pattern = "*_test.py"
			}
			if s.has(dir, sub+"/__init__.py") {
				return []string{"discover", "-s", sub, "-t", ".", "-p", quoted(pattern)}
			}
			return []string{"discover", "-s", sub, "-p", quoted(pattern)}
		}
	}
	return []string{"discover", "-p", quoted("*test*.py")} // the shell must not take it for files
}

// installPython sets the commands that bring dependencies into a virtual
// environment in the project, and says whether there is one. What needs nothing
// that the machine has not gets none.
func (p *project) installPython(s *survey, f pyFacts) bool {
	installable := strings.Contains(f.pyproject, "[build-system]") || strings.Contains(f.pyproject, "[project]") || s.has(p.dir, "setup.py")
	add := func(text string) {
		c := command{stage: StageSetup, unit: p.dir, network: sandbox.NetworkHost}.reporting(text)
		c.stranger = func(Side) []command { return nil }
		if len(p.setup) == 0 { // in place of all of them
			c.stranger = p.pythonOfStranger(s, c, f, installable && !notAPackage.MatchString(f.pyproject))
		}
		p.setup = append(p.setup, c)
	}
	needs := len(f.deps) > 0 || f.lock != "" || pyDependencies.MatchString(f.pyproject) ||
		strings.Contains(string(s.read(p.dir, "setup.py")), "install_requires") || strings.Contains(string(s.read(p.dir, "setup.cfg")), "install_requires")
	if !needs && (!f.pytest || s.tools.has("pytest")) {
		return false
	}
	switch {
	case f.lock == "uv.lock" && s.tools.has("uv"):
		add("uv sync --frozen --all-extras --all-groups")
		return true
	case f.lock == "poetry.lock" && s.tools.has("poetry"):
		add("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras")
		return true
	case strings.HasPrefix(f.lock, "Pipfile") && s.tools.has("pipenv"):
		add("PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev")
		return true
	}
	var args []string
	for _, r := range f.deps {
		args = append(args, "-r", quoted(r))
	}
	if installable && needs {
		args = append(args, "-e", quoted("."+extras(f.pyproject)))
	}
	if f.pytest {
		args = append(args, "pytest")
	}
	if len(args) == 0 { // a lockfile alone, of a manager that is missing
		return false
	}
	add("python3 -m venv .venv")
	add(".venv/bin/python -m pip install --quiet --disable-pip-version-check " + strings.Join(args, " "))
	return true
}

var (
	pyDependencies = pattern.New(`(?m)^dependencies\s*=\s*\[\s*(?:[^\]\s#]|#)|\[tool\.poetry\.dependencies\]|\[dependency-groups\]|\[project\.optional-dependencies\]`)
	pyExtra        = pattern.New(`(?m)^"?(tests?|testing|dev|all)"?\s*=\s*\[`)
)

// extras are the optional dependencies that tests usually need.
func extras(pyproject string) string {
	_, section, ok := strings.Cut(pyproject, "[project.optional-dependencies]")
	if !ok {
		return ""
	}
	section, _, _ = strings.Cut(section, "\n[")
	var names []string
	for _, m := range pyExtra.FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ",") + "]"
}

// pytestCommand is a call of pytest. An empty python stands for the program of
// that name.
func pytestCommand(c command, env, python string, args, files []string) command {
	program := "pytest"
	if python != "" {
		program = python + " -m pytest"
	}
	build := func(c command, files []string, more ...string) command {
		words := slices.DeleteFunc([]string{env, program, strings.Join(args, " "), "-o junit_family=xunit1 --junitxml=" + resultsVar, strings.Join(more, " "), strings.Join(files, " ")},
			func(w string) bool { return w == "" })
		return c.reporting(strings.Join(words, " "), "export PYTHONDONTWRITEBYTECODE=1")
	}
	c = build(c, files)
	c.results = &results{
		name: "JUnit XML of pytest", collect: documented(parsePytest),
		// Internal errors and errors of its usage (https://docs.pytest.org, "Exit codes").
		refused: func(exit int) bool { return exit == 3 || exit == 4 },
		narrow: func(c command, p part) (command, bool) {
			if len(p.packages) == 0 {
				return c, false
			}
			return build(c, fromUnit(c.unit, p.packages)), true
		},
		probe: func(c command, p probing) (command, string) {
			some := files
			if len(p.packages) > 0 {
				some = fromUnit(c.unit, p.packages)
			}
			return build(c, some, pytestOrder(cmp.Or(python, "python3"), p.seed)), "repeated, in a random order where a plugin of pytest has one"
		},
	}
	return c
}

// pytestOrder are the arguments for a random order of tests, which the shell
// finds out: pytest has none of its own, but for two plugins.
func pytestOrder(python string, seed uint32) string {
	return fmt.Sprintf(`$(%[1]s -c 'import pytest_randomly' 2>/dev/null && echo --randomly-seed=%[2]d || { %[1]s -c 'import random_order' 2>/dev/null && echo --random-order --random-order-seed=%[2]d; })`, python, seed)
}

// byPytest is the style of pytest with junit_family=xunit1. A file that cannot
// be loaded is a test without a class.
func byPytest(_ []string, t junit.Test) (pkg, name string) {
	file := t.Properties["file"]
	module := strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
	if t.Classname == "" {
		if file == "" {
			file = strings.ReplaceAll(t.Name, ".", "/") + ".py"
		}
		return file, ""
	}
	if file == "" {
		return t.Classname, t.Name
	}
	name = t.Name
	if class := strings.TrimPrefix(strings.TrimPrefix(t.Classname, module), "."); class != "" && class != t.Classname {
		name = strings.ReplaceAll(class, ".", "::") + "::" + name
	}
	return file, name
}

//go:embed pyunittest.py
var pyUnittest string

// unittestCommand is a call of unittest with a result class of ours, which
// writes a line for each test.
func unittestCommand(c command, env, python string, args []string) command {
	build := func(c command, args []string) command {
		text := strings.TrimSpace(fmt.Sprintf(`%s RESULTS="$RESULTS" %s -c "$UNITTEST" %s`, env, python, strings.Join(args, " ")))
		c = c.reporting(text, "export PYTHONDONTWRITEBYTECODE=1", "UNITTEST="+quoted(pyUnittest))
		c.text = strings.TrimSpace(env + " " + python + " -m unittest " + strings.Join(args, " "))
		return c
	}
	c = build(c, args)
	c.results = &results{
		name: "results of unittest", collect: documented(parseUnittest),
		narrow: func(c command, p part) (command, bool) {
			if len(p.packages) == 0 {
				return c, false
			}
			return build(c, fromUnit(c.unit, p.packages)), true
		},
	}
	return c
}

func parseUnittest(data []byte) ([]outcome, error) {
	var out []outcome
	ended := false
	for line := range bytes.Lines(data) {
		var t struct {
			File, Name, Status, Text string
			S                        float64
			End                      bool
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return out, fmt.Errorf("results of unittest: %w", err)
		}
		if ended = t.End; ended {
			continue
		}
		out = append(out, outcome{pkg: t.File, name: t.Name, status: Status(t.Status), output: short(t.Text), elapsed: time.Duration(t.S * float64(time.Second))})
	}
	if !ended {
		return out, errEnded
	}
	return out, nil
}

// adoptPython asks a plain call of pytest or unittest for machine-readable output.
func adoptPython(c command, words []string) (command, bool) {
	python := ""
	if len(words) >= 3 && words[1] == "-m" && strings.HasPrefix(path.Base(words[0]), "python") {
		python, words = words[0], words[2:]
	}
	switch {
	case len(words) == 0:
		return c, false
	case words[0] == "pytest" || words[0] == "py.test":
		var args, files []string
		for _, w := range words[1:] {
			switch {
			case strings.HasPrefix(w, "--junit"):
				return c, false
			case !strings.HasPrefix(w, "-") && (strings.Contains(w, "/") || strings.HasSuffix(w, ".py") || isPythonTest(w+"/x.py")):
				files = append(files, w)
			default:
				args = append(args, w)
			}
		}
		return pytestCommand(c, "", python, args, files), true
	case words[0] == "unittest" && python != "":
		return unittestCommand(c, "", python, words[1:]), true
	}
	return c, false
}
