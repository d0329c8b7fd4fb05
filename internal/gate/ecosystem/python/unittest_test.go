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

// TestUnloadedUnittest: a module in a package that lacks what it imports is named by its file, also where it
// is run by itself.
func TestUnloadedUnittest(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	tree := t.TempDir()
	trees.Lay(t, tree, map[string]string{
		"tests/__init__.py": "", "tests/test_a.py": "from . import gone\n", "tests/test_b.py": "import gone\n",
		"tests/test_c.py": "import unittest\nclass C(unittest.TestCase):\n    def test_c(self):\n        pass\n",
	})
	for _, args := range [][]string{{"discover"}, {"tests/test_a.py", "tests/test_b.py", "tests/test_c.py"}} {
		out := filepath.Join(t.TempDir(), "results")
		cmd := exec.CommandContext(t.Context(), python, append([]string{"-c", pyUnittest}, args...)...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "RESULTS="+out, "PYTHONDONTWRITEBYTECODE=1")
		text, _ := cmd.CombinedOutput()
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, want := range []string{`"file": "tests/test_a.py", "name": "", "status": "fail"`, `"file": "tests/test_b.py", "name": "", "status": "fail"`, `"name": "C.test_c", "status": "pass"`} {
			if !strings.Contains(string(data), want) {
				t.Errorf("%q: no %s in\n%s", args, want, data)
			}
		}
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

// The tests of Django are reported as those of unittest are, run again by the names of their modules,
// and run as they stand where the project has a runner that reports nothing.
func TestDjango(t *testing.T) {
	t.Parallel()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"web/manage.py":        "import sys\nfrom django.test.runner import DiscoverRunner\nassert sys.argv[1:3] == ['test', '--noinput']\nDiscoverRunner().run_tests(sys.argv[3:])\n",
		"web/shop/__init__.py": "", "web/shop/tests.py": "from django.test import TestCase\nclass A(TestCase):\n    def test_a(self): pass\n    def test_b(self): self.fail('no')\n",
		"requirements.txt": "Django==4.2\n",
	}
	library := map[string]string{ // as much of Django as is replaced
		"django/__init__.py": "", "django/test/__init__.py": "from unittest import TestCase\n",
		"django/test/runner.py": "import unittest\nclass DiscoverRunner:\n    test_runner, test_loader = unittest.TextTestRunner, unittest.defaultTestLoader\n    def get_resultclass(self):\n        return None\n" +
			"    def run_tests(self, labels):\n        suite = unittest.TestSuite([self.test_loader.loadTestsFromName(l) for l in labels] or [self.test_loader.discover('.')])\n" +
			"        result = self.test_runner(resultclass=self.get_resultclass()).run(suite)\n        raise SystemExit(not result.wasSuccessful())\n",
	}
	s := trees.Survey(t, files, new(strings.Builder), "python3")
	found := findPythonProjects(s)
	if len(found) != 1 || found[0].Dir != "web" || len(found[0].Test) != 1 || len(found[0].Setup) != 2 || !strings.HasSuffix(found[0].Setup[1].Text, " -r ../requirements.txt") {
		t.Fatalf("%+v", found)
	}
	c := found[0].Test[0]
	if c.Text != "PYTHONPATH=. .venv/bin/python manage.py test --noinput" || c.Plain == nil || c.Plain.Text != c.Text {
		t.Errorf("%q", c.Text)
	}
	less, ok := c.Results.Narrow(c, ecosystem.Part{Packages: []string{"web/shop/tests.py"}})
	if !ok || !strings.HasSuffix(less.Text, " --noinput shop.tests") {
		t.Errorf("%q", less.Text)
	}
	files["pytest.ini"] = ""
	for _, p := range findPythonProjects(trees.Survey(t, files, new(strings.Builder), "python3")) {
		if strings.Contains(p.Test[0].Text, "manage.py") {
			t.Errorf("not run by pytest, which is set up: %q", p.Test[0].Text)
		}
	}
	delete(files, "pytest.ini")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	trees.Lay(t, tree, files)
	lib := t.TempDir()
	trees.Lay(t, lib, library)
	for _, label := range []string{"", "shop.tests"} {
		out := filepath.Join(t.TempDir(), "results")
		cmd := exec.CommandContext(t.Context(), python, slices.DeleteFunc([]string{"-c", pyUnittest, "manage.py", "test", "--noinput", label}, func(w string) bool { return w == "" })...)
		cmd.Dir, cmd.Env = filepath.Join(tree, "web"), append(os.Environ(), "RESULTS="+out, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+lib)
		text, err := cmd.CombinedOutput()
		data, readErr := os.ReadFile(out)
		if err == nil || readErr != nil {
			t.Fatalf("%v, %v\n%s", err, readErr, text)
		}
		for _, want := range []string{`"file": "` + tree + `/web/shop/tests.py", "name": "A.test_a", "status": "pass"`, `"name": "A.test_b", "status": "fail"`, `{"end": true}`} {
			if !strings.Contains(string(data), want) {
				t.Errorf("%q: no %s in\n%s\n%s", label, want, data, text)
			}
		}
	}
}
