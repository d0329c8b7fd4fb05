package sides

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestImporters: what a test file says, those say too that import it, or one that does.
func TestImporters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for name, text := range map[string]string{
		"tests/test_base.py":   "class TestBase: pass\n",
		"tests/test_sub.py":    "from .test_base import TestBase\n",
		"tests/test_third.py":  "import tests.test_sub as sub\n",
		"tests/test_other.py":  "# test_base is something else\nimport test_base2\n",
		"tests/test_base2.py":  "x = 1\n",
		"js/shared.test.js":    "module.exports = 1\n",
		"js/main.test.js":      "const s = require('./shared.test')\n",
		"js/unrelated.test.js": "const s = require('./main')\n",

		"pkg/tests/__init__.py":  "class Case: pass\n",
		"pkg/tests/test_abs.py":  "from pkg.tests import Case\n",
		"pkg/tests/test_rel.py":  "from . import Case\n",
		"pkg/tests/test_deep.py": "from pkg.tests.other import x\n",
		"pkg/tests/test_made.py": "def made(): pass\n",
		"pkg/tests/conftest.py":  "pytest_plugins = ['pkg.tests.test_made']\n",
		"js/test/set/index.js":   "module.exports = 1\n",
		"js/test/set.test.js":    "const s = require('./set')\n",
		"js/test/alias.test.ts":  "import s from '#test/set'\n",
		"js/test/part.test.js":   "const s = require('./set/part')\n",
		"tests/BaseTest.php":     "<?php abstract class BaseTest {}\n",
		"tests/SumTest.php":      "<?php class SumTest extends BaseTest {}\n",
		"tests/BaseTestTest.php": "<?php class BaseTestTest {}\n",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	r := &Reader{Base: &workspace.Tree{Dir: dir}, Plans: map[results.Side]*Plan{results.Base: {Files: files}}}
	for name, want := range map[string]map[string]bool{
		"tests/test_base.py":  {"tests/test_sub.py": true, "tests/test_third.py": true},
		"tests/test_other.py": {},
		"js/shared.test.js":   {"js/main.test.js": true},

		"pkg/tests/__init__.py":  {"pkg/tests/test_abs.py": true, "pkg/tests/test_rel.py": true},
		"pkg/tests/test_made.py": {"pkg/tests/__init__.py": true, "pkg/tests/conftest.py": true, "pkg/tests/test_abs.py": true, "pkg/tests/test_deep.py": true, "pkg/tests/test_rel.py": true},
		"js/test/set/index.js":   {"js/test/set.test.js": true, "js/test/alias.test.ts": true},
		"tests/BaseTest.php":     {"tests/SumTest.php": true},
	} {
		if d := cmp.Diff(want, r.importers(name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestSnapshotOf holds which file of tests a snapshot belongs to by its name.
func TestSnapshotOf(t *testing.T) {
	t.Parallel()
	r := &Reader{Plans: map[results.Side]*Plan{results.Base: {Files: []string{"src/a.js", "src/a.test.js", "tests/test_bill.py"}}}}
	for name, want := range map[string]string{
		"src/__snapshots__/a.test.js.snap":      "src/a.test.js",
		"tests/__snapshots__/test_bill.ambr":    "tests/test_bill.py",
		"src/__snapshots__/a.snap":              "", // whose name is that of a source
		"tests/__snapshots__/page.html":         "",
		"lib/__snapshots__/a.test.js.snap":      "",
		"src/deep/__snapshots__/a.test.js.snap": "",
	} {
		if got := r.snapshotOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
