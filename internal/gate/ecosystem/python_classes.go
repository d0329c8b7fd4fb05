package ecosystem

import (
	"path"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	pythonNamed  = pattern.New(`^(test_.*|.*_test|tests?)\.py$`)
	pythonHolds  = pattern.New(`(?m)^(?:async )?def test_\w*\(|^class \w+\([^)]*\bTestCase\b|^class Test(?:[A-Z_]\w*)?\s*[:(]`)
	pythonTested = pattern.New(`(?m)^\s*(?:async )?def test|^class \w+\(.*TestCase`)
)

func pythonClasses() classTable {
	folders := []string{"test", "tests"}
	return classTable{
		steering: called("pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "noxfile.py", ".coveragerc"),
		support:  called("conftest.py"),
		test: func(name string, src []byte) bool {
			return path.Ext(name) == ".py" && (pythonNamed.MatchString(path.Base(name)) || InFolder(name, folders...) && pythonTested.Match(src))
		},
		holds:   whereWritten(nil, pythonHolds),
		folders: folders,
		origins: pythonOrigins,
		mixed: mixedBy(map[string]*Mixture{
			"pyproject.toml": {compare.Steering, mergeSections("tool.pytest", "tool.tox", "tool.nox", "tool.coverage", "tool.hatch.envs", "tool.poe", "tool.taskipy")},
			"setup.cfg":      {compare.Steering, mergeSections("tool:pytest", "pytest", "tox", "testenv", "aliases", "test", "unittest", "nosetests", "coverage")},
		}),
	}
}
