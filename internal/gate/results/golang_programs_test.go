package results

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
