// Package sorted sorts slices as package slices does, by code that all types share. Each
// type of structures that is sorted by [slices.SortStableFunc] adds ten kilobytes to the
// program, and none of these slices is long enough that its speed counts.
package sorted

import "sort"

// By sorts a slice so that of two elements for which compare is below zero the first one
// comes first. Equal ones stay in their order.
func By[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Keys are the keys of a map in an order.
func Keys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	By(out, compare)
	return out
}
