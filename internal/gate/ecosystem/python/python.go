// Package python is Python, tested by pytest or unittest.
//
// runners.go has the calls of both. What a project needs is read of manifests without running
// anything of it (requirements.go, groups.go).
package python

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// New is Python, by the files that its packaging tools read.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Python", Units: "Python projects",
		Programs: strings.Fields("python python3 uv poetry pytest"),
		Runners:  strings.Fields("py.test unittest tox nox hatch pdm coverage"),
		Provided: providedByPython,
		Hosts:    strings.Fields("pypi.org files.pythonhosted.org"),
		Fetched:  []string{".cache/pip", WheelFolder, ".cache/uv", ".cache/pypoetry/cache", ".cache/pypoetry/artifacts"},
		Registries: []string{
			"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_PROXY", "PIP_NO_INDEX", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES",
			"UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_HTTP_TIMEOUT", "PIPENV_PYPI_MIRROR",
		},
		RegistryFiles: []string{"PIP_CERT", "PIP_FIND_LINKS", "UV_FIND_LINKS"},
		SettingsFiles: []ecosystem.SettingsFile{{
			Variable: "PIP_CONFIG_FILE", Places: []string{".config/pip/pip.conf", ".pip/pip.conf"},
			Keep: ecosystem.KeepKeys([]string{"index-url", "extra-index-url", "trusted-host", "find-links", "no-index", "cert", "proxy", "timeout"}, []string{"global", "install"}),
		}},
		Find:  findPythonProjects,
		Lines: pythonLines(), Behaviour: pythonBehaviour(),
		Classes:    pythonClasses(),
		IsTest:     isPythonTest,
		Forwarding: &ecosystem.Forwarding{Whole: forward, Offers: offers, Names: forwardNames},
		IsSource:   func(name string) bool { return slices.Contains([]string{".py", ".pyx", ".pyi"}, path.Ext(name)) },
		Steers:     steersPython,
		Asks:       asks(),
		Tasks:      tasks,
		Adopt:      adoptPython,
		Older:      olderPython,
		Absent:     absentInPython,
		Unimport:   unimportPython, Installed: installedPython,
	}
}

var pythonTestName = pattern.New(`^(test_.*|.*_test|tests?|conftest)\.py$`)

func isPythonTest(name string) bool {
	return path.Ext(name) == ".py" && (pythonTestName.MatchString(path.Base(name)) || ecosystem.InFolder(name, "test", "tests"))
}

func steersPython(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{"pyproject.toml", "setup.py", "setup.cfg", "poetry.lock", "uv.lock", "Pipfile", "Pipfile.lock", "tox.ini", "noxfile.py", "pytest.ini"}, base) ||
		requirements.MatchString(base) || path.Base(path.Dir(name)) == "requirements" && slices.Contains([]string{".txt", ".in"}, path.Ext(base))
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
func findPythonProjects(s *ecosystem.Survey) []ecosystem.Project {
	all := candidatesIn(pythonDirs(s)...)
	dirs := slices.DeleteFunc(slices.Clone(all.dirs), func(dir string) bool { return isData(s, dir) })
	tested := slices.ContainsFunc(s.Files, func(f string) bool { return isPythonTest(f) && !ecosystem.IgnoredDir(path.Dir(f)) })
	if len(dirs) == 0 && tested {
		dirs = []string{"."}
	}
	var out []ecosystem.Project
	for _, dir := range dirs {
		marks := s.First(dir, pythonMarks...) != ""
		within := func(o string) bool { return o != dir && ecosystem.Inside(o, dir) }
		if !marks && slices.ContainsFunc(dirs, within) { // such as tests/requirements.txt and tests/conftest.py
			continue
		}
		if p := pythonProject(s, dir, all); p.What != "" {
			out = append(out, p)
		}
	}
	for _, dir := range s.Dirs("manage.py") {
		ofPytest := func(o string) bool { return ecosystem.Inside(o, dir) && pythonFacts(s, o, all).pytest }
		if slices.ContainsFunc(out, func(p ecosystem.Project) bool { return p.Dir == dir }) || !isDjango(s, dir) || slices.ContainsFunc(dirs, ofPytest) {
			continue
		}
		out = append(out, pythonProject(s, dir, all))
	}
	return out
}

// pythonMarks are the files by which a folder is a project.
var pythonMarks = []string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "Pipfile"}

// pythonDirs are the folders that may be projects, sorted. A folder of tests is none for what
// its tests share or need: that is the one around it.
func pythonDirs(s *ecosystem.Survey) []string {
	var out []string
	for _, dir := range s.Dirs(slices.Concat(pythonMarks, []string{"noxfile.py", "requirements.txt", "conftest.py"})...) {
		for s.First(dir, pythonMarks...) == "" && slices.Contains([]string{"test", "tests"}, path.Base(dir)) {
			dir = path.Dir(dir)
		}
		out = append(out, dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isData says whether a folder is of a project that tests read and no one works in: it lies in one of
// fixtures, below another project or a folder of tests, and is no member of a workspace.
func isData(s *ecosystem.Survey, dir string) bool {
	if !s.IsFixture(dir, isPythonTest) {
		return false
	}
	if root := uvWorkspace(s, dir); root != "" && root != dir {
		return false
	}
	for up := dir; up != "."; {
		if up = path.Dir(up); s.First(up, pythonMarks...) != "" {
			return true
		}
	}
	return ecosystem.InFolder(dir+"/", "test", "tests")
}

// isPackage says whether a folder has a distribution of its own, and not settings of tools alone.
func isPackage(s *ecosystem.Survey, dir string) bool {
	doc, broken := ecosystem.ParseTOML(s.Read(dir, "pyproject.toml"))
	return broken || doc.Has("project", "build-system") || doc.Table("tool").Has("poetry") ||
		s.First(dir, "setup.py", "Pipfile") != "" || bytes.Contains(s.Read(dir, "setup.cfg"), []byte("[metadata]"))
}

func pythonProject(s *ecosystem.Survey, dir string, all candidates) ecosystem.Project {
	f := pythonFacts(s, dir, all)
	if !f.runs() {
		return ecosystem.Project{}
	}
	f.siblings = siblings(s, dir)
	p := ecosystem.Project{Dir: dir, What: "Python project in " + dir, Uses: f.siblings}
	if dir == "." {
		p.What = "Python project"
	}
	for _, n := range []string{"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", f.lock} {
		if n != "" && s.Has(dir, n) && !slices.Contains(p.Why, path.Join(dir, n)) {
			p.Why = append(p.Why, path.Join(dir, n))
		}
	}
	switch {
	case f.why != "":
		p.Why = append(p.Why, f.why)
	case f.django:
		p.Why = append(p.Why, path.Join(dir, "manage.py")+", and tests for Django")
	default:
		p.Why = append(p.Why, "tests for unittest")
	}
	if !s.Tools.Has("python3") {
		p.Missing = s.Tools.Lack("python3")
		return p
	}
	python := "python3"
	if installPython(&p, s, f) {
		python = ".venv/bin/python"
	} else if f.pytest && s.Tools.Has("pytest") {
		python = ""
	}
	if python != ".venv/bin/python" && extends(s, dir, f) && ecosystem.LackOfCompiler(s) == "" { // else installing it builds it
		p.Build = append(p.Build, ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting("python3 setup.py --quiet build_ext --inplace"))
	}
	testPython(&p, s, f, python)
	return p
}

// testPython sets the commands for the tests of a project, which a Python starts: a program, or where it is
// empty that of pytest.
func testPython(p *ecosystem.Project, s *ecosystem.Survey, f pyFacts, python string) {
	where := "."
	if slices.ContainsFunc(s.Below(p.Dir), func(n string) bool { return strings.HasPrefix(n, "src/") && strings.HasSuffix(n, ".py") }) {
		where = "src:."
	}
	c := ecosystem.Command{Stage: results.StageTest, Unit: p.Dir}
	env := strings.TrimSpace("PYTHONPATH=" + where + " " + ownVariables(f))
	args, beside, unread := discoveries(s, p.Dir, f.apart)
	given := func(from, vars string, call func(python string) string) ecosystem.Given {
		return ecosystem.Given{InTests: true, From: from, Command: startable(python, func(python string) ecosystem.Command {
			in := c
			in.Text = strings.TrimSpace(env+" "+vars) + " " + call(python)
			return in.InShell()
		})}
	}
	byUnittest := func(args []string) func(python string) string {
		return func(python string) string {
			return cmp.Or(python, "python3") + " -m unittest " + strings.Join(args, " ")
		}
	}
	call := byUnittest(args[0])
	switch {
	case f.pytest:
		var ignored []string
		for _, o := range f.apart {
			ignored = append(ignored, "--ignore="+ecosystem.Quoted(strings.TrimPrefix(o, p.Dir+"/")))
		}
		p.Test = append(p.Test, startable(python, func(python string) ecosystem.Command { return pytestCommand(c, env, python, ignored, nil) }))
		call = func(python string) string {
			return strings.Join(append([]string{strings.TrimPrefix(python+" -m pytest", " -m ")}, ignored...), " ")
		}
	case f.django:
		p.Test = append(p.Test, startable(python, func(python string) ecosystem.Command { return djangoCommand(c, env, cmp.Or(python, "python3")) }))
		call = func(python string) string { return cmp.Or(python, "python3") + " manage.py test" }
	default:
		for _, a := range args {
			p.Test = append(p.Test, startable(python, func(python string) ecosystem.Command { return unittestCommand(c, env, cmp.Or(python, "python3"), a) }))
		}
		for _, b := range beside {
			p.Given = append(p.Given, given(path.Join(p.Dir, b.file), "", byUnittest(b.args)))
		}
		if len(unread) > 0 {
			p.Notes = append(p.Notes, "tests for unittest in "+results.Listed(unread, 8)+", as there are too many folders with such")
		}
	}
	for _, vars := range toxFactors(f.tox) {
		g := given("tox.ini", ecosystem.Assignments(vars), call)
		for _, v := range vars {
			g.Variables = append(g.Variables, v[0])
		}
		p.Given = append(p.Given, g)
	}
}

// startable is a call that another Python can start as well: that of the machine, or of an environment.
func startable(python string, call func(python string) ecosystem.Command) ecosystem.Command {
	c := call(python)
	c.Interpreter = python
	c.By = func(python string) ecosystem.Command { return startable(python, call) }
	return c
}

// extended is what a setup.py has that has extensions to compile.
var extended = pattern.New(`\b(?:ext_modules\s*=|Extension\s*\(|cythonize\s*\(|cffi_modules\s*=)`)

// extends reports whether setup.py has extensions that the project is built with. Beside another
// builder's name in pyproject.toml it serves something else, as wheels of some platforms do.
func extends(s *ecosystem.Survey, dir string, f pyFacts) bool {
	system := f.pyproject.Table("build-system")
	backend := system.Text("build-backend")
	return extended.Match(s.Read(dir, "setup.py")) &&
		(backend == "" || strings.HasPrefix(backend, "setuptools") || len(system.Texts("backend-path")) > 0)
}

// installPython sets the commands that bring dependencies into a virtual
// environment in the project, and says whether there is one. What needs nothing
// that the machine has not gets none.
func installPython(p *ecosystem.Project, s *ecosystem.Survey, f pyFacts) bool {
	installable := f.broken || f.pyproject.Has("build-system", "project") || s.Has(p.Dir, "setup.py")
	add := func(text string) {
		c := ecosystem.Command{Stage: results.StageSetup, Unit: p.Dir, Network: sandbox.NetworkHost}.Reporting(text)
		c.Untrusted = func(results.Side) []ecosystem.Command { return nil }
		if len(p.Setup) == 0 { // in place of all of them
			c.Untrusted = pythonOfStranger(p, s, c, f, installable && f.pyproject.Table("tool", "poetry")["package-mode"] != false)
		}
		p.Setup = append(p.Setup, c)
	}
	grouped := slices.Concat(f.grouped(), f.more)
	needs := f.django || len(f.deps) > 0 || f.lock != "" || f.broken || needsPython(f.pyproject) || len(f.siblings) > 0 || slices.ContainsFunc(slices.Concat(f.more, f.ofExtras()), otherThanPytest) ||
		strings.Contains(string(s.Read(p.Dir, "setup.py")), "install_requires") || strings.Contains(string(s.Read(p.Dir, "setup.cfg")), "install_requires")
	if !needs && (!f.pytest || s.Tools.Has("pytest")) {
		return false
	}
	switch {
	case f.lock == "uv.lock" && s.Tools.Has("uv"):
		add(f.uvSync(s, p.Dir))
		return true
	case f.lock == "poetry.lock" && s.Tools.Has("poetry"):
		add("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras" + f.optionalGroups())
		return true
	case strings.HasPrefix(f.lock, "Pipfile") && s.Tools.Has("pipenv"):
		add("PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev")
		return true
	}
	var args, hashed []string
	for _, r := range f.deps {
		of := &args
		if withHashes(s, path.Join(p.Dir, r), 0) {
			of = &hashed
		}
		*of = append(*of, "-r", ecosystem.Quoted(r))
	}
	args = append(args, editable(p.Dir, f.siblings)...)
	if installable && needs {
		args = append(args, "-e", ecosystem.Quoted(f.self()))
	}
	grouped = append(grouped, byMissingManager(s, p.Dir, f)...)
	slices.Sort(grouped)
	for _, r := range slices.Compact(grouped) {
		args = append(args, ecosystem.Quoted(r))
	}
	if f.pytest && !slices.ContainsFunc(grouped, isPytest) {
		args = append(args, "pytest")
	}
	if f.django && len(args)+len(hashed) == 0 && f.lock == "" {
		args = append(args, "django")
	}
	if len(args)+len(hashed) == 0 { // a lockfile alone, of a manager that is missing
		return false
	}
	add("python3 -m venv .venv")
	for _, list := range [][]string{hashed, args} { // with hashes pip takes nothing that has none
		if len(list) > 0 {
			add(".venv/bin/python -m pip install --quiet --disable-pip-version-check " + strings.Join(list, " "))
		}
	}
	return true
}

// uvSync is the call of uv that sets a project up, in an environment of its own. In a workspace that has
// all of its members: what tests share stands in the groups of the top.
func (f pyFacts) uvSync(s *ecosystem.Survey, dir string) string {
	sync := "uv sync --frozen"
	if f.workspace != "" {
		sync += " --all-packages"
	}
	if f.workspace != "" && f.workspace != dir {
		sync = `UV_PROJECT_ENVIRONMENT="$PWD/.venv" ` + sync
	}
	return sync + " --all-extras --all-groups" + f.conflicting()
}

// isPytest says whether a requirement is pytest.
func isPytest(r string) bool {
	m := requirement.FindStringSubmatch(r)
	return m != nil && sameDistribution(m[1], "pytest")
}

func otherThanPytest(r string) bool { return !isPytest(r) }

// needsPython says whether a manifest names distributions.
func needsPython(d ecosystem.TOML) bool {
	project := d.Table("project")
	return len(project.Texts("dependencies")) > 0 || project.Has("optional-dependencies") || slices.Contains(project.Texts("dynamic"), "dependencies") ||
		d.Table("tool", "poetry").Has("dependencies") || d.Has("dependency-groups")
}
