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
