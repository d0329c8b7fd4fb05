package pattern

import (
	"strings"
	"testing"
)

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

// TestWhole holds which patterns mean what they say.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern        string
		whole, classes bool
	}{
		{"", true, true},
		{"a{b,c}*", true, true},
		{"{a,{b,c}}", true, true},
		{"{a", false, false},
		{"a}", false, false},
		{"}{", false, false},
		{"{a,{b,c}", false, false},
		{strings.Repeat("{a,b}", 8), true, true},
		{strings.Repeat("{a,b}", 9), false, false},
		{"[a-z]", true, true},
		{"[a", true, false},
		{"[]", true, false},
		{"{a,[b}", true, false},
	} {
		if whole, classes := Whole(c.pattern), WholeClasses(c.pattern); whole != c.whole || classes != c.classes {
			t.Errorf("%q: %t, with classes %t", c.pattern, whole, classes)
		}
	}
}
