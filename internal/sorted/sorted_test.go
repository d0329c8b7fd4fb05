package sorted

import (
	"slices"
	"testing"
)

func TestBy(t *testing.T) {
	t.Parallel()
	type pair struct{ key, at int }
	var list []pair
	for i := range 100 {
		list = append(list, pair{(i * 37) % 7, i})
	}
	want := slices.Clone(list)
	By(list, func(a, b pair) int { return a.key - b.key })
	slices.SortStableFunc(want, func(a, b pair) int { return a.key - b.key })
	if !slices.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	if got := Keys(map[int]bool{3: true, 1: false, 2: true}, func(a, b int) int { return b - a }); !slices.Equal(got, []int{3, 2, 1}) {
		t.Errorf("got %v", got)
	}
}
