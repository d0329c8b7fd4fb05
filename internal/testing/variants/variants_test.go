package variants

import "testing"

// What -run names alone is run although it is left out, and what a pattern matches beside
// others is not.
func TestNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, test string
		want          bool
	}{
		{"TestScript/build$", "TestScript/build", true},
		{"^TestScript$/^build$", "TestScript/build", true},
		{"TestScript/build", "TestScript/build", true},
		{"TestAll/by hand", "TestAll/by_hand", true},
		{"TestAll/by_hand", "TestAll/by hand", true},
		{"TestOnly$", "TestOnly", true},
		{"TestScript/bu", "TestScript/build", false},
		{"TestScript/build.*", "TestScript/build", false},
		{"TestScript/build|order", "TestScript/build", false},
		{"TestScript", "TestScript/build", false},
		{"^(TestScript|TestOnly)$", "TestOnly", false},
		{"", "TestOnly", false},
	} {
		if got := names(tt.pattern, tt.test); got != tt.want {
			t.Errorf("-run %q names %s: %v", tt.pattern, tt.test, got)
		}
	}
}
