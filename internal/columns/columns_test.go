package columns

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "abc": 3, "ünï": 3, "u\u0308n": 2, "漢字": 4, "ｱ": 1, "Ａ": 2, "🛑!": 3, "한": 2,
		"a\u200bb\u200d": 2, "a\x07\x7f\u0085b": 2, "…·│": 3, "\xff": 1,
	} {
		if got := Of(s); got != want {
			t.Errorf("Of(%q) = %d, want %d", s, got, want)
		}
	}
}

// A text is parted without losing anything, and no mark is parted from its character.
func TestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, first string
		columns     int
	}{
		{"", "", 0},
		{"abc", "a", 1},
		{"u\u0308\u0301n", "u\u0308\u0301", 1},
		{"漢字", "漢", 2},
		{"\u0301a", "\u0301", 0},
		{"a", "a", 1},
		{"e\u0301", "e\u0301", 1},
		{"\xffz", "\xff", 1},
		{" \x1b[1m", " ", 1},
		{"\x1b[1m", "\x1b", 0},
	} {
		if first, n := First(c.text); first != c.first || n != c.columns {
			t.Errorf("First(%q) = %q, %d, want %q, %d", c.text, first, n, c.first, c.columns)
		}
	}
}
