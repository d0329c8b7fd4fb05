package pattern

import "testing"

// TestGlob holds what a star and a question mark stand for, and that the whole text
// has to match.
func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "ab", false},
		{"*", "", true},
		{"*", ".a/b", true},
		{"a*c", "abc/c", true},
		{"a*c", "abcd", false},
		{"a**c", "ac", true},
		{"?", "é", true},
		{"?", "", false},
		{"a?c*", "abc", true},
		{"*a*b", "ab ac", false},
		{"*a*b", "xaxaxb", true},
		{"[a]", "a", false},
	} {
		if got := Glob(c.pattern, c.text); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.pattern, got)
		}
	}
}
