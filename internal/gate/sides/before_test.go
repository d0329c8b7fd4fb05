package sides

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestBefore holds which new files have the name by which tests ask for another one.
func TestBefore(t *testing.T) {
	t.Parallel()
	const helpers = "from helpers import same\n"
	for name, tt := range map[string]struct {
		base map[string]string
		add  string
		want string
	}{
		"a module of the sources":     {map[string]string{"tests/helpers.py": "", "tests/test_a.py": helpers}, "src/helpers.py", "src/helpers.py or tests/helpers.py"},
		"a module of a package":       {map[string]string{"tests/helpers.py": "", "tests/test_a.py": helpers, "shop/__init__.py": ""}, "shop/helpers.py", ""},
		"a module of no path":         {map[string]string{"tests/helpers.py": "", "tests/test_a.py": helpers}, "scripts/helpers.py", ""},
		"asked for by a package":      {map[string]string{"tests/helpers.py": "", "tests/test_a.py": "from tests.helpers import same\n"}, "src/helpers.py", ""},
		"a package before a module":   {map[string]string{"spec/rates.py": "", "tests/test_a.py": "from spec.rates import vat\n"}, "spec/rates/__init__.py", "spec/rates/__init__.py or spec/rates.py"},
		"which nothing asks for":      {map[string]string{"tests/helpers.py": "", "tests/test_a.py": "import os\n"}, "src/helpers.py", ""},
		"another name":                {map[string]string{"tests/helpers.py": "", "tests/test_a.py": helpers}, "src/helper.py", ""},
		"a test":                      {map[string]string{"tests/helpers.py": "", "tests/test_a.py": helpers}, "tests/unit/helpers.py", ""},
		"a module before data":        {map[string]string{"data/rates.json": "{}", "test/a.test.js": "require('../data/rates')\n"}, "data/rates.js", "data/rates.js or data/rates.json"},
		"data by its whole name":      {map[string]string{"data/rates.json": "{}", "test/a.test.js": "require('../data/rates.json')\n"}, "data/rates.js", ""},
		"a file of another folder":    {map[string]string{"test/near.js": "", "test/a.test.js": "require('./near')\n"}, "lib/near.js", ""},
		"a file before a folder":      {map[string]string{"tools/near/index.js": "", "test/a.test.js": "require('../tools/near')\n"}, "tools/near.js", "tools/near.js or tools/near/index.js"},
		"a header":                    {map[string]string{"tests/include/check.h": "", "tests/test_a.c": "#include \"check.h\"\n"}, "src/check.h", "src/check.h or tests/include/check.h"},
		"a header of another name":    {map[string]string{"tests/include/check.h": "", "tests/test_a.c": "#include \"check.h\"\n"}, "src/checks.h", ""},
		"what Ruby requires":          {map[string]string{"test/helper.rb": "", "test/a_test.rb": "require \"helper\"\n"}, "lib/helper.rb", "lib/helper.rb or test/helper.rb"},
		"a class":                     {map[string]string{"tests/lib/Near.php": "", "tests/ATest.php": "<?php Near::is(1, 1);\n"}, "src/Near.php", "src/Near.php or tests/lib/Near.php"},
		"a program":                   {map[string]string{"tests/bin/near": "", "tests/run.sh": "near 1 1\n"}, "bin/near", "bin/near or tests/bin/near"},
		"a file that is no program":   {map[string]string{"tests/Makefile": "", "tests/run.sh": "make -f Makefile\n"}, "src/Makefile", ""},
		"one that is not there still": {map[string]string{"tests/near.rb": "", "test/a_test.rb": "require \"near\"\n"}, "-tests/near.rb lib/near.rb", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, files := t.TempDir(), slices.Sorted(maps.Keys(tt.base))
			trees.Lay(t, dir, tt.base)
			add, head := tt.add, slices.Clone(files)
			if gone, rest, ok := strings.Cut(strings.TrimPrefix(add, "-"), " "); ok {
				add, head = rest, slices.DeleteFunc(head, func(f string) bool { return f == gone })
			}
			head = append(head, add)
			slices.Sort(head)
			r := &Reader{
				Base: &workspace.Tree{Dir: dir}, Head: &workspace.Tree{Dir: dir},
				Plans:  map[results.Side]*Plan{results.Base: {Files: files}, results.Head: {Files: head}},
				Change: change.Change{Files: []change.File{{Path: add, Status: change.Added}}},
			}
			if got := strings.Join(r.Before(), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
