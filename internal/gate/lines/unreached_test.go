package lines

import (
	"maps"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestLapsed holds that of lines that ran on the base and not over the head those are left that do so
// again, and of lines with a check that fails there the same.
func TestLapsed(t *testing.T) {
	t.Parallel()
	unreached, failing := lapses()[0], lapses()[1]
	counted := func(ran ...int) []*results.LineCounts {
		c := results.NewLineCounts(results.NoResults("."))
		lines := map[int]bool{}
		for n := range 5 {
			lines[n+1] = slices.Contains(ran, n+1)
		}
		c.Add("test_a.py", lines)
		c.Ended()
		return []*results.LineCounts{c}
	}
	files := []ecosystem.ChangedFile{{Path: "test_a.py", Lines: map[int]bool{1: true, 2: true, 3: true, 4: true, 9: true}}}
	first := unreached.lapsed(files, counted(1, 2, 3), counted(4))
	again := unreached.lapsed(first, counted(1, 3, 4), counted(3))
	for i, tt := range []struct {
		files []ecosystem.ChangedFile
		want  []int
	}{{first, []int{1, 2, 3}}, {again, []int{1}}} {
		if len(tt.files) != 1 || !slices.Equal(slices.Sorted(maps.Keys(tt.files[0].Lines)), tt.want) {
			t.Errorf("%d: %v, want lines %v", i, tt.files, tt.want)
		}
	}
	if left := unreached.lapsed(again, counted(2), counted()); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	failed := func(n ...int) []*results.LineCounts {
		c := counted(1, 2, 3, 4, 5)
		c[0].Fail("test_a.py", n)
		return c
	}
	first = failing.lapsed(files, nil, failed(1, 2, 3))
	again = failing.lapsed(first, failed(3), failed(1, 3, 4))
	if len(again) != 1 || !slices.Equal(slices.Sorted(maps.Keys(again[0].Lines)), []int{1}) {
		t.Errorf("%v is left of those that fail", again)
	}
}
