package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The specs that failed are read of what Ginkgo, of both releases, and gocheck print at their end.
func TestFailedSpecs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output string
		want   []string
	}{
		{"• [FAILED] [0.000 seconds]\ncalc [It] dials\n  [FAILED] Expected\n\nSummarizing 2 Failures:\n  \x1b[38;5;9m[FAIL]\x1b[0m calc [It] dials\n  /x/calc_test.go:9\n  [PANICKED!] calc [It] doubles\n  /x/calc_test.go:12\n\nRan 3 of 3 Specs in 0.002 seconds\nFAIL! -- 1 Passed | 2 Failed\n", []string{"calc [It] dials", "calc [It] doubles"}},
		{"Summarizing 1 Failure:\n\n[Fail] calc [It] dials \n/x/calc_test.go:9\n\nRan 2 of 2 Specs\n", []string{"calc [It] dials"}},
		{"\n----------\nFAIL: calc_test.go:16: CalcSuite.TestDials\n\ncalc_test.go:17:\n    c.Assert(1, Equals, 2)\nOOPS: 1 passed, 1 FAILED\n", []string{"CalcSuite.TestDials"}},
		{"    calc_test.go:9: got 5\n", nil},
	} {
		if diff := cmp.Diff(c.want, FailedSpecs(c.output)); diff != "" {
			t.Errorf("%q:\n-want +got\n%s", c.output, diff)
		}
	}
	if !RanNoSpec("Ran 0 of 12 Specs in 0.1 seconds\n") || RanNoSpec("Ran 10 of 12 Specs\n") || RanNoSpec("Ran 0 of 0 Specs\n") {
		t.Error("how many specs ran is not read")
	}
}
