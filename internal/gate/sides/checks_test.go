package sides

import (
	"maps"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestChecksOfTests holds which sources are checks of the tests, and which are what they test.
func TestChecksOfTests(t *testing.T) {
	t.Parallel()
	const (
		contract = "package contract\n\nimport \"testing\"\n\nfunc Run(t *testing.T) {}\n"
		calls    = "package store\n\nimport \"m/contract\"\n"
		header   = "#define CHECK(x) do { } while (0)\n"
		tap      = "is() { [ \"$1\" = \"$2\" ]; }\n"
	)
	for name, tt := range map[string]struct {
		files map[string]string
		of    string
		want  bool
	}{
		"of a package":            {map[string]string{"go.mod": "module m\n", "contract/run.go": contract, "store.go": "package store\n", "store_test.go": calls}, "contract/run.go", true},
		"a library of assertions": {map[string]string{"go.mod": "module m\n", "contract/run.go": contract, "contract/run_test.go": calls}, "contract/run.go", false},
		"what a program uses":     {map[string]string{"go.mod": "module m\n", "contract/run.go": contract, "store.go": calls, "store_test.go": calls}, "contract/run.go", false},
		"a header beside another": {map[string]string{"check.h": header, "cal.h": "int leap(int);\n", "test_cal.c": "#include \"cal.h\"\n#include \"check.h\"\n"}, "check.h", true},
		"a library in one header": {map[string]string{"check.h": header, "test_check.c": "#include \"check.h\"\n"}, "check.h", false},
		"a header of the program": {map[string]string{"check.h": header, "cal.h": "int leap(int);\n", "cal.c": "#include \"check.h\"\n", "test_cal.c": "#include \"cal.h\"\n#include \"check.h\"\n"}, "check.h", false},
		"a script beside another": {map[string]string{"tools/tap.sh": tap, "slug": "", "t/slug.t": ". ./tools/tap.sh\nis \"$(./slug A)\" a\n"}, "tools/tap.sh", true},
		"a library in one script": {map[string]string{"tap.sh": tap, "t/tap.t": ". ./tap.sh\nis a a\n"}, "tap.sh", false},
		"a script of the program": {map[string]string{"tap.sh": tap, "slug": ". ./tap.sh\n", "t/slug.t": ". ./tap.sh\nis \"$(./slug A)\" a\n"}, "tap.sh", false},
		"a package of tests":      {map[string]string{"kit/package.json": `{"name": "kit"}`, "kit/index.js": "require('./lib')\n", "kit/lib.js": "", "shop/index.js": "", "shop/a.test.js": "require('../kit'); require('./index')\n"}, "kit/lib.js", true},
		"a package with tests":    {map[string]string{"kit/package.json": `{"name": "kit"}`, "kit/index.js": "", "kit/a.test.js": "require('./index')\n", "shop/index.js": "", "shop/a.test.js": "require('../kit'); require('./index')\n"}, "kit/index.js", false},
		"a package of a source":   {map[string]string{"kit/package.json": `{"name": "kit"}`, "kit/index.js": "", "shop/index.js": "require('kit')\n", "shop/a.test.js": "require('../kit'); require('./index')\n"}, "kit/index.js", false},
		"a package that is asked": {map[string]string{"kit/package.json": `{"name": "kit"}`, "kit/index.js": "", "shop/package.json": `{"dependencies": {"kit": "*"}}`, "shop/index.js": "", "shop/a.test.js": "require('../kit'); require('./index')\n"}, "kit/index.js", false},
		"a package by itself":     {map[string]string{"kit/package.json": `{"name": "kit"}`, "kit/index.js": "", "shop/a.test.js": "require('../kit')\n"}, "kit/index.js", false},
		"a table":                 {map[string]string{"shop.py": "", "cases.py": "ROWS = [1]\n", "test_shop.py": "import shop\nfrom cases import ROWS\n"}, "cases.py", true},
		"a table of the program":  {map[string]string{"shop.py": "import cases\n", "cases.py": "ROWS = [1]\n", "test_shop.py": "import shop\nfrom cases import ROWS\n"}, "cases.py", false},
		"a table with a function": {map[string]string{"shop.py": "", "cases.py": "ROWS = [1]\ndef f(): pass\n", "test_shop.py": "import shop\nfrom cases import ROWS\n"}, "cases.py", false},
		"what hands on others":    {map[string]string{"shop/__init__.py": "from .vat import vat\n\n__all__ = [\"vat\"]\n", "shop/vat.py": "", "shop/cart.py": "", "test_shop.py": "import shop\nimport shop.cart\n"}, "shop/__init__.py", false},
		"two tables":              {map[string]string{"a.py": "A = [1]\n", "b.py": "B = [1]\n", "test_ab.py": "import a\nimport b\n"}, "a.py", false},
		"a table of Go":           {map[string]string{"go.mod": "module m\n", "a.go": "package m\n", "cases/cases.go": "package cases\n\nvar A = []int{1}\n", "a_test.go": "package m\n\nimport \"m/cases\"\n"}, "cases/cases.go", true},
		"a package of Go":         {map[string]string{"go.mod": "module m\n", "a.go": "package m\n", "cases/cases.go": "package cases\n\nvar A = []int{1}\n", "cases/do.go": "package cases\n\nfunc Do() {}\n", "a_test.go": "package m\n\nimport \"m/cases\"\n"}, "cases/cases.go", false},
		"a script without checks": {map[string]string{"tools/list.sh": "list() { ls; }\n", "slug": "", "t/slug.t": ". ./tools/list.sh\n./slug\n"}, "tools/list.sh", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			trees.Lay(t, dir, tt.files)
			r := &Reader{
				Base:  &workspace.Tree{Dir: dir},
				Plans: map[results.Side]*Plan{results.Base: {Files: slices.Sorted(maps.Keys(tt.files))}},
			}
			refers := func(text, dir, name string) bool {
				return classes.Imports(text, dir, name) || classes.TakesHeader(text, name)
			}
			src := []byte(tt.files[tt.of])
			if got := r.scriptChecks(tt.of, src, nil) || r.checksForTests(tt.of, src, refers) || r.packageOfTests(tt.of, src, refers) || r.tableOfTests(tt.of, src, refers); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
