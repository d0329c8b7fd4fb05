package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInheritedTests: a test that a class has from another module is of the file that was
// collected, with its class, however its function is shared; and it is no other test's double.
func TestInheritedTests(t *testing.T) {
	t.Parallel()
	c := Documented(ParsePytest)(".")
	for _, at := range [][2]string{
		{"tests.test_base.TestBase", "tests/test_base.py"},
		{"tests.test_sub.TestBase", "tests/test_base.py"},         // imported
		{"tests.test_sub.TestSub", "tests/test_base.py"},          // inherited
		{"tests.sub_test.Outer.Inner", "tests/helpers.py"},        // decorated, nested
		{"checks.numbers.Whole", "../lib/site-packages/suite.py"}, // of an installed suite
		{"odd.names", "tests/helpers.py"},                         // names no classes
	} {
		if _, err := c.Write([]byte(`<testsuite><testcase classname="` + at[0] + `" name="test_a[1]" file="` + at[1] + `"/></testsuite>` + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for id := range c.Suite("E1", "/repo") {
		if id.Test != "" {
			got = append(got, id.Package+" "+id.Test)
		}
	}
	want := map[string]bool{
		"tests/test_base.py TestBase::test_a[1]":    true,
		"tests/test_sub.py TestBase::test_a[1]":     true,
		"tests/test_sub.py TestSub::test_a[1]":      true,
		"tests/sub_test.py Outer::Inner::test_a[1]": true,
		"checks/numbers.py Whole::test_a[1]":        true,
		"tests/helpers.py test_a[1]":                true,
	}
	have := map[string]bool{}
	for _, g := range got {
		have[g] = true
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

// TestPytestNamesFiles holds where the files are that pytest names from a folder whose settings it takes: one
// above that of its command, or one of the files that this names.
func TestPytestNamesFiles(t *testing.T) {
	t.Parallel()
	wd := t.TempDir()
	for _, name := range []string{"packages/shop/tests/test_a.py", "packages/shop/packages/b_test.py"} {
		if err := os.MkdirAll(filepath.Join(wd, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(wd, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"tests/test_a.py":               "packages/shop/tests/test_a.py",
		"shop/tests/test_a.py":          "packages/shop/tests/test_a.py",
		"packages/shop/tests/test_a.py": "packages/shop/tests/test_a.py",
		"test_a.py":                     "packages/shop/tests/test_a.py",
		"packages/b_test.py":            "packages/shop/packages/b_test.py",
		"gone/test_a.py":                "packages/shop/gone/test_a.py",
	} {
		c := Pytest("packages/shop/tests")("packages/shop")
		class := strings.ReplaceAll(strings.TrimSuffix(name, ".py"), "/", ".")
		if _, err := c.Write([]byte(`<testsuite><testcase classname="` + class + `" name="test_a" file="` + name + `"/></testsuite>`)); err != nil {
			t.Fatal(err)
		}
		if s := c.Suite("E1", wd); s[ID{Unit: "packages/shop", Package: want, Test: "test_a"}].Status != Passed {
			t.Errorf("%s: %v", name, s)
		}
	}
}
