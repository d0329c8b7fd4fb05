package python

import (
	"path"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	pythonNamed  = pattern.New(`^(test_.*|.*_test|tests?)\.py$`)
	pythonHolds  = pattern.New(`(?m)^(?:async )?def test_\w*\(|^class \w+\([^)]*\bTestCase\b|^class Test(?:[A-Z_]\w*)?\s*[:(]`)
	pythonTested = pattern.New(`(?m)^\s*(?:async )?def test|^class \w+\(.*TestCase`)
)

func pythonClasses() ecosystem.ClassTable {
	folders := []string{"test", "tests"}
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "noxfile.py", ".coveragerc", ".coveragerc.toml"),
		Support:  ecosystem.Called("conftest.py"),
		Test: func(name string, src []byte) bool {
			return path.Ext(name) == ".py" && (pythonNamed.MatchString(path.Base(name)) || ecosystem.InFolder(name, folders...) && pythonTested.Match(src))
		},
		Holds:   ecosystem.WhereWritten(nil, pythonHolds),
		Folders: folders,
		Origins: pythonOrigins,
		Mixed: ecosystem.MixedBy(map[string]*ecosystem.Mixture{
			"pyproject.toml": {Class: compare.Steering, Merge: ecosystem.MergeSections("tool.pytest", "tool.tox", "tool.nox", "tool.coverage", "tool.hatch.envs", "tool.poe", "tool.taskipy")},
			"setup.cfg":      {Class: compare.Steering, Merge: ecosystem.MergeSections("tool:pytest", "pytest", "tox", "testenv", "aliases", "test", "unittest", "nosetests", "coverage")},
		}),
	}
}
