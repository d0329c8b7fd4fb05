package report_test

import (
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
)

func TestLineRanges(t *testing.T) {
	for _, c := range []struct {
		lines []int
		want  []string
	}{
		{nil, nil},
		{[]int{3}, []string{"3"}},
		{[]int{3, 4}, []string{"3-4"}},
		{[]int{1, 3, 5, 6, 7, 9}, []string{"1", "3", "5-7", "9"}},
	} {
		if got := report.LineRanges(c.lines); !slices.Equal(got, c.want) {
			t.Errorf("LineRanges(%v) = %q, want %q", c.lines, got, c.want)
		}
	}
}
