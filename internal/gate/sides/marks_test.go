package sides

import "testing"

// TestShadows: a function called as one of Go's own is a mark where tests of the base in its package
// call that one, and the base has none of the name.
func TestShadows(t *testing.T) {
	t.Parallel()
	const declares = "package a\n\nfunc max(a, b int) int { return a }\n"
	for _, tt := range []struct {
		name, base, test string
		want             int
	}{
		{"a/compat.go", "package a\n", "package a\n\nvar want = max(1, 2)\n", 2},
		{"a/compat.go", declares, "package a\n\nvar want = max(1, 2)\n", 1},
		{"a/compat.go", "package a\n", "package a\n\nvar want = math.max(1, 2)\n", 1},
		{"b/compat.go", "package a\n", "package a\n\nvar want = max(1, 2)\n", 0},
		{"a/compat.js", "package a\n", "package a\n\nvar want = max(1, 2)\n", 0},
	} {
		r := &Reader{baseSources: []*baseSource{
			{name: "a/a.go", read: true, text: tt.base},
			{name: "a/a_test.go", test: true, read: true, text: tt.test + "var least = min(1, 2)\n"},
		}}
		got := r.shadows(tt.name, map[int]string{7: "func max(a, b int) int {", 3: "func min[T int](a, b T) T {", 9: "func clear() {"})
		if len(got) != tt.want || len(got) > 0 && got[0].Line != 3 {
			t.Errorf("%s beside %q and %q: %+v", tt.name, tt.base, tt.test, got)
		}
	}
}
