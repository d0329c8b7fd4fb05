package python

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A pyFacts is what the files of a project say about its tests.
type pyFacts struct {
	pytest, unittest bool
	django           bool                // manage.py runs its tests
	why              string              // for pytest
	deps             []string            // files of requirements
	more             []string            // requirements that settings of tools have
	extrasBeside     map[string][]string // of setup.cfg and setup.py
	siblings         []string            // see there
	apart            []string            // folders below of packages with tests of their own, which are not for the runner here
	lock, workspace  string              // workspace: the top of the one that the lockfile of uv is for
	tox, nox         string
	pyproject, top   ecosystem.TOML // top: that of the workspace, else its own
	broken           bool           // pyproject.toml is no TOML
}

// runs says whether there is a runner for its tests.
func (f pyFacts) runs() bool { return f.pytest || f.unittest || f.django }

// candidates are the folders that may be projects, with what is known of them.
type candidates struct {
	dirs  []string
	facts map[string]pyFacts
}

func candidatesIn(dirs ...string) candidates { return candidates{dirs, map[string]pyFacts{}} }

// pythonFacts are the facts of a folder, which are read once: those of the folders below are among them.
func pythonFacts(s *ecosystem.Survey, dir string, all candidates) pyFacts {
	f, ok := all.facts[dir]
	if !ok {
		f = readFacts(s, dir, all)
		all.facts[dir] = f
	}
	return f
}

func readFacts(s *ecosystem.Survey, dir string, all candidates) pyFacts {
	text := s.Read(dir, "pyproject.toml")
	f := pyFacts{lock: s.First(dir, "uv.lock", "poetry.lock", "Pipfile.lock", "Pipfile")}
	f.pyproject, f.broken = ecosystem.ParseTOML(text)
	f.tox, f.nox = string(s.Read(dir, "tox.ini")), string(s.Read(dir, "noxfile.py"))
	config := string(s.Read(dir, "setup.cfg")) + f.tox
	switch {
	case s.Has(dir, "pytest.ini"):
		f.pytest, f.why = true, "pytest.ini"
	case f.pyproject.Table("tool").HasPrefix("pytest"), f.broken && bytes.Contains(text, []byte("[tool.pytest")):
		f.pytest, f.why = true, "[tool.pytest] in pyproject.toml"
	case strings.Contains(config, "[tool:pytest]") || strings.Contains(config, "[pytest]"):
		f.pytest, f.why = true, "settings of pytest in setup.cfg or tox.ini"
	}
	if f.workspace = uvWorkspace(s, dir); f.lock == "" && f.workspace != "" && s.Has(f.workspace, "uv.lock") {
		f.lock = "uv.lock"
	}
	f.top = f.pyproject
	if f.workspace != "" {
		f.top = pyproject(s, f.workspace)
	}
	below := slices.DeleteFunc(slices.Clone(all.dirs), func(o string) bool { return o == dir || !ecosystem.Inside(dir, o) })
	f.readNeeds(s, dir, below)
	asks, byTools := f.asksForPytest(s, dir)
	var data []string
	if !f.pytest && asks == "" && !s.Has(dir, "conftest.py") { // else what this says of tests holds for the packages below, too
		f.apart, data = apartOf(s, below, all)
	}
	f.readTests(s, dir, data)
	alone := f.unittest && !f.pytest && !importOthers(s, dir) // Python itself runs its tests
	if !f.pytest && asks != "" && (!alone || !byTools) {
		f.pytest, f.why = true, "pytest is asked for in "+asks
	}
	if alone && !f.pytest {
		f.more, f.extrasBeside = nil, nil
		f.deps = slices.DeleteFunc(f.deps, func(name string) bool { return !requirements.MatchString(path.Base(name)) })
	}
	if f.django = !f.pytest && isDjango(s, dir); f.django && len(f.deps) == 0 {
		f.deps = requirementsAround(s, dir)
	}
	return f
}

// apartOf are the outermost packages in folders below a project whose tests have a runner of their own, and those
// that are data: the tests of others are for the runner of the project.
func apartOf(s *ecosystem.Survey, below []string, all candidates) (apart, data []string) {
	for _, dir := range below { // sorted, so that those around others come first
		within := func(o string) bool { return ecosystem.Inside(o, dir) }
		switch {
		case !isPackage(s, dir), slices.ContainsFunc(apart, within), slices.ContainsFunc(data, within):
		case isData(s, dir):
			data = append(data, dir)
		case pythonFacts(s, dir, all).runs():
			apart = append(apart, dir)
		}
	}
	return apart, data
}

// readNeeds reads what tests need. below are the folders of other projects.
func (f *pyFacts) readNeeds(s *ecosystem.Survey, dir string, below []string) {
	for _, name := range s.Below(dir) {
		within := path.Join(dir, path.Dir(name))
		if isForTests(name) && !ecosystem.IgnoredDir(path.Dir(name)) && !slices.ContainsFunc(below, func(o string) bool { return ecosystem.Inside(o, within) }) {
			f.deps = append(f.deps, name)
		}
	}
	var files []string
	f.more, files = f.byTools(s, dir)
	for _, name := range files {
		if !slices.Contains(f.deps, name) {
			f.deps = append(f.deps, name)
		}
	}
	f.deps = consistent(s, dir, usual(f.deps))
	f.extrasBeside = setupToolsExtras(s, dir)
	f.more = f.besideOthers(s, dir)
}

// asksForPytest is what of a project names pytest, empty for nothing, and whether that is settings
// of tools around the runner alone, such as tox.
func (f *pyFacts) asksForPytest(s *ecosystem.Survey, dir string) (name string, byTools bool) {
	asked := regexp.MustCompile(`(?m)(^|["'\s])pytest\b`)
	for _, name := range slices.Concat(f.deps, []string{"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "tox.ini"}) {
		if asked.Match(s.Read(dir, name)) {
			return name, name == "tox.ini"
		}
	}
	if slices.ContainsFunc(f.more, isPytest) {
		return "settings of tools", true
	}
	return "", false
}

// readTests reads which runner tests are written for. data are folders whose tests are for none.
func (f *pyFacts) readTests(s *ecosystem.Survey, dir string, data []string) {
	var tested []string // of those apart
	for _, name := range s.Below(dir) {
		within := func(o string) bool { return ecosystem.Inside(o, path.Join(dir, name)) }
		if !isPythonTest(name) || ecosystem.IgnoredDir(path.Dir(name)) || slices.ContainsFunc(data, within) {
			continue
		}
		if at := slices.IndexFunc(f.apart, within); at >= 0 {
			if !slices.Contains(tested, f.apart[at]) {
				tested = append(tested, f.apart[at])
			}
			continue
		}
		if f.pytest {
			continue
		}
		base, src := path.Base(name), s.Read(dir, name)
		switch {
		case base == "conftest.py":
			f.pytest, f.why = true, name
		case bytes.Contains(src, []byte("import pytest")), bytes.Contains(src, []byte("from pytest")), collected.MatchString(base) && isBare(src):
			f.pytest, f.why = true, name+", which is written for pytest"
		case importable.MatchString(base) && bytes.Contains(src, []byte("unittest")):
			f.unittest = true
		}
	}
	f.apart = tested
}

// collected are the names of files in which pytest looks for tests: a script beside them can
// have a function called like one.
var collected = pattern.New(`^(test_.*|.*_test)\.py$`)

// importable are the names of files that can be modules: unittest finds tests in no others.
var importable = pattern.New(`^[\pL_][\pL\pN_]*\.py$`)

// Tests that unittest does not run: functions, and methods of a class that inherits from none.
var (
	bareTest  = pattern.New(`(?m)^(async )?def test_\w*\(`)
	bareClass = pattern.New(`(?m)^class Test\w*(?:\(\s*(?:object)?\s*\))?:.*\n(?:[ \t].*\n|\r?\n)*?[ \t]+(?:async )?def test\w*\(`)
)

// isBare says whether a file has such tests, and no class that adds tests to those of unittest.
func isBare(src []byte) bool {
	return bareTest.Match(src) || bareClass.Match(src) && !bytes.Contains(src, []byte("unittest")) && !bytes.Contains(src, []byte("self.assert"))
}
