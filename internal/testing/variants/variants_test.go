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

// Every name is of one part, and what is no part is refused: all would run in its place.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"TestScenarios/a", "TestScenarios/b", "TestOnly"} {
		of := 0
		for _, text := range []string{"0/3", "1/3", "2/3"} {
			var s share
			if err := s.Set(text); err != nil || s.String() != text {
				t.Fatal(text, s, err)
			}
			if s.has(name) {
				of++
			}
		}
		if of != 1 {
			t.Errorf("%s is of %d parts", name, of)
		}
		if all := new(share); all.Set("") != nil || !all.has(name) {
			t.Errorf("%s is not of the whole", name)
		}
	}
	for _, text := range []string{"2", "2/", "/5", "2/0", "6/5", "-1/5", "2/5x", "two/five"} {
		if err := new(share).Set(text); err == nil {
			t.Errorf("%s is a part", text)
		}
	}
}
