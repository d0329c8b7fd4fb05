package results

import (
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
