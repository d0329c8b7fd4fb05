package python

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestUnittestFiles: a test whose class is of a library is one of the module that loads it, and the
// examples of a document are of the document.
func TestUnittestFiles(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trees.Lay(t, tree, map[string]string{
		"README.md":         ">>> 1 + 1\n2\n",
		"shop.py":           "def one():\n    \"\"\"\n    >>> one()\n    1\n    \"\"\"\n    return 1\n",
		"tests/__init__.py": "",
		"tests/test_docs.py": "import doctest\nimport unittest\n\nimport shop\n\n\ndef load_tests(loader, tests, pattern):\n" +
			"    tests.addTests(doctest.DocFileSuite('../README.md'))\n    tests.addTests(doctest.DocTestSuite(shop))\n" +
			"    tests.addTest(unittest.FunctionTestCase(shop.one))\n    return tests\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n",
	})
	out := filepath.Join(t.TempDir(), "results")
	cmd := exec.CommandContext(t.Context(), python, "-c", pyUnittest, "discover", "-s", "tests", "-t", ".")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "RESULTS="+out, "PYTHONDONTWRITEBYTECODE=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var r struct{ File, Name string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Name != "" {
			got = append(got, strings.TrimPrefix(r.File, tree+"/")+" "+strings.Split(r.Name, " ")[0])
		}
	}
	slices.Sort(got)
	want := []string{"README.md README.md", "tests/test_docs.py A.test_a", "tests/test_docs.py one", "tests/test_docs.py shop.one"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Tests of modules are run again by themselves, those of a document with all others.
func TestNarrowUnittest(t *testing.T) {
	t.Parallel()
	c := unittestCommand(ecosystem.Command{Unit: "."}, "", "python3", []string{"discover"})
	for file, want := range map[string]bool{"tests/test_a.py": true, "README.md": false, "docs/usage.txt": false, "tests/one.test.js": true} {
		if _, ok := c.Results.Narrow(c, ecosystem.Part{Packages: []string{file}}); ok != want {
			t.Errorf("%s: %v", file, ok)
		}
	}
}
