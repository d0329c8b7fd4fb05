package kept

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestHunkAbout holds which part of a difference is shown of a test that does not hold.
func TestHunkAbout(t *testing.T) {
	t.Parallel()
	const patch = "@@ -10 +10 @@\n-a\n+b\n@@ -20,2 +20,2 @@ func helper() {\n-c\n-d\n+e\n+f\n@@ -30 +30 @@\n-(x)\n+x\n"
	for name, tt := range map[string]struct {
		at   int // where the test begins
		said string
		want string
	}{
		"the first one":                 {0, "", "b"},
		"the first below the test":      {25, "", "x"},
		"what the failure names":        {25, "a_test.go:21: got 1", "e\nf"},
		"what a failure in Python says": {25, `File "/w/a_test.go", line 20, in helper`, "e\nf"},
		"a line that is as it was":      {25, "a_test.go:22: got 1", "x"},
		"a line of another file":        {25, "b_test.go:20: got 1", "x"},
		"of one whose name ends so":     {25, "aa_test.go:20: got 1", "x"},
	} {
		if _, _, now := hunkAbout(patch, tt.at, linesIn(tt.said, "a_test.go"), nil); now != tt.want {
			t.Errorf("%s: %q, want %q", name, now, tt.want)
		}
	}
	const steering = "@@ -1 +1 @@\n-CFLAGS = -O1\n+CFLAGS = -O2\n@@ -9,0 +10 @@\n+MAKEFLAGS += -k -i\n@@ -20 +21 @@\n-a\n+test: b\n"
	if _, _, now := hunkAbout(steering, 0, nil, steersBy); now != "MAKEFLAGS += -k -i" {
		t.Errorf("of what steers tests: %q", now)
	}
}

// TestStandsAt holds where a test is looked for in its file.
func TestStandsAt(t *testing.T) {
	t.Parallel()
	const text = "import x\nclass SumTest(TestCase):\n    def test_one(self):\nfunc TestTop\nit('adds 1.5 up')\n"
	for name, want := range map[string]int{
		"SumTest.test_one":      3,
		"TestTop/row_1":         4,
		"sums > adds 1.5 up":    5,
		"test_one[2-3]":         3,
		"SumTest.test_two":      0,
		"sums > subtracts 0.25": 0,
	} {
		if got := standsAt(text, results.ID{Test: name}); got != want {
			t.Errorf("%s: line %d, want %d", name, got, want)
		}
	}
}
