package ecosystem

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProgramStream holds how tests of programs ended: one that began and did not end has
// failed, also where its end stands behind what it printed.
func TestProgramStream(t *testing.T) {
	t.Parallel()
	s := newProgramStream(".")
	for _, part := range []string{
		"=== PACKAGE m/a\n=== RUN   TestA\nhello --- PASS: TestA (0.00s)\n=== RUN   Te",
		"stB\n=== RUN   TestB/one\n    --- SKIP: TestB/one (0.00s)\n",
		"--- FAIL: TestB (0.01s)\n=== PACKAGE m/b\n=== RUN   TestA\npanic: at the disco",
	} {
		if _, err := s.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	id := func(pkg, test string) ID { return ID{Unit: ".", Package: pkg, Test: test} }
	want := Suite{
		id("m/a", "TestA"):     {Status: Passed, Leaf: true, Evidence: "E1"},
		id("m/a", "TestB"):     {Status: Failed, Evidence: "E1"},
		id("m/a", "TestB/one"): {Status: Skipped, Leaf: true, Evidence: "E1"},
		id("m/b", "TestA"):     {Status: Failed, Leaf: true, Evidence: "E1"},
	}
	if diff := cmp.Diff(want, s.Suite("E1", "")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestProgramFlags holds which flags of "go test" a test program is given.
func TestProgramFlags(t *testing.T) {
	t.Parallel()
	got := programFlags([]string{"-race", "-short", "-tags", "a,b", "--parallel=2", "-run", "TestA", "-timeout=5m", "-count=1", "-v"})
	if diff := cmp.Diff([]string{"-test.short=true", "-test.parallel=2", "-test.run=TestA"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTestBodies holds which tests a source has and where, in three languages.
func TestTestBodies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, src, test, text string }{
		{"a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tx()\n}\n", "TestA", "func TestA(t *testing.T) {\n\tx()\n}"},
		{"test_a.py", "import a\n\nclass A:\n    def test_a(self):\n        x()\n\n    def test_b(self): y()\n", "A::test_a[1]", "    def test_a(self):\n        x()"},
		{"a.test.js", "test('one', () => {\n  x()\n})\n\ndescribe('g', () => {\n  it('two', () => { y() })\n  it('three', () => {\n    z()\n  })\n})\n", "g" + NameSep + "three", "  it('three', () => {\n    z()\n  })\n"},
	} {
		got := TestBodies(tt.name, []byte(tt.src)).Of(tt.test)
		if got.Text != tt.text || got.Line == 0 {
			t.Errorf("%s: %q in line %d, want %q", tt.name, got.Text, got.Line, tt.text)
		}
	}
}
