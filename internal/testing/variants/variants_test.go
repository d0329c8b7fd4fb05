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

// Every name is of one part.
func TestMine(t *testing.T) {
	defer func(was string) { *part = was }(*part)
	for _, name := range []string{"TestScenarios/a", "TestScenarios/b", "TestOnly"} {
		of := 0
		for _, *part = range []string{"0/3", "1/3", "2/3"} {
			if Mine(name) {
				of++
			}
		}
		if of != 1 {
			t.Errorf("%s is of %d parts", name, of)
		}
		if *part = ""; !Mine(name) {
			t.Errorf("%s is not of the whole", name)
		}
	}
}
